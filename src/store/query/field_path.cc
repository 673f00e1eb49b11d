// SPDX-License-Identifier: Apache-2.0
#include "store/query/field_path.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/codec/json_text.h"

namespace bunraku::query {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Parses "name[3]" as an index and all other text as a name.
FieldPart index_or_name(std::string_view s) {
    if (s.size() > 3 && s.back() == ']') {
        std::size_t open = s.rfind('[');
        std::string_view digits =
            open == std::string_view::npos ? "" : s.substr(open + 1, s.size() - open - 2);
        const auto index = digits.size() < 10 ? base::parse_integer<std::uint32_t>(digits)
                                              : std::optional<std::uint32_t>();
        if (open != std::string_view::npos && open > 0 && index) {
            return {FieldPart::Index, std::string(s.substr(0, open)), *index};
        }
    }
    return {FieldPart::Name, std::string(s), 0};
}

[[noreturn]] void bad(std::string_view what, std::size_t at, std::string_view field) {
    std::string shown;
    codec::append_json_string(shown, field.substr(0, 1024), codec::BadBytes::Keep);
    throw QueryError{400, fmt::format("{} at character {}: {}", what, at, shown)};
}

}  // namespace

std::vector<FieldPart> parse_field(std::string_view field) {
    if (field.empty()) throw QueryError{400, "Empty AST field"};
    std::size_t at = 0;
    if (!is_digit(field[0]) && field[0] != '_') {
        while (at < field.size() && is_word(field[at])) ++at;
    }
    if (at > 0 && at < field.size() && field[at] == '?') ++at;
    if (at == 0 || (at < field.size() && field[at] != '.')) {
        std::string shown;
        codec::append_json_string(shown, field.substr(0, 1024), codec::BadBytes::Keep);
        throw QueryError{400, fmt::format("First component of AST field is invalid: {}", shown)};
    }
    std::vector<FieldPart> parts;
    parts.push_back({FieldPart::Name, std::string(field.substr(0, at)), 0});
    while (at < field.size()) {
        if (parts.size() > 100) throw QueryError{400, "AST field has too many components"};
        BUNRAKU_ASSERT(at < field.size() && parts.front().kind == FieldPart::Name);
        if (field[at] != '.') bad("AST field component does not begin with a dot", at, field);
        ++at;
        std::string_view rest = field.substr(at);
        if (rest.starts_with("\"\"")) bad("Empty AST field component", at, field);
        // match("..") and ".." end at a closing mark that is followed by a dot or the end and not
        // preceded by a backslash. match uses the last such mark, a quoted name the first.
        if (rest.starts_with("match(\"")) {
            std::size_t found = std::string_view::npos;
            for (std::size_t i = 8; i + 1 < rest.size(); ++i) {
                if (rest[i] == '"' && rest[i + 1] == ')' && rest[i - 1] != '\\' &&
                    (i + 2 == rest.size() || rest[i + 2] == '.')) {
                    found = i;
                }
            }
            if (found != std::string_view::npos) {
                parts.push_back({FieldPart::Match, std::string(rest.substr(7, found - 7)), 0});
                at += found + 2;
                continue;
            }
        }
        if (rest.starts_with("\"")) {
            std::size_t found = std::string_view::npos;
            for (std::size_t i = 2; i < rest.size() && found == std::string_view::npos; ++i) {
                if (rest[i] == '"' && rest[i - 1] != '\\' &&
                    (i + 1 == rest.size() || rest[i + 1] == '.')) {
                    found = i;
                }
            }
            if (found != std::string_view::npos) {
                parts.push_back(index_or_name(rest.substr(1, found - 1)));
                at += found + 1;
                continue;
            }
        }
        std::size_t end = std::min(rest.find('.'), rest.size());
        if (end == 0) bad("Don't recognize AST field component", at, field);
        parts.push_back(index_or_name(rest.substr(0, end)));
        at += end;
    }
    BUNRAKU_ASSERT(at == field.size());
    return parts;
}

std::vector<Step> steps_of(const std::vector<FieldPart>& path) {
    std::vector<Step> out;
    for (const FieldPart& part : path) {
        out.emplace_back(part.name);
        if (part.kind == FieldPart::Index) out.emplace_back(part.index);
    }
    return out;
}

std::string encode_path_name(std::string_view name) {
    if (!name.empty() && std::all_of(name.begin(), name.end(), is_digit)) {
        return fmt::format("\"{}\"", name);
    }
    // The delimiter inside a name is escaped in the same way as in visit_leaves() of fact_rows.h.
    std::string out;
    for (std::size_t at = 0;;) {
        std::size_t next = name.find("#~", at);
        out += name.substr(at, next - at);
        if (next == std::string_view::npos) return out;
        out += "\\#~";
        at = next + 2;
    }
}

}  // namespace bunraku::query
