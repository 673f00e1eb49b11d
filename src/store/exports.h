// What nodes export to each other: who collects what, and what two of them export under one name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "store/writer.h"

namespace bunraku::store {

/// A resource that two nodes export, for a collector that takes both: whoever collects fails.
struct ExportClash {
    struct Side {
        std::string certname, file;
        std::int64_t line = 0;
    };
    std::string type, title;
    Side own, other;
    std::vector<std::string> collectors;  ///< nodes that take both

    /// In one sentence, as Puppet begins it.
    std::string text() const;
};

/// What `catalog` of `certname` exports that another active node exports too, as long as somebody
/// collects it. One of each name.
Result<std::vector<ExportClash>> export_clashes(Database& db, std::string_view certname,
                                                const catalog::Catalog& catalog);

/// The collectors of the node's newest catalog, as catalog::name_of_export writes them; sorted.
/// Nothing is written where they are known.
Result<void> remember_collections(Writer& writer, std::string_view certname,
                                  const std::vector<std::string>& names);

/// The map: {"exported":[..],"collected":[..],"clashes":[..]}, of active nodes. Clashes: `most` at
/// most.
Result<std::string> exports_json(Database& db, std::size_t most = 1000);

}  // namespace bunraku::store
