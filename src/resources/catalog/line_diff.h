// SPDX-License-Identifier: Apache-2.0
// Line-by-line differences of two texts, in the unified format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::catalog {

/// Splits a text into lines that include their line ends, so that a missing final newline counts as
/// a difference.
std::vector<std::string_view> lines_with_ends(std::string_view text);

enum class Step : char { Same = ' ', Remove = '-', Add = '+' };

/// The steps that turn one text into another.
struct EditScript {
    std::vector<Step> steps;
    /// False if the texts differ in more lines than the limit. The script then removes and adds
    /// everything between the first and the last difference.
    bool complete = true;
};

/// Returns the shortest script (Myers) if it has at most `limit` differences.
EditScript edit_script(const std::vector<std::string_view>& from,
                       const std::vector<std::string_view>& to, int limit);

/// Returns the lines of a unified diff without its two header lines: "@@ -1,3 +1,4 @@", " same",
/// "-old", "+new". Empty if the texts are equal. Marks a missing final newline in the way diff(1)
/// does. `limit` is that of edit_script.
std::vector<std::string> line_diff(std::string_view before, std::string_view after, int context = 3,
                                   int limit = 2000);

}  // namespace bunraku::catalog
