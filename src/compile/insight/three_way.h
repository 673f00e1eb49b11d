// Two changes of one text put together.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::insight {

/// `base` with what `ours` and `theirs` change in it, line by line; nullopt: both change the same
/// lines, or lines next to each other, in different ways (or the texts are too long to compare).
std::optional<std::string> merged_text(std::string_view base, std::string_view ours,
                                       std::string_view theirs);

}  // namespace bunraku::insight
