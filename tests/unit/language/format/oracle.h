// SPDX-License-Identifier: Apache-2.0
// What must hold for each formatted manifest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::format {

enum class Verdict { Good, Invalid, Bad };

/// Formats a manifest and checks the result: the same syntax tree, the same comments in the same
/// order, no change if it is formatted again, and no tabs or blanks at the end of a line except in
/// strings. Also formats the lines from `first_line` on for themselves. Returns Invalid if the text
/// is not a manifest; otherwise `problem` describes what is wrong.
Verdict judge(std::string_view text, const std::vector<std::string>& comments, int first_line,
              std::string* problem);

}  // namespace bunraku::format
