// What stands behind the backslashes of JSON and the formats that took them over.
#pragma once

#include <cstdint>
#include <string>

namespace bunraku::codec {

/// The UTF-8 of a code point, U+10FFFF at most. A lone surrogate gets its three bytes, which are
/// not valid: callers that may meet one decide before.
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

/// What a backslash and `c` stand for in JSON; 0 where it is no such escape, or "\u".
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

/// The code point of two surrogates.
constexpr std::uint32_t join_surrogates(std::uint32_t high, std::uint32_t low) {
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

}  // namespace bunraku::codec
