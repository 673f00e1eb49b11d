// SPDX-License-Identifier: Apache-2.0
// Differences between Ruby's regular expressions (Onigmo) and Oniguruma: pattern rewriting and
// error texts.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::regex {

/// Returns the pattern for Oniguruma with the options WORD/DIGIT/SPACE_IS_ASCII. `\b`, `[[:word:]]`
/// and similar stay Unicode-aware as in Ruby. The forms `\u{41 42}` and `(?<n>` are rewritten in
/// Oniguruma's syntax.
std::string to_oniguruma(std::string_view pattern, bool extended);

/// Returns Ruby's text for an Oniguruma error.
std::string ruby_message(int code, std::string_view oniguruma_text);

bool is_valid_utf8(std::string_view text);

}  // namespace bunraku::regex
