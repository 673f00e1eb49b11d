// SPDX-License-Identifier: Apache-2.0
// Constructors of Integer, Float, Numeric and Boolean.
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/value/big_integer.h"
#include "core/value/time.h"
#include "language/types/internal.h"
#include "language/types/new_internal.h"
#include "language/types/object_internal.h"
#include "language/types/time_format.h"

namespace bunraku::types {

using base::PuppetError;
using value::Kind;

namespace {

constexpr std::string_view kSign = "[+-]?\\s*";
constexpr std::string_view kHex = "(?:0[xX][0-9A-Fa-f]+)";
constexpr std::string_view kOctal = "(?:0[0-7]+)";
constexpr std::string_view kBinary = "(?:0[bB][01]+)";

std::string integer_pattern() {
    return fmt::format("\\A{}(?:(?:\\d+)|{}|{})\\z", kSign, kHex, kBinary);
}
std::string float_pattern() {
    return fmt::format("\\A{}(?:(?:(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE]-?\\d+)?)|{}|{}|{})\\z", kSign,
                       kHex, kOctal, kBinary);
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

[[noreturn]] void out_of_range(std::string_view text) {
    throw PuppetError(
        fmt::format("The string '{}' cannot be converted to Integer: it is beyond 64 bits", text));
}

/// Converts like Ruby's Kernel#Integer. A radix of 0 means that the prefix determines it. Returns
/// nullopt if the text is invalid.
std::optional<std::int64_t> ruby_integer(std::string_view text, int radix) {
    std::string_view s = text;
    while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
    while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
    bool negative = false;
    if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
        negative = s[0] == '-';
        s.remove_prefix(1);
    }
    const char second = s.size() > 1 ? static_cast<char>(s[1] | 0x20) : '\0';
    if (s.size() > 2 && s[0] == '0' && (second == 'x' || second == 'b' || second == 'o')) {
        const int prefix = second == 'x' ? 16 : second == 'b' ? 2 : 8;
        if (radix == 0) radix = prefix;
        if (radix == prefix) s.remove_prefix(2);
    } else if (radix == 0 && s.size() > 1 && s[0] == '0') {
        radix = 8;
        s.remove_prefix(1);
    }
    if (radix == 0) radix = 10;
    if (s.empty()) return std::nullopt;
    std::uint64_t n = 0;
    for (const char c : s) {
        const int d = digit_value(c);
        if (d >= radix) return std::nullopt;
        if (n > (std::numeric_limits<std::uint64_t>::max() - 15) / static_cast<unsigned>(radix)) {
            out_of_range(text);
        }
        n = n * static_cast<unsigned>(radix) + static_cast<unsigned>(d);
    }
    constexpr auto kLimit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (n > kLimit + (negative ? 1 : 0)) out_of_range(text);
    return negative ? static_cast<std::int64_t>(0 - n) : static_cast<std::int64_t>(n);
}

/// Returns the double nearest to an integer in hexadecimal digits, or infinity.
double float_of_hex(std::string_view digits) {
    double d = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), d, std::chars_format::hex);
    return error == std::errc::result_out_of_range ? std::numeric_limits<double>::infinity() : d;
}

/// Converts like Ruby's Kernel#Float for texts that match the pattern, including hexadecimal
/// integers.
std::optional<double> ruby_float(std::string_view text) {
    std::string_view s = text;
    while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
    while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
    bool negative = false;
    if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
        negative = s[0] == '-';
        s.remove_prefix(1);
    }
    if (s.empty()) return std::nullopt;
    double d = 0;
    if (s.size() > 2 && s[0] == '0' && (s[1] | 0x20) == 'x') {
        // Ruby, too, rounds after each digit.
        for (const char c : s.substr(2)) {
            if (digit_value(c) > 15) return std::nullopt;
            d = d * 16 + digit_value(c);
        }
    } else {
        if (s[0] < '0' || s[0] > '9') return std::nullopt;
        const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), d);
        if (end != s.data() + s.size()) return std::nullopt;
        if (ec == std::errc::result_out_of_range) {
            const auto e = s.find_first_of("eE");
            const bool tiny = e != std::string_view::npos && s.substr(e + 1).starts_with('-');
            d = tiny ? 0.0 : std::numeric_limits<double>::infinity();
        }
    }
    return negative ? -d : d;
}

