// Differences of two texts, line by line, in the unified form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::catalog {

/// With their ends, so that a missing last one is a difference.
std::vector<std::string_view> lines_with_ends(std::string_view text);

/// The lines of a unified diff without its two head lines: "@@ -1,3 +1,4 @@", " same", "-old",
/// "+new". Empty where the texts are equal. A missing line end at the end of a text is told as
/// diff(1) tells it. The shortest edit script (Myers); texts that differ in more than `limit`
/// places are taken as wholly different from the first to the last difference.
std::vector<std::string> line_diff(std::string_view before, std::string_view after, int context = 3,
                                   int limit = 2000);

}  // namespace bunraku::catalog
