// SPDX-License-Identifier: Apache-2.0
// The newest catalog of a node as a graph, without parameters: what pages need to show containment,
// relationships and paths of large catalogs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resources/catalog/relations.h"
#include "store/db/database.h"

namespace bunraku::store {

struct CatalogView {
    struct Entry {
        std::string type, title;
        std::string file;       ///< empty if unknown
        std::int64_t line = 0;  ///< 0 if unknown
        bool exported = false;
        std::string reference() const { return type + "[" + title + "]"; }
    };
    std::string version, code_id, environment, catalog_uuid;
    std::int64_t time = 0;  ///< the producer's time, milliseconds since the epoch
    /// In the order of the manifests if it is known, otherwise by type and title.
    std::vector<Entry> resources;
    std::vector<catalog::Relation> relations;  ///< positions in `resources`; containment, too
};

/// Returns nullopt if the node has no catalog. `node` is certnames.id.
Result<std::optional<CatalogView>> catalog_view(Database& db, std::int64_t node);

/// Returns the statements of catalog_view(), for tests of their plans. Each has one parameter, the
/// node.
std::vector<std::string> catalog_view_statements(Backend backend);

}  // namespace bunraku::store
