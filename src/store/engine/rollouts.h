// SPDX-License-Identifier: Apache-2.0
// The rows of rollouts, which move nodes to another version of their environment in waves.
// docs/design/0401-rollouts.md
//
// Only the transitions below change a rollout. Each compares the rollout's sequence number with the
// expected one, so that of two servers or operators that act at the same time only one succeeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

/// The row of a rollout. Times are milliseconds since the epoch.
struct RolloutRow {
    std::int64_t id = 0;
    std::string environment, from, to;
    std::string plan;  ///< digest of its plan
    std::string state;
    std::int64_t wave = 0;   ///< the wave that moves or soaks, or that comes next
    std::int64_t moved = 0;  ///< number of waves whose target is `to`
    std::string resume;      ///< the state in which it was paused; otherwise empty
    bool hold = false;       ///< true if a halted rollout waits for an operator
    std::int64_t sequence = 0;
    std::int64_t epoch = 0;  ///< the epoch of its last change of a target
    std::int64_t started = 0, since = 0;
    std::string starter;
    std::int64_t approved = 0;  ///< number of waves that may start as far as approvals count
    std::string reason;         ///< reason of the last transition
    bool live = true;           ///< false once it is closed
};

/// A node of a rollout.
struct RolloutMember {
    std::string certname;
    std::int64_t wave = 0;
    bool judged = false;  ///< false if the change does not touch the node
    std::string verdict, detail;
    std::int64_t proofs = 0;
};

struct RolloutEvent {
    std::int64_t rollout = 0, number = 0, time = 0;
    std::string actor, what;
    std::string detail;  ///< a JSON object
};

/// Error code of insert_rollout if the environment has a live rollout.
constexpr int kLiveRollout = 409;

/// Adds a rollout with its plan and members in one transaction, and returns its id. Fails with
/// kLiveRollout if the environment has a live rollout.
Result<std::int64_t> insert_rollout(Writer& writer, const RolloutRow& row, std::string_view plan,
                                    const std::vector<RolloutMember>& members,
                                    const RolloutEvent& event);

Result<std::optional<RolloutRow>> find_rollout(Database& db, std::int64_t id);
/// Returns at most `most` rollouts, newest first. An empty environment means all.
enum class Which : std::uint8_t { Live, All };
Result<std::vector<RolloutRow>> list_rollouts(Database& db, std::string_view environment,
                                              Which which, std::int64_t most = 1000);
/// Returns the text of a plan, or nullopt if it is unknown.
Result<std::optional<std::string>> rollout_plan(Database& db, std::string_view digest);
/// Returns the members, by wave and name.
Result<std::vector<RolloutMember>> rollout_members(Database& db, std::int64_t id);

/// Whether a transition changes the version that some node should have. Finished is a change after
/// which the new version is the base of the environment.
enum class Targets : std::uint8_t { Same, Changed, Finished };

/// Writes `row` with the next sequence number, and the event, in one transaction, if the rollout's
/// sequence number is still `row.sequence`. Targets::Changed and Targets::Finished also raise the
/// epoch. Targets::Finished records `row.from` as the version of the members that have not moved,
/// because nothing else shows it afterwards. Returns the row as written, or nullopt if the sequence
/// number differs.
Result<std::optional<RolloutRow>> change_rollout(Writer& writer, RolloutRow row, Targets targets,
                                                 const RolloutEvent& event);

/// Adds an event without a transition.
Result<void> add_rollout_event(Writer& writer, const RolloutEvent& event);
/// Returns the events with a number above `after`, oldest first.
Result<std::vector<RolloutEvent>> rollout_events(Database& db, std::int64_t id,
                                                 std::int64_t after = 0);
/// Returns the events of all rollouts that no webhook has reported yet, oldest first.
Result<std::vector<RolloutEvent>> unsent_events(Database& db);
Result<void> mark_sent(Writer& writer, const RolloutEvent& event);

/// Stores the verdicts of members in one transaction.
Result<void> set_verdicts(Writer& writer, std::int64_t id,
                          const std::vector<RolloutMember>& members);

/// The epoch rises with each change of a node's target, and when a server joins.
struct Epochs {
    std::int64_t present = 0;
    /// The newest epoch in which nodes or servers began to take part. A server that knows only
    /// older ones does not know that its answers depend on leases.
    std::int64_t joined = 0;
};
Result<Epochs> rollout_epochs(Database& db);
Result<std::int64_t> rollout_epoch(Database& db);
/// Returns the epochs and keeps them from changing until the caller's transaction ends. With
/// Change, no other transaction has a lock, so that the caller may raise the epoch.
enum class EpochLock : std::uint8_t { Share, Change };
Result<Epochs> lock_epochs(Database& db, EpochLock lock);

/// Whether nodes or servers begin to take part with a new epoch.
enum class Joins : std::uint8_t { No, Yes };
/// Raises the epoch and returns it. The caller has a transaction. It has changed nothing yet, and
/// has no lock or EpochLock::Change, so that two transactions cannot wait for each other.
Result<std::int64_t> raise_epoch(Database& db, Joins joins);

/// Returns the time of the database, in milliseconds since the epoch. With SQLite, that is the
/// clock of this machine.
Result<std::int64_t> database_time(Database& db);

}  // namespace bunraku::store
