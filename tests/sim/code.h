// SPDX-License-Identifier: Apache-2.0
// The Puppet code of a simulated site. In its catalogs, each resource names the versions and facts
// that it was compiled from. So the oracle can check a catalog without a compiler.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bunraku::sim {

/// The information that a catalog of the simulated site contains about its own compile.
struct Statement {
    std::set<int> code;  ///< versions of the files that contributed to the catalog
    std::string node;    ///< name of the node that the catalog is for
    /// number of changes of the facts that it was compiled with
    int changes = -1;
    std::map<std::string, int> others;  ///< collected exports: maps a node to its number of changes
};

/// Reads the statement from the JSON of a catalog, or from any text that contains `"title":"..."`.
Statement read_catalog(std::string_view json);

/// Returns the files of one version of the code, in the order in which a deploy writes them. Nodes
/// with a fact `root` get files below it; all other nodes get notices.
std::vector<std::pair<std::string, std::string>> files_of(int version);

/// Path of the plugin below a module's or an agent's `lib`.
inline constexpr std::string_view kPlugin = "sim/plugin";
/// Returns the content of the plugin of a version.
std::string plugin_of(int version);
/// Returns the versions whose files have a SHA-256 that `json` contains. `newest` is the newest
/// version.
std::set<int> versions_of_digests(std::string_view json, int newest);

/// Returns file content that identifies the version of the code that it belongs to.
std::string stamped(int version, std::string_view what);
/// Returns the version in `content`, or nullopt if the content is incomplete.
std::optional<int> stamp_of(std::string_view content, std::string_view what);

}  // namespace bunraku::sim