/// Returns "- 1" without the blanks after its sign, or nullopt if there are none.
std::optional<std::string> without_blanks(std::string_view text) {
    if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
    std::size_t i = 1;
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
    if (i == 1 || text.find('\n') != std::string_view::npos) return std::nullopt;
    return std::string(1, text[0]) + std::string(text.substr(i));
}

[[noreturn]] void invalid(std::string_view what, std::string_view text) {
    throw PuppetError(fmt::format("invalid value for {}(): {}", what, value::quote_double(text)));
}

std::int64_t float_to_integer(double d) {
    if (std::isnan(d)) throw PuppetError("NaN");
    if (std::isinf(d)) throw PuppetError(d < 0 ? "-Infinity" : "Infinity");
    if (!(d > -9.3e18 && d < 9.3e18) || d >= 9223372036854775808.0 || d < -9223372036854775808.0) {
        throw PuppetError(
            fmt::format("The value {} cannot be converted to Integer: it is beyond 64 bits",
                        value::format_float(d)));
    }
    return static_cast<std::int64_t>(d);
}

std::int64_t whole_seconds(value::Nanoseconds ns) {
    const auto s = static_cast<std::int64_t>(ns / kNsPerSecond);
    return ns % kNsPerSecond < 0 ? s - 1 : s;
}
double seconds(value::Nanoseconds ns) { return static_cast<double>(ns) / 1e9; }

std::int64_t absolute(std::int64_t i) {
    if (i == std::numeric_limits<std::int64_t>::min()) out_of_range(std::to_string(i));
    return i < 0 ? -i : i;
}

Value make_integer_from(const Value& from, const Value& radix, bool abs) {
    std::int64_t n = 0;
    switch (from.kind()) {
        case Kind::Float: n = float_to_integer(from.as_float()); break;
        case Kind::Timestamp:
        case Kind::Timespan: n = whole_seconds(value::nanoseconds(from)); break;
        case Kind::Integer: n = from.as_integer(); break;
        case Kind::Boolean: n = from.as_boolean(); break;
        default: {
            const int base = radix.is_integer() ? static_cast<int>(radix.as_integer()) : 0;
            auto parsed = ruby_integer(from.as_string(), base);
            if (!parsed) {
                if (const auto text = without_blanks(from.as_string())) {
                    parsed = ruby_integer(*text, base);
                }
            }
            if (!parsed) invalid("Integer", from.as_string());
            n = *parsed;
        }
    }
    return Value::integer(abs ? absolute(n) : n);
}

Value at(Args args, std::size_t i) { return i < args.size() ? args[i] : Value::undef(); }

Value entry(const Value& hash, std::string_view key) {
    const Value* v = hash.as_hash().find(key);
    return v != nullptr ? *v : Value::undef();
}

Value integer_from_args(Context&, Args args) {
    return make_integer_from(args[0], at(args, 1), at(args, 2).truthy());
}

Value integer_from_hash(Context&, Args args) {
    return make_integer_from(entry(args[0], "from"), entry(args[0], "radix"),
                             entry(args[0], "abs").truthy());
}

void check_radix(const Value& radix) {
    if (radix.is_integer()) {
        const auto r = radix.as_integer();
        if (r == 2 || r == 8 || r == 10 || r == 16) return;
    }
    throw PuppetError(
        fmt::format("Illegal radix: {}, expected 2, 8, 10, 16, or default", value::to_text(radix)));
}

std::string integer_mismatch(Context& ctx, Args args) {
    if (args.size() > 1 && !args[1].is_default()) check_radix(args[1]);
    return cannot_convert(ctx, args[0], "Integer");
}

