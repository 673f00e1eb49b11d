// SPDX-License-Identifier: Apache-2.0
// The versions of nodes as rollouts and tries set them, with the store of this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sys/executor.h"
#include "services/rollout/version_table.h"
#include "services/server/version_authority.h"
#include "store/engine/service.h"

namespace bunraku::rollout {

/// Answers from a table in memory. Only a node that is due to move needs the store. Thread-safe.
class StoreVersions final : public server::VersionAuthority {
public:
    /// `marker` is the path of a file that this server creates when it sees its first rollout. If
    /// the file exists, a server that starts does not answer agents until it has read the table.
    /// `runs` records the runs under way on this server.
    StoreVersions(std::shared_ptr<store::Service> service, sys::Runtime& runtime,
                  std::string marker, std::shared_ptr<server::VersionAuthority> runs);

    void base(std::string_view environment, std::string_view version) override;
    base::Result<void> move_base(std::string_view environment, std::string_view version) override;
    std::optional<std::string> target(std::string_view environment,
                                      std::string_view node) const override;
    base::Result<std::string> begin(const server::NodeRun& run, std::string_view version) override;
    base::Result<std::optional<std::string>> current(std::string_view environment,
                                                     std::string_view node) override;
    void catalog(const server::NodeRun& run) override;
    void idle(const server::NodeRun& run) override;
    bool has_removals(std::string_view environment, std::string_view node) const override;

    /// Reads the table again.
    base::Result<void> reload();
    /// Reports whether the marker exists or is not needed. If it is needed but missing, this server
    /// must not acknowledge the table, because after a restart it would answer agents without the
    /// store.
    bool is_marked() const;
    /// Renews the leases of this server. They count from the last reload. Called while the table is
    /// acknowledged, so that the other servers wait for this one.
    void renew_leases();
    /// Measures the leases of other servers.
    const LeaseClock& lease_clock() const { return lease_clock_; }
    /// Returns when any server last acknowledged the table, in milliseconds since the epoch; 0 if
    /// none did.
    std::int64_t last_seen() const;
    /// Reports whether the time of a try is over.
    bool has_ended_try(std::int64_t now_ms) const;
    /// Returns a copy of the table.
    VersionTable table() const;

    void set_returned(ReturnedNodes nodes);
    /// Returns the undone rollouts after which the node's agent may remove something.
    std::vector<std::int64_t> returned(std::string_view environment, std::string_view node) const;

    struct Figures {
        std::uint64_t asked = 0;    ///< nodes that were due and asked the store
        std::uint64_t refused = 0;  ///< requests that got no version
    };
    Figures figures() const;
    /// Returns the number of nodes whose version is not their target.
    double due() const;

private:
    /// The last transactions of a node, so that a repeated request does not move it.
    struct Transactions {
        std::string last, before;
        bool knows(std::string_view other) const {
            return !other.empty() && (last == other || before == other);
        }
    };
    /// A time by both clocks of this machine, because the monotonic clock stops while the machine
    /// is suspended, and the wall clock may step.
    struct Contact {
        sys::TimePoint time{};
        std::int64_t wall_ms = 0;
    };
    static std::string key_of(std::string_view environment, std::string_view node);
    void remember_transaction(const server::NodeRun& run);
    /// Returns the version that the table records for the node, directly or as a member of a live
    /// rollout. The caller holds the lock.
    std::optional<std::string> recorded_version(const server::NodeRun& run) const;
    /// Returns the recorded version, or else `base`, the base of the environment.
    std::string present_version(const server::NodeRun& run, std::string_view base) const;
    /// Returns an error if the leases of this server do not allow an answer.
    std::optional<base::Error> without_lease(std::string_view environment,
                                             std::string_view node) const;
    /// Moves a node in the store and returns its version.
    base::Result<std::string> move(const server::NodeRun& run, const std::string& before,
                                   const std::string& target, std::unique_lock<std::mutex>& lock);
    /// Reads the row of a node that is due, if there are several servers: another one may have
    /// moved it since this server read the table. The lock is held before and after.
    base::Result<void> refresh(const server::NodeRun& run, std::unique_lock<std::mutex>& lock);
    /// Reports whether the node has moved to another version than `version`.
    bool moved_elsewhere(const server::NodeRun& run, std::string_view version) const;
    bool several_servers() const;
    /// Returns the base of an environment on this server, or an empty string if it is not known.
    std::string base_of(std::string_view environment) const;
    /// Takes over a row of the store that is newer than the table.
    void remember_row(const store::NodeVersion& row);
    /// Reports whether the node is due to move and has no run under way on any server. This is
    /// known if a run has ended in the present epoch, and if all servers knew at that time that the
    /// node was due.
    bool is_idle(const server::NodeRun& run) const;

    std::shared_ptr<store::Service> service_;
    sys::Runtime& runtime_;
    std::string marker_;
    const std::shared_ptr<server::VersionAuthority> runs_;
    mutable std::mutex mutex_;
    VersionTable table_;
    ByText<Transactions> transactions_;
    ByText<std::string> bases_;
    bool loaded_ = false;  ///< true after the first reload
    bool marked_ = false;  ///< true if the marker exists
    Contact reloaded_;     ///< start of the last successful reload
    /// Start of the present leases; nullopt until this server has acknowledged the table.
    std::optional<Contact> contact_;
    LeaseClock lease_clock_;
    /// Rows that were written while the table was being read.
    std::vector<store::NodeVersion> written_;
    int reloading_ = 0;
    Figures figures_;
    ReturnedNodes returned_;
};

}  // namespace bunraku::rollout
