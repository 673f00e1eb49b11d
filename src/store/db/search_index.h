// What leads from a question to resources without looking at each of them: the sets of tags there
// are, values of parameters, and how many resources of each type a node has.
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

/// Adds the ids of sets of tags to `out`, by the hash of their JSON texts; made where they are not
/// there yet.
Result<void> tag_set_ids(Writer& writer, std::span<const std::string_view> sets, IdsByDigest& out);

/// Fills parameter_values.
class ParameterIndex {
public:
    explicit ParameterIndex(Database& db);
    /// `parameters`: a canonical JSON object.
    Result<void> add(std::string_view type, std::int64_t id, std::string_view parameters);
    Result<void> flush() { return rows_.flush(); }

private:
    Bulk rows_;
    std::unordered_set<std::int64_t> seen_;  ///< hashes of one resource
};

/// Brings the node's rows of catalog_types to what `refs` are.
Result<void> store_type_counts(Writer& writer, std::int64_t node,
                               const std::vector<Writer::ResourceRef>& refs);

/// All of it anew, for a store of schema 2 that has the new tables, still empty.
Result<void> fill_search_index(Database& db);

}  // namespace bunraku::store
