// Where Ruby's regular expressions (Onigmo) and Oniguruma differ: pattern rewriting and error
// texts.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::regex {

/// The pattern for Oniguruma with the options WORD/DIGIT/SPACE_IS_ASCII: `\b`, `[[:word:]]` and
/// their like stay Unicode-aware as in Ruby, `\u{41 42}` and `(?<n>` forms are spelled its way.
std::string to_oniguruma(std::string_view pattern, bool extended);

/// Ruby's text for an Oniguruma error.
std::string ruby_message(int code, std::string_view oniguruma_text);

bool is_valid_utf8(std::string_view text);

}  // namespace bunraku::regex