std::string integer_hash_mismatch(Context& ctx, Args args) {
    const Value& hash = args[0];
    if (const Value* from = hash.as_hash().find("from")) {
        const Type* convertible = constructor_local_type(TypeKind::Integer, "Convertible");
        if (!is_instance(ctx, convertible, *from)) return cannot_convert(ctx, *from, "Integer");
    }
    const Value radix = entry(hash, "radix");
    if (!radix.is_undef() && !radix.is_default()) check_radix(radix);
    check_instance(ctx, "Integer.new", constructor_local_type(TypeKind::Integer, "NamedArgs"),
                   hash);
    return "rejects its arguments";
}

Value make_float_from(const Value& from, bool abs) {
    double d = 0;
    switch (from.kind()) {
        case Kind::Float: d = from.as_float(); break;
        case Kind::Integer: d = static_cast<double>(from.as_integer()); break;
        case Kind::Timestamp:
        case Kind::Timespan: d = seconds(value::nanoseconds(from)); break;
        case Kind::Boolean: d = from.as_boolean() ? 1.0 : 0.0; break;
        default: {
            const std::string_view text = from.as_string();
            std::optional<double> parsed;
            if (text.size() > 1 && text[0] == '0' && (text[1] | 0x20) == 'b') {
                if (const auto n = value::BigInteger::parse(text.substr(2), 2))
                    parsed = float_of_hex(n->digits(16));
            } else {
                parsed = ruby_float(text);
                if (!parsed) {
                    if (const auto tight = without_blanks(text)) parsed = ruby_float(*tight);
                }
            }
            if (!parsed) invalid("Float", text);
            d = *parsed;
        }
    }
    return Value::floating(abs ? std::fabs(d) : d);
}

Value float_from_args(Context&, Args args) {
    return make_float_from(args[0], at(args, 1).truthy());
}
Value float_from_hash(Context&, Args args) {
    return make_float_from(entry(args[0], "from"), entry(args[0], "abs").truthy());
}
std::string float_mismatch(Context& ctx, Args args) {
    return cannot_convert(ctx, args[0], "Float");
}

/// Converts like Puppet's to_n: decimal, octal and hexadecimal integers, and floats. Returns undef
/// for other texts.
Value to_number(std::string_view text) {
    if (text.size() > 1 && text[0] == '0' && ((text[1] | 0x20) == 'b' || (text[1] | 0x20) == 'x')) {
        const auto n = ruby_integer(text, 0);
        if (!n) invalid("Integer", text);
        return Value::integer(*n);
    }
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    const bool negative = text.starts_with('-');
    const bool signed_text = negative || text.starts_with('+');
    if (signed_text) {
        text.remove_prefix(1);
        while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    }
    const bool hex = text.size() > 1 && text[0] == '0' && (text[1] | 0x20) == 'x';
    if (!hex && text.find_first_of(".eE") != std::string_view::npos) {
        const auto d = ruby_float(text);
        if (!d || std::isinf(*d)) return Value::undef();
        return Value::floating(negative ? -*d : *d);
    }
    if (text.empty() || digit_value(text[0]) > 9) return Value::undef();
    // Puppet refuses a sign before 0b.
    if (signed_text && text.size() > 1 && (text[1] | 0x20) == 'b') return Value::undef();
    // With the sign, because the smallest integer has no positive counterpart.
    const auto n = ruby_integer((negative ? "-" : "") + std::string(text), 0);
    return n ? Value::integer(*n) : Value::undef();
}

Value make_numeric_from(const Value& from, bool abs) {
    Value n = from;
    switch (from.kind()) {
        case Kind::Integer:
        case Kind::Float: break;
        case Kind::Timestamp:
        case Kind::Timespan: n = Value::floating(seconds(value::nanoseconds(from))); break;
        case Kind::Boolean: n = Value::integer(from.as_boolean()); break;
        default: n = to_number(from.as_string());
    }
    if (!abs) return n;
    if (n.is_integer()) return Value::integer(absolute(n.as_integer()));
    return n.is_float() ? Value::floating(std::fabs(n.as_float())) : n;
}

