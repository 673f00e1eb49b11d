#include "module/names.h"

#include <ctime>

#include "base/semver.h"

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

/// The length of the UTF-8 sequence at `i`, 0 where there is none.
std::size_t utf8_length(std::string_view s, std::size_t i) {
    const auto at = [&](std::size_t k) -> unsigned {
        return k < s.size() ? static_cast<unsigned char>(s[k]) : 0U;
    };
    const unsigned c = at(i);
    if (c < 0x80) return 1;
    const auto follows = [&](std::size_t k) { return (at(k) & 0xC0U) == 0x80U; };
    if (c >= 0xC2 && c <= 0xDF) return follows(i + 1) ? 2 : 0;
    if (c >= 0xE0 && c <= 0xEF) {
        if (!follows(i + 1) || !follows(i + 2)) return 0;
        if (c == 0xE0 && at(i + 1) < 0xA0) return 0;
        if (c == 0xED && at(i + 1) > 0x9F) return 0;
        return 3;
    }
    if (c >= 0xF0 && c <= 0xF4) {
        if (!follows(i + 1) || !follows(i + 2) || !follows(i + 3)) return 0;
        if (c == 0xF0 && at(i + 1) < 0x90) return 0;
        if (c == 0xF4 && at(i + 1) > 0x8F) return 0;
        return 4;
    }
    return 0;
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

std::string forge_time(long long seconds) {
    const std::time_t t = static_cast<std::time_t>(seconds);
    std::tm tm{};
    gmtime_r(&t, &tm);
    char text[40];
    const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S +0000", &tm);
    return std::string(text, n);
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

void append_json(std::string& out, std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    out += '"';
    std::size_t from = 0;
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            ++i;
            continue;
        }
        if (c >= 0x80) {
            if (const std::size_t n = utf8_length(text, i)) {
                i += n;
                continue;
            }
        }
        out.append(text, from, i - from);
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default:
                if (c >= 0x80) {
                    out += "\xEF\xBF\xBD";
                } else {
                    out += "\\u00";
                    out += kHex[c >> 4];
                    out += kHex[c & 15];
                }
        }
        from = ++i;
    }
    out.append(text, from);
    out += '"';
}

std::string json_string(std::string_view text) {
    std::string out;
    append_json(out, text);
    return out;
}

}  // namespace bunraku::module
