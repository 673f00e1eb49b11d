// SPDX-License-Identifier: Apache-2.0
// Splits double-quoted strings and heredocs into texts, variables and interpolated code. The rules
// are those of puppet-lint's string scanner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace bunraku::lint {

struct StringSegment {
    enum class Kind : std::uint8_t { Text, Code, Variable, HeredocEnd };
    Kind kind = Kind::Text;
    std::string_view text;  ///< a Variable has no dollar sign
};

struct SlurpedString {
    std::vector<StringSegment> segments;
    std::size_t size = 0;  ///< bytes consumed, including the end
};

/// Splits the string whose content begins at the start of `text`. Returns nullopt if it has no end.
std::optional<SlurpedString> slurp_string(std::string_view text);

/// Splits the heredoc whose content begins at the start of `text`. `tag` is the text between the
/// parentheses of "@(...)". Returns nullopt if the heredoc has no end.
std::optional<SlurpedString> slurp_heredoc(std::string_view text, std::string_view tag);

}  // namespace bunraku::lint
