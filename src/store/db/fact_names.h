// The sets of fact names there are: nodes have few different ones, so that "how many nodes have
// each fact" is asked of them and not of each node's facts.
#pragma once

#include <cstdint>
#include <span>

#include "store/db/fact_rows.h"
#include "store/db/writer.h"

namespace bunraku::store {

/// fact_name_sets.id of the names of `facts` (sorted by name); made where it is not there yet.
Result<std::int64_t> fact_name_set(Writer& writer, std::span<const FactRow> facts);

/// The sets of all nodes, for a store of an older schema whose tables of sets are still empty.
Result<void> fill_fact_name_sets(Database& db);

}  // namespace bunraku::store
