// SPDX-License-Identifier: Apache-2.0
// Counting queries that special tables can answer.
#pragma once

#include <optional>

#include "store/query/compiler.h"

namespace bunraku::query {

/// Reports whether the item is ["function", "count"].
bool is_count(const Ast& item);

/// Collects the terms of a conjunction, including nested conjunctions.
void conjoined(const Ast& condition, std::vector<Ast>& out, int depth = 0);

/// Reports whether `condition` refers only to nodes and to fields that `field` accepts, regardless
/// of its entity. `subqueries` allows implicit subqueries.
bool refers_only_to(const Ast& condition, bool (*field)(const Ast&), bool subqueries);

/// Reports whether the query only counts reports by status, environment, type or node. The counter
/// table can then answer it.
bool only_counts_reports(const Ast& query, const QueryOptions& options);
/// Reports whether the query only counts resources by the fields of resource_counts(), which has
/// one row per node and type.
bool only_counts_resources(const Ast& query, const QueryOptions& options);
/// Reports whether a condition or projection on events can be answered from the table of newest
/// events without reading the events themselves.
bool refers_only_to_newest_events(const Ast& query);

/// Compiles a count of resources by type, class or environment, which the distinct sets of kinds
/// answer. Returns nullopt if `query` (of resources) is not such a count.
std::optional<QueryCompiler::Select> select_kind_counts(QueryCompiler& compiler, const Ast& query,
                                                        const QueryOptions& options);

/// A count of resources by file and line, computed from the lists of the catalogs.
struct PlaceCounts {
    QueryCompiler::Select select;
    Sql lists;  ///< see CompiledQuery::lists
};
std::optional<PlaceCounts> select_place_counts(QueryCompiler& compiler, const Ast& query,
                                               const QueryOptions& options);

/// Compiles a count of the nodes' facts, by name or in total, which the distinct sets of names
/// answer. Returns nullopt if `query` (of facts) is not such a count.
std::optional<QueryCompiler::Select> select_fact_counts(QueryCompiler& compiler, const Ast& query,
                                                        const QueryOptions& options);

/// Compiles a count of the nodes' packages by name, version or provider. It reads the packages of
/// one node for each distinct set. Returns nullopt if `query` (of package_inventory) is not such a
/// count.
std::optional<QueryCompiler::Select> select_package_counts(QueryCompiler& compiler,
                                                           const Ast& query,
                                                           const QueryOptions& options);

}  // namespace bunraku::query
