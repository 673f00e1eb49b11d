// SPDX-License-Identifier: Apache-2.0
// Makes the plan of a rollout from the impact of the new version on the fleet.
#pragma once

#include <map>
#include <span>
#include <string>

#include "compile/insight/impact.h"
#include "services/rollout/plan.h"

namespace bunraku::rollout {

struct PlanInput {
    std::string program, environment;
    std::int64_t made = 0;  ///< see Plan::made
    PlannedVersion from, to;
    std::string rules_text;  ///< rollout.yaml of the new version; empty if it has none
    /// When the last report or facts of each node came (site::fleet_contacts()). May lack nodes.
    std::map<std::string, std::int64_t> contacts{};
};

/// Returns the plan. `nodes` have the facts of the nodes in `impact`. Fails if the rules are not
/// valid, or if no node was examined. Throws base::PuppetError if facts cannot be read.
base::Result<Plan> make_plan(const PlanInput& input, const insight::Impact& impact,
                             std::span<const site::FleetNode> nodes);

/// Returns a summary of the plan for people.
std::string plan_summary(const Plan& plan);

}  // namespace bunraku::rollout
