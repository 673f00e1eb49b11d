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

/// A run of an agent, as far as a request names it.
struct NodeRun {
    std::string_view environment;
    std::string_view node;  ///< the certname of the client
    /// The UUID of the run: the header Bunraku-Run or the parameter transaction_uuid. Empty if the
    /// request names none, as a request for plugins of Puppet's agent.
    std::string_view transaction;
    /// True if the request is not one with which runs begin. If its run is not known, it may come
    /// from a run that began before the server was started, or from a client without runs.
    bool implied = false;
};

/// The versions of nodes. A version is the name of its folder beside the one in use, such as
/// "4126bea0c1d2-9f86d081884c7d65" (module::VersionFolders), or the absolute path of another folder
/// to which the environment's link points. The base of an environment is the version to which the
/// link points on this server.
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

    /// Returns the version that the node shall have from its next run on. nullopt means the base.
    /// Never blocks.
    virtual std::optional<std::string> target(std::string_view environment,
                                              std::string_view node) const = 0;

    /// Records that a run begins and returns the version of the run, which is `version` (the target
    /// or the base) unless another server recorded another one. If the run under way has the same
    /// transaction, which is not empty, the request belongs to that run: nothing changes, and its
    /// version is returned. An error means that the version cannot be known now, because the store
    /// is away; the server answers 503.
    virtual base::Result<std::string> begin(const NodeRun& run, std::string_view version) = 0;

    /// Returns the version of the run under way, whichever server saw its begin. Returns nullopt if
    /// no run is under way; the request then begins one. Errors are those of begin().
    virtual base::Result<std::optional<std::string>> current(std::string_view environment,
                                                             std::string_view node) = 0;

    /// Records that the run under way has this transaction, which the request for its catalog
    /// names. Puppet's agents begin a run with a request that names none.
    virtual void catalog(const NodeRun& run) = 0;

    /// Records that the report of a run came. If it is the run under way, the node is idle, and its
    /// next request begins a run. Reports of other runs change nothing: they may come late or
    /// twice.
    virtual void idle(const NodeRun& run) = 0;

    /// Reports whether the node's agent should ask for resources to remove, because a rollout with
    /// `rollback: remove` was undone. Never blocks.
    virtual bool has_removals(std::string_view environment, std::string_view node) const {
        (void)environment, (void)node;
        return false;
    }
};

/// Time after which a run whose report did not come counts as ended: runtimeout, whose default is
/// one hour, and a margin.
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
