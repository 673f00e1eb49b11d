// SPDX-License-Identifier: Apache-2.0
// Bytes as hexadecimal digits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::codec {

/// Returns two lower-case digits per byte.
inline std::string to_hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += kDigits[byte >> 4];
        out += kDigits[byte & 15];
    }
    return out;
}

/// Reads the output of to_hex. Returns nullopt for other texts.
inline std::optional<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    std::string out;
    int high = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) return std::nullopt;
        if (i % 2 == 0) {
            high = digit;
        } else {
            out += static_cast<char>(high * 16 + digit);
        }
    }
    return out;
}

}  // namespace bunraku::codec
