// SPDX-License-Identifier: Apache-2.0
// Encodes lists of numbers as compact blobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::store {

/// Encodes each number as the difference to its predecessor: zigzag, seven bits per byte.
std::string pack_numbers(const std::vector<std::int64_t>& numbers);
std::vector<std::int64_t> unpack_numbers(std::string_view blob);

/// An edge of a stored catalog: the resources.id of both ends, and a catalog::Relationship as a
/// number.
struct PackedEdge {
    std::int64_t source, target, kind;
    auto operator<=>(const PackedEdge&) const = default;
};
/// Encodes edges. `edges` must be sorted, so that the same set gives the same bytes.
std::string pack_edges(const std::vector<PackedEdge>& edges);
std::vector<PackedEdge> unpack_edges(std::string_view blob);

}  // namespace bunraku::store
