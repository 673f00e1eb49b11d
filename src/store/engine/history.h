// SPDX-License-Identifier: Apache-2.0
// The history of a node's catalogs, stored as short lists of differences.
//
// A version lists the resources that its catalog added and removed, compared with the previous one,
// as resource ids. The newest catalog is in its own tables. An earlier catalog is reconstructed
// from the newest one by undoing the later changes. Resources are retained as long as a version may
// need them (gc_candidates.lost_at). docs/design/0221
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resources/catalog/catalog.h"
#include "store/db/writer.h"
#include "store/engine/catalog_rows.h"

namespace bunraku::store {

/// Writers call this before they replace the newest catalog. Does nothing if the newest catalog has
/// the same `hash`. Ids must be sorted. `known` is true if the node had a catalog.
Result<void> remember_version(Writer& writer, std::int64_t node, const Digest& hash,
                              const CatalogRow& row, bool known,
                              const std::vector<std::int64_t>& added,
                              const std::vector<std::int64_t>& removed);

/// Sets the retention time of the history for all programs that use this database. 0 disables the
/// history.
Result<void> keep_history_for(Writer& writer, std::int64_t ttl_ms);

/// A catalog of the history. Times are milliseconds since the epoch.
struct CatalogVersion {
    std::int64_t valid_from = 0;
    std::optional<std::int64_t> valid_until;  ///< empty for the newest version
    std::string hash;                         ///< hexadecimal, as in the API
    std::string version, code_id, environment;
    std::size_t added = 0, removed = 0;  ///< compared with the previous version
    bool first = false;                  ///< true if no earlier version is known
};

/// Returns the versions, newest first.
Result<std::vector<CatalogVersion>> catalog_versions(Database& db, std::string_view certname);

struct PastCatalog {
    CatalogVersion version;
    /// Resources by type and title, without secrets and without containment.
    catalog::Catalog catalog;
};

/// Returns the catalog that was valid at that time, or nullopt if none is known.
Result<std::optional<PastCatalog>> catalog_at(Database& db, std::string_view certname,
                                              std::int64_t time);

/// Reports whether some node exports, or exported until lately, a resource with this type and
/// title.
Result<bool> is_exported(Database& db, std::string_view type, std::string_view title);

/// Returns the versions in the API's format.
std::string versions_json(const std::vector<CatalogVersion>& versions);
std::string past_catalog_json(std::string_view certname, const PastCatalog& past);

/// Groupings of corrective changes, which are available as long as events are retained.
enum class DriftBy { Resource, Node, Hour, Flapping };
std::optional<DriftBy> drift_by(std::string_view name);
/// Returns JSON, sorted by descending count; by hour, the newest first.
Result<std::string> drift_json(Database& db, DriftBy by, std::int64_t since, std::size_t limit);

}  // namespace bunraku::store
