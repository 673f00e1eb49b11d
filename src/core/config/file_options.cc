// SPDX-License-Identifier: Apache-2.0
#include "core/config/file_options.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/codec/ini.h"
#include "core/config/settings_table.h"

namespace bunraku::config {

namespace {

bool is_word(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    });
}

base::Result<void> check_option(std::string_view option, std::string_view value) {
    const auto equals = option.find('=');
    const auto name = base::trim(option.substr(0, equals), base::kBlanks);
    const auto given = equals == std::string_view::npos
                           ? std::string_view()
                           : base::trim(option.substr(equals + 1), base::kBlanks);
    if (!is_word(name) || !is_word(given))
        return base::failure(fmt::format("Could not parse '{}'", value));
    if (name != "owner" && name != "group" && name != "mode")
        return base::failure(fmt::format("Invalid file option '{}'", name));
    const bool number = given.find_first_not_of("0123456789") == std::string_view::npos;
    if (name == "mode" && !number) return base::failure("File modes must be numbers");
    return {};
}

/// Returns the position of the first brace that begins file options.
std::size_t options_begin(std::string_view value) {
    auto open = value.find('{');
    while (open != std::string_view::npos && open > 0 && value[open - 1] == '$')
        open = value.find('{', open + 1);
    return open;
}

}  // namespace

base::Result<PlainValue> without_file_options(std::string_view value) {
    const auto open = options_begin(value);
    const auto close = open == std::string_view::npos ? open : value.find('}', open);
    if (close == std::string_view::npos || close == open + 1) return PlainValue{std::string(value)};
    auto options = base::split(value.substr(open + 1, close - open - 1), ',');
    while (options.size() > 1 && base::trim(options.back(), base::kBlanks).empty())
        options.pop_back();
    for (const auto option : options) BUNRAKU_TRY_VOID(check_option(option, value));
    PlainValue out{.text = std::string(value), .has_options = true};
    out.text.erase(open, close - open + 1);
    out.text.erase(out.text.find_last_not_of(base::kBlanks) + 1);
    return out;
}

/// The warning of Puppet 8.10 about every value of `filetimeout` but "15s".
constexpr const char* kFileTimeout =
    "Fine grained control of filetimeouts is deprecated. In future\n"
    "releases this value will only determine if file content is cached.\n\n"
    "Valid values are 0 (never cache) and 15 (15 second minimum wait time).\n";

std::vector<Remark> conf_remarks(std::string_view text, std::string_view section,
                                 Compatibility level) {
    std::vector<Remark> out;
    const auto add = [&](base::Level severity, std::string message) {
        const Remark remark{severity, std::move(message)};
        if (std::ranges::find(out, remark) == out.end()) out.push_back(remark);
    };
    const auto file = codec::parse_ini(text);
    if (!file) return out;
    for (const auto& part : file->sections) {
        if (part.name != "main" && part.name != section) continue;
        for (const auto& entry : part.entries) {
            const SettingSpec* spec = find_setting(entry.name);
            if (entry.name == "pluginsync" && !removed_setting(level, entry.name))
                add(base::Level::Warning, "Setting 'pluginsync' is deprecated.");
            if (entry.name == "filetimeout" && entry.value != "15s" &&
                !changed(level, Change::FileTimeout))
                add(base::Level::Warning, kFileTimeout);
            using Kind = SettingSpec::Kind;
            if (!spec || spec->kind == Kind::Path || spec->kind == Kind::Autosign) continue;
            if (const auto value = without_file_options(entry.value); value && value->has_options) {
                add(base::Level::Notice,
                    fmt::format("{} does not support meta data. Ignoring.", entry.name));
            }
        }
    }
    return out;
}

}  // namespace bunraku::config
