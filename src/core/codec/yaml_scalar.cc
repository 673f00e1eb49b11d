// SPDX-License-Identifier: Apache-2.0
// Interprets plain scalars like ScalarScanner of Psych 4.0.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>

#include "core/base/number.h"
#include "core/codec/yaml_nodes.h"

namespace bunraku::codec {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Converts digits with underscores like Ruby's String#to_i.
std::int64_t leading_integer(std::string_view s) {
    bool negative = false;
    if (s.starts_with('-') || s.starts_with('+')) {
        negative = s[0] == '-';
        s.remove_prefix(1);
    }
    std::int64_t out = 0;
    for (char c : s) {
        if (c == '_') continue;
        if (!digit(c) || out > std::numeric_limits<std::int64_t>::max() / 100) break;
        out = out * 10 + (c - '0');
    }
    return negative ? -out : out;
}

/// Matches Psych's INTEGER. Returns an Integer node, or a text that is `large`. Returns nullopt if
/// `s` does not match.
std::optional<YamlNode> as_integer(std::string_view s) {
    const std::string_view written = s;
    std::string clean;
    if (s.starts_with('-')) clean = "-";
    if (s.starts_with('-') || s.starts_with('+')) s.remove_prefix(1);
    if (s.empty()) return std::nullopt;
    int base = 10;
    auto all = [](std::string_view text, auto&& fits) {
        return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
            return fits(c) || c == '_' || c == ',';
        });
    };
    const std::string_view rest = s.substr(std::min<std::size_t>(s.size(), 2));
    if (s.starts_with("0b")) {
        if (!all(rest, [](char c) { return c == '0' || c == '1'; })) return std::nullopt;
        base = 2;
        s = rest;
    } else if (s.starts_with("0x")) {
        if (!all(rest, [](char c) { return std::isxdigit(static_cast<unsigned char>(c)); }))
            return std::nullopt;
        base = 16;
        s = rest;
    } else if (s.size() > 1 && s[0] == '0') {
        if (!all(s.substr(1), [](char c) { return c >= '0' && c <= '7'; })) return std::nullopt;
        base = 8;
    } else {
        // (?:0|[1-9](?:[0-9]|,[0-9]|_[0-9])*)
        if (!digit(s[0])) return std::nullopt;
        for (std::size_t i = 1; i < s.size(); ++i) {
            if (digit(s[i])) continue;
            if ((s[i] != ',' && s[i] != '_') || i + 1 == s.size() || !digit(s[i + 1]))
                return std::nullopt;
        }
    }
    std::size_t digits = 0;
    for (char c : s) {
        if (c == '_' || c == ',') continue;
        clean += c;
        ++digits;
    }
    if (digits == 0) return std::nullopt;
    errno = 0;
    const long long value = std::strtoll(clean.c_str(), nullptr, base);
    YamlNode n;
    n.kind = YamlNode::Kind::Integer;
    n.integer = value;
    if (errno != ERANGE) return n;
    n = make_text(written);
    n.large = true;
    return n;
}

/// Matches Psych's FLOAT: [-+]?([0-9][0-9_,]*)?\.[0-9]*([eE][-+][0-9]+)?
std::optional<double> as_float(std::string_view s) {
    std::string clean;
    std::size_t i = 0, digits = 0;
    if (i < s.size() && (s[i] == '-' || s[i] == '+')) clean += s[i++];
    if (i < s.size() && digit(s[i])) {
        for (; i < s.size() && (digit(s[i]) || s[i] == '_' || s[i] == ','); ++i) {
            if (digit(s[i])) clean += s[i], ++digits;
        }
    }
    if (i >= s.size() || s[i] != '.') return std::nullopt;
    clean += s[i++];
    for (; i < s.size() && digit(s[i]); ++i) clean += s[i], ++digits;
    if (i < s.size()) {
        if ((s[i] != 'e' && s[i] != 'E') || i + 2 >= s.size() ||
            (s[i + 1] != '-' && s[i + 1] != '+'))
            return std::nullopt;
        clean += s.substr(i, 2);
        for (i += 2; i < s.size(); ++i) {
            if (!digit(s[i])) return std::nullopt;
            clean += s[i];
        }
    }
    if (digits == 0) return std::nullopt;
    return std::strtod(clean.c_str(), nullptr);
}

/// Matches "190:20:30" and "1:30". Sets `fraction` if there is a point, which makes the value a
/// Float.
bool sexagesimal(std::string_view s, bool& fraction) {
    std::size_t i = s.starts_with('-') || s.starts_with('+') ? 1 : 0;
    if (i >= s.size() || !digit(s[i])) return false;
    while (i < s.size() && (digit(s[i]) || s[i] == '_')) ++i;
    int parts = 0;
    while (i < s.size() && s[i] == ':') {
        if (++parts > 2) return false;
        ++i;
        if (i + 1 < s.size() && s[i] >= '0' && s[i] <= '5' && digit(s[i + 1])) {
            i += 2;
        } else if (i < s.size() && digit(s[i])) {
            ++i;
        } else {
            return false;
        }
    }
    if (parts == 0) return false;
    fraction = i < s.size() && s[i] == '.';
    if (fraction) {
        for (++i; i < s.size() && (digit(s[i]) || s[i] == '_');) ++i;
    }
    return i == s.size();
}

