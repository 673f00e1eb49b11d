// SPDX-License-Identifier: Apache-2.0
// The operators + - * / % << >> on numbers, times, collections, URIs and binaries.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "core/value/big_integer.h"
#include "core/value/build.h"
#include "core/value/merge.h"
#include "core/value/time.h"
#include "language/evaluator/evaluation.h"
#include "language/types/kinds.h"

namespace bunraku::evaluator {

using namespace syntax;

namespace {

using Wide = __int128;
constexpr std::int64_t kSecond = 1'000'000'000;

bool is_time(const Value& v) { return v.is(Kind::Timespan) || v.is(Kind::Timestamp); }

bool blank(char c) { return c == ' ' || c == '\t'; }

bool digit(char c) { return c >= '0' && c <= '9'; }

bool hex_digit(char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Returns the value as Ruby's "%#+x" formats it.
std::string signed_hex(Wide v, unsigned shift = 0) {
    const bool negative = v < 0;
    unsigned __int128 magnitude =
        negative ? -static_cast<unsigned __int128>(v) : static_cast<unsigned __int128>(v);
    magnitude <<= shift % 4;
    std::string digits;
    for (; magnitude != 0; magnitude >>= 4)
        digits.insert(digits.begin(), "0123456789abcdef"[static_cast<unsigned>(magnitude & 15)]);
    digits.append(shift / 4, '0');
    return (negative ? "-0x" : "+0x") + digits;
}

[[noreturn]] void overflow(Interpreter& in, const Node* node, bool positive,
                           const std::string& hex) {
    Evaluation::fail(in, node, "NUMERIC_OVERFLOW",
                     "{} resulted in a value outside of Puppet Integer {} range, got '{}'",
                     a_an_uc(label(node)), positive ? "max" : "min", hex);
}

Value integer_result(Interpreter& in, const Node* node, Wide v) {
    if (v > std::numeric_limits<std::int64_t>::max() ||
        v < std::numeric_limits<std::int64_t>::min())
        overflow(in, node, v > 0, signed_hex(v));
    return Value::integer(static_cast<std::int64_t>(v));
}

Wide floor_div(Wide a, Wide b) {
    const Wide q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

Wide floor_mod(Wide a, Wide b) { return a - floor_div(a, b) * b; }

Wide checked(Wide ns) {
    if (!value::fits_time(ns)) runtime_error("bignum too big to convert into 'long'");
    return ns;
}

Wide times(Wide ns, std::int64_t factor) {
    Wide out = 0;
    if (__builtin_mul_overflow(ns, static_cast<Wide>(factor), &out))
        runtime_error("bignum too big to convert into 'long'");
    return checked(out);
}

Wide whole(double ns) {
    if (!(std::fabs(ns) < 1.9e28)) runtime_error("bignum too big to convert into 'long'");
    return static_cast<Wide>(ns);
}

Wide to_ns(double seconds) { return whole(seconds * static_cast<double>(kSecond)); }

/// Returns a number of seconds as nanoseconds.
Wide number_ns(const Value& v) {
    return v.is_integer() ? static_cast<Wide>(v.as_integer()) * kSecond : to_ns(v.as_float());
}

[[noreturn]] void not_applicable(Interpreter& in, const ArithmeticExpression& node,
                                 const Value& left) {
    Evaluation::fail(in, node.left, "OPERATOR_NOT_APPLICABLE",
                     "Operator '{}' is not applicable to {}.", op_text(node.op), a_an(label(left)));
}

[[noreturn]] void not_applicable_when(Interpreter& in, const ArithmeticExpression& node,
                                      const Value& left, const Value& right) {
    Evaluation::fail(in, node.left, "OPERATOR_NOT_APPLICABLE_WHEN",
                     "Operator '{}' is not applicable to {} when right side is {}.",
                     op_text(node.op), a_an(label(left)), a_an(label(right)));
}

[[noreturn]] void division_by_zero(Interpreter& in, const ArithmeticExpression& node) {
    Evaluation::fail(in, node.right, "DIV_BY_ZERO", "Division by 0");
}

/// Evaluates an operator whose left operand is a Timespan or Timestamp.
Value time_arithmetic(Interpreter& in, const ArithmeticExpression& node, const Value& left,
                      const Value& right) {
    const bool span = left.is(Kind::Timespan);
    const Wide ns = value::nanoseconds(left);
    switch (node.op) {
        case Op::Add:
            if (right.is(Kind::Timestamp)) {
                if (!span) runtime_error("A Timestamp cannot be added to a Timestamp");
                return value::make_timestamp(checked(ns + value::nanoseconds(right)));
            }
            {
                const Wide sum =
                    ns + (right.is(Kind::Timespan) ? value::nanoseconds(right) : number_ns(right));
                return span ? value::make_timespan(checked(sum))
                            : value::make_timestamp(checked(sum));
            }
        case Op::Sub:
            if (right.is(Kind::Timestamp)) {
                if (span) runtime_error("A Timestamp cannot be subtracted from a Timespan");
                return value::make_timespan(checked(ns - value::nanoseconds(right)));
            }
            {
                const Wide rest =
                    ns - (right.is(Kind::Timespan) ? value::nanoseconds(right) : number_ns(right));
                return span ? value::make_timespan(checked(rest))
                            : value::make_timestamp(checked(rest));
            }
        case Op::Mul:
            if (!span) not_applicable(in, node, left);
            if (!right.is_numeric())
                runtime_error("A Timestamp cannot be multiplied by a {}", label(right));
            if (right.is_integer()) return value::make_timespan(times(ns, right.as_integer()));
            return value::make_timespan(to_ns(static_cast<double>(value::nanoseconds(left)) *
                                              right.as_float() / static_cast<double>(kSecond)));
        case Op::Div:
            if (!span) not_applicable(in, node, left);
            if (right.is(Kind::Timespan))
                return Value::floating(static_cast<double>(value::nanoseconds(left)) /
                                       static_cast<double>(value::nanoseconds(right)));
            if (right.is(Kind::Timestamp))
                runtime_error("A Timespan cannot be divided by a Timestamp");
            if (right.is_integer()) {
                if (right.as_integer() == 0) division_by_zero(in, node);
                return value::make_timespan(checked(floor_div(ns, right.as_integer())));
            }
            if (right.as_float() == 0) division_by_zero(in, node);
            // Ruby's Integer#div of a Float truncates towards zero.
            return value::make_timespan(whole(static_cast<double>(ns) / right.as_float()));
        case Op::Mod:
            if (!span) not_applicable(in, node, left);
            if (!right.is_integer())
                runtime_error("Can not do modulus on a Timespan using a a {}", label(right));
            if (right.as_integer() == 0) division_by_zero(in, node);
            return Value::integer(
                static_cast<std::int64_t>(floor_mod(floor_div(ns, kSecond), right.as_integer())));
        default: not_applicable(in, node, left);
    }
}

Value shift(Interpreter& in, const ArithmeticExpression& node, const Value& left,
            const Value& right) {
    if (!left.is_integer()) not_applicable(in, node, left);
    if (is_time(right)) not_applicable_when(in, node, left, right);
    constexpr double kMost = 9e18;
    std::int64_t by = right.is_integer()
                          ? right.as_integer()
                          : static_cast<std::int64_t>(std::clamp(right.as_float(), -kMost, kMost));
    if (node.op == Op::ShiftRight)
        by = by == std::numeric_limits<std::int64_t>::min() ? -(by + 1) : -by;
    const std::int64_t v = left.as_integer();
    if (by <= 0) {
        const std::int64_t right_by = -by;
        return Value::integer(right_by >= 63 ? (v < 0 ? -1 : 0) : v >> right_by);
    }
    if (v == 0) return left;
    if (by < 64)
        return integer_result(in, &node, static_cast<Wide>(v) * (static_cast<Wide>(1) << by));
    if (by > 1'000'000) runtime_error("shift width too big");
    overflow(in, &node, v > 0, signed_hex(v, static_cast<unsigned>(by)));
}

Value integer_arithmetic(Interpreter& in, const ArithmeticExpression& node, std::int64_t a,
                         std::int64_t b) {
    switch (node.op) {
        case Op::Add: return integer_result(in, &node, static_cast<Wide>(a) + b);
        case Op::Sub: return integer_result(in, &node, static_cast<Wide>(a) - b);
        case Op::Mul: return integer_result(in, &node, static_cast<Wide>(a) * b);
        case Op::Div:
            if (b == 0) division_by_zero(in, node);
            return integer_result(in, &node, floor_div(a, b));
        default:
            if (b == 0) division_by_zero(in, node);
            return Value::integer(static_cast<std::int64_t>(floor_mod(a, b)));
    }
}

Value float_arithmetic(Interpreter& in, const ArithmeticExpression& node, double a, double b) {
    double result = 0;
    switch (node.op) {
        case Op::Add: result = a + b; break;
        case Op::Sub: result = a - b; break;
        case Op::Mul: result = a * b; break;
        default: result = a / b; break;
    }
    if (std::isinf(result))
        Evaluation::fail(in, node.left, "RESULT_IS_INFINITY",
                         "The result of the {} expression is Infinity", op_text(node.op));
    return Value::floating(result);
}

Value pairs_of(base::Arena& arena, const value::HashRep& hash) {
    const std::span<Value> out = arena.array<Value>(hash.size());
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = value::make_array(arena, {hash.entries[i].key, hash.entries[i].value});
    return Value::array(out);
}

Value append(base::Arena& arena, std::span<const Value> a, std::span<const Value> b) {
    const std::span<Value> out = arena.array<Value>(a.size() + b.size());
    std::copy(a.begin(), a.end(), out.begin());
    std::copy(b.begin(), b.end(), out.begin() + static_cast<long>(a.size()));
    return Value::array(out);
}

/// Adds an array as Ruby's Hash[] or to_h reads it: as pairs, or as alternating keys and values.
void merge_array(value::HashBuilder& out, std::span<const Value> items) {
    const bool pairs = !items.empty() && std::all_of(items.begin(), items.end(),
                                                     [](const Value& v) { return v.is_array(); });
    if (pairs) {
        for (std::size_t i = 0; i < items.size(); ++i) {
            const auto pair = items[i].as_array();
            if (pair.size() != 2)
                runtime_error("wrong array length at {} (expected 2, was {})", i, pair.size());
            out.set(pair[0], pair[1]);
        }
        return;
    }
    if (items.size() % 2 != 0) runtime_error("odd number of arguments for Hash");
    for (std::size_t i = 0; i < items.size(); i += 2) out.set(items[i], items[i + 1]);
}

/// The parts of a generic URI.
struct UriParts {
    std::string_view scheme, authority, path, query, fragment;
    bool has_scheme = false, has_authority = false, has_query = false, has_fragment = false;

    explicit UriParts(std::string_view s) {
        if (const auto at = s.find('#'); at != s.npos) {
            fragment = s.substr(at + 1);
            has_fragment = true;
            s = s.substr(0, at);
        }
        if (const auto at = s.find('?'); at != s.npos) {
            query = s.substr(at + 1);
            has_query = true;
            s = s.substr(0, at);
        }
        const auto colon = s.find(':');
        if (colon != s.npos && colon > 0 && s.find('/') > colon) {
            scheme = s.substr(0, colon);
            has_scheme = true;
            s = s.substr(colon + 1);
        }
        if (s.starts_with("//")) {
            const auto end = s.find('/', 2);
            authority = s.substr(2, end == s.npos ? s.npos : end - 2);
            has_authority = true;
            s = end == s.npos ? std::string_view() : s.substr(end);
        }
        path = s;
    }
};

std::string remove_dot_segments(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        if (path.starts_with("../")) {
            path.remove_prefix(3);
        } else if (path.starts_with("./")) {
            path.remove_prefix(2);
        } else if (path.starts_with("/./")) {
            path.remove_prefix(2);
        } else if (path == "/.") {
            path = "/";
        } else if (path.starts_with("/../") || path == "/..") {
            path = path == "/.." ? std::string_view("/") : path.substr(3);
            const auto cut = out.rfind('/');
            out.erase(cut == out.npos ? 0 : cut);
        } else if (path == "." || path == "..") {
            break;
        } else {
            const auto end = path.find('/', 1);
            out += path.substr(0, end);
            path = end == path.npos ? std::string_view() : path.substr(end);
        }
    }
    return out;
}

/// Resolves a reference against a base URI (RFC 3986, section 5.2).
std::string merge_uri(std::string_view base_text, std::string_view reference_text) {
    const UriParts b(base_text), r(reference_text);
    if (r.has_scheme) return std::string(reference_text);
    std::string path;
    std::string_view query = r.query;
    bool has_query = r.has_query;
    const std::string_view authority = r.has_authority ? r.authority : b.authority;
    if (r.has_authority) {
        path = remove_dot_segments(r.path);
    } else if (r.path.empty()) {
        path = b.path;
        if (!has_query) {
            query = b.query;
            has_query = b.has_query;
        }
    } else if (r.path.starts_with('/')) {
        path = remove_dot_segments(r.path);
    } else if (b.has_authority && b.path.empty()) {
        path = remove_dot_segments(fmt::format("/{}", r.path));
    } else {
        const auto cut = b.path.rfind('/');
        path = remove_dot_segments(
            fmt::format("{}{}", cut == b.path.npos ? "" : b.path.substr(0, cut + 1), r.path));
    }
    std::string out;
    if (b.has_scheme) out += fmt::format("{}:", b.scheme);
    if (b.has_authority || r.has_authority) out += fmt::format("//{}", authority);
    out += path;
    if (has_query) out += fmt::format("?{}", query);
    if (r.has_fragment) out += fmt::format("#{}", r.fragment);
    return out;
}

Value concatenate(base::Arena& arena, const Value& left, const Value& right) {
    switch (left.kind()) {
        case Kind::Array:
            if (right.is_array()) return append(arena, left.as_array(), right.as_array());
            if (right.is_hash())
                return append(arena, left.as_array(), pairs_of(arena, right.as_hash()).as_array());
            return append(arena, left.as_array(), std::span(&right, 1));
        case Kind::Hash: {
            if (!right.is_hash() && !right.is_array())
                runtime_error("Can only append Array or Hash to a Hash");
            if (right.is_hash()) return value::merged(arena, left.as_hash(), right.as_hash());
            value::HashBuilder out(arena, left.as_hash().size() + 8);
            out.merge(left.as_hash());
            merge_array(out, right.as_array());
            return out.build();
        }
        case Kind::Uri:
            if (!right.is_string() && !right.is(Kind::Uri))
                runtime_error("An URI can only be merged with an URI or String");
            return Value::uri(arena.copy(merge_uri(left.as_string(), right.as_string())));
        default:
            if (!right.is(Kind::Binary)) runtime_error("Can only append Binary to a Binary");
            return value::make_binary(
                arena, std::string(left.as_string()) + std::string(right.as_string()));
    }
}

Value remove_from(base::Arena& arena, const Value& left, const Value& right) {
    if (left.is_hash()) {
        value::HashBuilder out(arena, left.as_hash().size());
        out.merge(left.as_hash());
        if (right.is_array())
            for (const Value& key : right.as_array()) out.erase(key);
        else if (right.is_hash())
            for (const value::Entry& e : right.as_hash()) out.erase(e.key);
        else
            out.erase(right);
        return out.build();
    }
    const Value removed = right.is_hash() ? pairs_of(arena, right.as_hash()) : right;
    const std::span<const Value> drop =
        removed.is_array() ? removed.as_array() : std::span(&removed, 1);
    std::vector<Value> out;
    out.reserve(left.as_array().size());
    // Uses a hash set to remove many strings from many strings.
    const bool strings =
        drop.size() > 8 &&
        std::all_of(drop.begin(), drop.end(), [](const Value& v) { return v.is_string(); });
    std::unordered_set<std::string_view> set;
    if (strings)
        for (const Value& v : drop) set.insert(v.as_string());
    for (const Value& each : left.as_array()) {
        const bool dropped = strings ? each.is_string() && set.contains(each.as_string())
                                     : std::any_of(drop.begin(), drop.end(), [&](const Value& d) {
                                           return ruby_equals(each, d);
                                       });
        if (!dropped) out.push_back(each);
    }
    return value::make_array(arena, out);
}

/// Returns the value of a text that is an integer beyond 64 bits, in decimal digits with its sign.
/// Returns nullopt for other values.
std::optional<std::string> large_integer_text(const Value& v) {
    if (!v.is_string()) return std::nullopt;
    std::string_view s = v.as_string();
    while (!s.empty() && blank(s.front())) s.remove_prefix(1);
    while (!s.empty() && blank(s.back())) s.remove_suffix(1);
    const bool negative = s.starts_with('-');
    if (negative || s.starts_with('+')) s.remove_prefix(1);
    while (!s.empty() && blank(s.front())) s.remove_prefix(1);
    unsigned radix = 10;
    if (s.starts_with("0x") || s.starts_with("0X")) {
        radix = 16;
        s.remove_prefix(2);
    } else if (s.size() > 1 && s[0] == '0') {
        radix = 8;
        s.remove_prefix(1);
    }
    const auto number = value::BigInteger::parse(s, radix);
    if (!number) return std::nullopt;
    return (negative ? "-" : "") + number->digits(10);
}

}  // namespace

std::optional<Value> to_number(const Value& v) {
    if (v.is_numeric()) return v;
    if (!v.is_string()) return std::nullopt;
    std::string_view s = v.as_string();
    if (s.starts_with("::")) s.remove_prefix(2);
    while (!s.empty() && blank(s.front())) s.remove_prefix(1);
    while (!s.empty() && blank(s.back())) s.remove_suffix(1);
    bool negative = false;
    if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
        negative = s[0] == '-';
        s.remove_prefix(1);
        while (!s.empty() && blank(s.front())) s.remove_prefix(1);
    }
    if (s.empty() || !digit(s[0])) return std::nullopt;
    const auto integer = [&](std::string_view digits, int radix) -> std::optional<Value> {
        std::uint64_t magnitude = 0;
        const auto end = digits.data() + digits.size();
        const auto [at, error] = std::from_chars(digits.data(), end, magnitude, radix);
        if (error != std::errc() || at != end) return std::nullopt;
        const std::uint64_t limit =
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) +
            (negative ? 1 : 0);
        if (magnitude > limit) return std::nullopt;
        return Value::integer(negative ? static_cast<std::int64_t>(0 - magnitude)
                                       : static_cast<std::int64_t>(magnitude));
    };
    if (s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        const std::string_view digits = s.substr(2);
        if (!std::all_of(digits.begin(), digits.end(), hex_digit)) return std::nullopt;
        return integer(digits, 16);
    }
    std::size_t at = 0;
    while (at < s.size() && digit(s[at])) ++at;
    if (at == s.size())
        return s.size() > 1 && s[0] == '0' ? integer(s.substr(1), 8) : integer(s, 10);
    // A fraction, an exponent, or both.
    const std::size_t whole = at;
    if (s[at] == '.') {
        const std::size_t from = ++at;
        while (at < s.size() && digit(s[at])) ++at;
        if (at == from) return std::nullopt;
    }
    if (at < s.size() && (s[at] == 'e' || s[at] == 'E')) {
        ++at;
        if (at < s.size() && s[at] == '-') ++at;
        const std::size_t from = at;
        while (at < s.size() && digit(s[at])) ++at;
        if (at == from) return std::nullopt;
    }
    if (at != s.size()) return std::nullopt;
    // "0e5" and "0.0e1" are not numbers in Puppet.
    if (s.find_first_of("eE") != s.npos && s.substr(0, whole).find_first_not_of('0') == s.npos) {
        std::string_view fraction = s.substr(whole, s.find_first_of("eE") - whole);
        if (!fraction.empty()) fraction.remove_prefix(1);
        if (fraction.find_first_not_of('0') == fraction.npos) return std::nullopt;
    }
    double d = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), d);
    if (error == std::errc::result_out_of_range) {
        d = std::strtod(std::string(s).c_str(), nullptr);
        if (std::isinf(d)) return std::nullopt;
    } else if (error != std::errc()) {
        return std::nullopt;
    }
    return Value::floating(negative ? -d : d);
}

