// SPDX-License-Identifier: Apache-2.0
// Rollouts in the format of the API, which `rollout --json` prints, too.
#pragma once

#include <string>
#include <vector>

#include "services/rollout/controller.h"
#include "services/rollout/leftovers.h"

namespace bunraku::rollout {

std::string rollout_json(const store::RolloutRow& row);
std::string status_json(const RolloutStatus& status);
/// `nodes` are the versions of the members, by name.
std::string members_json(const std::vector<store::RolloutMember>& members,
                         const ByText<store::NodeVersion>& nodes);
std::string events_json(const std::vector<store::RolloutEvent>& events);
std::string leftovers_json(const std::vector<Leftover>& leftovers);
std::string versions_json(const std::vector<DeployedVersion>& versions);

}  // namespace bunraku::rollout