/// Computes base 60 like Psych, where two parts are hours and minutes. A value beyond 64 bits
/// becomes a text, as any other large number does.
YamlNode sexagesimal_value(std::string_view s, bool fraction) {
    const std::string_view whole = s;
    __int128 sum = 0;
    constexpr std::int64_t kWeights[] = {3600, 60, 1};
    YamlNode n;
    n.kind = fraction ? YamlNode::Kind::Float : YamlNode::Kind::Integer;
    for (std::size_t part = 0; part < 3; ++part) {
        const auto colon = std::min(s.find(':'), s.size());
        std::string text(s.substr(0, colon));
        std::erase(text, '_');
        if (fraction) {
            n.number += std::strtod(text.c_str(), nullptr) * static_cast<double>(kWeights[part]);
        } else {
            const auto digits = std::string_view(text).substr(text.starts_with('+') ? 1 : 0);
            const auto value = base::parse_integer<std::int64_t>(digits);
            if (!value) return make_text(whole);
            sum += static_cast<__int128>(*value) * kWeights[part];
        }
        if (colon == s.size()) break;
        s.remove_prefix(colon + 1);
    }
    n.integer = static_cast<std::int64_t>(sum);
    return n.integer == sum ? n : make_text(whole);
}

/// Returns 1 for a Date and 2 for a Time, by Psych's rules, or 0 for neither.
int date_or_time(std::string_view s) {
    std::size_t i = 0;
    auto number = [&](std::size_t least, std::size_t most) {
        std::size_t n = 0;
        while (n < most && i < s.size() && digit(s[i])) ++i, ++n;
        return n >= least ? n : 0;
    };
    auto literal = [&](char c) {
        if (i >= s.size() || s[i] != c) return false;
        ++i;
        return true;
    };
    auto blank = [&] { return i < s.size() && (s[i] == ' ' || s[i] == '\t'); };
    const bool negative = literal('-');
    if (!number(4, 4) || !literal('-')) return 0;
    const std::size_t month_at = i;
    if (!number(1, 2)) return 0;
    const std::int64_t month = leading_integer(s.substr(month_at, i - month_at));
    if (!literal('-')) return 0;
    const std::size_t day_at = i;
    if (!number(1, 2)) return 0;
    const std::int64_t day = leading_integer(s.substr(day_at, i - day_at));
    if (i == s.size()) return !negative && month <= 12 && day <= 31 ? 1 : 0;
    if (s[i] == 'T' || s[i] == 't') {
        ++i;
    } else {
        if (!blank()) return 0;
        while (blank()) ++i;
    }
    if (!number(1, 2) || !literal(':') || !number(2, 2) || !literal(':') || !number(2, 2)) return 0;
    if (literal('.')) {
        while (i < s.size() && digit(s[i])) ++i;
    }
    if (i == s.size()) return 2;
    while (blank()) ++i;
    if (literal('Z')) return i == s.size() ? 2 : 0;
    if (!literal('-') && !literal('+')) return 0;
    if (!number(1, 2)) return 0;
    if (i == s.size()) return 2;
    literal(':');
    if (i == s.size()) return 2;
    return number(2, 2) && i == s.size() ? 2 : 0;
}

/// Compares without case; `word` must be lower case.
bool same_letters(std::string_view s, std::string_view word) {
    return s.size() == word.size() &&
           std::equal(s.begin(), s.end(), word.begin(), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) == b;
           });
}

/// Matches [[:alpha:]_\s!@#$%\^&*(){}<>|/\\~;=]; characters that are not ASCII count as letters.
bool wordy(char c) {
    return static_cast<unsigned char>(c) >= 0x80 || std::isalpha(static_cast<unsigned char>(c)) ||
           (c != 0 && std::string_view("_ \t\r\n\f\v!@#$%^&*(){}<>|/\\~;=").find(c) !=
                          std::string_view::npos);
}

std::size_t sequence_length(char c) {
    const auto lead = static_cast<unsigned char>(c);
    return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
}

}  // namespace

YamlNode resolve_yaml_scalar(std::string_view s) {
    YamlNode n;
    if (s.empty()) return n;
    auto boolean = [&](bool b) {
        n.kind = YamlNode::Kind::Boolean;
        n.boolean = b;
        return n;
    };
    auto floating = [&](double d) {
        n.kind = YamlNode::Kind::Float;
        n.number = d;
        return n;
    };
    const char first = s[0];
    const bool free_start = !digit(first) && first != '.' && first != ':' && first != '-';
    const std::size_t second = sequence_length(first);
    if (wordy(first) || (free_start && s.size() > second && wordy(s[second])) ||
        s.find('\n') != std::string_view::npos) {
        if (s.size() > 5) return make_text(s);
        if (s == "~" || same_letters(s, "null")) return n;
        for (std::string_view word : {"yes", "true", "on"}) {
            if (same_letters(s, word)) return boolean(true);
        }
        for (std::string_view word : {"no", "false", "off"}) {
            if (same_letters(s, word)) return boolean(false);
        }
        return make_text(s);
    }
    if (const int when = date_or_time(s)) {
        n = make_text(s);
        n.date = when == 1;
        n.time = when == 2;
        return n;
    }
    if (same_letters(s, ".inf") || same_letters(s, "+.inf"))
        return floating(std::numeric_limits<double>::infinity());
    if (same_letters(s, "-.inf")) return floating(-std::numeric_limits<double>::infinity());
    if (same_letters(s, ".nan")) return floating(std::numeric_limits<double>::quiet_NaN());
    if (first == ':' && s.size() > 1) {
        if (s[1] == '"' || s[1] == '\'') {
            if (const auto end = s.rfind(s[1]); end > 1) {
                std::string_view inner = s.substr(2, end - 2);
                if (inner.starts_with(':')) inner.remove_prefix(1);
                return make_symbol(inner);
            }
        }
        return make_symbol(s.substr(1));
    }
    if (bool fraction = false; sexagesimal(s, fraction)) return sexagesimal_value(s, fraction);
    if (const auto d = as_float(s)) return floating(*d);
    if (auto integer = as_integer(s)) return *std::move(integer);
    return make_text(s);
}

}  // namespace bunraku::codec
