// SPDX-License-Identifier: Apache-2.0
// Selects the releases to install. Implements the resolution of the gem semantic_puppet, as used by
// `puppet module`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/semver.h"
#include "modules/module/installed.h"
#include "modules/module/tarball.h"

namespace bunraku::module {

/// A release described by a forge.
struct RemoteModule {
    std::string name;  ///< "author-name"
    std::string version;
    std::string file_uri, sha256, md5;
    bool deprecated = false;
    std::vector<Dependency> dependencies;  ///< names in the form "author-name"
};

/// A release that may be selected.
struct Candidate {
    std::string name;  ///< "author-name"
    base::SemVer version;
    int priority = 0;  ///< 10 for installed releases, to prefer them
    /// A version range for another module. A range that cannot be parsed matches nothing.
    struct Constraint {
        std::string source, module, text;
        std::optional<base::SemVerRange> range;
        bool takes(const base::SemVer& v) const { return range && range->includes(v); }
    };
    std::vector<Constraint> constraints;
    /// A required module, with the releases that satisfy this release's range.
    struct Edge {
        std::string module;
        std::vector<const Candidate*> releases;
    };
    std::vector<Edge> dependencies;
    const InstalledModule* installed = nullptr;
    const RemoteModule* remote = nullptr;
    bool local = false;  ///< true for the archive given on the command line

    bool satisfies(const Candidate& release) const;
    const Edge* edge(std::string_view module) const;
    bool satisfied() const;  ///< reports whether each dependency has at least one release
};

/// Returns all releases of a module by its name.
using Source = std::function<base::Result<std::vector<Candidate>>(const std::string& name)>;

class Graph {
public:
    /// `module` is the requested module, `range` its acceptable versions.
    Graph(std::string module, std::string range);

    /// Fetches the releases of the module and, recursively, of its dependencies from each source in
    /// turn. If several sources have the same version, the first one is used.
    base::Result<void> query(const std::vector<Source>& sources);
    /// Fetches the releases of the module alone, without their dependencies.
    base::Result<void> query_single(const std::vector<Source>& sources);

    void add_constraint(std::string source, std::string module, std::string range);
    /// Forbids the selection of two modules with the same short name.
    void one_of_each_name() { unique_names_ = true; }

    /// Returns the acceptable releases of the requested module, the newest last.
    const std::vector<const Candidate*>& candidates() const;
    const std::vector<Candidate::Constraint>& constraints() const { return root_.constraints; }

    struct Resolution {
        std::vector<const Candidate*> releases;  ///< empty if there is no solution
        /// the module that cannot be satisfied; may be empty
        std::string unsatisfied;
    };
    Resolution resolve();

    /// An explanation of a failed resolution, in addition to the result of resolve(): a minimal set
    /// of unsatisfiable requirements, one sentence each, and possible remedies. The search is
    /// bounded, so the explanation may be empty.
    struct Explanation {
        std::vector<std::string> wants, remedies;
        bool empty() const { return wants.empty(); }
    };
    Explanation explain();

private:
    using Considered = std::vector<const Candidate*>;
    using Open = std::vector<Candidate::Edge>;
    bool walk(Open open, Considered considering, Considered* solution);
    base::Result<std::vector<Candidate*>*> fetch(const std::string& name,
                                                 const std::vector<Source>& sources);
    base::Result<void> fetch_dependencies(Candidate& node, const std::vector<Source>& sources,
                                          int depth);
    bool unique(const Considered& solution) const;
    bool solvable(std::vector<Candidate::Constraint> demands, Candidate::Edge asked);
    std::vector<std::string> chain(const Candidate& from, const std::string& module) const;
    void explain_missing(const Candidate& from, std::set<std::string>& seen,
                         std::vector<std::string>& lines) const;
    std::vector<Candidate::Constraint> needed_constraints(const Candidate::Edge& asked);
    void explain_installed(const Candidate::Edge& asked, Explanation& out);
    void explain_dependencies(const Candidate::Edge& asked, Explanation& out);
    void suggest_version(const std::string& module, Explanation& out);

    Candidate root_;
    bool unique_names_ = false;
    std::vector<std::unique_ptr<Candidate>> owned_;
    std::map<std::string, std::vector<Candidate*>> cache_;
    std::vector<std::string> seen_, satisfied_;
    std::uint64_t steps_ = 0, most_steps_ = 0;
};

}  // namespace bunraku::module
