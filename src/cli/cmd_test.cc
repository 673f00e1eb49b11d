// SPDX-License-Identifier: Apache-2.0
// bunraku test: checks that every class compiles with every set of facts, that an agent would
// accept the catalog, and that it satisfies the files below spec/expect.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/insight/fleet_selection.h"
#include "compile/spec/test_run.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "core/config/setting_lists.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/terminal.h"
#include "language/environment/conf.h"
#include "services/agent/catalog_checks.h"

namespace bunraku::cli {
namespace {

struct TestOptions : spec::TestRunOptions {
    NodeOptions node;
    std::string junit, format = "text", jobs;
    bool no_checks = false, list = false, json = false;
};

/// Returns the problem that an agent would report.
std::string agent_problem(const config::Settings& settings, site::Session& session,
                          const catalog::Catalog& catalog) {
    const auto problems = agent::check_catalog(settings, session, catalog);
    std::string out = problems.refused;
    for (const auto& cycle : problems.cycles) out += (out.empty() ? "A circle: " : "\n") + cycle;
    return out;
}

int run_tests(const config::Settings& settings, const TestOptions& options, base::LogSink& log) {
    spec::TestRun run(settings, site_options(log), options, log);
    const auto& tests = run.tests();
    if (options.list) {
        std::string json;
        for (const auto& test : tests) {
            if (!options.json)
                fmt::print("{}\n", test.name());
            else
                json += fmt::format(R"({}{{"subject":{},"facts":{},"file":{}}})",
                                    json.empty() ? "" : ",\n ", codec::json_string(test.subject),
                                    codec::json_string(test.facts), codec::json_string(test.file));
        }
        if (options.json) fmt::print("[{}]\n", json);
        return 0;
    }
    if (tests.empty())
        throw base::plain_error(
            "There is no class to test; select classes with --classes and --path");
    const auto begin = std::chrono::steady_clock::now();
    {
        sys::ProgressLine progress;
        run.run(insight::thread_count(options.jobs),
                [&](std::size_t done, std::size_t all) { progress.show(done, all, "tests"); });
    }
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
    const std::string text = options.json                ? spec::json_text(tests, whole.count())
                             : options.format == "tap"   ? spec::tap_text(tests)
                             : options.format == "junit" ? spec::junit_text(tests, whole.count())
                                                         : spec::plain_text(tests, whole.count());
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (options.coverage) {
        // TAP, XML and JSON are read by programs, so other output goes to stderr.
        auto* to = options.format == "text" && !options.json ? stdout : stderr;
        std::fputs(run.coverage().text(true).c_str(), to);
    }
    if (!options.junit.empty()) {
        const auto path = environment::expand_path(options.junit, environment::working_directory());
        const auto done = sys::disk().write(path, spec::junit_text(tests, whole.count()), 0644);
        if (!done) throw base::plain_error(done.error().message);
    }
    return std::ranges::any_of(tests, &spec::TestResult::failed) ? 1 : 0;
}

int run_test(Invocation& invocation) {
    OptionParser parser(invocation);
    TestOptions options;
    options.node.add_to(parser);
    std::vector<std::string> patterns, given;
    parser.list("classes", &given);
    parser.value("facts-dir", &options.facts_dir);
    parser.value("path", &options.path);
    parser.value("with-manifest", &options.manifest);
    parser.value("junit", &options.junit);
    parser.value("format", &options.format);
    parser.value("jobs", &options.jobs);
    parser.flag("nodes", &options.nodes);
    parser.flag("no-checks", &options.no_checks);
    parser.flag("list", &options.list);
    parser.flag("json", &options.json);
    parser.flag("coverage", &options.coverage);
    if (!parser.parse(&patterns)) return parser.exit_code();
    if (options.format != "text" && options.format != "tap" && options.format != "junit")
        throw base::plain_error(
            fmt::format("--format: there are text, tap and junit, and no '{}'", options.format));
    for (const auto& text : given)
        for (auto& one : config::split_list(text)) options.classes.push_back(std::move(one));
    options.classes.insert(options.classes.end(), patterns.begin(), patterns.end());
    options.compile = options.node;
    if (!options.no_checks)
        options.check = [&](site::Session& session, const catalog::Catalog& catalog) {
            return agent_problem(invocation.settings, session, catalog);
        };
    auto sink = make_console_sink(parser);
    return run_tests(invocation.settings, options, *sink);
}

}  // namespace

BUNRAKU_COMMAND(test){.name = "test",
                      .summary = "Compile every class with every set of facts, and check it.",
                      .run = run_test,
                      .run_mode = "server"};

}  // namespace bunraku::cli