Value Evaluation::coerce_numeric(Interpreter& in, const Value& v, const Node* site) {
    // Times and versions are Numeric in Puppet's Ruby code.
    if (v.is_numeric() || is_time(v) || v.is(Kind::SemVer)) return v;
    const auto number = to_number(v);
    const auto coerced = [&](const std::string& to) {
        return fmt::format("The string '{}' was automatically coerced to the numerical value {}",
                           v.as_string(), to);
    };
    if (!number) {
        if (const auto large = large_integer_text(v)) {
            if (in.options_.strict == Strict::Error)
                in.fail(coerced(*large), "NUMERIC_COERCION", site);
            fail(in, site, "NOT_NUMERIC", "The value '{}' is an integer beyond 64 bits.",
                 ruby_to_s(v));
        }
        fail(in, site, "NOT_NUMERIC", "The value '{}' cannot be converted to Numeric.",
             ruby_to_s(v));
    }
    if (in.options_.strict != Strict::Off) {
        std::string message = coerced(value::to_text(*number));
        if (in.options_.strict == Strict::Error)
            in.fail(std::move(message), "NUMERIC_COERCION", site);
        in.warn(std::move(message), "NUMERIC_COERCION", site);
    }
    return *number;
}

Value Evaluation::unary_minus(Interpreter& in, const UnaryMinusExpression& node, Scope& scope) {
    BUNRAKU_EVAL(operand, in, node.expr, scope);
    const Value v = coerce_numeric(in, operand, &node);
    switch (v.kind()) {
        case Kind::Integer: return integer_result(in, &node, -static_cast<Wide>(v.as_integer()));
        case Kind::Float: return Value::floating(-v.as_float());
        case Kind::Timespan: return value::make_timespan(-value::nanoseconds(v));
        default: runtime_error("undefined method `-@' for {}", value::to_text(v));
    }
}

