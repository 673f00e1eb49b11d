// SPDX-License-Identifier: Apache-2.0
// Lists of exported resources with the collectors that collect them, page by page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/database.h"

namespace bunraku::store {

/// A type of which active nodes export or collect resources.
struct ExportedType {
    std::string type;
    std::int64_t nodes = 0, resources = 0;  ///< nodes that export them
    std::int64_t collectors = 0;            ///< nodes that collect the type
};
/// Returns all types, sorted.
Result<std::vector<ExportedType>> exported_types(Database& db);
/// The statements of exported_types(), for the test of query plans.
extern const std::string_view kExportedTypesSql, kCollectedTypesSql;

/// The query of a collector, and the active nodes that use it.
struct CollectorUse {
    std::string query;  ///< JSON; empty if the collector collects all, "?" if it is not known
    std::int64_t nodes = 0;
    std::string node;        ///< one of the nodes
    bool evaluated = false;  ///< false if it is unknown whether it collects a resource
};

struct ExportRow {
    std::string title, certname, file;
    std::int64_t line = 0;
    std::vector<std::size_t> collected;  ///< indexes of evaluated collectors that collect it
};

/// Which exported resources of a type to list.
struct ExportFilter {
    std::string_view type = {};
    bool orphans = false;  ///< only those that no evaluated collector collects
    /// The last row of the page before; empty for the first page.
    std::string_view after_title = {}, after_node = {};
    std::size_t most = 100;
};

struct ExportList {
    std::vector<CollectorUse> collectors;  ///< those of most nodes first
    std::vector<ExportRow> rows;           ///< by title and node
};
/// At most this number of collectors is evaluated.
inline constexpr std::size_t kMostCollectors = 20;
/// Returns the exported resources of active nodes.
Result<ExportList> list_exports(Database& db, const ExportFilter& filter);
/// Returns the statement of list_exports() for collectors with these conditions on `r`, for the
/// test of query plans.
std::string exports_sql(const std::vector<std::string>& conditions, bool orphans);

}  // namespace bunraku::store
