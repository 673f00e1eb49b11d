// Differences of two texts, line by line, in the unified form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::catalog {

/// With their ends, so that a missing last one is a difference.
std::vector<std::string_view> lines_with_ends(std::string_view text);

enum class Step : char { Same = ' ', Remove = '-', Add = '+' };

/// How one text becomes another.
struct EditScript {
    std::vector<Step> steps;
    /// False: they differ in more than the limit, and all between the first and the last difference
    /// is removed and added.
    bool complete = true;
};

/// The shortest one (Myers) of at most `limit` differences.
EditScript edit_script(const std::vector<std::string_view>& from,
                       const std::vector<std::string_view>& to, int limit);

/// The lines of a unified diff without its two head lines: "@@ -1,3 +1,4 @@", " same", "-old",
/// "+new". Empty where the texts are equal. A missing line end at the end of a text is told as
/// diff(1) tells it. `limit` as above.
std::vector<std::string> line_diff(std::string_view before, std::string_view after, int context = 3,
                                   int limit = 2000);

}  // namespace bunraku::catalog
