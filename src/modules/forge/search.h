// What somebody who searches is shown first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modules/forge/snapshot.h"

namespace bunraku::forge {

/// The words of a question, in lower case.
std::vector<std::string> search_words(std::string_view text);
/// Does all of it stand in the module's name, summary or tags?
bool search_matches(const Snapshot& snapshot, const SnapshotModule& module,
                    const std::vector<std::string>& words);
/// How well a module that matches does so: by name before by tag before by summary, then what is
/// fetched often; what is deprecated last.
int search_rank(const Snapshot& snapshot, const SnapshotModule& module,
                const std::vector<std::string>& words, std::uint64_t downloads);

}  // namespace bunraku::forge
