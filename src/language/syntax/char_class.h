// SPDX-License-Identifier: Apache-2.0
// ASCII character classes, equal to Ruby's \w and \d.
#pragma once

#include <array>

namespace bunraku::syntax {

namespace detail {
constexpr std::array<bool, 256> make_word_table() {
    std::array<bool, 256> table{};
    for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
    for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
    for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
    table['_'] = true;
    return table;
}
inline constexpr std::array<bool, 256> kWordTable = make_word_table();
}  // namespace detail

constexpr bool is_word(char c) { return detail::kWordTable[static_cast<unsigned char>(c)]; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

}  // namespace bunraku::syntax
