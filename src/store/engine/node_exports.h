// SPDX-License-Identifier: Apache-2.0
// The exported resources of one node, and those that its catalog has collected from others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/db/database.h"

namespace bunraku::store {

/// Returns environments.id of the node's newest catalog, or 0 if it is unknown.
Result<std::int64_t> catalog_environment(Database& db, std::int64_t node);

struct ExportedRow {
    std::string type, title, file;
    std::int64_t line = 0;  ///< 0 if unknown
};
/// Returns what the newest catalog of the node (certnames.id) exports, by type and title.
Result<std::vector<ExportedRow>> exported_by(Database& db, std::int64_t node, std::size_t most);

struct CollectedRow {
    std::string type, title;
    std::string exporter;          ///< the certname of the node that exports it
    std::int64_t environment = 0;  ///< of the exporter's catalog; 0 if unknown
};
/// Returns the resources of the node's newest catalog that other active nodes export. Parameters
/// are the same, or the node has a collector of the type.
Result<std::vector<CollectedRow>> collected_by(Database& db, std::int64_t node, std::size_t most);

/// Returns the statements of these functions, for tests of their plans. Parameter ?1 is the node,
/// and ?2 a limit.
std::vector<std::string> node_exports_statements();

}  // namespace bunraku::store
