// SPDX-License-Identifier: Apache-2.0
// Facts and their leaves in the form in which they are stored.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

/// A top-level fact. `value` is canonical JSON.
struct FactRow {
    std::string name, value, match;
    Digest key;  ///< hash of name and match
    /// Computes `match` and `key`.
    void hash();
};

/// A scalar inside a fact.
struct FactLeaf {
    std::string_view path;   ///< for example "networking#~interfaces#~0"
    std::string_view array;  ///< for example ["networking","interfaces",0]
    int depth;
    std::string_view type;   ///< string, integer, float, boolean or null
    std::string_view value;  ///< canonical JSON
};
/// Calls `each` for every leaf of a fact, in order.
void visit_leaves(const FactRow& fact, const std::function<void(const FactLeaf&)>& each);

/// Returns the value of a JSON number, and nullopt for all other JSON.
std::optional<double> number_of(std::string_view canonical);

/// Returns the facts.id of each fact. Stores the facts that do not exist yet.
Result<std::vector<std::int64_t>> store_facts(Writer& writer, std::span<const FactRow> rows);

}  // namespace bunraku::store
