#include "hiera/key.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "base/diagnostic.h"

namespace bunraku::hiera {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view strip(std::string_view s) {
    while (!s.empty() && blank(s.front())) s.remove_prefix(1);
    while (!s.empty() && blank(s.back())) s.remove_suffix(1);
    return s;
}

/// ":1", "+1", "-1", "1": an index.
bool as_index(std::string_view s, std::int64_t& out) {
    if (s.starts_with('+')) s.remove_prefix(1);
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
    return error == std::errc() && end == s.data() + s.size() && !s.empty();
}

}  // namespace

bool split_dotted(base::Arena& arena, std::string_view text, std::vector<Value>& out) {
    if (text.find_first_of("'\".") == std::string_view::npos) {
        out.push_back(value::make_string(arena, text));
        return true;
    }
    for (std::size_t i = 0;;) {
        const std::size_t start = i;
        while (i < text.size() && blank(text[i])) ++i;
        if (i < text.size() && (text[i] == '"' || text[i] == '\'')) {
            const std::size_t end = text.find(text[i], i + 1);
            if (end == std::string_view::npos || end == i + 1) return false;
            out.push_back(value::make_string(arena, text.substr(i + 1, end - i - 1)));
            i = end + 1;
            while (i < text.size() && blank(text[i])) ++i;
        } else {
            while (i < text.size() &&
                   std::string_view("'\".").find(text[i]) == std::string_view::npos)
                ++i;
            if (i == start) return false;
            const std::string_view segment = strip(text.substr(start, i - start));
            std::int64_t index = 0;
            out.push_back(as_index(segment, index) ? Value::integer(index)
                                                   : value::make_string(arena, segment));
        }
        if (i == text.size()) return true;
        if (text[i] != '.') return false;
        ++i;
    }
}

Key parse_key(base::Arena& arena, std::string_view text) {
    Key key;
    key.text = std::string(text);
    std::vector<Value> parts;
    if (!split_dotted(arena, text, parts)) {
        throw base::PuppetError(fmt::format("Syntax error in key: '{}'", text));
    }
    key.root = value::to_text(parts.front());
    if (const auto colons = key.root.find("::"); colons != std::string::npos)
        key.module = key.root.substr(0, colons);
    key.segments.assign(parts.begin() + 1, parts.end());
    return key;
}

std::string join_segments(std::span<const Value> segments) {
    std::string out;
    for (const Value& s : segments) {
        if (&s != segments.data()) out += '.';
        out += value::to_text(s);
    }
    return out;
}

}  // namespace bunraku::hiera
