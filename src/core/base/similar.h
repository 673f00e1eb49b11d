// SPDX-License-Identifier: Apache-2.0
// "Did you mean" suggestions: the known names that are closest to a mistyped one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::base {

/// Returns the number of letters to insert, delete, replace or swap with their neighbour to turn
/// one text into the other. Returns `limit` + 1 if the distance exceeds `limit`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// Returns the names closest to `wanted`, the nearest first, without `wanted` itself. Returns an
/// empty list if no name is close. Ignores case. The time is linear in the number of names.
std::vector<std::string> similar_names(std::string_view wanted,
                                       const std::vector<std::string>& names, std::size_t most = 3);

}  // namespace bunraku::base
