// "Did you mean": which of the known names a mistyped one was probably meant to be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::base {

/// How many letters must be added, taken away, changed or swapped with their neighbour to make one
/// text of the other; more than `limit` is `limit` + 1.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// The names nearest to `wanted`, the nearest first, equals left out; none where nothing is near.
/// Capitals count for nothing. Linear in the names.
std::vector<std::string> similar_names(std::string_view wanted,
                                       const std::vector<std::string>& names, std::size_t most = 3);

}  // namespace bunraku::base
