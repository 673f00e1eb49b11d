// SPDX-License-Identifier: Apache-2.0
#include "core/value/text.h"

#include <charconv>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/redacted.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "core/value/escapes.h"

namespace bunraku::value {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

constexpr std::string_view kBlanks = " \t\n\r\f";

/// Reads "1", "+1" or "-1". Returns false if the number does not fit in 64 bits, so that it stays
/// text.
bool as_index(std::string_view s, std::int64_t& out) {
    if (s.starts_with('+')) {
        s.remove_prefix(1);
        if (s.starts_with('-')) return false;
    }
    const auto n = base::parse_integer<std::int64_t>(s);
    out = n.value_or(0);
    return n.has_value();
}

}  // namespace

bool split_dotted(base::Arena& arena, std::string_view text, std::vector<Value>& out) {
    if (text.find_first_of("'\".") == std::string_view::npos) {
        out.push_back(make_string(arena, text));
        return true;
    }
    for (std::size_t i = 0;;) {
        const std::size_t start = i;
        while (i < text.size() && blank(text[i])) ++i;
        if (i < text.size() && (text[i] == '"' || text[i] == '\'')) {
            const std::size_t end = text.find(text[i], i + 1);
            if (end == std::string_view::npos || end == i + 1) return false;
            out.push_back(make_string(arena, text.substr(i + 1, end - i - 1)));
            i = end + 1;
            while (i < text.size() && blank(text[i])) ++i;
        } else {
            while (i < text.size() &&
                   std::string_view("'\".").find(text[i]) == std::string_view::npos)
                ++i;
            if (i == start) return false;
            const std::string_view segment = base::trim(text.substr(start, i - start), kBlanks);
            std::int64_t index = 0;
            out.push_back(as_index(segment, index) ? Value::integer(index)
                                                   : make_string(arena, segment));
        }
        BUNRAKU_ASSERT(i > start && i <= text.size());
        if (i == text.size()) return true;
        if (text[i] != '.') return false;
        ++i;
    }
}

void flatten_into(std::vector<Value>& out, std::span<const Value> items) {
    base::step();
    for (const Value& v : items) {
        if (v.is_array()) {
            flatten_into(out, v.as_array());
        } else {
            out.push_back(v);
        }
    }
}

void print_inspect(std::string& out, const Value& v) {
    base::step();
    switch (v.kind()) {
        case Kind::Undef: out += "nil"; return;
        case Kind::Default: out += ":default"; return;
        case Kind::String: print_inspected_text(out, v.as_string()); return;
        case Kind::Sensitive: out += base::kSensitiveInspected; return;
        case Kind::Array: {
            out += '[';
            bool first = true;
            for (const Value& item : v.as_array()) {
                if (!first) out += ", ";
                first = false;
                print_inspect(out, item);
            }
            out += ']';
            return;
        }
        case Kind::Hash: {
            out += '{';
            bool first = true;
            for (const auto& e : v.as_hash()) {
                if (!first) out += ", ";
                first = false;
                print_inspect(out, e.key);
                out += "=>";
                print_inspect(out, e.value);
            }
            out += '}';
            return;
        }
        default: print(out, v);
    }
}

void print_ruby_to_s(std::string& out, const Value& v) {
    base::step();
    switch (v.kind()) {
        case Kind::Undef: return;
        case Kind::String: out += v.as_string(); return;
        case Kind::Default: out += "default"; return;
        case Kind::Sensitive: out += base::kSensitiveText; return;
        case Kind::Array:
        case Kind::Hash: print_inspect(out, v); return;
        default: print(out, v);
    }
}

}  // namespace bunraku::value
