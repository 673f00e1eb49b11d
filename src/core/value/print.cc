// SPDX-License-Identifier: Apache-2.0
// Formats values as text: for interpolation, and as Puppet source for messages.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/civil_time.h"
#include "core/base/redacted.h"
#include "core/base/semver.h"
#include "core/base/work_limit.h"
#include "core/codec/base64.h"
#include "core/regex/regex.h"
#include "core/value/internal.h"
#include "core/value/value.h"

namespace bunraku::value {

namespace {

void append_integer(std::string& out, std::int64_t i) {
    char buffer[24];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, i).ptr;
    out.append(buffer, end);
}

/// Appends the source in the form of Ruby's Regexp#inspect and #to_s. Escapes each "/" that is not
/// escaped yet, and writes control characters other than blanks by number.
void append_regexp_source(std::string& out, std::string_view source) {
    for (std::size_t i = 0; i < source.size(); ++i) {
        const auto c = static_cast<unsigned char>(source[i]);
        if (c == '\\' && i + 1 < source.size()) {
            out += '\\';
            out += source[++i];
        } else if (c == '/') {
            out += "\\/";
        } else if ((c < 0x20 && !(c >= 9 && c <= 13)) || c == 0x7f) {
            char buffer[8];
            std::snprintf(buffer, sizeof buffer, "\\x%02X", c);
            out += buffer;
        } else {
            out += static_cast<char>(c);
        }
    }
}

/// Implements Puppet's regexp_to_s_with_delimiters.
void append_regexp(std::string& out, const RegexpRep& r) {
    if (r.options == 0) {
        out += '/';
        append_regexp_source(out, r.source);
        out += '/';
        return;
    }
    std::string on, off;
    const auto flag = [&](std::uint32_t bit, char letter) {
        ((r.options & bit) != 0 ? on : off) += letter;
    };
    // Ruby's Regexp#to_s lists the flags in the order m, i, x.
    flag(regex::kMultiline, 'm');
    flag(regex::kIgnoreCase, 'i');
    flag(regex::kExtended, 'x');
    out += "/(?";
    out += on;
    if (!off.empty()) {
        out += '-';
        out += off;
    }
    out += ':';
    append_regexp_source(out, r.source);
    out += ")/";
}

void print_at(std::string& out, const Value& v, bool source) {
    base::step();
    switch (v.kind()) {
        case Kind::Undef:
            if (source) out += "undef";
            break;
        case Kind::Default: out += "default"; break;
        case Kind::Boolean: out += v.as_boolean() ? "true" : "false"; break;
        case Kind::Integer: append_integer(out, v.as_integer()); break;
        case Kind::Float: out += format_float(v.as_float()); break;
        case Kind::String:
            if (source) {
                out += quote(v.as_string());
            } else {
                out += v.as_string();
            }
            break;
        case Kind::Array: {
            out += '[';
            bool first = true;
            for (const Value& item : v.as_array()) {
                if (!first) out += ", ";
                first = false;
                print_at(out, item, source);
            }
            out += ']';
            break;
        }
        case Kind::Hash: {
            out += '{';
            bool first = true;
            for (const Entry& e : v.as_hash()) {
                if (!first) out += ", ";
                first = false;
                print_at(out, e.key, source);
                out += " => ";
                print_at(out, e.value, source);
            }
            out += '}';
            break;
        }
        case Kind::Regexp: append_regexp(out, v.as_regexp()); break;
        case Kind::Sensitive: out += base::kSensitiveText; break;
        case Kind::Timestamp:
        case Kind::Timespan:
        case Kind::SemVer:
        case Kind::SemVerRange: {
            if (source) out += '\'';
            if (v.is(Kind::Timestamp)) {
                append_timestamp(out, nanoseconds(v));
            } else if (v.is(Kind::Timespan)) {
                append_timespan(out, nanoseconds(v));
            } else if (v.is(Kind::SemVer)) {
                out += v.as_semver().to_string();
            } else {
                out += v.as_semver_range().to_string();
            }
            if (source) out += '\'';
            break;
        }
        case Kind::Binary:
            if (source) out += "Binary('";
            out += codec::base64_encode(v.as_string());
            if (source) out += "')";
            break;
        case Kind::Uri:
            if (source) {
                out += "URI(";
                out += quote(v.as_string());
                out += ')';
            } else {
                out += v.as_string();
            }
            break;
        case Kind::Type:
        case Kind::Object:
        case Kind::Closure:
        case Kind::Iterator: v.as_extension()->print(out); break;
    }
}

std::string double_quote(std::string_view text) {
    std::string out = "\"";
    for (const char ch : text) {
        switch (ch) {
            case '\t': out += "\\t"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '"': out += "\\\""; break;
            case '$': out += "\\$"; break;
            case '\\': out += "\\\\"; break;
            default:
                if (static_cast<unsigned char>(ch) < 0x20) {
                    char buffer[12];
                    std::snprintf(buffer, sizeof buffer, "\\u{%X}", static_cast<unsigned>(ch));
                    out += buffer;
                } else {
                    out += ch;
                }
        }
    }
    out += '"';
    return out;
}

}  // namespace

