// Questions that only count, which are asked of tables that are made for that.
#pragma once

#include <optional>

#include "query/compiler.h"

namespace bunraku::query {

/// ["function", "count"]
bool is_count(const Ast& item);

/// Whether `condition` speaks of nodes and of `field`s alone, whatever rows it is about.
/// `subqueries`: implicit ones may be there.
bool speaks_only_of(const Ast& condition, bool (*field)(const Ast&), bool subqueries);

/// "How many facts of each name, or at all, do these nodes have": asked of the few sets of names
/// there are. nullopt: `query` (of facts) asks something else.
std::optional<QueryCompiler::Select> select_fact_counts(QueryCompiler& compiler, const Ast& query,
                                                        const QueryOptions& options);

}  // namespace bunraku::query
