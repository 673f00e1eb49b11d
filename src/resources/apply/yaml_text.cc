// SPDX-License-Identifier: Apache-2.0
// Scalars and times as Ruby's Psych writes them (without its folding of long lines).
#include <fmt/format.h>

#include "core/base/civil_time.h"
#include "core/codec/yaml.h"
#include "resources/apply/storage.h"

namespace bunraku::apply {
namespace {

bool is_word_byte(unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; }

std::string double_quoted(std::string_view text) {
    std::string out = "\"";
    for (char ch : text) {
        auto c = static_cast<unsigned char>(ch);
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\t': out += "\\t"; break;
            case '\r': out += "\\r"; break;
            case 0x1b: out += "\\e"; break;
            default:
                if (c < 0x20 || c == 0x7f) {
                    out += fmt::format("\\x{:02X}", c);
                } else {
                    out += ch;
                }
        }
    }
    return out + "\"";
}

std::string single_quoted(std::string_view text) {
    std::string out = "'";
    for (char c : text) {
        if (c == '\'') out += '\'';
        out += c;
    }
    return out + "'";
}

// Reports whether Psych would read the text as a date or a time.
bool reads_as_time(std::string_view t) {
    std::size_t at = t.starts_with('-') ? 1 : 0;
    auto digits = [&](std::size_t least, std::size_t most) {
        std::size_t n = 0;
        while (at < t.size() && n < most && t[at] >= '0' && t[at] <= '9') ++at, ++n;
        return n >= least;
    };
    auto is = [&](std::string_view any) {
        return at < t.size() && any.find(t[at]) != std::string_view::npos && ++at != 0;
    };
    if (!digits(4, 4) || !is("-") || !digits(1, 2) || !is("-") || !digits(1, 2)) return false;
    if (at == t.size()) return true;
    if (!is("Tt ")) return false;
    while (is(" ")) {
    }
    return digits(1, 2) && is(":") && digits(2, 2) && is(":") && digits(2, 2);
}

// Reports whether libyaml's emitter writes the text without quotes.
bool plain_allowed(std::string_view t) {
    if (t.empty() || t.front() == ' ' || t.back() == ' ') return false;
    if (t.starts_with("---") || t.starts_with("...")) return false;
    constexpr std::string_view kFirst = "#,[]{}&*!|>'\"%@`";
    if (kFirst.find(t[0]) != std::string_view::npos) return false;
    if ((t[0] == '?' || t[0] == ':' || t[0] == '-') && (t.size() == 1 || t[1] == ' ')) return false;
    for (std::size_t i = 0; i < t.size(); ++i) {
        auto c = static_cast<unsigned char>(t[i]);
        if (c < 0x20 || c == 0x7f) return false;
        if (c == ':' && (i + 1 == t.size() || t[i + 1] == ' ')) return false;
        if (c == '#' && i > 0 && t[i - 1] == ' ') return false;
    }
    return true;
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
    if (text.empty()) return "''";
    bool control = false;
    for (char ch : text) {
        auto c = static_cast<unsigned char>(ch);
        control = control || (c < 0x20 && c != '\n') || c == 0x7f;
    }
    if (control || text.find('\n') != std::string_view::npos) return double_quoted(text);
    if (text == "y" || text == "Y" || text == "n" || text == "N") return double_quoted(text);
    if (!is_word_byte(static_cast<unsigned char>(text[0])) &&
        text.substr(1).find('"') == std::string_view::npos) {
        return double_quoted(text);
    }
    bool octal_float = text[0] == '0' && text.find('.') != std::string_view::npos &&
                       text.find_first_not_of("01234567.") == std::string_view::npos;
    if (octal_float || codec::resolve_yaml_scalar(text).kind != codec::YamlNode::Kind::String ||
        reads_as_time(text) || !plain_allowed(text)) {
        return single_quoted(text);
    }
    return std::string(text);
}

std::string yaml_time(std::int64_t ns) {
    return base::iso_text(base::local_time_ns(ns), 9, " +00:00", ' ');
}
std::string iso8601_local(std::int64_t ns) {
    return base::iso_text(base::local_time_ns(ns), 9, "+00:00");
}

}  // namespace bunraku::apply