void print(std::string& out, const Value& v) { print_at(out, v, false); }

void print_source(std::string& out, const Value& v) { print_at(out, v, true); }

std::string to_text(const Value& v) {
    if (v.is_string()) return std::string(v.as_string());
    std::string out;
    print(out, v);
    return out;
}

std::string to_source(const Value& v) {
    std::string out;
    print_source(out, v);
    return out;
}

std::string format_float(double d) {
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
    if (d == 0) return std::signbit(d) ? "-0.0" : "0.0";
    // The shortest digits that read back as the same number, in the form d.ddde[+-]xx.
    char buffer[40];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
    std::string digits;
    std::string out;
    const char* p = buffer;
    if (*p == '-') {
        out += '-';
        ++p;
    }
    for (; p != end && *p != 'e'; ++p) {
        if (*p != '.') digits += *p;
    }
    int exponent = 0;
    const char* from = p + 1;
    if (*from == '+') ++from;
    std::from_chars(from, end, exponent);
    const int point = exponent + 1;  // position of the decimal point in the digits
    const int count = static_cast<int>(digits.size());
    if (point > -4 && point <= 15) {
        if (point <= 0) {
            out += "0.";
            out.append(static_cast<std::size_t>(-point), '0');
            out += digits;
        } else if (point >= count) {
            out += digits;
            out.append(static_cast<std::size_t>(point - count), '0');
            out += ".0";
        } else {
            out.append(digits, 0, static_cast<std::size_t>(point));
            out += '.';
            out.append(digits, static_cast<std::size_t>(point));
        }
        return out;
    }
    out += digits[0];
    out += '.';
    out += count > 1 ? digits.substr(1) : "0";
    char tail[8];
    std::snprintf(tail, sizeof tail, "e%+03d", exponent);
    return out + tail;
}

std::string quote(std::string_view text) {
    std::string out = "'";
    bool escaped = false;  // true after a backslash
    for (const char ch : text) {
        if (static_cast<unsigned char>(ch) < 0x20) return double_quote(text);
        if (escaped) {
            out += '\\';
            out += ch;
            escaped = false;
        } else if (ch == '\'') {
            out += "\\'";
        } else if (ch == '\\') {
            escaped = true;
        } else {
            out += ch;
        }
    }
    if (escaped) out += '\\';
    out += '\'';
    return out;
}

std::string quote_double(std::string_view text) { return double_quote(text); }

void append_timestamp(std::string& out, Nanoseconds nanoseconds) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    Nanoseconds seconds = nanoseconds / kSecond;
    auto fraction = static_cast<std::int64_t>(nanoseconds % kSecond);
    if (fraction < 0) fraction += kSecond, --seconds;
    out += base::iso_text(base::civil_time(seconds, static_cast<int>(fraction), 0), 9, " UTC");
}

void append_timespan(std::string& out, Nanoseconds nanoseconds) {
    auto n = static_cast<unsigned __int128>(nanoseconds);
    if (nanoseconds < 0) {
        out += '-';
        n = 0 - n;
    }
    auto fraction = static_cast<std::uint64_t>(n % 1'000'000'000);
    const auto seconds = static_cast<std::uint64_t>(n / 1'000'000'000);
    // The fraction without its trailing zeros, like %-N in the format.
    while (fraction != 0 && fraction % 10 == 0) fraction /= 10;
    char buffer[80];
    std::snprintf(buffer, sizeof buffer, "%llu-%02d:%02d:%02d.%llu",
                  static_cast<unsigned long long>(seconds / 86'400),
                  static_cast<int>(seconds / 3600 % 24), static_cast<int>(seconds / 60 % 60),
                  static_cast<int>(seconds % 60), static_cast<unsigned long long>(fraction));
    out += buffer;
}

}  // namespace bunraku::value
