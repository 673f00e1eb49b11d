// SPDX-License-Identifier: Apache-2.0
#include "modules/module/names.h"

#include "core/base/civil_time.h"
#include "core/base/semver.h"
#include "core/base/text.h"

namespace bunraku::module {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }

constexpr std::size_t kMaxName = 200;

std::optional<ModuleName> parse_module(std::string_view text, bool letter_first) {
    if (text.size() > kMaxName) return std::nullopt;
    const std::size_t cut = text.find_first_of("-/");
    if (cut == std::string_view::npos || cut == 0 || cut + 1 == text.size()) return std::nullopt;
    const std::string_view author = text.substr(0, cut), name = text.substr(cut + 1);
    for (char c : author) {
        if (!is_digit(c) && !is_letter(c)) return std::nullopt;
    }
    for (char c : name) {
        if (!is_word(c)) return std::nullopt;
    }
    if (letter_first && !is_letter(name[0])) return std::nullopt;
    return ModuleName{std::string(author), std::string(name)};
}

}  // namespace

std::optional<ModuleName> parse_module_name(std::string_view text) {
    return parse_module(text, true);
}
std::optional<ModuleName> parse_v1_module_name(std::string_view text) {
    return parse_module(text, false);
}

std::optional<ReleaseName> parse_release_name(std::string_view text) {
    if (text.size() > 2 * kMaxName) return std::nullopt;
    const std::size_t first = text.find_first_of("-/");
    if (first == std::string_view::npos) return std::nullopt;
    const std::size_t second = text.find_first_of("-/", first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    auto module = parse_module_name(text.substr(0, second));
    const std::string_view version = text.substr(second + 1);
    if (!module || !base::SemVer::parse(version)) return std::nullopt;
    return ReleaseName{std::move(*module), std::string(version)};
}

std::optional<ReleaseName> parse_file_name(std::string_view text) {
    constexpr std::string_view kEnd = ".tar.gz";
    if (!text.ends_with(kEnd)) return std::nullopt;
    return parse_release_name(text.substr(0, text.size() - kEnd.size()));
}

bool valid_identifier(std::string_view text) {
    if (text.empty() || text.size() > 128) return false;
    if (!is_digit(text[0]) && !is_letter(text[0])) return false;
    for (char c : text) {
        if (!is_word(c) && c != '-' && c != '.') return false;
    }
    return true;
}

std::string release_path(std::string_view author, std::string_view slug) {
    std::string out = "system/releases/";
    out.append(author.substr(0, 1)).append("/").append(author).append("/");
    return out.append(slug).append(".tar.gz");
}

std::string forge_time(std::int64_t seconds) {
    return base::iso_text(base::civil_time(seconds), 0, " +0000", ' ');
}

}  // namespace bunraku::module
