// Lists of numbers as compact blobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::store {

/// Each number as the difference to the one before, zigzag, seven bits a byte.
std::string pack_numbers(const std::vector<std::int64_t>& numbers);
std::vector<std::int64_t> unpack_numbers(std::string_view blob);

/// An edge of a stored catalog: resources.id of both ends and a catalog::Relationship as number.
struct PackedEdge {
    std::int64_t source, target, kind;
    auto operator<=>(const PackedEdge&) const = default;
};
/// `edges` sorted; the same set gives the same bytes.
std::string pack_edges(const std::vector<PackedEdge>& edges);
std::vector<PackedEdge> unpack_edges(std::string_view blob);

}  // namespace bunraku::store
