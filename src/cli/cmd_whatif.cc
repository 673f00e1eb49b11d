// SPDX-License-Identifier: Apache-2.0
// bunraku whatif: shows how catalogs of nodes would change with another fact, class or Hiera key.
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/fleet_options.h"
#include "cli/impact_output.h"
#include "compile/insight/impact_result.h"
#include "compile/insight/interaction.h"
#include "compile/insight/what_if.h"
#include "core/base/plain_error.h"

namespace bunraku::cli {

namespace {

struct WhatIfOptions {
    FleetOptions fleet;
    std::string at;
    std::vector<std::string> facts, classes, hiera;
    ImpactOutput output;
};

int run_whatif(Invocation& invocation) {
    OptionParser parser(invocation);
    WhatIfOptions o;
    o.fleet.add_to(parser);
    parser.value("at", &o.at);
    parser.list("fact", &o.facts);
    parser.list("class", &o.classes);
    parser.list("hiera", &o.hiera);
    o.output.add_to(parser);
    std::vector<std::string> positional;
    if (!parser.parse(&positional)) return parser.exit_code();
    auto sink = make_console_sink(parser);
    base::Arena arena(64 * 1024);
    insight::Impact impact;
    try {
        if (!positional.empty() || (o.facts.empty() && o.classes.empty() && o.hiera.empty()))
            throw base::plain_error(
                "What is to be otherwise? --fact, --class or --hiera: see 'bunraku help whatif'");
        auto options = site_options(*sink);
        options.explain_errors = false;
        options.threads = o.fleet.threads();
        options.queue = 2 * options.threads;
        site::Site site(invocation.settings, std::move(options));
        insight::Comparison comparison;
        comparison.from = comparison.to = o.fleet.state(o.at, site.settings(), "");
        // The change is not in a file, so all nodes are compiled, and the cause is known.
        comparison.everything = true;
        comparison.because = false;
        std::string label;
        for (const auto* list : {&o.facts, &o.classes, &o.hiera})
            for (const auto& each : *list) label += (label.empty() ? "with " : ", ") + each;
        comparison.to.label = label;
        std::vector<std::pair<std::string, std::string>> facts;
        for (const auto& each : o.facts) facts.push_back(insight::assignment("--fact", each));
        std::shared_ptr<const environment::Files> files;
        if (!o.hiera.empty()) files = insight::with_keys(comparison.to.request(), o.hiera);
        if (files) {
            comparison.to.request = [request = comparison.from.request, files] {
                auto out = request();
                out.sources.files = files;
                return out;
            };
        }
        comparison.to.adjust = [&](site::NodeRequest& request) {
            for (const auto& [path, text] : facts)
                request.facts.values =
                    insight::with_fact(*request.arena, request.facts.values, path, text);
            request.more_classes = o.classes;
        };
        const auto fleet = o.fleet.fleet(site, arena, *sink);
        impact = insight::impact(site, comparison, fleet.nodes);
        insight::add_unjudged(impact, fleet.unjudged);
        for (const auto& note : fleet.notes) impact.notes.push_back(note);
        insight::note_unknown_facts(facts, fleet.nodes, impact);
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
    return o.output.write(parser, impact, *sink);
}

}  // namespace

BUNRAKU_COMMAND(whatif){
    .name = "whatif",
    .summary = "Show how catalogs would change with another fact, class or key.",
    .run = run_whatif,
    .run_mode = "server"};

}  // namespace bunraku::cli
