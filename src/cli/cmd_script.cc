// SPDX-License-Identifier: Apache-2.0
// `script`: runs code for its effects, without a catalog. Puppet has this command only with Bolt.
// The language is the same (setting `tasks`): code that creates catalogs is refused.
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/actions.h"
#include "cli/node_options.h"
#include "core/base/plain_error.h"
#include "services/agent/log_destinations.h"

namespace bunraku::cli {

namespace {

int run_script(Invocation& invocation) {
    OptionParser options(invocation);
    NodeOptions node;
    node.add_to(options);
    std::vector<std::string> code, words, logdest;
    bool test = false;
    options.list("execute", &code);
    options.list("e", &code);
    options.list("logdest", &logdest);
    options.list("l", &logdest);
    options.flag("test", &test);
    options.flag("t", &test);
    if (!options.parse(&words)) return options.exit_code();
    auto made =
        agent::make_log_destinations(logdest, make_console_sink(options, Streams::Puppet),
                                     options.log_level, invocation.settings.text("syslogfacility"));
    if (!made) {
        fmt::print(stderr, "Error: {}\n", made.error().message);
        return 1;
    }
    base::LogSink& log = **made;
    invocation.settings.set("tasks", "true");
    try {
        auto request = node.request();
        if (node.facts.empty()) request.facts.kind = site::FactSource::Kind::Machine;
        request.server_facts.kind = site::ServerFacts::Kind::Own;
        request.trusted.otherwise = site::TrustedSource::Otherwise::Clientcert;
        std::string source;
        if (code.empty() && !words.empty()) {
            if (::access(words[0].c_str(), F_OK) != 0)
                throw base::plain_error(
                    fmt::format("Could not run: Could not find file {}", words[0]));
            auto text = environment::read_file(words[0]);
            if (!text)
                throw base::plain_error(fmt::format("Could not run: Could not read {}", words[0]));
            code.push_back(std::move(*text));
            source = words[0];
            if (words.size() > 1) {
                log.log(base::Level::Warning,
                        fmt::format("Only one file can be used per run. Skipping {}",
                                    fmt::join(words.begin() + 1, words.end(), ", ")));
            }
        } else if (code.empty()) {
            code.push_back(read_stdin());
        }
        request.sources.no_manifest = true;
        site::Site site(invocation.settings, site_options(log));
        const auto session = site.session(std::move(request), log);
        (void)session->evaluate(code, source, false);
        return 0;
    } catch (const base::PuppetError& error) {
        report_error(log, error, "");
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(script){.name = "script",
                        .summary = "Run Puppet code for its effects, without a catalog.",
                        .run = run_script,
                        .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
