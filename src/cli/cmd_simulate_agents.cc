// SPDX-License-Identifier: Apache-2.0
// bunraku simulate-agents: measures the capacity of a server with simulated agents.
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/command.h"
#include "compile/site/fact_sources.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/sys/signals.h"
#include "language/environment/conf.h"
#include "resources/facts/documents.h"
#include "services/load/agent_pool.h"
#include "services/load/certificates.h"

namespace bunraku::cli {

namespace {

using base::plain_error;

struct SimulateOptions {
    std::string interval = "0", splay = "0", duration = "0", runs, at_a_time, seed = "1";
    std::string drifting = "0", changing = "0", absent = "0", reports = "changed";
    std::string names = "agent{}.simulated", certificates;
    std::vector<std::string> facts, choices;
    bool json = false, conditional_requests = true, keep = false, resume = false, first_run = false,
         sign = false;
};

std::int64_t seconds_of(const std::string& text, std::string_view option) {
    const auto ttl = environment::parse_ttl(text, option);
    if (!ttl || !*ttl || **ttl < 0)
        throw plain_error(fmt::format(
            "Invalid value for --{}: '{}': expected a time such as 30s, 5m or 1h", option, text));
    return **ttl;
}

std::uint64_t count_of(const std::string& text, std::string_view option) {
    const auto n = base::parse_integer<std::int64_t>(text);
    if (!n || *n < 0)
        throw plain_error(
            fmt::format("Invalid value for {}: '{}': expected a whole number", option, text));
    return static_cast<std::uint64_t>(*n);
}

/// Parses a ratio: "0.2" or "20%".
double share_of(const std::string& text, std::string_view option) {
    const bool percent = text.ends_with('%');
    char* end = nullptr;
    const auto digits = percent ? text.substr(0, text.size() - 1) : text;
    const double n = std::strtod(digits.c_str(), &end) / (percent ? 100 : 1);
    if (digits.empty() || *end != '\0' || !(n >= 0 && n <= 1))
        throw plain_error(fmt::format(
            "Invalid value for --{}: '{}': expected a ratio such as 0.2 or 20%", option, text));
    return n;
}

load::AgentProfile::Reports reports_of(const std::string& text) {
    using enum load::AgentProfile::Reports;
    if (text == "none") return None;
    if (text == "changed") return Changed;
    if (text == "full") return Whole;
    throw plain_error(fmt::format(
        "Invalid value for --send-reports: '{}': expected none, changed or full", text));
}

double own_cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return of(used.ru_utime) + of(used.ru_stime);
}

std::vector<value::Value> models_of(base::Arena& arena, const SimulateOptions& w,
                                    const config::Settings& settings, base::LogSink& log) {
    std::vector<value::Value> out;
    for (const auto& path : w.facts)
        for (auto& node : site::read_fact_file(arena, path)) out.push_back(node.values);
    // Use this machine's facts as a template.
    if (out.empty()) out.push_back(site::machine_facts(arena, settings, nullptr, log));
    return out;
}

class SimulateAgents {
public:
    SimulateAgents(Invocation& invocation, const OptionParser& parser, const SimulateOptions& w,
                   std::size_t agents)
        : settings_(invocation.settings),
          w_(w),
          sink_(make_console_sink(parser)),
          terminal_(::isatty(STDERR_FILENO) != 0),
          agents_(agents) {}

