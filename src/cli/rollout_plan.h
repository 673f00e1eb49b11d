// SPDX-License-Identifier: Apache-2.0
// `rollout plan`: makes the plan of a rollout on the machine that has the versions.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/fleet_options.h"
#include "services/rollout/plan.h"

namespace bunraku::cli {

struct RolloutPlanOptions {
    FleetOptions fleet;
    std::string to;  ///< a version or commit
};

/// Returns the plan for the version `to` of the environment. Throws base::PuppetError.
rollout::Plan make_rollout_plan(Invocation& invocation, const RolloutPlanOptions& options,
                                base::LogSink& log);

}  // namespace bunraku::cli
