// SPDX-License-Identifier: Apache-2.0
// Three-way merge of texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::insight {

/// Merges the changes of `ours` and `theirs` relative to `base`, line by line. Returns nullopt if
/// both change the same or adjacent lines in different ways, or if the texts are too long to
/// compare.
std::optional<std::string> merged_text(std::string_view base, std::string_view ours,
                                       std::string_view theirs);

}  // namespace bunraku::insight
