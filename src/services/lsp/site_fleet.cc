// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/site_fleet.h"

#include <fmt/format.h>
#include <set>

#include "compile/insight/fleet.h"
#include "compile/insight/impact.h"
#include "compile/insight/report.h"
#include "compile/insight/usage.h"
#include "compile/site/fleet_facts.h"
#include "language/environment/overlaid_files.h"
#include "language/environment/regular_files.h"

namespace bunraku::lsp {

namespace {

constexpr std::size_t kMaxShownReaders = 50;

/// Returns a state of the environment: that of the disk, or that with the unsaved texts.
insight::State fleet_state(const FleetWork::Question& question, bool unsaved) {
    auto files = environment::regular_files(environment::Unreadable::Error);
    if (unsaved)
        files = environment::overlaid_files(files, files, {.paths = {}, .texts = question.unsaved});
    insight::State state;
    state.label = unsaved ? "the editor" : "the disk";
    state.request = [directory = question.environment, files] {
        site::NodeRequest request;
        request.arena = std::make_shared<base::Arena>();
        request.sources.directory = directory;
        request.sources.files = files;
        return request;
    };
    return state;
}

std::string readers_text(const insight::Readers& found, std::string_view input) {
    std::set<std::string> nodes;
    for (const auto& reader : found.readers) nodes.insert(reader.node);
    std::string out = fmt::format("{} of {} nodes read {}\n", nodes.size(), found.nodes, input);
    std::size_t shown = 0;
    for (const std::string& node : nodes) {
        if (++shown > kMaxShownReaders) {
            out += fmt::format("- and {} more\n", nodes.size() - kMaxShownReaders);
            break;
        }
        out += fmt::format("- {}\n", node);
    }
    if (!found.failed.empty())
        out += fmt::format("\nThe compiles of {} nodes fail.\n", found.failed.size());
    return out;
}

/// Calls `f(site, nodes)` with the fleet of a question.
template <class Out, class F>
base::Result<Out> with_fleet(const config::Settings& settings, const FleetWork::Question& question,
                             const F& f) {
    try {
        base::NullSink log;
        base::Arena arena(64 * 1024);
        site::Options options;
        options.log = &log;
        site::Site site(settings, std::move(options));
        return f(site, site::fleet_facts(arena, site, question.facts, {}, log));
    } catch (const base::PuppetError& error) {
        return base::failure(error.full_text());
    } catch (const std::exception& error) {
        return base::failure(error.what());
    }
}

}  // namespace

base::Result<std::string> SiteFleet::ask(const Question& question) {
    return with_fleet<std::string>(
        settings_, question, [&](site::Site& site, const std::vector<site::FleetNode>& nodes) {
            if (!question.input.empty()) {
                const auto state = fleet_state(question, true);
                return readers_text(insight::readers(site, state, nodes, question.input),
                                    question.input);
            }
            insight::Comparison comparison;
            comparison.from = fleet_state(question, false);
            comparison.to = fleet_state(question, true);
            return insight::impact_markdown(insight::impact(site, comparison, nodes));
        });
}

base::Result<FleetWork::Usage> SiteFleet::usage(const Question& question) {
    return with_fleet<Usage>(settings_, question,
                             [&](site::Site& site, const std::vector<site::FleetNode>& nodes) {
                                 const auto state = fleet_state(question, true);
                                 insight::UsageRecorder recorder;
                                 recorder.examine(site, state, nodes);
                                 Usage out;
                                 out.nodes = recorder.nodes();
                                 out.readers = recorder.counts();
                                 return out;
                             });
}

}  // namespace bunraku::lsp
