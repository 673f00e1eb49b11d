// SPDX-License-Identifier: Apache-2.0
// The distinct sets of resource kinds in catalogs: the number of resources of each type, and the
// classes. Nodes share a few sets, so counts are computed from the sets and not from each node.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

/// The type whose resources are also counted by title.
constexpr std::string_view kTitledType = "Class";

/// Returns the kind_sets.id of a catalog's resources. Creates the set if it does not exist.
Result<std::int64_t> kind_set(Writer& writer, const std::vector<Writer::ResourceRef>& refs);

/// Stores the sets of catalogs that have none, which a program of an older schema wrote.
Result<void> fill_kind_sets(Database& db);

}  // namespace bunraku::store
