// SPDX-License-Identifier: Apache-2.0
#include "language/environment/conf.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "core/codec/ini.h"
#include "core/config/file_options.h"
#include "language/environment/environment.h"

namespace bunraku::environment {

namespace {

constexpr std::string_view kKnown[] = {"modulepath",
                                       "manifest",
                                       "config_version",
                                       "environment_timeout",
                                       "environment_data_provider",
                                       "compatibility",
                                       "static_catalogs",
                                       "rich_data"};

// Puppet removes a quote at each end, whether they match or not.
std::string unquoted(std::string_view text) {
    if (!text.empty() && (text.front() == '"' || text.front() == '\'')) text.remove_prefix(1);
    if (!text.empty() && (text.back() == '"' || text.back() == '\'')) text.remove_suffix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    return std::string(text);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

std::string expand_path(std::string_view path, const std::string& base) {
    std::string full;
    if (!path.empty() && path[0] == '/') {
        full = path;
    } else {
        full = base + "/" + std::string(path);
    }
    std::vector<std::string_view> parts;
    std::string_view rest = full;
    while (!rest.empty()) {
        auto slash = rest.find('/');
        auto part = rest.substr(0, slash);
        rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
        if (part.empty() || part == ".") continue;
        if (part == "..") {
            if (!parts.empty()) parts.pop_back();
            continue;
        }
        parts.push_back(part);
    }
    std::string out;
    for (auto part : parts) out.append("/").append(part);
    return out.empty() ? "/" : out;
}

base::Result<std::vector<std::pair<std::string, std::string>>> read_conf(const std::string& path,
                                                                         std::string_view text,
                                                                         const Spec& spec,
                                                                         base::LogSink& log) {
    std::vector<std::pair<std::string, std::string>> out;
    auto file = codec::parse_ini(text);
    if (!file) {
        return base::failure(fmt::format("Could not parse {}: {} (file: {}, line: {})", path,
                                         file.error().message, path, file.error().code));
    }
    config::Compatibility level = spec.level;
    for (const auto& section : file->sections) {
        for (const auto& entry : section.entries) {
            if (section.name != "main" || entry.name != "compatibility") continue;
            const auto own = config::level_from_name(unquoted(entry.value));
            if (!own) {
                return base::failure(fmt::format(
                    "Invalid value '{}' for parameter compatibility. Allowed values are "
                    "'puppet8', 'openvox8', 'openvox9' (file: {}, line: {})",
                    unquoted(entry.value), path, entry.line));
            }
            if (!spec.level_fixed) level = *own;
        }
    }
    std::vector<std::string> sections, unknown;
    for (const auto& section : file->sections) {
        if (section.name != "main") {
            sections.push_back(section.name);
            continue;
        }
        for (const auto& entry : section.entries) {
            const bool removed = config::removed_setting(level, entry.name);
            if (removed ||
                std::find(std::begin(kKnown), std::end(kKnown), entry.name) == std::end(kKnown))
                unknown.push_back(entry.name);
            if (removed) continue;
            auto value = unquoted(entry.value);
            // Other braces are a glob pattern of modulepath.
            if (auto plain = config::without_file_options(value); plain && plain->has_options)
                value = std::move(plain->text);
            out.emplace_back(entry.name, std::move(value));
        }
    }
    if (!sections.empty()) {
        log.log(
            base::Level::Warning,
            fmt::format("Invalid sections in environment.conf at '{}'. Environment conf may not "
                        "have sections. The following sections are being ignored: '{}'",
                        path, fmt::join(sections, ",")));
    }
    if (!unknown.empty()) {
        log.log(base::Level::Warning,
                fmt::format("Invalid settings in environment.conf at '{}'. The following unknown "
                            "setting(s) are being ignored: {}",
                            path, fmt::join(unknown, ", ")));
    }
    return out;
}

base::Result<std::string> interpolate(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view)>& setting) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] != '$') {
            out += text[i++];
            continue;
        }
        const bool braced = i + 1 < text.size() && text[i + 1] == '{';
        std::size_t begin = i + (braced ? 2 : 1), end = begin;
        while (end < text.size() && is_word(text[end])) ++end;
        if (end == begin || (braced && (end >= text.size() || text[end] != '}'))) {
            out += text[i++];
            continue;
        }
        auto value = setting(text.substr(begin, end - begin));
        if (braced) ++end;
        if (!value) {
            return base::failure(
                fmt::format("Could not find value for {}", text.substr(i, end - i)));
        }
        out += *value;
        i = end;
    }
    return out;
}

std::vector<std::string> expand_modulepath(std::string_view text, const std::string& directory,
                                           const Files& files) {
    std::vector<std::string> out;
    while (!text.empty()) {
        auto at = text.find(':');
        std::string part(text.substr(0, at));
        text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
        if (part.empty() || part[0] != '$') part = expand_path(part, directory);
        if (part.find_first_of("*?[{") == std::string::npos) {
            out.push_back(std::move(part));
            continue;
        }
        for (auto& path : files.glob(part)) out.push_back(std::move(path));
    }
    return out;
}

base::Result<std::optional<std::int64_t>> parse_ttl(std::string_view text,
                                                    std::string_view setting) {
    if (text == "unlimited") return std::nullopt;
    std::int64_t n = 0;
    auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    std::string_view unit;
    if (ec == std::errc()) unit = {end, static_cast<std::size_t>(text.data() + text.size() - end)};
    std::int64_t factor = unit.empty() || unit == "s" ? 1
                          : unit == "m"               ? 60
                          : unit == "h"               ? 3600
                          : unit == "d"               ? 86400
                          : unit == "y"               ? 365 * 86400
                                                      : 0;
    if (ec != std::errc() || n < 0 || factor == 0 || n > 1'000'000'000'000 / factor) {
        return base::failure(
            fmt::format("Invalid 'time to live' format '\"{}\"' for parameter: {}", text, setting));
    }
    return n * factor;
}

}  // namespace bunraku::environment
