// SPDX-License-Identifier: Apache-2.0
// Equality, order, membership and option matching (Puppet::Pops::Evaluator::CompareOperator).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utf8proc.h>

#include "core/base/semver.h"
#include "core/base/work_limit.h"
#include "core/regex/regex.h"
#include "core/value/time.h"
#include "language/evaluator/evaluation.h"
#include "language/types/type.h"

namespace bunraku::evaluator {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

char fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Compares like Ruby's String#casecmp, which folds only ASCII letters.
int casecmp(std::string_view a, std::string_view b) {
    const std::size_t n = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < n; ++i) {
        const auto x = static_cast<unsigned char>(fold(a[i]));
        const auto y = static_cast<unsigned char>(fold(b[i]));
        if (x != y) return x < y ? -1 : 1;
    }
    return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

bool is_time(const Value& v) { return v.is(Kind::Timespan) || v.is(Kind::Timestamp); }

std::int64_t floor_seconds(value::Nanoseconds ns) {
    return static_cast<std::int64_t>(ns / kSecond - (ns % kSecond < 0 ? 1 : 0));
}

template <class T>
int order(const T& a, const T& b) {
    return a < b ? -1 : b < a ? 1 : 0;
}

/// Compares an integer with a float without losing digits.
int order_mixed(std::int64_t i, double d) {
    if (d >= 9223372036854775808.0) return -1;
    if (d < -9223372036854775808.0) return 1;
    const auto whole = static_cast<std::int64_t>(std::floor(d));
    if (i != whole) return order(i, whole);
    return d > std::floor(d) ? -1 : 0;
}

int order_numbers(const Value& a, const Value& b) {
    if (a.is_integer() && b.is_integer()) return order(a.as_integer(), b.as_integer());
    if (a.is_integer()) return order_mixed(a.as_integer(), b.as_float());
    if (b.is_integer()) return -order_mixed(b.as_integer(), a.as_float());
    return order(a.as_float(), b.as_float());
}

/// Compares a time with a number of seconds. For an integer, only whole seconds count.
int order_time(const Value& time, const Value& number) {
    if (number.is_integer())
        return order(floor_seconds(value::nanoseconds(time)), number.as_integer());
    return order(static_cast<double>(value::nanoseconds(time)) / static_cast<double>(kSecond),
                 number.as_float());
}

bool numbers_equal(const Value& a, const Value& b) {
    if ((a.is_float() && std::isnan(a.as_float())) || (b.is_float() && std::isnan(b.as_float())))
        return false;
    return order_numbers(a, b) == 0;
}

bool range_includes(const Value& range, const Value& v) {
    if (v.is(Kind::SemVer)) return range.as_semver_range().includes(v.as_semver());
    if (!v.is_string()) return false;
    const auto version = base::SemVer::parse(v.as_string());
    return version && range.as_semver_range().includes(*version);
}

bool equal_values(const Value& a, const Value& b, bool fold_case) {
    base::step();
    if (a.is_numeric()) {
        if (b.is_numeric()) return numbers_equal(a, b);
        return is_time(b) && order_time(b, a) == 0;
    }
    if (is_time(a) && b.is_numeric()) return order_time(a, b) == 0;
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
        case Kind::String:
            return (fold_case ? a.as_string().size() == b.as_string().size() &&
                                    casecmp(a.as_string(), b.as_string()) == 0
                              : a.as_string() == b.as_string()) &&
                   value::same_encoding(a, b);
        case Kind::Array: {
            const auto x = a.as_array(), y = b.as_array();
            if (x.size() != y.size()) return false;
            for (std::size_t i = 0; i < x.size(); ++i)
                if (!equal_values(x[i], y[i], fold_case)) return false;
            return true;
        }
        case Kind::Hash: {
            if (a.as_hash().size() != b.as_hash().size()) return false;
            for (const value::Entry& e : a.as_hash()) {
                const Value* other = b.as_hash().find(e.key);
                if (!other && !(fold_case && e.value.is_undef())) return false;
                if (other && !equal_values(*other, e.value, fold_case)) return false;
            }
            return true;
        }
        default: return value::equal(a, b);
    }
}

}  // namespace

bool equals(const Value& a, const Value& b) { return equal_values(a, b, true); }

bool ruby_equals(const Value& a, const Value& b) { return equal_values(a, b, false); }

