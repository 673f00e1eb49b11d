// SPDX-License-Identifier: Apache-2.0
// Indexes that answer a query for resources without a scan: the distinct sets of tags, parameter
// values, and the number of resources of each type per node.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/db/bulk.h"
#include "store/db/writer.h"

namespace bunraku::store {

using IdsByDigest = std::unordered_map<Digest, std::int64_t, DigestHash>;

/// Adds the ids of sets of tags to `out`, keyed by the hash of their JSON texts. Creates the sets
/// that do not exist.
Result<void> tag_set_ids(Writer& writer, std::span<const std::string_view> sets, IdsByDigest& out);

/// Writes the table parameter_values.
class ParameterIndex {
public:
    explicit ParameterIndex(Database& db);
    /// Adds the parameters of a resource. `parameters` is a canonical JSON object.
    Result<void> add(std::string_view type, std::int64_t id, std::string_view parameters);
    Result<void> flush() { return rows_.flush(); }

private:
    Bulk rows_;
    std::unordered_set<std::int64_t> seen_;  ///< hashes of one resource's values
};

/// Updates the node's rows in catalog_types to match `refs`.
Result<void> store_type_counts(Writer& writer, std::int64_t node,
                               const std::vector<Writer::ResourceRef>& refs);

/// Builds the whole index, for a store of schema 2 whose new tables are still empty.
Result<void> fill_search_index(Database& db);

}  // namespace bunraku::store
