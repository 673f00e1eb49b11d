// SPDX-License-Identifier: Apache-2.0
// Backslash escapes of JSON and of the formats that adopted them.
#pragma once

#include <cstdint>
#include <string>

namespace bunraku::codec {

/// Appends the UTF-8 of a code point up to U+10FFFF. A lone surrogate becomes three bytes that are
/// not valid UTF-8, so a caller that may meet one must handle it first.
inline void append_utf8(std::string& out, std::uint32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
        return;
    }
    if (c < 0x800) {
        out += static_cast<char>(0xC0 | (c >> 6));
    } else {
        if (c < 0x10000) {
            out += static_cast<char>(0xE0 | (c >> 12));
        } else {
            out += static_cast<char>(0xF0 | (c >> 18));
            out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
        }
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    }
    out += static_cast<char>(0x80 | (c & 0x3F));
}

/// Returns the character that a backslash and `c` represent in JSON. Returns 0 for "\u" and for
/// anything that is not such an escape.
constexpr char json_escape(char c) {
    switch (c) {
        case '"':
        case '\\':
        case '/': return c;
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return '\0';
    }
}

constexpr bool is_high_surrogate(std::uint32_t c) { return c >= 0xD800 && c < 0xDC00; }
constexpr bool is_low_surrogate(std::uint32_t c) { return c >= 0xDC00 && c < 0xE000; }

/// Returns the code point of a surrogate pair.
constexpr std::uint32_t join_surrogates(std::uint32_t high, std::uint32_t low) {
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

}  // namespace bunraku::codec
