// SPDX-License-Identifier: Apache-2.0
// Collects what the store knows about a node that has the new version, for the judge.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/rollout/judge.h"
#include "services/rollout/plan.h"
#include "store/engine/node_versions.h"
#include "store/engine/rollouts.h"

namespace bunraku::rollout {

/// Times in milliseconds since the epoch.
struct EvidenceTimes {
    std::int64_t now = 0;  ///< time of the database
    /// The time at which the environment got the previous version. Earlier catalogs may be of
    /// another version. 0 if it is unknown.
    std::int64_t base_since = 0;
    std::vector<Outage> outages{};  ///< see Silence
    /// Times of earlier rollouts of the environment. What a node changed in them does not show what
    /// it usually changes, because it may have moved to their version and back.
    std::vector<Period> rollouts{};
};

/// Returns the times of the rollouts of the environment before `row`.
base::Result<std::vector<Period>> earlier_rollouts(store::Database& db,
                                                   const store::RolloutRow& row);

/// The runs of one environment that were read before, by their ids. A stored report does not
/// change, so each new report of a node costs the reading of one run instead of thirty.
class KnownRuns {
public:
    /// Returns null if the run is not known.
    const JudgedRun* find(std::int64_t id) const;
    void add(const JudgedRun& run);

private:
    std::unordered_map<std::int64_t, JudgedRun> runs_;
};

/// Returns the evidence about a node. `row` is the move of the node to the new version.
base::Result<JudgedNode> read_evidence(store::Database& db, const Plan& plan,
                                       const PlannedNode& node, const store::NodeVersion& row,
                                       const EvidenceTimes& times, KnownRuns& known);

/// Returns the latest runs of a node whose reports came at `since` or later, newest first. Marks
/// those that were not in `environment`.
base::Result<std::vector<JudgedRun>> read_runs(store::Database& db, std::string_view certname,
                                               std::string_view environment, std::int64_t since,
                                               KnownRuns& known);

/// Returns the names of a node's facts that have changed since a time, without those that change
/// often.
base::Result<std::vector<std::string>> changed_facts(store::Database& db,
                                                     const std::string& certname,
                                                     std::int64_t since);

/// Returns whether the latest run of a node since `since` failed although the run before it did
/// not.
base::Result<bool> fails_newly(store::Database& db, const std::string& certname,
                               std::int64_t since);

}  // namespace bunraku::rollout
