// SPDX-License-Identifier: Apache-2.0
#include "core/codec/json_text.h"

#include <cstdint>
#include <cstring>

namespace bunraku::codec {

namespace {

/// Returns the length of the UTF-8 sequence at `p`, or 0 if it is malformed.
int utf8_length(const unsigned char* p, const unsigned char* end) {
    unsigned char c = *p;
    if (c < 0x80) return 1;
    auto tail = [&](int i) { return p + i < end && (p[i] & 0xc0) == 0x80; };
    if (c >= 0xc2 && c <= 0xdf) return tail(1) ? 2 : 0;
    if (c >= 0xe0 && c <= 0xef) {
        if (!tail(1) || !tail(2)) return 0;
        if (c == 0xe0 && p[1] < 0xa0) return 0;  // overlong
        if (c == 0xed && p[1] > 0x9f) return 0;  // surrogates
        return 3;
    }
    if (c >= 0xf0 && c <= 0xf4) {
        if (!tail(1) || !tail(2) || !tail(3)) return 0;
        if (c == 0xf0 && p[1] < 0x90) return 0;
        if (c == 0xf4 && p[1] > 0x8f) return 0;
        return 4;
    }
    return 0;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, BadBytes bad) {
    static constexpr char kHex[] = "0123456789abcdef";
    out += '"';
    auto* p = reinterpret_cast<const unsigned char*>(text.data());
    auto* end = p + text.size();
    auto* run = p;
    auto flush = [&] {
        out.append(reinterpret_cast<const char*>(run), static_cast<std::size_t>(p - run));
    };
    while (p < end) {
        unsigned char c = *p;
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            ++p;
            continue;
        }
        if (c >= 0x80) {
            const int n = bad == BadBytes::Keep ? 1 : utf8_length(p, end);
            if (n > 0) {
                p += n;
                continue;
            }
            flush();
            out += "\xef\xbf\xbd";
            run = ++p;
            continue;
        }
        flush();
        out += '\\';
        switch (c) {
            case '"': out += '"'; break;
            case '\\': out += '\\'; break;
            case '\b': out += 'b'; break;
            case '\f': out += 'f'; break;
            case '\n': out += 'n'; break;
            case '\r': out += 'r'; break;
            case '\t': out += 't'; break;
            default:
                out += "u00";
                out += kHex[c >> 4];
                out += kHex[c & 15];
        }
        run = ++p;
    }
    flush();
    out += '"';
}

std::string json_string(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

void append_json_strings(std::string& out, const std::vector<std::string>& items) {
    out += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += ',';
        append_json_string(out, items[i]);
    }
    out += ']';
}

std::size_t first_invalid_utf8(std::string_view text) {
    auto* begin = reinterpret_cast<const unsigned char*>(text.data());
    auto* end = begin + text.size();
    for (auto* p = begin; p < end;) {
        // Most texts are ASCII, so eight bytes are checked at a time.
        std::uint64_t eight = 0;
        while (end - p >= 8 && (std::memcpy(&eight, p, 8), eight & 0x8080808080808080U) == 0)
            p += 8;
        if (p == end) break;
        if (*p < 0x80) {
            ++p;
            continue;
        }
        int n = utf8_length(p, end);
        if (n == 0) return static_cast<std::size_t>(p - begin);
        p += n;
    }
    return std::string_view::npos;
}

}  // namespace bunraku::codec
