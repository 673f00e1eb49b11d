// SPDX-License-Identifier: Apache-2.0
// `plugin`: Puppet's face of the same name, which fetches the plugins of the server's modules
// without a run.
#include <cstdio>
#include <fmt/format.h>

#include "cli/actions.h"
#include "cli/command.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "core/sys/signals.h"
#include "core/value/build.h"
#include "core/value/yaml_document.h"
#include "services/agent/open_link.h"
#include "services/agent/plugins.h"
#include "services/agent/server_content.h"

namespace bunraku::cli {

namespace {

std::vector<std::string> download(const config::Settings& settings, base::LogSink& log) {
    sys::RealSystem system;
    auto link = agent::open_link(settings, log, system.system(), user_agent(settings));
    if (!link) throw base::plain_error(link.error().message);
    agent::ServerContent content(**link);
    return agent::synchronize_plugins(settings, system.system(), log, content,
                                      settings.text("environment"), {});
}

void print(const std::vector<std::string>& files, const std::string& format) {
    base::Arena arena;
    std::vector<value::Value> list;
    for (const auto& file : files) list.push_back(value::make_string(arena, file));
    if (format == "json") {
        std::string out;
        for (const auto& file : files) out += (out.empty() ? "" : ",") + codec::json_string(file);
        fmt::print("[{}]\n", out);
    } else if (format == "yaml") {
        std::fputs(value::yaml_document(value::make_array(arena, list), "---").c_str(), stdout);
    } else if (files.empty()) {
        std::puts("No plugins downloaded.");
    } else {
        fmt::print("Downloaded these plugins: {}\n", fmt::join(files, ", "));
    }
}

int run_plugin(Invocation& invocation) {
    OptionParser options(invocation);
    std::string format;
    std::vector<std::string> positional, words;
    options.value("render-as", &format);
    if (!options.parse(&positional)) return options.exit_code();
    auto log = make_console_sink(options, Streams::Puppet);
    const std::string action = take_action(positional, words);
    const auto& program = invocation.program;
    if (action != "download") {
        log->log(
            base::Level::Err,
            action.empty()
                ? fmt::format("'plugin' has no default action.  See `{} help plugin`.", program)
                : fmt::format("'plugin' has no '{}' action.  See `{} help plugin`.", action,
                              program));
        return 1;
    }
    try {
        if (!format.empty() && format != "console" && format != "json" && format != "yaml")
            throw base::plain_error(fmt::format("I don't know how to render '{}'", format));
        if (!words.empty())
            throw base::plain_error(fmt::format(
                "{} plugin download takes 0 arguments, but you gave {}", program, words.size()));
        print(download(invocation.settings, *log), format);
        return 0;
    } catch (const base::PuppetError& error) {
        report_error(*log, error, "");
        log->log(base::Level::Err, fmt::format("Try '{} help plugin download' for usage", program));
        return 1;
    }
}

}  // namespace

// The server and certificate are those of the agent.
BUNRAKU_COMMAND(plugin){.name = "plugin",
                        .summary = "Download the plugins of the server's modules.",
                        .run = run_plugin,
                        .run_mode = "agent",
                        .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
