// SPDX-License-Identifier: Apache-2.0
#include "core/base/diagnostic.h"

#include <array>

#include "core/base/assert.h"

namespace bunraku::base {

namespace {
constexpr std::array<std::string_view, 8> kLevelNames = {"debug", "info",  "notice", "warning",
                                                         "err",   "alert", "emerg",  "crit"};
}

std::string_view level_name(Level level) {
    const auto at = static_cast<std::size_t>(level);
    BUNRAKU_ASSERT(at < kLevelNames.size());
    return kLevelNames[at];
}

std::optional<Level> level_from_name(std::string_view name) {
    for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
        if (kLevelNames[i] == name) return static_cast<Level>(i);
    }
    return std::nullopt;
}

std::string format_location(const Location& where) {
    std::string inner;
    auto add = [&inner](std::string_view key, const std::string& value) {
        if (!inner.empty()) inner += ", ";
        inner.append(key).append(": ").append(value);
    };
    if (!where.file.empty()) add("file", where.file);
    if (where.line > 0) add("line", std::to_string(where.line));
    if (where.line > 0 && where.column > 0) add("column", std::to_string(where.column));
    BUNRAKU_ASSERT(where.line <= 0 || !inner.empty());
    return inner.empty() ? inner : "(" + inner + ")";
}

std::string PuppetError::full_text() const {
    std::string text;
    if (class_ == Class::Evaluation && !verbatim) text = "Evaluation Error: ";
    text += message_;
    if (std::string place = format_location(where_); !place.empty()) text += " " + place;
    return text;
}

}  // namespace bunraku::base
