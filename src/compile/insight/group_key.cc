// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/group_key.h"

#include <fmt/format.h>

#include "core/value/rich_data.h"
#include "resources/catalog/line_diff.h"

namespace bunraku::insight {

namespace {

/// Returns the text of a JSON string, or nullopt for other JSON.
std::optional<std::string> text_of(const std::string& json) {
    if (!json.starts_with('"')) return std::nullopt;
    base::Arena arena(json.size() + 1024);
    const auto value = value::parse_json(arena, json);
    if (!value || !value->is_string()) return std::nullopt;
    return std::string(value->as_string());
}

}  // namespace

std::optional<std::vector<std::string>> changed_lines(const Change& change) {
    if (change.kind != Kind::Changed) return std::nullopt;
    const auto several = [](const std::string& json) {
        return json.find("\\n") != std::string::npos;
    };
    if (!several(change.before) && !several(change.after)) return std::nullopt;
    const auto before = text_of(change.before), after = text_of(change.after);
    if (!before || !after) return std::nullopt;
    auto lines = catalog::line_diff(*before, *after, 0);
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("@@"); });
    return lines;
}

std::string group_key(const Change& change, const NodeIdentity* identity) {
    std::string out = fmt::format("{}", static_cast<int>(change.kind));
    auto add = [&](const std::string& text) {
        out += '\0';
        out += identity ? identity->without(text) : text;
    };
    add(change.reference);
    add(change.parameter);
    if (const auto lines = changed_lines(change)) {
        add(fmt::format("{}", fmt::join(*lines, "\n")));
    } else {
        add(change.before);
        add(change.after);
    }
    return out;
}

}  // namespace bunraku::insight
