// SPDX-License-Identifier: Apache-2.0
// Collects what the store knows about a node that has the new version, for the judge.
#pragma once

#include <cstdint>
#include <string>

#include "services/rollout/judge.h"
#include "services/rollout/plan.h"
#include "store/engine/node_versions.h"

namespace bunraku::rollout {

/// Returns the evidence about a node. `row` is the move of the node to the new version, and `now`
/// the time of the database.
base::Result<JudgedNode> read_evidence(store::Database& db, const Plan& plan,
                                       const PlannedNode& node, const store::NodeVersion& row,
                                       std::int64_t now);

/// Returns whether the latest run of a node since `since` failed although the one before did not.
base::Result<bool> fails_newly(store::Database& db, const std::string& certname,
                               std::int64_t since);

}  // namespace bunraku::rollout
