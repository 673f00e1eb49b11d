// SPDX-License-Identifier: Apache-2.0
#include "core/value/escapes.h"

#include <fmt/format.h>
#include <utf8proc.h>

namespace bunraku::value {

namespace {

/// Returns the letter of a character's own escape, or 0 if it has none.
char escape_letter(char c) {
    switch (c) {
        case '"': return '"';
        case '\\': return '\\';
        case '\n': return 'n';
        case '\t': return 't';
        case '\r': return 'r';
        case '\f': return 'f';
        case '\v': return 'v';
        case '\a': return 'a';
        case '\b': return 'b';
        case '\033': return 'e';
        default: return 0;
    }
}

/// Reports whether there is a "#" that would begin an interpolation.
bool interpolates(std::string_view text, std::size_t i) {
    return text[i] == '#' && i + 1 < text.size() &&
           (text[i + 1] == '{' || text[i + 1] == '$' || text[i + 1] == '@');
}

/// Implements Onigmo's [[:print:]] for Unicode.
bool printable(utf8proc_int32_t c) {
    switch (utf8proc_category(c)) {
        case UTF8PROC_CATEGORY_CC: return c == 0x85;
        case UTF8PROC_CATEGORY_CN:
        case UTF8PROC_CATEGORY_CS:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP: return false;
        default: return true;
    }
}

}  // namespace

void print_inspected_text(std::string& out, std::string_view text) {
    out += '"';
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte >= 0x20 && byte < 0x7f) {
            if (text[i] == '"' || text[i] == '\\' || interpolates(text, i)) out += '\\';
            out += text[i++];
            continue;
        }
        if (const char letter = escape_letter(text[i])) {
            out += '\\';
            out += letter;
            ++i;
            continue;
        }
        utf8proc_int32_t c = 0;
        const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + i),
                                        static_cast<utf8proc_ssize_t>(text.size() - i), &c);
        if (n <= 0) {
            out += fmt::format("\\x{:02X}", byte);
            ++i;
            continue;
        }
        const auto size = static_cast<std::size_t>(n);
        if (printable(c)) {
            out += text.substr(i, size);
        } else if (c > 0xFFFF) {
            out += fmt::format("\\u{{{:X}}}", c);
        } else {
            out += fmt::format("\\u{:04X}", c);
        }
        i += size;
    }
    out += '"';
}

void print_inspected_bytes(std::string& out, std::string_view bytes) {
    out += '"';
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (const char letter = escape_letter(bytes[i])) {
            out += '\\';
            out += letter;
        } else if (byte < 0x20 || byte >= 0x7f) {
            out += fmt::format("\\x{:02X}", byte);
        } else {
            if (interpolates(bytes, i)) out += '\\';
            out += bytes[i];
        }
    }
    out += '"';
}

}  // namespace bunraku::value