Value numeric_from_args(Context&, Args args) {
    return make_numeric_from(args[0], at(args, 1).truthy());
}
Value numeric_from_hash(Context&, Args args) {
    return make_numeric_from(entry(args[0], "from"), entry(args[0], "abs").truthy());
}
std::string numeric_mismatch(Context& ctx, Args args) {
    return cannot_convert(ctx, args[0], "Numeric");
}

Value boolean_from(Context&, Args args) {
    const Value& v = args[0];
    switch (v.kind()) {
        case Kind::Integer: return Value::boolean(v.as_integer() != 0);
        case Kind::Float: return Value::boolean(v.as_float() != 0);
        case Kind::Boolean: return v;
        default: {
            const std::string text = base::lower(v.as_string());
            return Value::boolean(!(text == "false" || text == "no" || text == "n"));
        }
    }
}
std::string boolean_mismatch(Context& ctx, Args args) {
    return cannot_convert(ctx, args[0], "Boolean");
}

}  // namespace

Constructor integer_constructor() {
    return {
        "new",
        {{"Radix", "Variant[Default, Integer[2,2], Integer[8,8], Integer[10,10], Integer[16,16]]"},
         {"Convertible",
          fmt::format("Variant[Numeric, Boolean, Pattern[/{}/], Timespan, Timestamp]",
                      integer_pattern())},
         {"NamedArgs",
          "Struct[{from => Convertible, Optional[radix] => Radix, Optional[abs] => Boolean}]"}},
        {{.parameters = {{"Convertible", "from"},
                         {"Radix", "radix", true},
                         {"Boolean", "abs", true}},
          .make = integer_from_args},
         {.parameters = {{"NamedArgs", "hash_args"}}, .make = integer_from_hash},
         {.parameters = {{"Hash", "hash_args"}}, .mismatch = integer_hash_mismatch},
         {.parameters = {{"Any", "from"}, {"Integer", "radix", true}, {"Boolean", "abs", true}},
          .mismatch = integer_mismatch}}};
}

Constructor float_constructor() {
    return {
        "new_float",
        {{"Convertible",
          fmt::format("Variant[Numeric, Boolean, Pattern[/{}/], Timespan, Timestamp]",
                      float_pattern())},
         {"NamedArgs", "Struct[{from => Convertible, Optional[abs] => Boolean}]"}},
        {{.parameters = {{"Convertible", "from"}, {"Boolean", "abs", true}},
          .make = float_from_args},
         {.parameters = {{"NamedArgs", "hash_args"}}, .make = float_from_hash},
         {.parameters = {{"Any", "from"}, {"Boolean", "abs", true}}, .mismatch = float_mismatch}}};
}

Constructor numeric_constructor() {
    return {"new_numeric",
            {{"Convertible",
              fmt::format("Variant[Integer, Float, Boolean, Pattern[/{}/], Timespan, Timestamp]",
                          float_pattern())},
             {"NamedArgs", "Struct[{from => Convertible, Optional[abs] => Boolean}]"}},
            {{.parameters = {{"Convertible", "from"}, {"Boolean", "abs", true}},
              .make = numeric_from_args},
             {.parameters = {{"NamedArgs", "hash_args"}}, .make = numeric_from_hash},
             {.parameters = {{"Any", "from"}, {"Boolean", "abs", true}},
              .mismatch = numeric_mismatch}}};
}

Constructor boolean_constructor() {
    return {"new_boolean",
            {},
            {{.parameters = {{"Variant[Integer, Float, Boolean, "
                              "Enum['false','true','yes','no','y','n',true]]",
                              "from"}},
              .make = boolean_from},
             {.parameters = {{"Any", "from"}}, .mismatch = boolean_mismatch}}};
}

}  // namespace bunraku::types
