// SPDX-License-Identifier: Apache-2.0
// Matching and ranking of search results.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modules/forge/snapshot.h"

namespace bunraku::forge {

/// Returns the words of a query in lower case.
std::vector<std::string> search_words(std::string_view text);
/// Reports whether each word occurs in the module's name, summary or tags.
bool search_matches(const Snapshot& snapshot, const SnapshotModule& module,
                    const std::vector<std::string>& words);
/// Returns the rank of a matching module: matches in the name first, then in the tags, then in the
/// summary. Frequently downloaded modules rank higher; deprecated modules are last.
int search_rank(const Snapshot& snapshot, const SnapshotModule& module,
                const std::vector<std::string>& words, std::uint64_t downloads);

}  // namespace bunraku::forge
