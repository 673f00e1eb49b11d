// SPDX-License-Identifier: Apache-2.0
// Differences between two catalogs of one node, and errors in a catalog that otherwise only an
// apply would find.
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

/// The kind of a change, in the order of reports.
enum class Kind : std::uint8_t {
    Conflict,        ///< between two changes
    Fails,           ///< the compile worked before
    FailsOtherwise,  ///< the compile failed before with another error
    FailsAsBefore,
    WorksAgain,  ///< the compile failed before
    Finding,     ///< an error in the new catalog only
    Repaired,    ///< an error in the old catalog only
    Removed,     ///< a resource
    Added,
    Changed,  ///< a parameter of a resource
    Content,  ///< a file that a `source` refers to
    Plugin    ///< files of a module that agents download, independent of the catalog
};
/// Returns "conflict", "fails", "fails otherwise", "fails as before", "works again", "finding",
/// "repaired", "removed", "added", "changed", "content" or "plugins".
std::string_view kind_name(Kind kind);

/// One change of a node.
struct Change {
    Kind kind = Kind::Changed;
    std::string reference;  ///< such as "File[/etc/ntp.conf]"; empty for the whole node
    std::string parameter;  ///< such as "content" or "options.key"; empty for the whole resource
    /// JSON of values, text of errors and findings, or digests of contents. Empty if there is none.
    std::string before, after;
    bool sensitive = false;  ///< True if the values must not be shown; they are placeholders then.
    std::string file;        ///< location of the resource, in the new catalog if it exists there
    int line = 0;
    std::string input;  ///< for Content: path relative to the environment
};

/// Content of the module files in one state. Thread-safe.
class Contents {
public:
    explicit Contents(std::shared_ptr<const environment::Environment> environment)
        : environment_(std::move(environment)) {}

    struct Found {
        std::string path;    ///< path in the environment; empty if it is not a module file
        std::string digest;  ///< empty if the file does not exist
    };
    /// Resolves "puppet:///modules/NAME/PATH". The digest of a folder covers all its content.
    Found find(std::string_view source) const;
    /// Returns the text of a small text file, or nullopt for any other file.
    std::optional<std::string> text(const std::string& path) const;

private:
    std::string digest_of(const std::string& path, int depth) const;

    const std::shared_ptr<const environment::Environment> environment_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, Found, std::less<>> known_;
};

/// The sources of a file resource.
struct SourceOf {
    std::string reference;
    std::vector<std::string> sources;
    std::string file;
    int line = 0;
};
std::vector<SourceOf> sources_of(const catalog::Catalog& catalog);

/// Returns the first source that exists.
Contents::Found first_found(const Contents& contents, const std::vector<std::string>& sources);

/// Returns the differences between two catalogs. Ignores the order of resources, references to
/// them, containment, tags and lines.
std::vector<Change> changes(const catalog::Catalog& before, const catalog::Catalog& after,
                            const catalog::Naming& naming,
                            const std::vector<catalog::IgnorePattern>& ignored);

/// Reports whether a source is a module file: "puppet:///modules/..".
bool of_modules(std::string_view source);

/// Returns the differences in files of `source` attributes, for resources in both states.
std::vector<Change> content_changes(const std::vector<SourceOf>& before, const Contents& old,
                                    const std::vector<SourceOf>& after, const Contents& now);

/// Returns errors that an apply would report: dependency cycles, references to missing resources,
/// missing module files. Each is a Kind::Finding with its text in `after`.
std::vector<Change> findings(const catalog::Catalog& catalog, const catalog::Naming& naming,
                             const std::vector<SourceOf>& sources, const Contents& contents);
/// Returns only the missing module files.
std::vector<Change> missing_sources(const std::vector<SourceOf>& sources, const Contents& contents);

/// Returns a cycle of `before`, `require`, `notify` and `subscribe` ("a => b => a"). Containers
/// count as in Puppet. Empty if no cycle exists.
std::string dependency_cycle(const catalog::Catalog& catalog, const catalog::Naming& naming);

}  // namespace bunraku::insight
