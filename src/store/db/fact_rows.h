// Facts and their leaves on their way into the tables.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

/// A top-level fact; `value` is canonical JSON.
struct FactRow {
    std::string name, value, match;
    Digest key;  ///< of name and match
    /// Fills match and key.
    void hash();
};

/// A scalar inside a fact.
struct FactLeaf {
    std::string_view path;   ///< "networking#~interfaces#~0"
    std::string_view array;  ///< ["networking","interfaces",0]
    int depth;
    std::string_view type;   ///< string, integer, float, boolean, null
    std::string_view value;  ///< canonical JSON
};
/// Every leaf of a fact, in order.
void visit_leaves(const FactRow& fact, const std::function<void(const FactLeaf&)>& each);

/// The value of a number's JSON; nullopt for everything else.
std::optional<double> number_of(std::string_view canonical);

/// facts.id of each, made where it is not there yet.
Result<std::vector<std::int64_t>> store_facts(Writer& writer, std::span<const FactRow> rows);

}  // namespace bunraku::store
