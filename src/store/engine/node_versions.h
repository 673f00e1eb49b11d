// SPDX-License-Identifier: Apache-2.0
// The version of an environment that each node uses while a rollout or a try is under way, and the
// servers that must know about a change of versions. docs/design/0401-rollouts.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

/// The version that a node uses. Times are milliseconds since the epoch.
struct NodeVersion {
    std::string certname, environment;
    std::string version, previous;
    std::int64_t since = 0;   ///< beginning of the first run with this version
    std::string transaction;  ///< transaction of that run; empty if the agent did not send it
    bool idle = false;        ///< true if a run with this version has ended
    /// The epoch in which a run ended at a time when all servers knew that the node was due to
    /// move. 0 if there was none. No run of the node is under way in this epoch.
    std::int64_t epoch = 0;
};

Result<std::optional<NodeVersion>> node_version(Database& db, std::string_view environment,
                                                std::string_view certname);
/// Returns the rows of an environment, or of all if it is empty.
Result<std::vector<NodeVersion>> node_versions(Database& db, std::string_view environment);

/// Moves a node to `target.version` if its version is still `expected`; empty means that it has no
/// row. Returns the row that is stored afterwards, which another server may have written.
Result<NodeVersion> move_node(Writer& writer, const NodeVersion& target, std::string_view expected);
/// Records the transaction of the run that moved the node, if it is unknown.
Result<void> set_transaction(Writer& writer, std::string_view environment,
                             std::string_view certname, std::string_view transaction);
/// Records that a run of the node with `node.version` has ended, and `node.epoch`. Changes nothing
/// if the node has another version by now. Returns the row that is stored afterwards.
Result<std::optional<NodeVersion>> set_idle(Writer& writer, const NodeVersion& node);
/// Removes the rows of nodes that have used `version` since a time before `before`.
Result<void> forget_nodes(Writer& writer, std::string_view environment, std::string_view version,
                          std::int64_t before);
/// Removes the rows of nodes that have not moved since a time before `before`.
Result<void> forget_unmoved(Writer& writer, std::string_view environment, std::int64_t before);

/// A version that one node uses for a limited time.
struct NodeTry {
    std::string certname, environment, version;
    std::int64_t ends = 0;
    std::string actor;
};
Result<std::vector<NodeTry>> node_tries(Database& db);
/// Adds or replaces the try of a node. Raises the epoch if the node gets another target.
Result<void> set_try(Writer& writer, const NodeTry& entry);
/// Removes the try of a node and raises the epoch. Returns false if the node has no try.
Result<bool> remove_try(Writer& writer, std::string_view environment, std::string_view certname);
/// Removes and returns the tries that end at `now` or before, and raises the epoch if there are
/// any.
Result<std::vector<NodeTry>> end_tries(Writer& writer, std::int64_t now);

/// A server that serves agents.
struct RolloutServer {
    std::string server;
    std::int64_t epoch = 0;  ///< the newest epoch that it knows
    std::int64_t seen = 0;
    std::string versions;  ///< a JSON object: environment to list of versions
    bool forgotten = false;
};
Result<std::vector<RolloutServer>> rollout_servers(Database& db);
/// Adds or replaces the row of a server. Raises the epoch if the server joins others.
Result<void> acknowledge_epoch(Writer& writer, const RolloutServer& server);
/// Returns false if the server is unknown.
Result<bool> forget_server(Writer& writer, std::string_view server);

}  // namespace bunraku::store