int compare(const Value& a, const Value& b) {
    switch (a.kind()) {
        case Kind::String:
            if (b.is_string()) return casecmp(a.as_string(), b.as_string());
            runtime_error("A String is not comparable to a non String");
        case Kind::Integer:
        case Kind::Float:
            if (b.is_numeric()) return order_numbers(a, b);
            if (is_time(b)) return -order_time(b, a);
            runtime_error("A Numeric is not comparable to non Numeric");
        case Kind::Default:
            if (b.is_default()) return 0;
            runtime_error("Symbol not comparable to non Symbol");
        case Kind::Timespan:
            if (b.is(Kind::Timespan)) return order(value::nanoseconds(a), value::nanoseconds(b));
            if (b.is_numeric()) return order_time(a, b);
            runtime_error("Timespans are only comparable to Timespans, Integers, and Floats");
        case Kind::Timestamp:
            if (b.is(Kind::Timestamp)) return order(value::nanoseconds(a), value::nanoseconds(b));
            if (b.is_numeric()) return order_time(a, b);
            runtime_error("Timestamps are only comparable to Timestamps, Integers, and Floats");
        case Kind::SemVer: {
            if (!b.is(Kind::SemVer)) runtime_error("Versions not comparable to non Versions");
            const auto o = a.as_semver() <=> b.as_semver();
            return o < 0 ? -1 : o > 0 ? 1 : 0;
        }
        default:
            runtime_error(
                "Only Strings, Numbers, Timespans, Timestamps, and Versions are comparable");
    }
}

std::string downcase(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    auto left = static_cast<utf8proc_ssize_t>(text.size());
    while (left > 0) {
        if (*at < 0x80) {
            out += fold(static_cast<char>(*at));
            ++at;
            --left;
            continue;
        }
        utf8proc_int32_t code = 0;
        const utf8proc_ssize_t used = utf8proc_iterate(at, left, &code);
        if (used <= 0) {
            out += static_cast<char>(*at);
            ++at;
            --left;
            continue;
        }
        utf8proc_uint8_t bytes[4];
        const auto n = utf8proc_encode_char(utf8proc_tolower(code), bytes);
        out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
        at += used;
        left -= used;
    }
    return out;
}

bool includes(Interpreter& in, const Value& haystack, const Value& needle, Scope* scope) {
    base::step();
    const auto search = [&](const Value& subject, const Value& pattern) {
        bool matched = false;
        if (scope)
            Evaluation::set_match(in, *scope, subject, *pattern.as_regexp().regex, matched);
        else
            matched = pattern.as_regexp().regex->matches(subject.as_string());
        return matched;
    };
    switch (haystack.kind()) {
        case Kind::String:
            if (needle.is_string()) {
                if (needle.as_string().size() > haystack.as_string().size() * 2) return false;
                return downcase(haystack.as_string()).find(downcase(needle.as_string())) !=
                       std::string::npos;
            }
            return needle.is(Kind::Regexp) && search(haystack, needle);
        case Kind::Binary:
            if (needle.is(Kind::Binary) || needle.is_string())
                return haystack.as_string().find(needle.as_string()) != std::string_view::npos;
            return needle.is_integer() && needle.as_integer() >= 0 && needle.as_integer() < 256 &&
                   haystack.as_string().find(static_cast<char>(needle.as_integer())) !=
                       std::string_view::npos;
        case Kind::Array:
            for (const Value& each : haystack.as_array()) {
                switch (needle.kind()) {
                    case Kind::Regexp:
                        if (each.is_string() && search(each, needle)) return true;
                        break;
                    case Kind::String:
                    case Kind::SemVer:
                        if (matches(in, needle, each, scope)) return true;
                        break;
                    case Kind::Type:
                        if (types::is_instance(in.types(), needle.as_type(), each)) return true;
                        break;
                    default:
                        if (equals(each, needle)) return true;
                }
            }
            return false;
        case Kind::Hash: {
            ValueBuffer keys;
            for (const value::Entry& e : haystack.as_hash()) keys.push(e.key);
            return includes(in, Value::array(keys.view()), needle, scope);
        }
        case Kind::SemVerRange: return range_includes(haystack, needle);
        default: return false;
    }
}

bool matches(Interpreter& in, const Value& subject, const Value& option, Scope* scope) {
    base::step();
    switch (option.kind()) {
        case Kind::Regexp: {
            if (!subject.is_string()) return false;
            if (!scope) return option.as_regexp().regex->matches(subject.as_string());
            bool matched = false;
            Evaluation::set_match(in, *scope, subject, *option.as_regexp().regex, matched);
            return matched;
        }
        case Kind::SemVer: {
            if (subject.is(Kind::SemVer)) return subject.as_semver() == option.as_semver();
            if (!subject.is_string()) return false;
            const auto version = base::SemVer::parse(subject.as_string());
            return version && *version == option.as_semver();
        }
        case Kind::SemVerRange: return range_includes(option, subject);
        case Kind::Type: return types::is_instance(in.types(), option.as_type(), subject);
        case Kind::Array: {
            if (!subject.is_array()) return false;
            const auto a = subject.as_array(), b = option.as_array();
            if (a.size() != b.size()) return false;
            for (std::size_t i = 0; i < a.size(); ++i)
                if (!matches(in, a[i], b[i], scope)) return false;
            return true;
        }
        case Kind::Hash:
            if (!subject.is_hash()) return false;
            for (const value::Entry& e : option.as_hash()) {
                const Value* v = subject.as_hash().find(e.key);
                if (!matches(in, v ? *v : Value::undef(), e.value, scope)) return false;
            }
            return true;
        case Kind::Default: return true;
        default: return equals(subject, option);
    }
}

}  // namespace bunraku::evaluator
