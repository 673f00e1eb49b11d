// SPDX-License-Identifier: Apache-2.0
// Character classes of the tokeniser (internal to this folder). In Ruby's regular expressions, a
// word character is an ASCII letter, a digit or an underscore.
#pragma once

#include <cstddef>
#include <string_view>

namespace bunraku::lint {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_word(char c) { return is_digit(c) || is_lower(c) || is_upper(c) || c == '_'; }
constexpr bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Returns the character at `at`, or NUL after the end.
constexpr char char_at(std::string_view text, std::size_t at) {
    return at < text.size() ? text[at] : '\0';
}

/// Returns the number of bytes of the character that begins at `at`.
constexpr std::size_t character_size(std::string_view text, std::size_t at) {
    std::size_t size = 1;
    while (at + size < text.size() && (static_cast<unsigned char>(text[at + size]) & 0xc0) == 0x80)
        ++size;
    return size;
}

/// Returns the number of bytes of the blank at `at`: a tab, vertical tab, form feed or a Unicode
/// space separator. Returns 0 at any other character.
constexpr std::size_t blank_size(std::string_view text, std::size_t at) {
    const char c = char_at(text, at);
    if (c == ' ' || c == '\t' || c == '\v' || c == '\f') return at < text.size() ? 1 : 0;
    if (static_cast<unsigned char>(c) < 0x80) return 0;
    const std::string_view rest = text.substr(at < text.size() ? at : text.size());
    for (const std::string_view blank :
         {"\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
          "\u2007", "\u2008", "\u2009", "\u200a", "\u202f", "\u205f", "\u3000"}) {
        if (rest.starts_with(blank)) return blank.size();
    }
    return 0;
}

/// Returns the number of bytes of the line end at `at`, or 0.
constexpr std::size_t line_end_size(std::string_view text, std::size_t at) {
    const char c = char_at(text, at);
    if (c == '\n') return 1;
    if (c != '\r') return 0;
    return char_at(text, at + 1) == '\n' ? 2 : 1;
}

/// Returns the end of the variable name at `at`, which follows the dollar sign, or `at` if there is
/// none: words with inner dashes, separated by "::".
std::size_t variable_name_end(std::string_view text, std::size_t at);

}  // namespace bunraku::lint
