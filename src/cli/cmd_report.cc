// SPDX-License-Identifier: Apache-2.0
// `report`: Puppet's face of the same name. Puppet's face accepts reports only from Ruby code. Here
// they are files, for example the report of the last run.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/actions.h"
#include "cli/node_options.h"
#include "compile/site/report_processors.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "core/codec/yaml.h"
#include "core/sys/disk.h"
#include "core/value/from_yaml.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "resources/apply/report.h"
#include "services/agent/apply_session.h"
#include "services/agent/download.h"
#include "services/agent/open_link.h"

namespace bunraku::cli {

namespace {

using base::plain_error;
using value::Value;

struct ReportAction {
    std::string_view name;
    std::size_t most;  ///< maximum number of arguments
};
constexpr ReportAction kActions[] = {{"info", 0}, {"list", 1}, {"save", 1}, {"submit", 1}};
constexpr std::string_view kTermini[] = {"json", "msgpack", "processor", "rest", "yaml"};

/// Reads a report in JSON or in Puppet's YAML. Throws on errors.
Value read_report(base::Arena& arena, const std::string& path) {
    const auto text = environment::read_file(path);
    if (!text) throw plain_error(fmt::format("Could not read the report {}", path));
    auto data = value::parse_json(arena, *text);
    if (!data) {
        const auto document =
            codec::parse_yaml(*text, path, codec::YamlDates::Text, "Puppet::Transaction::Report");
        if (!document)
            throw plain_error(
                fmt::format("Could not parse the report {}: {}", path, document.error().message));
        data = value::from_yaml(arena, *document, [&](const codec::YamlNode& n, bool) {
            return value::make_string(arena, n.text);
        });
    }
    const Value* host = data->is_hash() ? value::at(*data, "host") : nullptr;
    if (!host || !host->is_string())
        throw plain_error(fmt::format("{} is not a report: it does not name its host", path));
    return *data;
}

/// Sends the report to the server.
void submit(const config::Settings& settings, const Value& report, base::LogSink& log) {
    sys::RealSystem system;
    auto link = agent::open_link(settings, log, system.system(), user_agent(settings));
    if (!link) throw plain_error(link.error().message);
    const std::string host(value::at(report, "host")->as_string());
    auto request = (*link)->request("PUT", (*link)->url("report/" + host), "application/json");
    request.headers.set("Content-Type", "application/json");
    request.body = value::to_json(report);
    const auto answer = (*link)->send(std::move(request));
    if (!answer) throw plain_error(answer.error().message);
    if (answer->status / 100 != 2) throw plain_error(agent::refusal_text(*answer));
    log.log(base::Level::Notice, fmt::format("Uploaded report for {}", host));
}

/// Passes the report to the processors in the setting `reports`.
void process(const config::Settings& settings, const Value& report, base::LogSink& log) {
    site::Site site(settings, site_options(log));
    site::process_report(
        site.view(), agent::report_processors(settings),
        {.data = report, .yaml = [&] { return apply::report_yaml(report); }},
        [](std::string_view, const Value&) { return false; }, log);
}

/// Lists the reports that the processor `store` has stored, by node and time. An empty `only`
/// selects all nodes.
std::string list_reports(const std::string& folder, const std::string& only, bool json) {
    auto& files = sys::disk();
    const auto names = [&](const std::string& of) {
        auto found = files.list(of).value_or(std::vector<std::string>());
        std::ranges::sort(found);
        return found;
    };
    std::string out;
    for (const auto& host : names(folder)) {
        if (!only.empty() && host != only) continue;
        for (const auto& name : names(sys::join(folder, host))) {
            constexpr std::size_t kMinute = std::string_view("202601312359").size();
            const auto stem = std::string_view(name).substr(0, name.rfind('.'));
            if (stem.size() != kMinute || stem.find_first_not_of("0123456789") != stem.npos)
                continue;
            const auto time = fmt::format("{}-{}-{}T{}:{}Z", stem.substr(0, 4), stem.substr(4, 2),
                                          stem.substr(6, 2), stem.substr(8, 2), stem.substr(10, 2));
            const auto path = sys::join(sys::join(folder, host), name);
            if (json)
                out += fmt::format(R"({}{{"host":{},"time":"{}","file":{}}})",
                                   out.empty() ? "" : ",\n ", codec::json_string(host), time,
                                   codec::json_string(path));
            else
                out += fmt::format("{} {} {}\n", time, host, path);
        }
    }
    return json ? "[" + out + "]\n" : out;
}

int run_report(Invocation& invocation) {
    OptionParser options(invocation);
    std::string terminus, format;
    bool json = false;
    options.flag("json", &json);
    std::vector<std::string> positional, words;
    options.value("terminus", &terminus);
    options.value("render-as", &format);
    if (!options.parse(&positional)) return options.exit_code();
    auto log = make_console_sink(options, Streams::Puppet);
    const auto& settings = invocation.settings;
    const auto& program = invocation.program;
    const std::string name = take_action(positional, words);
    const auto* action = std::ranges::find(kActions, name, &ReportAction::name);
    if (action == std::end(kActions)) {
        log->log(
            base::Level::Err,
            name.empty()
                ? fmt::format("'report' has no default action.  See `{} help report`.", program)
                : fmt::format("'report' has no '{}' action.  See `{} help report`.", name,
                              program));
        return 1;
    }
    try {
        if (words.size() > action->most)
            throw plain_error(fmt::format("{} report {} takes {} argument{}, but you gave {}",
                                          program, name, action->most, action->most == 1 ? "" : "s",
                                          words.size()));
        if (name == "list") {
            const auto text =
                list_reports(settings.text("reportdir"), words.empty() ? "" : words[0], json);
            std::fwrite(text.data(), 1, text.size(), stdout);
            return 0;
        }
        if (terminus.empty()) terminus = name == "submit" ? "rest" : "processor";
        if (std::ranges::find(kTermini, terminus) == std::end(kTermini))
            throw plain_error(fmt::format(
                "Could not set 'report' terminus to '{0}' (Could not find terminus {0} for "
                "indirection report); valid terminus types are {1}",
                terminus, fmt::join(kTermini, ", ")));
        if (name == "info") {
            fmt::print("Run mode '{}': {}\n", settings.run_mode(), terminus);
            return 0;
        }
        base::Arena arena;
        const Value report =
            read_report(arena, words.empty() ? settings.text("lastrunreport") : words[0]);
        if (terminus == "rest") {
            // The server and certificate are those of the agent.
            config::Settings own = settings;
            if (const auto loaded = own.load_file(own.text("config"), "agent"); !loaded)
                throw plain_error(loaded.error().message);
            submit(own, report, *log);
        } else if (terminus == "processor") {
            process(settings, report, *log);
        } else {
            throw plain_error(fmt::format("Reports cannot be saved as '{}'", terminus));
        }
        return 0;
    } catch (const base::PuppetError& error) {
        report_error(
            *log,
            name == "submit" ? plain_error("Could not send report: " + error.full_text()) : error,
            "");
        log->log(base::Level::Err, fmt::format("Try '{} help report {}' for usage", program, name));
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(report){
    .name = "report", .summary = "Submit and process the reports of runs.", .run = run_report};

}  // namespace bunraku::cli
