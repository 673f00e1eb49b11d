// SPDX-License-Identifier: Apache-2.0
// One pass of the controller over one rollout. Internal to controller*.cc.
#pragma once

#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/rollout/controller.h"
#include "services/rollout/evidence.h"
#include "store/engine/runs.h"

namespace bunraku::rollout {

/// Reports whether a stored verdict counts against the rollout.
inline bool is_bad_name(std::string_view verdict) {
    return !verdict.empty() && verdict != "proved" && verdict != "accepted";
}

/// The keys of Controller::watch_.
inline std::string watched_rollout(const store::RolloutRow& row) {
    return fmt::format("{}", row.id);
}
inline std::string watched_node(const store::RolloutRow& row, std::string_view node) {
    return fmt::format("{}\n{}", row.id, node);
}

struct Controller::Pass {
    store::Database& db;
    const store::RolloutRow& row;
    std::shared_ptr<const Plan> plan;
    EvidenceTimes times;
    std::vector<store::RolloutMember> members;
    /// The newest report of each active node.
    std::map<std::string, store::RunRow, std::less<>> runs;
    ByText<store::NodeVersion> nodes;
    ByText<store::NodeTry> tries;
    /// Outages of other servers. They are excluded from silence, but not from other times.
    std::vector<Outage> away;
    /// Id of the plan's environment; 0 if the store has no run in it.
    std::int64_t environment = 0;

    const Rules& rules() const { return plan->rules; }
    /// Returns the times in which some report could not come.
    std::vector<Outage> silent_times() const {
        std::vector<Outage> out = times.outages;
        out.insert(out.end(), away.begin(), away.end());
        return out;
    }
    /// Returns the move of a node to the new version, or null if it has not come yet.
    const store::NodeVersion* moved(const std::string& name) const {
        const auto at = nodes.find(name);
        return at != nodes.end() && at->second.version == row.to ? &at->second : nullptr;
    }
    /// Reports whether the node's last run was in another environment.
    bool runs_elsewhere(const std::string& name) const {
        const auto run = runs.find(name);
        return run != runs.end() && run->second.environment != 0 &&
               run->second.environment != environment;
    }
    /// Reports whether the node cannot be judged, because it was deactivated or runs elsewhere.
    bool is_absent(const std::string& name) const {
        return !runs.contains(name) || runs_elsewhere(name);
    }
};

}  // namespace bunraku::rollout
