// What becomes of one node: how its catalog differs between two states, and what is wrong with a
// catalog that only an apply would find.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/environment/environment.h"
#include "resources/catalog/catalog.h"
#include "resources/catalog/diff_filter.h"
#include "resources/catalog/naming.h"

namespace bunraku::insight {

/// What kind of thing is said of a node; the order is that of reports.
enum class Kind : std::uint8_t {
    Conflict,        ///< of two changes
    Fails,           ///< the compile, which worked before
    FailsOtherwise,  ///< with another error than before
    FailsAsBefore,
    WorksAgain,  ///< it failed before
    Finding,     ///< wrong in the new catalog, and not in the old one
    Repaired,    ///< wrong in the old catalog only
    Removed,     ///< a resource
    Added,
    Changed,  ///< a parameter of a resource
    Content,  ///< of a file behind `source`
    Plugin    ///< of a module: what agents load, whatever their catalogs say
};
/// "conflict", "fails", "fails otherwise", "fails as before", "works again", "finding", "repaired",
/// "removed", "added", "changed", "content", "plugins".
std::string_view kind_name(Kind kind);

/// One thing that is said of a node.
struct Change {
    Kind kind = Kind::Changed;
    std::string reference;  ///< "File[/etc/ntp.conf]"; empty: the node as a whole
    std::string parameter;  ///< "content", "options.key"; empty: the whole resource
    /// JSON of values; texts of errors and findings; digests of contents. Empty: there is none.
    std::string before, after;
    bool sensitive = false;  ///< the values are not to be shown: they are digests
    std::string file;        ///< where the resource stands, in the new catalog where it is there
    int line = 0;
    std::string input;  ///< of Content: the path below the environment
};

/// The contents of module files, of two states at once. Thread-safe.
class Contents {
public:
    explicit Contents(std::shared_ptr<const environment::Environment> environment)
        : environment_(std::move(environment)) {}

    struct Found {
        std::string path;    ///< on the environment's disk; empty: no file of a module
        std::string digest;  ///< empty: it is not there
    };
    /// What "puppet:///modules/NAME/PATH" means; a folder's digest is that of all that is in it.
    Found find(std::string_view source) const;
    /// The text of a small text file; nullopt where it is none.
    std::optional<std::string> text(const std::string& path) const;

private:
    std::string digest_of(const std::string& path, int depth) const;

    const std::shared_ptr<const environment::Environment> environment_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, Found, std::less<>> known_;
};

/// Where a file of a catalog gets its content from.
struct SourceOf {
    std::string reference;
    std::vector<std::string> sources;
    std::string file;
    int line = 0;
};
std::vector<SourceOf> sources_of(const catalog::Catalog& catalog);

/// The first of several sources that is there.
Contents::Found first_found(const Contents& contents, const std::vector<std::string>& sources);

/// What differs between two catalogs. References, order and containers of resources are no part of
/// it, nor are tags and lines.
std::vector<Change> changes(const catalog::Catalog& before, const catalog::Catalog& after,
                            const catalog::Naming& naming,
                            const std::vector<catalog::IgnorePattern>& ignored);

/// A file of a module of the environment: "puppet:///modules/..".
bool of_modules(std::string_view source);

/// What of the files behind `source` differs, where the resource is in both states.
std::vector<Change> content_changes(const std::vector<SourceOf>& before, const Contents& old,
                                    const std::vector<SourceOf>& after, const Contents& now);

/// What an apply would stumble over: circles of dependencies, references that lead nowhere, files
/// of modules that are not there. Each is Kind::Finding with the text in `after`.
std::vector<Change> findings(const catalog::Catalog& catalog, const catalog::Naming& naming,
                             const std::vector<SourceOf>& sources, const Contents& contents);
/// The last of these alone.
std::vector<Change> missing_sources(const std::vector<SourceOf>& sources, const Contents& contents);

/// A circle of `before`, `require`, `notify` and `subscribe`, containers counted as Puppet does
/// ("a => b => a"); empty: there is none.
std::string dependency_cycle(const catalog::Catalog& catalog, const catalog::Naming& naming);

}  // namespace bunraku::insight
