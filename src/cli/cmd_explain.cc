// SPDX-License-Identifier: Apache-2.0
// bunraku explain: explains the source of a value in a node's catalog, the absence of a resource,
// or an error code.
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/fleet_options.h"
#include "compile/diagnostics/explain_codes.h"
#include "compile/insight/explain.h"
#include "core/base/plain_error.h"

namespace bunraku::cli {

namespace {

/// Handles a single argument that is an error code.
int explain_code(const std::string& code) {
    if (const auto text = diagnostics::explained_issue(code)) {
        std::fwrite(text->data(), 1, text->size(), stdout);
        return 0;
    }
    const auto like = diagnostics::issue_suggestion(code);
    fmt::print(stderr,
               "Error: There is no error code '{}'{}. 'bunraku help --errors' lists them all. For "
               "a node, name a resource: bunraku explain NODE 'Type[title]'\n",
               code, like.empty() ? "" : fmt::format(" (like it: {})", like));
    return 1;
}

int run_explain(Invocation& invocation) {
    OptionParser parser(invocation);
    FleetOptions fleet_options;
    insight::ExplainQuestion question;
    std::string at;
    bool json = false, all = false;
    fleet_options.add_to(parser);
    parser.value("at", &at);
    parser.flag("missing", &question.missing);
    parser.flag("all", &all);
    parser.flag("json", &json);
    std::vector<std::string> words;
    if (!parser.parse(&words)) return parser.exit_code();
    if (words.size() == 1 && !question.missing && !all) return explain_code(words[0]);
    auto sink = make_console_sink(parser);
    try {
        const std::size_t least = all ? 1 : 2, most = all ? 1 : question.missing ? 2 : 3;
        if (words.size() < least || words.size() > most || (all && question.missing))
            throw base::plain_error(
                "Expected NODE 'Type[title]' [PARAMETER], --missing NODE "
                "'Type[title]', or --all NODE: see 'bunraku help explain'");
        const std::string& name = words[0];
        if (words.size() > 1) question.reference = words[1];
        if (words.size() > 2) question.parameter = words[2];
        auto options = site_options(*sink);
        options.explain_errors = false;
        options.threads = 1;
        site::Site site(invocation.settings, std::move(options));
        base::Arena arena(64 * 1024);
        const auto state = fleet_options.state(at, site.settings(), "");
        fleet_options.node = {name};
        const auto fleet = fleet_options.fleet(site, arena, *sink);
        if (fleet.nodes.size() != 1)
            throw base::plain_error(fmt::format(
                "{}: {}", name,
                fleet.unjudged.empty() ? "its facts are not available" : fleet.unjudged[0].second));
        auto print_error = [&](const std::string& error) {
            if (!error.empty())
                sink->log(
                    base::Level::Err,
                    fmt::format("The compile ended with an error; the explanation covers what "
                                "happened before it: {}",
                                error));
        };
        if (all) {
            // Prints one line or one paragraph per resource.
            print_error(insight::explain_all(
                site, state, fleet.nodes[0], [&](const auto& of, const auto& explanation) {
                    const std::string out =
                        json ? insight::explanation_json(explanation, name, of)
                             : of.reference + "\n" + insight::explanation_text(explanation) + "\n";
                    return std::fwrite(out.data(), 1, out.size(), stdout) == out.size();
                }));
            return 0;
        }
        const auto explanation = insight::explain(site, state, fleet.nodes[0], question);
        const std::string out = json ? insight::explanation_json(explanation, name, question)
                                     : insight::explanation_text(explanation);
        std::fwrite(out.data(), 1, out.size(), stdout);
        print_error(explanation.error);
        return explanation.found == question.missing ? 2 : 0;
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(explain){.name = "explain",
                         .summary = "Explain a value in a node's catalog, or an error.",
                         .run = run_explain,
                         .run_mode = "server"};

}  // namespace bunraku::cli
