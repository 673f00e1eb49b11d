// SPDX-License-Identifier: Apache-2.0
// Lookup in the table of types, title patterns and permitted values.
#include "resources/restype/spec.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/plain_error.h"
#include "core/regex/regex.h"
#include "core/value/text.h"
#include "resources/restype/specs/table.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kMetaparameters[] = {
    {.name = "noop",
     .kind = AttributeKind::Metaparameter,
     .doc = "Only reports what would be changed; takes precedence over the setting `noop`.",
     .values = "true|false"},
    {.name = "schedule",
     .kind = AttributeKind::Metaparameter,
     .doc = "The name of the schedule that determines when the resource is applied."},
    {.name = "audit",
     .kind = AttributeKind::Metaparameter,
     .doc = "Attributes whose changes between two runs are logged: names, or `all`."},
    {.name = "loglevel",
     .kind = AttributeKind::Metaparameter,
     .doc = "The level at which changes of the resource are logged.",
     .values = "debug|info|notice|warning|err|alert|emerg|crit|verbose"},
    {.name = "alias",
     .kind = AttributeKind::Metaparameter,
     .doc = "Additional names by which relationships can refer to the resource."},
    {.name = "tag",
     .kind = AttributeKind::Metaparameter,
     .doc = "Tags for the resource, in addition to its automatic tags."},
    {.name = "require",
     .kind = AttributeKind::Metaparameter,
     .doc = "References to resources that must be applied before this one."},
    {.name = "subscribe",
     .kind = AttributeKind::Metaparameter,
     .doc = "Like `require`; a change of those resources also refreshes this one."},
    {.name = "before",
     .kind = AttributeKind::Metaparameter,
     .doc = "References to resources that must be applied after this one."},
    {.name = "notify",
     .kind = AttributeKind::Metaparameter,
     .doc = "Like `before`; a change of this resource also refreshes those."},
    {.name = "stage",
     .kind = AttributeKind::Metaparameter,
     .doc = "The run stage of a class declared like a resource."},
};

const TypeSpec* find_in(std::span<const TypeSpec* const> table, std::string_view name) {
    BUNRAKU_ASSERT(table.empty() || table.front()->name <= table.back()->name);
    auto it = std::lower_bound(table.begin(), table.end(), name,
                               [](const TypeSpec* t, std::string_view n) { return t->name < n; });
    return it != table.end() && (*it)->name == name ? *it : nullptr;
}

bool all_digits(std::string_view s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Matches a pattern; common patterns of the table avoid the regex engine.
bool matches_pattern(std::string_view pattern, std::string_view text) {
    if (pattern == "/./") return text.find_first_not_of('\n') != std::string_view::npos;
    if (pattern == "/.*/") return true;
    if ((pattern == "/^[0-9]+$/" || pattern == "/^\\d+$/") && all_digits(text)) return true;
    auto re = regex::Regex::cached(pattern.substr(1, pattern.size() - 2));
    return re && (*re)->matches(text);
}

// Calls `f` for each pattern of "/a/, /b/".
template <class F>
bool any_pattern(std::string_view patterns, F&& test) {
    while (!patterns.empty()) {
        std::size_t end = patterns.find("/, /");
        std::string_view one =
            end == std::string_view::npos ? patterns : patterns.substr(0, end + 1);
        if (test(one)) return true;
        if (end == std::string_view::npos) break;
        BUNRAKU_ASSERT(end + 3 < patterns.size());
        patterns.remove_prefix(end + 3);
        BUNRAKU_ASSERT(patterns.starts_with('/'));
    }
    return false;
}

std::string inspect(const value::Value& v) {
    std::string out;
    value::print_inspect(out, v);
    return out;
}

// Returns the title of a file without trailing slashes; "/" alone is unchanged.
std::string file_path(std::string_view title) {
    std::string_view t = title;
    while (t.size() > 1 && t.back() == '/') t.remove_suffix(1);
    BUNRAKU_ASSERT(t.empty() == title.empty());
    return std::string(t);
}

}  // namespace

const Attribute* TypeSpec::find(std::string_view attribute) const {
    if (attribute.empty()) return nullptr;
    for (const Attribute& a : attributes) {
        if (a.name.size() == attribute.size() && a.name[0] == attribute[0] && a.name == attribute)
            return &a;
    }
    return nullptr;
}

std::string_view TypeSpec::namevar() const {
    for (const Attribute& a : attributes) {
        if (a.namevar) return a.name;
    }
    return "name";
}

std::span<const Attribute> metaparameters() { return kMetaparameters; }

bool is_metaparameter(std::string_view name) {
    return std::any_of(std::begin(kMetaparameters), std::end(kMetaparameters),
                       [&](const Attribute& a) { return a.name == name; });
}

const TypeSpec* find_type(std::string_view name) { return find_in(type_table(), name); }
std::span<const TypeSpec* const> all_types() { return type_table(); }
const TypeSpec* find_module_type(std::string_view name) {
    return find_in(module_type_table(), name);
}

