// SPDX-License-Identifier: Apache-2.0
// The resources that earlier catalogs of a node declared and its newest one does not. Puppet leaves
// such resources on the machine and forgets them. docs/design/0402
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/writer.h"
#include "store/engine/catalog_rows.h"
#include "store/engine/created_resources.h"

namespace bunraku::store {

/// The most rows that the store retains for one node. The oldest ones are removed first.
constexpr std::size_t kMostUndeclared = 5000;

/// Reports whether resources of this type may remain on a machine. Names with "::" are defined
/// types, and classes, `exec` and some other types leave nothing behind that they could remove.
bool may_remain(std::string_view type);

/// Records the resources that the catalog `row` of the node no longer declares, and closes the rows
/// of resources that it declares again. Writers call this before they replace the newest catalog.
/// `added` and `removed` are the resource ids in which `row` differs from the previous catalog.
Result<void> record_undeclared(Writer& writer, std::int64_t node, const CatalogRow& row,
                               const std::vector<std::int64_t>& added,
                               const std::vector<std::int64_t>& removed);

/// Closes the rows of the resources that a report of this time shows to be removed, for example
/// because a directory purges them.
Result<void> record_removed(Database& db, std::int64_t node, std::int64_t time,
                            std::span<const ExistenceChange> changes);

/// Removes up to `limit` rows that were closed before that time, and returns their number.
Result<std::size_t> purge_undeclared(Database& db, std::int64_t before, std::size_t limit);

/// A resource that is no longer declared. Times are milliseconds since the epoch.
struct UndeclaredResource {
    std::string certname, type, title;
    std::string name;        ///< the values of the name variables, separated by ", "
    std::int64_t since = 0;  ///< the time of the first catalog without the resource
    std::optional<std::int64_t> declared_again, removed;
    std::string environment, version, code_id;  ///< of that catalog
    std::string file;                           ///< where it was declared last; may be empty
    std::int64_t line = 0;                      ///< 0 if unknown
    bool created = false;                       ///< true if a report says that the agent created it
    std::string removal;  ///< JSON, see undeclared_removal.h; empty if it was not created or unsafe
};

enum class UndeclaredState : std::uint8_t {
    Settled,  ///< not declared in at least two runs
    Recent,   ///< not declared in the last run only, declared again, or removed
    Open,     ///< neither declared again nor removed, however recent
};

struct UndeclaredQuery {
    std::string certname;  ///< empty means all active nodes
    UndeclaredState state = UndeclaredState::Settled;
    std::size_t limit = 1000;
    std::size_t offset = 0;
};

/// Returns the rows, sorted by certname, type and name.
Result<std::vector<UndeclaredResource>> undeclared_resources(Database& db,
                                                             const UndeclaredQuery& query);

/// Returns the number of settled rows of active nodes.
Result<std::int64_t> count_undeclared(Database& db);

/// Returns the rows in the API's format.
std::string undeclared_json(const std::vector<UndeclaredResource>& rows);

}  // namespace bunraku::store
