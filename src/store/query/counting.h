// Questions that only count, which are asked of tables that are made for that.
#pragma once

#include <optional>

#include "store/query/compiler.h"

namespace bunraku::query {

/// ["function", "count"]
bool is_count(const Ast& item);

/// The terms of a conjunction, and of those inside it.
void conjoined(const Ast& condition, std::vector<Ast>& out, int depth = 0);

/// Whether `condition` speaks of nodes and of `field`s alone, whatever rows it is about.
/// `subqueries`: implicit ones may be there.
bool speaks_only_of(const Ast& condition, bool (*field)(const Ast&), bool subqueries);

/// "How many reports of each status, environment, type or node": asked of counters.
bool only_counts_reports(const Ast& query, const QueryOptions& options);
/// "How many resources", by what resource_counts() has, node by node.
bool only_counts_resources(const Ast& query, const QueryOptions& options);
/// Whether what is asked of events (a condition, or what is extracted) is known of those of newest
/// reports without a look at the events themselves.
bool speaks_of_newest_events(const Ast& query);

/// "How many resources of each type, class or environment": asked of the few sets of kinds there
/// are. nullopt: `query` (of resources) asks something else.
std::optional<QueryCompiler::Select> select_kind_counts(QueryCompiler& compiler, const Ast& query,
                                                        const QueryOptions& options);

/// "How many resources are declared at each file and line": counted from the lists of the catalogs.
struct PlaceCounts {
    QueryCompiler::Select select;
    Sql lists;  ///< see CompiledQuery
};
std::optional<PlaceCounts> select_place_counts(QueryCompiler& compiler, const Ast& query,
                                               const QueryOptions& options);

/// "How many facts of each name, or at all, do these nodes have": asked of the few sets of names
/// there are. nullopt: `query` (of facts) asks something else.
std::optional<QueryCompiler::Select> select_fact_counts(QueryCompiler& compiler, const Ast& query,
                                                        const QueryOptions& options);

}  // namespace bunraku::query