std::optional<std::string_view> match_value(const Attribute& attribute, base::TextView text) {
    if (attribute.values.empty() && attribute.patterns.empty()) return text;
    std::string_view rest = attribute.values;
    while (!rest.empty()) {
        std::size_t end = rest.find('|');
        std::string_view one = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        std::string_view canonical = one.substr(0, one.find('='));
        while (true) {
            BUNRAKU_ASSERT(one.data() >= attribute.values.data());
            std::size_t eq = one.find('=');
            if (one.substr(0, eq) == text) return canonical;
            if (eq == std::string_view::npos) break;
            one.remove_prefix(eq + 1);
        }
    }
    if (any_pattern(attribute.patterns,
                    [&](std::string_view p) { return matches_pattern(p, text); })) {
        return text;
    }
    return std::nullopt;
}

std::string invalid_value_text(const Attribute& attribute, const value::Value& value) {
    std::string out = fmt::format("Invalid value {}.", inspect(value));
    std::string list;
    std::string_view rest = attribute.values;
    while (!rest.empty()) {
        std::size_t end = rest.find('|');
        std::string_view one = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (!list.empty()) list += ", ";
        list += one.substr(0, one.find('='));
    }
    if (!list.empty()) out += fmt::format(" Valid values are {}.", list);
    if (!attribute.patterns.empty())
        out += fmt::format(" Valid values match {}.", attribute.patterns);
    return out;
}

std::vector<std::pair<std::string_view, std::string>> parse_title(const TypeSpec& type,
                                                                  std::string_view title) {
    if (type.name == "file") return {{"path", file_path(title)}};
    if (type.name == "sshkey") {
        std::size_t at = title.rfind('@');
        const Attribute* kind = type.find("type");
        BUNRAKU_ASSERT(kind != nullptr);
        if (at != std::string_view::npos && at > 0 && match_value(*kind, title.substr(at + 1))) {
            return {{"name", std::string(title.substr(0, at))},
                    {"type", std::string(title.substr(at + 1))}};
        }
        return {{"name", std::string(title)}};
    }
    if (type.title_reader) {
        if (auto parts = type.title_reader->read(title)) return std::move(*parts);
    }
    if (!type.title_patterns.empty()) {
        for (const TitlePattern& pattern : type.title_patterns) {
            auto re = regex::Regex::cached(pattern.source, pattern.options);
            if (!re) continue;
            const auto match = (*re)->search(title);
            if (!match) continue;
            std::vector<std::pair<std::string_view, std::string>> out;
            for (std::size_t i = 0; i < pattern.attributes.size(); ++i) {
                if (match->took_part(i + 1))
                    out.emplace_back(pattern.attributes[i],
                                     std::string(match->group(title, i + 1)));
            }
            return out;
        }
        throw base::plain_error(
            fmt::format("No set of title patterns matched the title \"{}\".", title));
    }
    return {{type.namevar(), std::string(title)}};
}

bool title_is_name(const TypeSpec& type, std::string_view title) {
    if (type.title_reader || !type.title_patterns.empty() || type.name == "sshkey") return false;
    if (type.name == "file" && title.size() > 1 && title.back() == '/') return false;
    int keys = 0;
    for (const Attribute& a : type.attributes) keys += a.namevar || a.name == "name";
    return keys <= 1;
}

std::vector<std::string> uniqueness_key(
    const TypeSpec& type, std::string_view title,
    const std::vector<std::pair<std::string, value::Value>>& parameters) {
    // A list counts as its elements.
    auto given = [&](std::string_view name) -> std::vector<std::string> {
        std::vector<std::string> texts;
        for (const auto& [n, v] : parameters) {
            if (n != name || v.is_undef()) continue;
            if (v.is_array()) {
                for (const auto& item : v.as_array()) texts.push_back(value::to_text(item));
            } else {
                texts.push_back(value::to_text(v));
            }
            break;
        }
        return texts;
    };
    auto from_title = parse_title(type, title);
    std::vector<std::string_view> keys;
    for (const Attribute& a : type.attributes) {
        if (a.namevar || a.name == "name") keys.push_back(a.name);
    }
    if (keys.empty()) keys.push_back("name");
    std::sort(keys.begin(), keys.end());
    BUNRAKU_ASSERT(!keys.empty());
    std::vector<std::string> out;
    for (std::string_view key : keys) {
        if (auto texts = given(key); !texts.empty()) {
            std::ranges::move(texts, std::back_inserter(out));
            continue;
        }
        auto it = std::find_if(from_title.begin(), from_title.end(),
                               [&](const auto& p) { return p.first == key; });
        if (it != from_title.end()) {
            out.push_back(it->second);
        } else if (keys.size() == 1 || key == "name") {
            auto texts = given("name");
            if (texts.empty()) texts.emplace_back(title);
            std::ranges::move(texts, std::back_inserter(out));
        } else {
            out.emplace_back();
        }
    }
    BUNRAKU_ASSERT(out.size() >= keys.size());
    return out;
}

}  // namespace bunraku::restype
