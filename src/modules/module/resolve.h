// Which releases to install: the resolution of gem semantic_puppet, as `puppet module` uses it.
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

/// What a forge says of a release.
struct RemoteModule {
    std::string name;  ///< "author-name"
    std::string version;
    std::string file_uri, sha256, md5;
    bool deprecated = false;
    std::vector<Dependency> dependencies;  ///< names with dashes
};

/// One release that could be chosen.
struct Candidate {
    std::string name;  ///< "author-name"
    base::SemVer version;
    int priority = 0;  ///< installed ones are preferred by 10
    /// Ranges on other modules; an unparsable range matches nothing.
    struct Constraint {
        std::string source, module, text;
        std::optional<base::SemVerRange> range;
        bool takes(const base::SemVer& v) const { return range && range->includes(v); }
    };
    std::vector<Constraint> constraints;
    /// Modules that must be chosen too, with the releases that satisfy this one's own range.
    struct Edge {
        std::string module;
        std::vector<const Candidate*> releases;
    };
    std::vector<Edge> dependencies;
    const InstalledModule* installed = nullptr;
    const RemoteModule* remote = nullptr;
    bool local = false;  ///< the archive on the command line

    bool satisfies(const Candidate& release) const;
    const Edge* edge(std::string_view module) const;
    bool satisfied() const;  ///< no dependency is without releases
};

/// Where releases come from: all of a module's, by name.
using Source = std::function<base::Result<std::vector<Candidate>>(const std::string& name)>;

class Graph {
public:
    /// The module asked for, and the range of versions that will do.
    Graph(std::string module, std::string range);

    /// Fetches the module's releases and all they may need, from each source in turn; of one
    /// version, the first source's release counts.
    base::Result<void> query(const std::vector<Source>& sources);
    /// The module alone: its releases lose their dependencies.
    base::Result<void> query_single(const std::vector<Source>& sources);

    void add_constraint(std::string source, std::string module, std::string range);
    /// No two modules of one short name may be chosen.
    void one_of_each_name() { unique_names_ = true; }

    /// The releases that may answer for the module asked for, the newest last.
    const std::vector<const Candidate*>& candidates() const;
    const std::vector<Candidate::Constraint>& constraints() const { return root_.constraints; }

    struct Resolution {
        std::vector<const Candidate*> releases;  ///< empty: there is no solution
        std::string unsatisfied;                 ///< the module that fails; may be empty
    };
    Resolution resolve();

    /// Where there is no solution: a smallest set of demands that cannot all be met, a sentence
    /// each, and what could be done. Beside what resolve() says; bounded, and so it may be empty.
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

    Candidate root_;
    bool unique_names_ = false;
    std::vector<std::unique_ptr<Candidate>> owned_;
    std::map<std::string, std::vector<Candidate*>> cache_;
    std::vector<std::string> seen_, satisfied_;
    std::uint64_t steps_ = 0, most_steps_ = 0;
};

}  // namespace bunraku::module
