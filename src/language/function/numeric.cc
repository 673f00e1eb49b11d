// SPDX-License-Identifier: Apache-2.0
// Functions on numbers, and max, min and compare.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/base/semver.h"
#include "core/value/time.h"
#include "language/function/support.h"

namespace bunraku::function {
namespace {

using value::Kind;

/// Converts like Ruby's String#to_f: returns the leading number, or 0.0 if there is none.
double leading_float(std::string_view s) {
    std::string clean;  // an underscore between digits is ignored
    for (char c : s)
        if (c != '_') clean += c;
    return std::strtod(clean.c_str(), nullptr);
}

/// Puppet's functions return integers of any size; a Value holds 64 bits.
[[noreturn]] void out_of_range(std::string_view function) {
    argument_error("{}(): the result is outside the range of Integer", function);
}

Value integral(double d, std::string_view function) {
    if (!std::isfinite(d)) argument_error("{}", value::format_float(d));
    if (d >= 9223372036854775808.0 || d < -9223372036854775808.0) out_of_range(function);
    return Value::integer(static_cast<std::int64_t>(d));
}

Value abs_integer(std::int64_t i) {
    if (i == std::numeric_limits<std::int64_t>::min()) out_of_range("abs");
    return Value::integer(i < 0 ? -i : i);
}

Value abs_numeric(const Call& call) {
    const Value& v = call[0];
    return v.is_integer() ? abs_integer(v.as_integer()) : Value::floating(std::fabs(v.as_float()));
}

bool digits(std::string_view s) {
    if (s.empty()) return false;
    for (char c : s) {
        if (c < '0' || c > '9') return false;
    }
    return true;
}

Value abs_string(const Call& call) {
    warn_once(call,
              "The abs() function's auto conversion of String to Numeric is deprecated - change to "
              "convert input before calling");
    const std::string_view s = call[0].as_string();
    std::string_view rest = s.starts_with('-') ? s.substr(1) : s;
    if (digits(rest)) {
        std::int64_t i = 0;
        if (std::from_chars(rest.data(), rest.data() + rest.size(), i).ec != std::errc())
            out_of_range("abs");
        return Value::integer(i);
    }
    const auto dot = rest.find('.');
    if (dot != std::string_view::npos && digits(rest.substr(0, dot)) &&
        digits(rest.substr(dot + 1))) {
        return Value::floating(leading_float(rest));
    }
    argument_error("abs(): Requires float or integer to work with - was given non decimal string");
}

template <double (*F)(double)>
Value round_number(const Call& call, std::string_view name) {
    return call[0].is_integer() ? call[0] : integral(F(call[0].as_float()), name);
}

template <double (*F)(double)>
Value round_string(const Call& call, std::string_view name) {
    warn_once(
        call,
        fmt::format("The {}() function's auto conversion of String to Float is deprecated - change "
                    "to convert input before calling",
                    name));
    std::string s(call[0].as_string());
    char* end = nullptr;
    const double d = std::strtod(s.c_str(), &end);
    if (s.empty() || *end != '\0' || s.back() == '.') {
        argument_error("{}(): cannot convert given value to a floating point value.", name);
    }
    return integral(F(d), name);
}

Value ceiling_number(const Call& c) { return round_number<std::ceil>(c, "ceiling"); }
Value ceiling_string(const Call& c) { return round_string<std::ceil>(c, "ceiling"); }
Value floor_number(const Call& c) { return round_number<std::floor>(c, "floor"); }
Value floor_string(const Call& c) { return round_string<std::floor>(c, "floor"); }

Value round(const Call& call) {
    // Puppet also adds 0.5 to integers, which changes results beyond 53 bits.
    const double d = call[0].as_number();
    return integral(std::trunc(d > 0 ? d + 0.5 : d - 0.5), "round");
}

int order(double a, double b) { return a < b ? -1 : a > b ? 1 : 0; }

/// Compares two values of the same comparable kind (numbers, strings, versions, times) like <=>.
int natural(const Value& a, const Value& b) {
    if (a.is_integer() && b.is_integer())
        return a.as_integer() < b.as_integer() ? -1 : a.as_integer() > b.as_integer();
    if (a.is_numeric() && b.is_numeric()) return order(a.as_number(), b.as_number());
    if (a.is_string() && b.is_string()) {
        const int c = a.as_string().compare(b.as_string());
        return c < 0 ? -1 : c > 0 ? 1 : 0;
    }
    if (a.is(Kind::SemVer)) {
        const auto c = a.as_semver() <=> b.as_semver();
        return c < 0 ? -1 : c > 0 ? 1 : 0;
    }
    // two times are compared in nanoseconds, a time and a number in seconds
    const bool time_a = a.is(Kind::Timestamp) || a.is(Kind::Timespan);
    const bool time_b = b.is(Kind::Timestamp) || b.is(Kind::Timespan);
    if (time_a && time_b)
        return value::nanoseconds(a) < value::nanoseconds(b)
                   ? -1
                   : value::nanoseconds(a) > value::nanoseconds(b);
    const double x = time_a ? static_cast<double>(value::nanoseconds(a)) / 1e9 : a.as_number();
    const double y = time_b ? static_cast<double>(value::nanoseconds(b)) / 1e9 : b.as_number();
    return order(x, y);
}

/// Matches the pattern with which max and min decide that both values look numeric: optional minus,
/// digits, and one unusual form of fraction.
bool looks_numeric(std::string_view s) {
    if (s.starts_with('-')) s.remove_prefix(1);
    std::size_t n = 0;
    while (n < s.size() && s[n] >= '0' && s[n] <= '9') ++n;
    if (n == 0) return false;
    if (n == s.size()) return true;
    return std::string_view("._eE").find(s[n]) != std::string_view::npos && digits(s.substr(n + 1));
}

template <int Sign>
struct Extreme {
    static constexpr std::string_view name() { return Sign > 0 ? "max" : "min"; }

