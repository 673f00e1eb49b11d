// SPDX-License-Identifier: Apache-2.0
#include "core/codec/base64.h"

#include <array>

#include "core/base/assert.h"

namespace bunraku::codec {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<signed char, 256> make_table() {
    std::array<signed char, 256> table{};
    for (auto& entry : table) entry = -1;
    for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
        table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<signed char>(i);
    }
    return table;
}
constexpr auto kTable = make_table();

}  // namespace

std::string base64_encode(std::string_view bytes, Base64 form) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4 + (form == Base64::Lines ? bytes.size() / 45 + 1 : 0));
    std::size_t column = 0;
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    auto letter = [&](unsigned value) {
        char c = kAlphabet[value & 63];
        if (form == Base64::UrlSafe) c = c == '+' ? '-' : c == '/' ? '_' : c;
        out += c;
    };
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::size_t left = bytes.size() - i;
        unsigned group = byte(i) << 16;
        if (left > 1) group |= byte(i + 1) << 8;
        if (left > 2) group |= byte(i + 2);
        letter(group >> 18);
        letter(group >> 12);
        if (left > 1) {
            letter(group >> 6);
        } else {
            out += '=';
        }
        if (left > 2) {
            letter(group);
        } else {
            out += '=';
        }
        if (form == Base64::Lines && (column += 4) == 60) {
            out += '\n';
            column = 0;
        }
    }
    if (form == Base64::Lines && column > 0) out += '\n';
    BUNRAKU_ASSERT(form == Base64::Lines || out.size() == (bytes.size() + 2) / 3 * 4);
    BUNRAKU_ASSERT(column < 60);
    return out;
}

base::Result<std::string> base64_decode(std::string_view text, Base64 form) {
    std::string out;
    out.reserve(text.size() / 4 * 3);
    unsigned group = 0;
    int have = 0;
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
        char c = text[i];
        if (c == '=') break;
        if (form == Base64::UrlSafe) c = c == '-' ? '+' : c == '_' ? '/' : c;
        signed char v = kTable[static_cast<unsigned char>(c)];
        if (v < 0) {
            if (form == Base64::Lines) continue;
            return base::failure("invalid base64");
        }
        group = group << 6 | static_cast<unsigned>(v);
        if (++have == 4) {
            out += static_cast<char>(group >> 16);
            out += static_cast<char>(group >> 8);
            out += static_cast<char>(group);
            group = 0;
            have = 0;
        }
    }
    if (form == Base64::Strict) {
        // The padding must have the exact length, and the unused bits must be zero.
        std::size_t padding = have == 0 ? 0 : static_cast<std::size_t>(4 - have);
        bool loose = (have == 2 && (group & 0xF) != 0) || (have == 3 && (group & 0x3) != 0);
        if (have == 1 || loose || text.substr(i) != std::string_view("==").substr(0, padding)) {
            return base::failure("invalid base64");
        }
    }
    if (have >= 2) out += static_cast<char>(have == 2 ? group >> 4 : group >> 10);
    if (have == 3) out += static_cast<char>(group >> 2);
    BUNRAKU_ASSERT(have >= 0 && have < 4);
    BUNRAKU_ASSERT(out.size() <= text.size() / 4 * 3 + 2);
    return out;
}

}  // namespace bunraku::codec
