// SPDX-License-Identifier: Apache-2.0
// Compact lists of node names: sorted in natural order, with ranges of numbers folded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bunraku::insight {

/// Lists names in natural order ("web2" before "web10"), with names that differ in one number
/// folded: "db1, web[1-52].example.com". At most `most` entries, then " and 7 more" names.
std::string folded_names(std::vector<std::string> names, std::size_t most);

}  // namespace bunraku::insight
