// The sets of kinds of resources that catalogs have: how many of each type, and which classes.
// Nodes have few different ones, so that "how many are there" is asked of them and not of each
// node.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

/// Resources of this type are counted by their titles too.
constexpr std::string_view kTitledType = "Class";

/// kind_sets.id of a catalog's resources; made where it is not there yet.
Result<std::int64_t> kind_set(Writer& writer, const std::vector<Writer::ResourceRef>& refs);

/// The sets of catalogs that have none yet: those of an older schema.
Result<void> fill_kind_sets(Database& db);

}  // namespace bunraku::store
