// What was: the catalogs that a node had before, as short lists of what came and went.
//
// A version says what its catalog has that the one before had not, and the other way round, as
// identifiers of resources; the newest catalog is in its own tables. So a catalog of before is the
// newest one with what came since taken away and what went since put back. Resources stay for as
// long as a version may need them (gc_candidates.lost_at). docs/design/0221-what-was.md
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

/// For writers, before the newest catalog is replaced: nothing where `hash` is its content already.
/// Identifiers are sorted. `known`: the node had a catalog.
Result<void> remember_version(Writer& writer, std::int64_t node, const Digest& hash,
                              const CatalogRow& row, bool known,
                              const std::vector<std::int64_t>& added,
                              const std::vector<std::int64_t>& removed);

/// How long what was is kept, for all programs on this database; 0: not at all.
Result<void> keep_history_for(Writer& writer, std::int64_t ttl_ms);

/// Times are milliseconds since the epoch.
struct CatalogVersion {
    std::int64_t valid_from = 0;
    std::optional<std::int64_t> valid_until;  ///< empty: it is the newest
    std::string hash;                         ///< hexadecimal, as the API has it
    std::string version, code_id, environment;
    std::size_t added = 0, removed = 0;  ///< against the one before
    bool first = false;                  ///< there is none before that is known
};

/// The newest first.
Result<std::vector<CatalogVersion>> catalog_versions(Database& db, std::string_view certname);

struct PastCatalog {
    CatalogVersion version;
    /// Resources by type and title, without secrets; containment is not kept.
    catalog::Catalog catalog;
};

/// The catalog that was good at that time; nullopt: none is known.
Result<std::optional<PastCatalog>> catalog_at(Database& db, std::string_view certname,
                                              std::int64_t time);

/// As the API gives them.
std::string versions_json(const std::vector<CatalogVersion>& versions);
std::string past_catalog_json(std::string_view certname, const PastCatalog& past);

/// What runs had to put right (corrective changes), as long as events are kept.
enum class DriftBy { Resource, Node, Hour, Flapping };
std::optional<DriftBy> drift_by(std::string_view name);
/// JSON, the most first; by hour the newest first.
Result<std::string> drift_json(Database& db, DriftBy by, std::int64_t since, std::size_t limit);

}  // namespace bunraku::store
