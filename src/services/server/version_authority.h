// SPDX-License-Identifier: Apache-2.0
// Decides which version of an environment a node gets, and remembers which version each run began
// with (docs/design/0400).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/base/result.h"

namespace bunraku::server {

/// What a request reveals about the agent run to which it belongs.
struct NodeRun {
    std::string_view environment;
    std::string_view node;  ///< the certname of the client
    /// The UUID of the run: the header Bunraku-Run or the parameter transaction_uuid. Empty if the
    /// request contains neither, such as a plugin request of Puppet's agent.
    std::string_view transaction;
    /// True if runs do not begin with this kind of request. If the run is unknown, it may have
    /// begun before the server was started, or the client may be no agent.
    bool implied = false;
    /// True if the version that begin() gets is recorded for the node, so that it is right also for
    /// a run that began before the server was started.
    bool recorded = false;
};

/// The versions of nodes. A version is a text: the name of a folder next to the one in use, such as
/// "4126bea0c1d2-9f86d081884c7d65" (module::VersionFolders), or an absolute path if the
/// environment's link points elsewhere. The base of an environment is the version to which the link
/// points on this server.
///
/// The server calls begin() or current() for each request of a node for an environment with
/// versions, so both must answer from memory for a node that has its target. Only a node that is
/// due to move may cause I/O. Thread-safe.
class VersionAuthority {
public:
    virtual ~VersionAuthority() = default;

    /// Records the base of an environment on this server. Called before any other function for the
    /// environment, and after each move of its link.
    virtual void base(std::string_view environment, std::string_view version) {
        (void)environment, (void)version;
    }

    /// Records that a rollout is about to move the environment's link on this server. The nodes
    /// have moved before, so the runs that began earlier do not have the earlier base, even if the
    /// server stops before it calls base(). After an error, the link must not move.
    virtual base::Result<void> move_base(std::string_view environment, std::string_view version) {
        (void)environment, (void)version;
        return {};
    }

    /// Returns the version that the node shall have from its next run on. nullopt means the base.
    /// Never blocks.
    virtual std::optional<std::string> target(std::string_view environment,
                                              std::string_view node) const = 0;

    /// Records that a run begins and returns its version. This is `version` (the target or the
    /// base), unless another server has recorded a different one. If the run under way has the same
    /// transaction, and the transaction is not empty, the request belongs to that run. Then nothing
    /// changes, and the version of that run is returned. An error means that the version is unknown
    /// because the store is unavailable; the server responds with 503.
    virtual base::Result<std::string> begin(const NodeRun& run, std::string_view version) = 0;

    /// Returns the version of the run under way, regardless of the server with which it began.
    /// Returns nullopt if no run is under way; the request then begins one. Errors are those of
    /// begin().
    virtual base::Result<std::optional<std::string>> current(std::string_view environment,
                                                             std::string_view node) = 0;

    /// Records the transaction of the run under way when the agent requests its catalog. The first
    /// requests of Puppet's agents do not contain the transaction.
    virtual void catalog(const NodeRun& run) = 0;

    /// Records that the report of a run has arrived. If it is the run under way, the node becomes
    /// idle, and its next request begins a run. Reports of other runs, which may be late or
    /// repeated, change nothing.
    virtual void idle(const NodeRun& run) = 0;

    /// Reports whether the node's agent should ask for resources to remove, because a rollout with
    /// `rollback: remove` was undone. Never blocks.
    virtual bool has_removals(std::string_view environment, std::string_view node) const {
        (void)environment, (void)node;
        return false;
    }
};

/// Time after which a run without a report counts as ended: runtimeout, whose default is one hour,
/// and a margin.
inline constexpr std::chrono::minutes kLongestRun{70};

/// Time after which a run that was implied by a request counts as ended.
inline constexpr std::chrono::minutes kLongestImpliedRun{10};

/// Returns an authority for one server. All targets are the base; a run keeps the version with
/// which it began. There is one entry in memory for each run under way. When an environment's link
/// moves, the runs with other versions are written to `file`, so that they keep their versions if
/// the server is restarted; if `file` is empty, nothing is written. `log` receives errors of the
/// file and must outlive the object. `now` is a monotonic clock; if empty, the system's clock is
/// used.
std::shared_ptr<VersionAuthority> make_local_versions(
    std::string file, base::LogSink& log,
    std::function<std::chrono::steady_clock::time_point()> now = {});

}  // namespace bunraku::server
