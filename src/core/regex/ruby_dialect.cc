// SPDX-License-Identifier: Apache-2.0
#include "core/regex/ruby_dialect.h"

#include <array>
#include <utility>

#include "core/base/assert.h"

namespace bunraku::regex {

namespace {

/// POSIX brackets whose Oniguruma counterparts follow the *_IS_ASCII options. In Ruby, only the
/// escapes are ASCII.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kBrackets = {{
    {"[:digit:]", "\\p{Nd}"},
    {"[:^digit:]", "\\P{Nd}"},
    {"[:space:]", "\\p{White_Space}"},
    {"[:^space:]", "\\P{White_Space}"},
    {"[:word:]", "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"},
    {"[:^word:]", "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]"},
}};

bool needs_rewriting(std::string_view p) {
    for (std::size_t i = 0; i + 1 < p.size(); ++i) {
        if (p[i] == '\\') {
            char c = p[++i];
            if (c == 'b' || c == 'B' || c == 'u') return true;
        } else if (p[i] == '[' && p[i + 1] == ':') {
            return true;
        }
    }
    return false;
}

/// Turns "\u{41 42}" into "\x{41}\x{42}". Returns the number of bytes read, or 0 if `rest` does not
/// have that form.
std::size_t copy_code_points(std::string_view rest, std::string& out) {
    if (!rest.starts_with("\\u{")) return 0;
    std::size_t close = rest.find('}');
    if (close == std::string_view::npos) return 0;
    std::string_view list = rest.substr(3, close - 3);
    std::string made;
    std::size_t i = 0;
    while (i < list.size()) {
        if (list[i] == ' ') {
            ++i;
            continue;
        }
        std::size_t end = list.find(' ', i);
        if (end == std::string_view::npos) end = list.size();
        std::string_view digits = list.substr(i, end - i);
        if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) return 0;
        made.append("\\x{").append(digits).append("}");
        i = end;
    }
    if (made.empty()) return 0;
    BUNRAKU_ASSERT(i == list.size());
    out += made;
    return close + 1;
}

}  // namespace

std::string to_oniguruma(std::string_view p, bool extended) {
    if (!needs_rewriting(p)) return std::string(p);
    std::string out;
    out.reserve(p.size() + 32);
    int depth = 0;  // nesting of character classes
    for (std::size_t i = 0; i < p.size();) {
        char c = p[i];
        BUNRAKU_ASSERT(depth >= 0);
        if (c == '\\' && i + 1 < p.size()) {
            char next = p[i + 1];
            if (next == 'u') {
                if (std::size_t n = copy_code_points(p.substr(i), out); n > 0) {
                    i += n;
                    continue;
                }
            }
            if (depth == 0 && (next == 'b' || next == 'B')) {
                out.append("(?-W:\\").append(1, next).append(")");
                i += 2;
                continue;
            }
            out.append(p.substr(i, 2));
            i += 2;
            continue;
        }
        if (c == '[') {
            if (depth > 0 && i + 1 < p.size() && p[i + 1] == ':') {
                bool known = false;
                for (const auto& [name, replacement] : kBrackets) {
                    if (!p.substr(i).starts_with(name)) continue;
                    out += replacement;
                    i += name.size();
                    known = true;
                    break;
                }
                if (known) continue;
                if (std::size_t end = p.find(":]", i + 2);
                    end != std::string_view::npos &&
                    p.substr(i + 2, end - i - 2).find_first_of("[]") == std::string_view::npos) {
                    out.append(p.substr(i, end + 2 - i));
                    i = end + 2;
                    continue;
                }
            }
            ++depth;
            out += c;
            ++i;
            if (i < p.size() && p[i] == '^') out += p[i++];
            // A bracket directly after the opening bracket is a literal.
            if (i < p.size() && p[i] == ']') out += p[i++];
            continue;
        }
        if (c == ']' && depth > 0) --depth;
        if (c == '#' && extended && depth == 0) {
            std::size_t end = p.find('\n', i);
            if (end == std::string_view::npos) end = p.size();
            out.append(p.substr(i, end - i));
            i = end;
            continue;
        }
        out += c;
        ++i;
    }
    return out;
}

std::string ruby_message(int, std::string_view text) {
    // Oniguruma changed this text; Onigmo (Ruby 3.1) still has the older one.
    if (text == "end pattern at escape") return "too short escape sequence";
    if (text == "invalid code point value") return "invalid Unicode escape";
    return std::string(text);
}

bool is_valid_utf8(std::string_view s) {
    std::size_t i = 0;
    while (i < s.size()) {
        auto c = static_cast<unsigned char>(s[i]);
        if (c < 0x80) {
            ++i;
            continue;
        }
        std::size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
        if (c < 0xC2 || c > 0xF4 || i + n > s.size()) return false;
        for (std::size_t k = 1; k < n; ++k) {
            if ((static_cast<unsigned char>(s[i + k]) & 0xC0) != 0x80) return false;
        }
        auto second = static_cast<unsigned char>(s[i + 1]);
        if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F) ||
            (c == 0xF0 && second < 0x90) || (c == 0xF4 && second > 0x8F)) {
            return false;
        }
        i += n;
    }
    return true;
}

}  // namespace bunraku::regex