    int run() {
        base::Arena arena(256 * 1024);
        sys::RealSystem machine;
        const auto stopped = [] { return sys::stop_signal() != 0; };
        load::AgentProfile profile{
            .settings = settings_,
            .network = http::sockets(),
            .figures = figures_,
            .stopped = stopped,
            .address = fmt::format("{}:{}", settings_.text("server"), settings_.text("serverport")),
            .environment = settings_.text("environment"),
            .user_agent = fmt::format("Bunraku/{} (simulated)", kVersion),
            .models = models_of(arena, w_, settings_, *sink_),
            .choices = {},
            .drifting = share_of(w_.drifting, "drifting"),
            .changing = share_of(w_.changing, "changing"),
            .absent = share_of(w_.absent, "absent"),
            .conditional_requests = w_.conditional_requests,
            .keeps_connection = w_.keep,
            .resumes = w_.resume,
            .first_runs = w_.first_run,
            .reports = reports_of(w_.reports)};
        if (profile.environment.empty()) profile.environment = "production";
        for (const auto& text : w_.choices) {
            auto choice = load::FactChoice::parse(text);
            if (!choice) throw plain_error(choice.error().message);
            profile.choices.push_back(std::move(*choice));
        }
        load::Certificates certificates(
            {.settings = settings_,
             .system = machine.system(),
             .network = nullptr,
             .stopped = stopped,
             .folder = w_.certificates.empty() ? settings_.text("vardir") + "/simulated-agents"
                                               : w_.certificates,
             .sign = w_.sign});
        load::AgentPoolOptions options = pool_options();
        options.certificate = [&](const std::string& name) {
            bool made = false;
            auto files = certificates.of(name, &made);
            if (files && made) figures_.fresh.add();
            return files;
        };
        bool preparing = true;
        options.tick = [&](double seconds) {
            show(preparing ? fmt::format("{:.0f} s: {} certificates made", seconds,
                                         figures_.fresh.value())
                           : figures_.progress(seconds));
            return true;
        };
        load::AgentPool pool(profile, std::move(options));
        auto ready = certificates.prepare(pool.agents().front()->name());
        if (ready) ready = pool.prepare();
        if (!ready) return refuse(ready.error());
        preparing = false;
        const double cpu = own_cpu_seconds();
        load::Figures::LoadSummary around{.agents = agents_};
        around.seconds = pool.run();
        around.own_cpu_seconds = own_cpu_seconds() - cpu;
        around.interrupted = pool.interrupted();
        show("");
        const auto out = w_.json ? figures_.json(around) : figures_.text(around);
        std::fwrite(out.data(), 1, out.size(), stdout);
        if (figures_.count(load::Step::Run) > 0 || around.interrupted)
            return figures_.runs_failed.value() > 0 ? 3 : 0;
        return figures_.runs_failed.value() > 0 ? 1 : 0;
    }

private:
    load::AgentPoolOptions pool_options() const {
        load::AgentPoolOptions out;
        out.agents = agents_;
        out.names = w_.names;
        out.seed = count_of(w_.seed, "--seed");
        out.interval_seconds = seconds_of(w_.interval, "interval");
        out.splay_seconds = seconds_of(w_.splay, "splay-by");
        out.duration_seconds = seconds_of(w_.duration, "duration");
        const bool endless = out.duration_seconds > 0 || out.interval_seconds > 0;
        out.runs = w_.runs.empty() ? (endless ? 0 : 1) : count_of(w_.runs, "--runs");
        if (!w_.at_a_time.empty()) out.at_a_time = count_of(w_.at_a_time, "--at-a-time");
        return out;
    }

    int refuse(const base::Error& error) {
        show("");
        if (error.code == ECANCELED) return 1;
        auto text = "No agent has begun: " + error.message;
        if (!w_.sign) {
            text += fmt::format(
                ". Let the authority sign {} automatically (autosign), or sign the certificates "
                "here (--sign, with the authority's folder as --cadir)",
                load::numbered_name(w_.names, 1, agents_));
        }
        sink_->log(base::Level::Err, text);
        return 1;
    }

    /// Shows a line on a terminal; the next line replaces it.
    void show(const std::string& line) const {
        if (terminal_) fmt::print(stderr, "\r\033[K{}", line);
    }

    const config::Settings& settings_;
    const SimulateOptions& w_;
    std::unique_ptr<base::LogSink> sink_;
    bool terminal_;
    std::size_t agents_;
    load::Figures figures_;
};

int run_simulate_agents(Invocation& invocation) {
    OptionParser parser(invocation);
    SimulateOptions w;
    parser.value("interval", &w.interval);
    parser.value("splay-by", &w.splay);
    parser.value("duration", &w.duration);
    parser.value("runs", &w.runs);
    parser.value("at-a-time", &w.at_a_time);
    parser.value("seed", &w.seed);
    parser.value("drifting", &w.drifting);
    parser.value("changing", &w.changing);
    parser.value("absent", &w.absent);
    parser.value("send-reports", &w.reports);
    parser.value("names", &w.names);
    parser.value("certificates", &w.certificates);
    parser.list("facts", &w.facts);
    parser.list("fact", &w.choices);
    parser.flag("json", &w.json);
    parser.flag("at-rest", &w.conditional_requests);
    parser.flag("keep-connections", &w.keep);
    parser.flag("resume", &w.resume);
    parser.flag("first-run", &w.first_run);
    parser.flag("sign", &w.sign);
    std::vector<std::string> words;
    if (!parser.parse(&words)) return parser.exit_code();
    auto sink = make_console_sink(parser);
    sys::ignore_broken_pipes();
    sys::catch_stop_signals(false);
    try {
        if (words.size() != 1)
            throw plain_error("How many agents? See 'bunraku help simulate-agents'");
        const auto agents = count_of(words[0], "The number of agents");
        constexpr std::uint64_t kMost = 1'000'000;
        if (agents == 0 || agents > kMost)
            throw plain_error(fmt::format("The number of agents is 1 to {}", kMost));
        return SimulateAgents(invocation, parser, w, agents).run();
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(simulate_agents){.name = "simulate-agents",
                                 .summary = "Load a server with simulated agents.",
                                 .run = run_simulate_agents,
                                 .run_mode = "agent"};

}  // namespace bunraku::cli
