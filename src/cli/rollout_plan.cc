// SPDX-License-Identifier: Apache-2.0
#include "cli/rollout_plan.h"

#include <fmt/format.h>

#include "compile/insight/impact.h"
#include "compile/insight/impact_notes.h"
#include "compile/insight/impact_result.h"
#include "core/base/plain_error.h"
#include "core/config/setting_lists.h"
#include "core/sys/system.h"
#include "services/rollout/deployed.h"
#include "services/rollout/make_plan.h"

namespace bunraku::cli {

namespace {

template <class T>
T good(base::Result<T> result) {
    if (!result) throw base::plain_error(result.error().message);
    return std::move(*result);
}

}  // namespace

rollout::Plan make_rollout_plan(Invocation& invocation, const RolloutPlanOptions& options,
                                base::LogSink& log) {
    FleetOptions fleet_options = options.fleet;
    auto& compile = fleet_options.compile;
    if (compile.environment.empty()) compile.environment = "production";
    sys::RealSystem real;
    const auto path = compile.environmentpath.empty() ? invocation.settings.list("environmentpath")
                                                      : config::split_path(compile.environmentpath);
    const rollout::Deployed deployed(real.system(), path);
    if (options.to.empty()) throw base::plain_error("--to is needed: a version or a commit");
    const auto from = good(deployed.base(compile.environment));
    const auto to = good(deployed.find(compile.environment, options.to));
    if (to.base) {
        throw base::plain_error(fmt::format("The environment '{}' has the version {} already",
                                            compile.environment, to.name));
    }
    auto site_options = cli::site_options(log);
    site_options.explain_errors = false;
    site_options.threads = fleet_options.threads();
    site_options.queue = 2 * site_options.threads;
    site::Site site(invocation.settings, std::move(site_options));
    insight::Comparison comparison;
    // Both versions are displayed with the path of the environment, as the server compiles them.
    const std::string shown = good(deployed.link(compile.environment));
    comparison.from = fleet_options.state(from.folder, site.settings(), shown);
    comparison.to = fleet_options.state(to.folder, site.settings(), shown);
    comparison.keep = insight::read_cache_folder();
    const std::int64_t made = real.system().clock.now_ns() / 1'000'000;
    base::Arena arena(64 * 1024);
    const auto fleet = fleet_options.fleet(site, arena, log, comparison.keep);
    auto impact = insight::impact(site, comparison, fleet.nodes);
    impact.notes.insert(impact.notes.begin(), fleet.notes.begin(), fleet.notes.end());
    insight::add_unjudged(impact, fleet.unjudged);
    return good(rollout::make_plan(
        {.program = std::string(kVersion),
         .environment = compile.environment,
         .made = made,
         .from = from.planned(),
         .to = to.planned(),
         .rules_text = good(deployed.rules_text(to)),
         .contacts = site::fleet_contacts(site, fleet_options.fact_source(), log)},
        impact, fleet.nodes));
}

}  // namespace bunraku::cli
