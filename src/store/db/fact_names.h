// SPDX-License-Identifier: Apache-2.0
// The distinct sets of fact names. Nodes share a few sets, so the number of nodes that have each
// fact is computed from the sets and not from each node's facts.
#pragma once

#include <cstdint>
#include <span>

#include "store/db/fact_rows.h"
#include "store/db/writer.h"

namespace bunraku::store {

/// Returns the fact_name_sets.id of the names of `facts`, which are sorted by name. Creates the set
/// if it does not exist.
Result<std::int64_t> fact_name_set(Writer& writer, std::span<const FactRow> facts);

/// Stores the sets of all nodes, for a store of an older schema whose tables of sets are still
/// empty.
Result<void> fill_fact_name_sets(Database& db);

}  // namespace bunraku::store
