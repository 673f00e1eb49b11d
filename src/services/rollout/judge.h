// SPDX-License-Identifier: Apache-2.0
// Judges the runs of a node that has the new version of a rollout. A pure function of the node's
// reports: their order and repetition do not matter.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/rollout/rules.h"

namespace bunraku::rollout {

struct JudgedEvent {
    std::string resource;  ///< "File[/etc/motd]"
    std::string property;  ///< empty for a refresh
    bool failed = false;
    bool noop = false;
    bool corrective = false;
    bool created = false, removed = false;  ///< what it did to the existence of its resource
};

/// A run of an agent, from its report. Times are milliseconds since the epoch.
struct JudgedRun {
    std::int64_t id = 0;              ///< rises in the order in which the store got the reports
    std::string report;               ///< hash of the report
    std::string transaction;          ///< UUID of the run; may be empty
    std::int64_t start = 0, end = 0;  ///< by the clock of the agent
    std::int64_t received = 0;
    bool failed = false;  ///< status of the report
    bool noop = false;
    bool skipped = false;            ///< some resources were skipped, for example because of --tags
    bool cached_on_failure = false;  ///< the compile failed, and the agent used an old catalog
    bool elsewhere = false;          ///< the run was in another environment
    std::vector<JudgedEvent> events;
};

/// Milliseconds since the epoch.
struct Period {
    std::int64_t from = 0, until = 0;
};

/// A period in which a server could not reach the store, so that reports could not arrive.
using Outage = Period;

/// How long a node has sent nothing, and the outages that may be the cause.
struct Silence {
    std::int64_t last = 0;  ///< the time of the last contact
    std::int64_t now = 0;
    /// How long this server has watched the node without hearing from it, in milliseconds by its
    /// monotonic clock. 0 if reports could not arrive.
    std::int64_t watched = 0;
    std::vector<Outage> outages{};  ///< in any order; may overlap
    /// Returns the time since `last`, without the outages.
    std::int64_t open_time() const;
    /// Reports whether the node is silent. It is if nothing arrived for longer than `limit` while
    /// this server watched, or for twice that time without the outages.
    bool longer_than(std::int64_t limit) const;
};

/// What is known about a node.
struct JudgedNode {
    std::int64_t moved = 0;  ///< start of its first run with the new version
    /// UUID of the run with the first catalog after the move, which may be a later run. May be
    /// empty.
    std::string transaction;
    std::int64_t now = 0;
    std::int64_t watched = 0;       ///< see Silence
    std::vector<Outage> outages{};  ///< see Silence
    std::int64_t usual_gap = 0;     ///< usual time between two of its reports, in milliseconds
    /// Resources that the plan or the node's new catalog lists as changed. If `any_change` is set,
    /// every change is expected, for example because a custom type changed.
    std::set<std::string, std::less<>> expected;
    bool any_change = false;
    /// A difference between the node's catalogs that the plan does not contain, for operators.
    /// Empty if there is none, or if it may have another cause than the new version.
    std::string unplanned;
    std::string note;  ///< for operators, if nothing is wrong; may be empty
    /// Properties that must change in the first full run: "resource property".
    std::set<std::string, std::less<>> required;
    /// Resources that failed in the last run before the move.
    std::set<std::string, std::less<>> failed_before;
    bool run_failed_before = false;
    /// "resource property" that changed in two of the last five runs before the move.
    std::set<std::string, std::less<>> habitual;
    std::vector<JudgedRun> runs;  ///< in any order, also runs before the move
};

enum class Verdict : std::uint8_t {
    None,        ///< nothing against it so far
    Failed,      ///< the compile, the run or a resource failed
    Unplanned,   ///< the node's catalog differs from what the plan predicted
    Surprising,  ///< a change that the plan did not predict, or a predicted one that did not come
    Restless,    ///< a later run changed something again
    Silent,      ///< no report came
    Proved,      ///< enough good runs
};
std::string_view verdict_name(Verdict verdict);
/// Reports whether a node with this verdict counts against the rollout.
inline bool is_bad(Verdict verdict) {
    return verdict != Verdict::None && verdict != Verdict::Proved;
}

struct Judgement {
    Verdict verdict = Verdict::None;
    std::string detail;       ///< the reason of a bad verdict, for operators
    std::int64_t proofs = 0;  ///< number of good full runs
    bool operator==(const Judgement&) const = default;
};
Judgement judge(const JudgedNode& node, const Rules& rules);

/// Reports whether a run took place before the move. Clocks may step, so the result is an estimate.
bool is_before_move(const JudgedNode& node, const JudgedRun& run);

/// Numbers of nodes of moved waves.
struct Tally {
    std::int64_t canaries_bad = 0;
    std::int64_t later_bad = 0, later_judged = 0;  ///< judged: with at least one run
};
/// Reports whether the thresholds say to halt.
bool too_many_bad(const Tally& tally, const Rules& rules);
/// Reports whether most nodes of a wave are bad, once enough of them are judged to go on. A small
/// wave has too few nodes for the thresholds.
bool most_are_bad(std::int64_t bad, std::int64_t judged, const Rules& rules);

/// Reports whether nodes that still have the old version fail as well, so that the change is
/// probably not the cause. `failed` and `nodes` count nodes of the old version in the same hours.
bool fleet_fails(std::int64_t failed, std::int64_t nodes, std::int64_t moved_failed,
                 std::int64_t moved_nodes);

}  // namespace bunraku::rollout
