// SPDX-License-Identifier: Apache-2.0
// Puppet's checks of setting values and its messages, at startup or when a value is first read.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/config/munge.h"
#include "core/config/settings.h"

namespace bunraku::config {

namespace {

using Kind = SettingSpec::Kind;

/// Returns the value in the form of Ruby's inspect.
std::string inspected(std::string_view value) {
    if (value == "true" || value == "false") return std::string(value);
    std::string out = "\"";
    for (char c : value) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

bool allowed(const SettingSpec& spec, std::string_view value) {
    const auto words = base::words(spec.allowed);
    return std::find(words.begin(), words.end(), value) != words.end();
}

std::string not_allowed(const SettingSpec& spec, std::string_view value) {
    return fmt::format("Invalid value '{}' for parameter {}. Allowed values are '{}'", value,
                       spec.name, fmt::join(base::words(spec.allowed), "', '"));
}

std::optional<std::string> bad_number(const SettingSpec& spec, std::string_view value) {
    const auto number = ruby_integer(value);
    if (!number) {
        return fmt::format("Cannot convert '{}' to an integer for parameter: {}", inspected(value),
                           spec.name);
    }
    if (spec.kind != Kind::Port) return std::nullopt;
    const auto port = base::parse_integer<long>(*number);
    if (port && *port >= 0 && *port <= 65535) return std::nullopt;
    return fmt::format("Value '{}' is not a valid port number for parameter: {}", *number,
                       spec.name);
}

/// Returns Puppet's message if the kind of the setting does not allow the value.
std::optional<std::string> refused(const SettingSpec& spec, const std::string& value) {
    switch (spec.kind) {
        case Kind::Boolean:
            if (value == "true" || value == "false") return std::nullopt;
            return fmt::format("Invalid value '{}' for boolean parameter: {}", inspected(value),
                               spec.name);
        case Kind::Integer:
        case Kind::Port: return bad_number(spec, value);
        case Kind::Duration:
            if (duration_seconds(value)) return std::nullopt;
            return fmt::format("Invalid duration format '{}' for parameter: {}", inspected(value),
                               spec.name);
        case Kind::Ttl:
            if (value == "unlimited" || duration_seconds(value)) return std::nullopt;
            return fmt::format("Invalid 'time to live' format '{}' for parameter: {}",
                               inspected(value), spec.name);
        case Kind::Enum:
            if (allowed(spec, value)) return std::nullopt;
            return not_allowed(spec, value);
        case Kind::Priority:
            if (priority_number(value)) return std::nullopt;
            return fmt::format("Invalid priority format '{}' for parameter: {}", inspected(value),
                               spec.name);
        case Kind::Autosign:
            if (value == "true" || value == "false" || value.starts_with('/')) return std::nullopt;
            return fmt::format(
                "Invalid autosign value {}: must be 'true'/'false' or an absolute path", value);
        case Kind::Revocation:
            if (value == "chain" || value == "leaf" || value == "true" || value == "false") {
                return std::nullopt;
            }
            return fmt::format(
                "Invalid certificate revocation value {}: must be one of 'true', 'chain', 'leaf', "
                "or 'false'",
                value);
        default: return std::nullopt;
    }
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Returns the first $name or ${name} for which `known` returns false, as written in the text.
template <class Known>
std::string_view unknown_variable(std::string_view raw, Known known) {
    for (std::size_t at = raw.find('$'); at != std::string_view::npos; at = raw.find('$', at + 1)) {
        const bool braces = at + 1 < raw.size() && raw[at + 1] == '{';
        const std::size_t begin = at + 1 + (braces ? 1 : 0);
        std::size_t end = begin;
        while (end < raw.size() && is_word(raw[end])) ++end;
        if (end == begin || (braces && (end == raw.size() || raw[end] != '}'))) continue;
        if (!known(raw.substr(begin, end - begin))) return raw.substr(at, end - at + braces);
    }
    return {};
}

}  // namespace

std::optional<std::string> Settings::problem(SettingName setting) const {
    const std::string_view name = setting;
    const SettingSpec* spec = find_setting(name);
    const std::string* raw = find_raw(name);
    if (!spec || !raw || name == "code") return std::nullopt;
    const auto unknown = unknown_variable(*raw, [this](std::string_view variable) {
        return variable == "environment" || variable == "run_mode" || is_set(variable) ||
               (find_setting(variable) && !is_nil(variable));
    });
    if (!unknown.empty()) {
        return fmt::format("Error converting value for param '{}': Could not find value for {}",
                           name, unknown);
    }
    // Checks the original text, not the converted value.
    return refused(*spec, interpolate(*raw, 0));
}

std::optional<std::string> Settings::any_problem() const {
    for (const Map* map : {&command_line_, &section_, &main_}) {
        for (const auto& [name, value] : *map) {
            if (auto text = problem(name)) return text;
        }
    }
    return std::nullopt;
}

std::optional<std::string> Settings::start_problem() const {
    if (!misplaced_.empty())
        return fmt::format("Cannot set {} settings in puppet.conf", misplaced_);
    const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (const std::string* name = find_raw("certname");
        name && std::any_of(name->begin(), name->end(), upper)) {
        return "Certificate names must be lower case";
    }
    for (std::string_view name : {"strict", "log_level", "priority", "environment_timeout"}) {
        if (auto text = problem(name)) return text;
    }
    if (is_set("disable_warnings")) {
        const SettingSpec& spec = *find_setting("disable_warnings");
        std::vector<std::string> bad = list("disable_warnings");
        std::erase_if(bad, [&](const std::string& one) { return allowed(spec, one); });
        if (!bad.empty()) {
            return fmt::format(
                "Cannot disable unrecognized warning types '{}'. Valid values are '{}'.",
                fmt::join(bad, ","), fmt::join(base::words(spec.allowed), ", "));
        }
    }
    if (is_set("supported_checksum_types")) {
        const SettingSpec& spec = *find_setting("supported_checksum_types");
        for (const std::string& one : list("supported_checksum_types")) {
            if (!allowed(spec, one)) return not_allowed(spec, one);
        }
    }
    if (is_set("http_proxy_password")) {
        if (const std::string word = text("http_proxy_password");
            word.find_first_of("@!# /") != std::string::npos) {
            return fmt::format(
                "Passwords set in the http_proxy_password setting must be valid as part of a URL, "
                "and any reserved characters must be URL-encoded. We received: {}",
                word);
        }
    }
    if (boolean("disable_per_environment_manifest") && !text("default_manifest").starts_with('/')) {
        return "The 'default_manifest' setting must be set to an absolute path when "
               "'disable_per_environment_manifest' is true";
    }
    if (!text("node_name_fact").empty() && text("node_name_value") != text("certname")) {
        return "Cannot specify both the node_name_value and node_name_fact settings";
    }
    return std::nullopt;
}

}  // namespace bunraku::config