    template <class Compare>
    static Value pick(std::span<const Value> values, Compare compare) {
        if (values.empty())
            argument_error("{}(): Wrong number of arguments need at least one", name());
        const Value* best = &values[0];
        for (const Value& v : values.subspan(1)) {
            if (Sign * compare(v, *best) > 0) best = &v;
        }
        return *best;
    }

    static Value typed(const Call&, std::span<const Value> values) { return pick(values, natural); }

    static Value strings(const Call& call, std::span<const Value> values) {
        return pick(values, [&](const Value& a, const Value& b) {
            if (looks_numeric(a.as_string()) && looks_numeric(b.as_string())) {
                warn_once(call,
                          fmt::format(
                              "The {}() function's auto conversion of String to Numeric is "
                              "deprecated - change to convert input before calling, or use lambda",
                              name()));
                return order(leading_float(a.as_string()), leading_float(b.as_string()));
            }
            return natural(a, b);
        });
    }

    static Value any(const Call& call, std::span<const Value> values) {
        return pick(values, [&](const Value& a, const Value& b) {
            const std::string x = ruby_to_s(a), y = ruby_to_s(b);
            if (looks_numeric(x) && looks_numeric(y)) {
                warn_once(call,
                          fmt::format(
                              "The {}() function's auto conversion of String to Numeric is "
                              "deprecated - change to convert input before calling, or use lambda",
                              name()));
                return order(leading_float(x), leading_float(y));
            }
            warn_once(
                call,
                fmt::format("The {}() function's auto conversion of Any to String is deprecated - "
                            "change to convert input before calling, or use lambda",
                            name()));
            const int c = x.compare(y);
            return c < 0 ? -1 : c > 0 ? 1 : 0;
        });
    }

    static Value with_block(const Call& call, std::span<const Value> values) {
        if (values.empty()) return Value::undef();
        const Value* best = &values[0];
        for (const Value& v : values.subspan(1)) {
            const Value c = call.yield({v, *best});
            if (call.interpreter.pending() != evaluator::Completion::Normal) return Value::undef();
            if (!c.is_numeric())
                argument_error("comparison of {} with {} failed", ruby_class(v), ruby_class(*best));
            if (Sign * c.as_number() > 0) best = &v;
        }
        return *best;
    }