Value Evaluation::arithmetic(Interpreter& in, const ArithmeticExpression& node, Scope& scope) {
    BUNRAKU_EVAL(a, in, node.left, scope);
    BUNRAKU_EVAL(b, in, node.right, scope);
    if (a.is_integer() && b.is_integer() && node.op != Op::ShiftLeft && node.op != Op::ShiftRight)
        return integer_arithmetic(in, node, a.as_integer(), b.as_integer());
    if (node.op == Op::Add && (a.is(Kind::Uri) || a.is(Kind::Binary)))
        return concatenate(in.arena_, a, b);
    if (a.is_array() || a.is_hash()) {
        if (node.op == Op::Add) return concatenate(in.arena_, a, b);
        if (node.op == Op::Sub) return remove_from(in.arena_, a, b);
        if (node.op == Op::ShiftLeft) {
            if (!a.is_array()) not_applicable(in, node, a);
            return append(in.arena_, a.as_array(), std::span(&b, 1));
        }
    }
    Value left = coerce_numeric(in, a, node.left);
    Value right = coerce_numeric(in, b, node.right);
    if (node.op == Op::Mod && (left.is_float() || right.is_float())) {
        if (left.is_float()) not_applicable(in, node, left);
        not_applicable_when(in, node, left, right);
    }
    if (left.is(Kind::SemVer)) not_applicable(in, node, left);
    if (right.is(Kind::SemVer) && left.is_numeric())
        runtime_error("can't convert SemanticPuppet::Version into Float");
    if (is_time(right) && !is_time(left)) {
        if (node.op == Op::Add || (node.op == Op::Mul && right.is(Kind::Timespan)))
            std::swap(left, right);
        else if (node.op == Op::Sub && right.is(Kind::Timespan))
            left = value::make_timespan(checked(number_ns(left)));
        else
            not_applicable_when(in, node, left, right);
    }
    if (is_time(left)) return time_arithmetic(in, node, left, right);
    if (node.op == Op::ShiftLeft || node.op == Op::ShiftRight) return shift(in, node, left, right);
    if (left.is_integer() && right.is_integer())
        return integer_arithmetic(in, node, left.as_integer(), right.as_integer());
    return float_arithmetic(in, node, left.as_number(), right.as_number());
}

}  // namespace bunraku::evaluator
