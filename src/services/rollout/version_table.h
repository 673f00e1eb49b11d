// SPDX-License-Identifier: Apache-2.0
// Everything that decides which version a node should have, as one snapshot of the store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/rollout/lease_clock.h"
#include "services/rollout/states.h"
#include "store/engine/node_versions.h"
#include "store/engine/rollouts.h"

namespace bunraku::rollout {

/// Allows lookups with a string_view.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};
template <class T>
using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

/// The waves of a rollout's members, which never change.
using MemberWaves = ByText<std::int64_t>;

/// Returns the position that a row describes.
Position position_of(const store::RolloutRow& row);
/// Writes the position into a row.
void set_position(store::RolloutRow& row, const Position& position);

struct LiveRollout {
    store::RolloutRow row;
    std::shared_ptr<const MemberWaves> waves;
};

struct EnvironmentVersions {
    std::optional<LiveRollout> rollout;
    ByText<store::NodeVersion> nodes;
    ByText<store::NodeTry> tries;
};

/// The lease of a server that does not answer. A node may move only after this lease has ended.
enum class Lease : std::uint8_t { Forward, Back };

struct VersionTable {
    std::int64_t epoch = 0;
    std::int64_t joined = 0;  ///< see store::Epochs
    ByText<EnvironmentVersions> environments;
    std::vector<store::RolloutServer> servers;

    /// Returns the version that a rollout or a try sets for the node, or nullopt for the base of
    /// the environment. A try counts until the controller removes it, because clocks differ.
    std::optional<std::string> target(std::string_view environment, std::string_view node) const;
    /// Returns the lease for a move of the node to its target.
    Lease lease(std::string_view environment, std::string_view node, std::string_view target) const;
    /// Reports whether a server knows the newest targets, or its lease for older targets has ended.
    /// `clock` has observed the rows of servers.
    bool knows(const store::RolloutServer& server, const LeaseClock& clock, Lease lease) const;
    /// Reports whether this is so for all servers. Then a node may take its target.
    bool known_by_all(const LeaseClock& clock, Lease lease) const;
};

/// The nodes whose agents may remove what an undone rollout has created (`rollback: remove`).
struct ReturnedNodes {
    struct Returned {
        std::vector<std::int64_t> rollouts;  ///< newest first
        std::int64_t until = 0;              ///< in milliseconds since the epoch
    };
    ByText<ByText<Returned>> environments;  ///< by environment and node

    /// Returns the rollouts of a node at a time, newest first.
    std::vector<std::int64_t> rollouts_of(std::string_view environment, std::string_view node,
                                          std::int64_t now_ms) const;
};

/// Time for which agents may remove after a return.
inline constexpr std::int64_t kRemovalTime = 24LL * 60 * 60 * 1000;

/// How long a server without contact to the store may answer nodes of waves that have not moved
/// (forward), and nodes of waves that have (back). Servers end their own leases a minute earlier.
inline constexpr std::int64_t kForwardLease = 60LL * 60 * 1000;
inline constexpr std::int64_t kBackLease = 10LL * 60 * 1000;
inline constexpr std::int64_t kLeaseMargin = 60LL * 1000;

/// Records the rows of servers that were just read.
void observe_servers(LeaseClock& clock, const std::vector<store::RolloutServer>& servers);
/// Returns the number of milliseconds for which this process has not seen a server act.
std::int64_t unseen_for(const LeaseClock& clock, const store::RolloutServer& server);

/// Reads the table. `earlier` may be null; members of rollouts that it contains are not read again.
store::Result<VersionTable> read_table(store::Database& db, const VersionTable* earlier);

}  // namespace bunraku::rollout