    using Way = Value (*)(const Call&, std::span<const Value>);
    template <Way W>
    static Value repeated(const Call& call) {
        return W(call, call.args);
    }
    template <Way W>
    static Value array(const Call& call) {
        return call.block ? with_block(call, call[0].as_array()) : W(call, call[0].as_array());
    }
};

#define BUNRAKU_EXTREME(SIGN)                                                                      \
    {                                                                                              \
        {"Numeric *values", Extreme<SIGN>::repeated<Extreme<SIGN>::typed>},                        \
        {"String *values", Extreme<SIGN>::repeated<Extreme<SIGN>::strings>},                       \
        {"SemVer *values", Extreme<SIGN>::repeated<Extreme<SIGN>::typed>},                         \
        {"Timespan *values", Extreme<SIGN>::repeated<Extreme<SIGN>::typed>},                       \
        {"Timestamp *values", Extreme<SIGN>::repeated<Extreme<SIGN>::typed>},                      \
        {"Array[Numeric] values, Callable[2,2] &block?",                                           \
         Extreme<SIGN>::array<Extreme<SIGN>::typed>},                                              \
        {"Array[String] values, Callable[2,2] &block?",                                            \
         Extreme<SIGN>::array<Extreme<SIGN>::strings>},                                            \
        {"Array[SemVer] values, Callable[2,2] &block?",                                            \
         Extreme<SIGN>::array<Extreme<SIGN>::typed>},                                              \
        {"Array[Timespan] values, Callable[2,2] &block?",                                          \
         Extreme<SIGN>::array<Extreme<SIGN>::typed>},                                              \
        {"Array[Timestamp] values, Callable[2,2] &block?",                                         \
         Extreme<SIGN>::array<Extreme<SIGN>::typed>},                                              \
        {"Array values, Callable[2,2] &block?", Extreme<SIGN>::array<Extreme<SIGN>::any>},         \
        {"Any *values, Callable[2,2] &block", Extreme<SIGN>::repeated<Extreme<SIGN>::with_block>}, \
        {"Any *values", Extreme<SIGN>::repeated<Extreme<SIGN>::any>},                              \
    }

Value compare_natural(const Call& call) { return Value::integer(natural(call[0], call[1])); }

Value compare_strings(const Call& call) {
    if (call.size() > 2 && !call[2].as_boolean()) return compare_natural(call);
    const std::string_view a = call[0].as_string(), b = call[1].as_string();
    const std::size_t n = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < n; ++i) {  // casecmp folds only ASCII letters
        auto fold = [](char c) {
            return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
        };
        if (fold(a[i]) != fold(b[i])) return Value::integer(fold(a[i]) < fold(b[i]) ? -1 : 1);
    }
    return Value::integer(a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0);
}

/// Returns Puppet's label for a value in the messages of compare (ModelLabelProvider).
std::string label(const Value& v) {
    switch (v.kind()) {
        case Kind::String: return "String";
        case Kind::Integer: return "Integer";
        case Kind::Float: return "Float";
        case Kind::SemVer: return "Semver";
        case Kind::Undef: return "Undef Value";
        case Kind::Boolean: return "Boolean";
        case Kind::Array: return "Array Value";
        case Kind::Hash: return "Hash Value";
        case Kind::Regexp: return "Regexp";
        case Kind::Default: return "Default Value";
        default: {
            std::string name(ruby_class(v));
            const auto at = name.rfind("::");
            return at == std::string::npos ? name : name.substr(at + 2);
        }
    }
}

Value compare_error(const Call& call) {
    if (call.size() > 2) {
        if (!call[0].is_string() || !call[1].is_string()) {
            return text(call,
                        "compare(): The third argument (ignore case) can only be used when "
                        "comparing strings");
        }
        if (call.size() > 3) {
            return text(call,
                        fmt::format("compare(): Accepts at most 3 arguments, got {}", call.size()));
        }
        if (!call[2].is(Kind::Boolean)) {
            return text(
                call,
                fmt::format("compare(): The third argument (ignore case) must be a Boolean. Got {}",
                            label(call[2])));
        }
    }
    return text(
        call,
        fmt::format(
            "compare(): Can only compare values of the same type (or for Timestamp/Timespan also "
            "against Numeric). Got {} and {}",
            label(call[0]), label(call[1])));
}

Value compare_impossible(const Call& call) {
    return text(
        call,
        fmt::format(
            "compare(): Non comparable type. Only values of the types Numeric, String, Semver, "
            "Timestamp and Timestamp can be compared. Got {} and {}",
            label(call[0]), label(call[1])));
}

const Builtin kFunctions[] = {
    {"abs",
     "The absolute value of a number.",
     {{"Numeric val", abs_numeric}, {"String val", abs_string}}},
    {"ceiling",
     "The smallest integer not below a number.",
     {{"Numeric val", ceiling_number}, {"String val", ceiling_string}}},
    {"floor",
     "The largest integer not above a number.",
     {{"Numeric val", floor_number}, {"String val", floor_string}}},
    {"round", "The nearest integer; halves away from zero.", {{"Numeric val", round}}},
    {"max", "The greatest of its arguments or of an array's elements.", BUNRAKU_EXTREME(1)},
    {"min", "The smallest of its arguments or of an array's elements.", BUNRAKU_EXTREME(-1)},
    {"compare",
     "-1, 0 or 1 as the first value is below, equal to or above the second.",
     {{"Numeric a, Numeric b", compare_natural},
      {"String a, String b, Boolean ignore_case?", compare_strings},
      {"SemVer a, SemVer b", compare_natural},
      {"Numeric a, Variant[Timespan, Timestamp] b", compare_natural},
      {"Timestamp a, Variant[Timestamp, Numeric] b", compare_natural},
      {"Timespan a, Variant[Timespan, Numeric] b", compare_natural},
      {"Comparable a, Comparable b, Any *ignore_case", compare_error, true},
      {"Any a, Any b, Any *ignore_case", compare_impossible, true}},
     false,
     evaluator::kTyped,
     "TimeComparable = Variant[Numeric, Timespan, Timestamp]\nComparable = Variant[String, SemVer, "
     "TimeComparable]"},
};

}  // namespace

std::span<const Builtin> numeric_functions() { return kFunctions; }

}  // namespace bunraku::function
