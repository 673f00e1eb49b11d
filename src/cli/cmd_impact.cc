// SPDX-License-Identifier: Apache-2.0
// bunraku impact: shows the nodes that a change affects, the changes in their catalogs, and the
// causes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <future>

#include "cli/command.h"
#include "cli/fleet_options.h"
#include "cli/impact_output.h"
#include "compile/insight/impact.h"
#include "compile/insight/impact_notes.h"
#include "compile/insight/impact_result.h"
#include "compile/insight/interaction.h"
#include "core/base/plain_error.h"
#include "core/sys/terminal.h"

namespace bunraku::cli {

namespace {

using base::PuppetError;

struct ImpactOptions {
    FleetOptions fleet;
    std::string from, to, with;
    std::vector<std::string> ignore, ignore_attributes;
    ImpactOutput output;
    bool everything = false, because = true, kept = true;
};

void add_impact_options(OptionParser& parser, ImpactOptions& o) {
    o.fleet.add_to(parser);
    parser.value("from", &o.from);
    parser.value("to", &o.to);
    parser.value("with", &o.with);
    o.output.add_to(parser);
    parser.list("ignore", &o.ignore);
    parser.list("ignore-attr", &o.ignore_attributes);
    parser.flag("everything", &o.everything);
    parser.flag("because", &o.because);
    parser.flag("cache", &o.kept);
    parser.flag("kept", &o.kept);  // former name of --cache
}

std::vector<catalog::IgnorePattern> ignored(const ImpactOptions& o) {
    std::vector<catalog::IgnorePattern> out;
    auto add = [&](const char* option, const std::string& text) {
        auto pattern = catalog::IgnorePattern::parse(text);
        if (!pattern)
            throw base::plain_error(fmt::format("{}: {}", option, pattern.error().message));
        out.push_back(std::move(*pattern));
    };
    for (const auto& text : o.ignore) add("--ignore", text);
    for (const auto& name : o.ignore_attributes) add("--ignore-attr", "*[*]::" + name);
    return out;
}

/// Shows the progress, and each kind of change as soon as it is found.
class Preview {
public:
    void operator()(std::size_t done, std::size_t all, std::span<const insight::Group> groups) {
        constexpr std::size_t kMostShown = 10;
        for (; kinds_ < std::min(groups.size(), kMostShown); ++kinds_) {
            const auto& change = groups[kinds_].change;
            line_.show_above(fmt::format("{} {} {}", insight::kind_name(change.kind),
                                         change.reference, change.parameter));
        }
        line_.show(fmt::format("{} of {} nodes, {} kinds of change", done, all, groups.size()));
    }

private:
    sys::ProgressLine line_;
    std::size_t kinds_ = 0;
};

int run_impact(Invocation& invocation) {
    OptionParser parser(invocation);
    ImpactOptions o;
    add_impact_options(parser, o);
    std::vector<std::string> positional;
    if (!parser.parse(&positional)) return parser.exit_code();
    auto sink = make_console_sink(parser);
    base::Arena arena(64 * 1024);
    insight::Impact impact;
    insight::Comparison comparison;
    try {
        if (!positional.empty())
            throw base::plain_error(
                fmt::format("Unknown option '{}': see 'bunraku help "
                            "impact'",
                            positional.front()));
        auto options = site_options(*sink);
        options.explain_errors = false;
        options.threads = o.fleet.threads();
        options.queue = 2 * options.threads;
        site::Site site(invocation.settings, std::move(options));

        using StateKind = FleetOptions::StateKind;
        if (o.from.empty()) o.from = "HEAD";
        const auto from = o.fleet.meaning(o.from), to = o.fleet.meaning(o.to);
        // Both states are displayed with the path of the repository, or that of the first state.
        std::string shown;
        if (from == StateKind::Revision || from == StateKind::WorkingTree ||
            to == StateKind::Revision || to == StateKind::WorkingTree)
            shown = o.fleet.control();
        comparison.from = o.fleet.state(o.from, site.settings(), shown);
        if (shown.empty()) shown = comparison.from.request().sources.directory;
        comparison.to = o.fleet.state(o.to, site.settings(), shown);
        auto name_of = [&](const insight::State& state) {
            const auto request = state.request();
            const auto* name = request.overlay.find("environment");
            return name ? *name : std::string();
        };
        comparison.everything = o.everything || name_of(comparison.from) != name_of(comparison.to);
        comparison.because = o.because;
        comparison.ignored = ignored(o);
        Preview preview;
        comparison.progress = [&](std::size_t done, std::size_t all, auto groups) {
            preview(done, all, groups);
        };
        if (o.kept) comparison.keep = insight::read_cache_folder();

        // Open the environment in the background while the facts are read. An error is ignored
        // here, because a later use of the environment reports it.
        const auto opening = std::async(std::launch::async, [&] {
            try {
                (void)site.environment(comparison.from.request());
            } catch (const PuppetError&) {
            }
        });
        const auto fleet = o.fleet.fleet(site, arena, *sink, comparison.keep);
        opening.wait();
        impact = o.with.empty() ? insight::impact(site, comparison, fleet.nodes)
                                : insight::impact_of_both(
                                      site, comparison,
                                      o.fleet.state(o.with, site.settings(), shown), fleet.nodes);
        impact.notes.insert(impact.notes.begin(), fleet.notes.begin(), fleet.notes.end());
        insight::add_unjudged(impact, fleet.unjudged);
        insight::add_module_notes(site, o.fleet, comparison, impact);
        sink->log(base::Level::Debug,
                  fmt::format("The first group was there after {:.3f} s, all "
                              "after {:.3f} s; {} compiles",
                              impact.first_seconds, impact.seconds,
                              impact.compiled_before + impact.compiled_after + impact.tried));
    } catch (const PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
    return o.output.write(parser, impact, *sink);
}

}  // namespace

BUNRAKU_COMMAND(impact){
    .name = "impact",
    .summary = "Show which nodes a change affects, and how their catalogs change.",
    .run = run_impact,
    .run_mode = "server"};

}  // namespace bunraku::cli
