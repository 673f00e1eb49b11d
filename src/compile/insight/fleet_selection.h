// SPDX-License-Identifier: Apache-2.0
// The nodes of a fleet that a command examines, their facts, and the state of the control
// repository, as users name them on a command line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/insight/impact.h"
#include "compile/site/fleet_facts.h"
#include "compile/site/node_arguments.h"
#include "compile/site/site.h"
#include "core/base/arena.h"

namespace bunraku::insight {

/// The nodes of a command.
struct Fleet {
    std::vector<site::FleetNode> nodes;
    /// Nodes that cannot be examined, with the reason.
    std::vector<std::pair<std::string, std::string>> unjudged;
    std::vector<std::string> notes;
};

/// The members are named after the options.
class FleetSelection {
public:
    /// Returns the nodes. Throws base::PuppetError on errors, including an empty selection. If
    /// `keep`, a cache folder, is given, nodes from a folder of fact files may have no facts yet
    /// (see site::with_facts).
    Fleet fleet(site::Site& site, base::Arena& arena, base::LogSink& log,
                const std::string& keep = {}) const;
    /// Returns the state of that name: a commit or branch, a folder, or an environment ("git:.."
    /// and "env:.." select the kind). An empty name means the working tree. `shown_at` is the
    /// folder to display in paths, so that two states have the same paths; if it is empty, the
    /// state's own folder is displayed. Throws on errors.
    State state(const std::string& name, const config::Settings& settings,
                const std::string& shown_at) const;
    /// Returns the absolute folder of the control repository with links resolved. Throws if there
    /// is none.
    std::string control() const;
    /// The kind of state that a name refers to.
    enum class StateKind : std::uint8_t { WorkingTree, Revision, Folder, Environment };
    StateKind meaning(const std::string& name) const;
    /// Returns the folder of the environment with that name. Throws if it does not exist.
    std::string environment_folder(const std::string& name, const config::Settings& settings) const;
    std::size_t threads() const;
    /// Returns the folder, file or address with the facts, or "store". Throws if several options
    /// name one.
    std::string fact_source() const;

    site::NodeArguments compile;
    std::string path, facts_from, facts_dir, nodes, sample, jobs, manifest;
    std::vector<std::string> node;
};

/// Parses the value of --jobs. If it is empty, returns the number of cores. Throws if it is not a
/// number from 1 to 1024.
std::size_t thread_count(const std::string& jobs);

/// Returns the folder that caches the reads of nodes between runs. Empty if this user has no cache
/// folder.
std::string read_cache_folder();

/// Reports whether `text` matches a pattern in which `*` represents any text.
bool fits(std::string_view pattern, std::string_view text);

}  // namespace bunraku::insight
