// SPDX-License-Identifier: Apache-2.0
// The source locations (file and line) of the resources in a node's newest catalog, stored as one
// short list per catalog. Queries for source locations count these lists instead of millions of
// links.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

struct Place {
    std::optional<std::string> file;
    std::optional<std::int64_t> line;
    std::int64_t id = 0;

    Digest hash() const;
};
/// Sorted by hash, so that all writers create new ones in the same order.
using SourceLocations = std::map<Digest, Place>;

/// Sets the id of each location. Creates the locations that do not exist.
Result<void> number_source_locations(Writer& writer, SourceLocations& places);

/// Records the source locations of `refs`, the resources of the newest catalog of `node`, which has
/// this hash.
Result<void> store_source_locations(Writer& writer, std::int64_t node,
                                    const std::vector<Writer::ResourceRef>& refs,
                                    const Digest& hash);

/// Records the source locations for nodes whose newest catalog was written by a program that does
/// not record locations. Processes at most `limit` nodes and returns their number.
Result<std::size_t> fill_source_locations(Database& db, std::size_t limit = INT64_MAX);

/// Returns up to `limit` locations that no catalog uses. Reads the lists in pages, without a lock,
/// so that a catalog may use one of the locations again meanwhile.
Result<std::vector<std::int64_t>> unused_source_locations(Database& db, std::size_t limit,
                                                          std::size_t page = 1000);

/// Returns the members of `places` that are not in any list written in this generation of the
/// store's content or later.
Result<std::vector<std::int64_t>> still_unused_source_locations(
    Database& db, const std::vector<std::int64_t>& places, std::int64_t generation);

}  // namespace bunraku::store
