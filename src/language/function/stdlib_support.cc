// SPDX-License-Identifier: Apache-2.0
#include "language/function/stdlib_support.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <unordered_set>

#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/base/work_limit.h"
#include "core/regex/regex.h"
#include "core/value/escapes.h"

namespace bunraku::function {

namespace {
struct EqlHash {
    std::size_t operator()(const Value& v) const { return value::hash_of(v); }
};
struct Eql {
    bool operator()(const Value& a, const Value& b) const { return value::equal(a, b); }
};
using Set = std::unordered_set<Value, EqlHash, Eql>;

bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool digit(char c) { return c >= '0' && c <= '9'; }
/// Reads digits with single underscores between them and appends them without the underscores.
std::size_t take_digits(std::string_view s, std::size_t at, std::string& out) {
    while (at < s.size()) {
        if (digit(s[at])) {
            out += s[at++];
        } else if (s[at] == '_' && at > 0 && digit(s[at - 1]) && at + 1 < s.size() &&
                   digit(s[at + 1])) {
            ++at;
        } else {
            break;
        }
    }
    return at;
}
}  // namespace

bool ruby_equal(const Value& a, const Value& b) {
    base::step();
    if (a.is_numeric() && b.is_numeric()) {
        if (a.is_integer() && b.is_integer()) return a.as_integer() == b.as_integer();
        return a.as_number() == b.as_number();
    }
    if (a.is_array() && b.is_array()) {
        const auto x = a.as_array(), y = b.as_array();
        if (x.size() != y.size()) return false;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (!ruby_equal(x[i], y[i])) return false;
        return true;
    }
    if (a.is_hash() && b.is_hash()) {
        if (a.as_hash().size() != b.as_hash().size()) return false;
        for (const auto& e : a.as_hash()) {
            const Value* other = b.as_hash().find(e.key);
            if (!other || !ruby_equal(e.value, *other)) return false;
        }
        return true;
    }
    return value::equal(a, b);
}

bool contains(std::span<const Value> items, const Value& v) {
    for (const Value& item : items)
        if (value::equal(item, v)) return true;
    return false;
}

std::vector<Value> unique(std::span<const Value> items) {
    std::vector<Value> out;
    Set seen;
    for (const Value& v : items)
        if (seen.insert(v).second) out.push_back(v);
    return out;
}

std::vector<Value> difference(std::span<const Value> a, std::span<const Value> b) {
    const Set removed(b.begin(), b.end());
    std::vector<Value> out;
    for (const Value& v : a)
        if (!removed.contains(v)) out.push_back(v);
    return out;
}

std::optional<double> strict_float(std::string_view s) {
    s = base::trim(s);
    if (s.empty()) return std::nullopt;
    std::string clean;
    std::size_t at = 0;
    if (s[at] == '-' || s[at] == '+') clean += s[at++];
    if (s.substr(at).starts_with("0x") || s.substr(at).starts_with("0X")) {
        const std::string text(s);
        char* end = nullptr;
        const double d = std::strtod(text.c_str(), &end);
        if (*end || text.size() <= at + 2) return std::nullopt;
        return d;
    }
    const std::size_t start = at;
    at = take_digits(s, at, clean);
    if (at == start) return std::nullopt;
    if (at < s.size() && s[at] == '.') {
        clean += s[at++];
        const std::size_t fraction = at;
        at = take_digits(s, at, clean);
        if (at == fraction) return std::nullopt;
    }
    if (at < s.size() && (s[at] == 'e' || s[at] == 'E')) {
        clean += s[at++];
        if (at < s.size() && (s[at] == '-' || s[at] == '+')) clean += s[at++];
        const std::size_t exponent = at;
        at = take_digits(s, at, clean);
        if (at == exponent) return std::nullopt;
    }
    if (at != s.size()) return std::nullopt;
    return std::strtod(clean.c_str(), nullptr);
}

std::optional<std::int64_t> strict_integer(std::string_view s) {
    s = base::trim(s);
    std::string clean;
    if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
        clean += s[0];
        s.remove_prefix(1);
    }
    int base = 10;
    if (s.size() > 1 && s[0] == '0') {
        const char kind = static_cast<char>(s[1] | 0x20);
        base = kind == 'x' ? 16 : kind == 'b' ? 2 : kind == 'd' ? 10 : 8;
        s.remove_prefix(kind == 'x' || kind == 'b' || kind == 'o' || kind == 'd' ? 2 : 1);
        if (s.starts_with('_')) s.remove_prefix(1);
    }
    if (s.empty() || s.back() == '_' || s.find("__") != std::string_view::npos) return std::nullopt;
    for (char c : s) {
        const char low = static_cast<char>(c | 0x20);
        const int value = digit(c) ? c - '0' : low >= 'a' && low <= 'z' ? low - 'a' + 10 : 99;
        if (c == '_' && clean.size() > 0) continue;
        if (value >= base) return std::nullopt;
        clean += c;
    }
    errno = 0;
    const long long n = std::strtoll(clean.c_str(), nullptr, base);
    if (errno == ERANGE) return std::nullopt;
    return n;
}

std::optional<std::int64_t> strict_integer(const Value& v) {
    return v.is_integer() ? std::optional(v.as_integer()) : strict_integer(ruby_to_s(v));
}
std::optional<double> strict_float(const Value& v) {
    return v.is_numeric() ? std::optional(v.as_number()) : strict_float(ruby_to_s(v));
}

double leading_float(std::string_view s) {
    while (!s.empty() && space(s.front())) s.remove_prefix(1);
    std::string clean;
    std::size_t at = 0;
    if (!s.empty() && (s[0] == '-' || s[0] == '+')) clean += s[at++];
    at = take_digits(s, at, clean);
    if (at + 1 < s.size() && s[at] == '.' && digit(s[at + 1])) {
        clean += '.';
        at = take_digits(s, at + 1, clean);
    }
    if (at + 1 < s.size() && (s[at] == 'e' || s[at] == 'E')) {
        std::string exponent(1, 'e');
        std::size_t then = at + 1;
        if (s[then] == '-' || s[then] == '+') exponent += s[then++];
        if (then < s.size() && digit(s[then])) {
            take_digits(s, then, exponent);
            clean += exponent;
        }
    }
    return std::strtod(clean.c_str(), nullptr);
}

NearestInteger nearest_integer(const Value& v) {
    if (v.is_integer()) return {v.as_integer()};
    if (v.is_float()) {
        const double d = v.as_float();
        if (!std::isfinite(d)) argument_error("{}", value::format_float(d));
        if (d >= 9223372036854775808.0) return {INT64_MAX, 1};
        if (d < -9223372036854775808.0) return {INT64_MIN, -1};
        return {static_cast<std::int64_t>(d)};
    }
    if (!v.is_string()) return {};
    std::string_view s = v.as_string();
    while (!s.empty() && space(s.front())) s.remove_prefix(1);
    std::string clean;
    std::size_t at = 0;
    if (!s.empty() && (s[0] == '-' || s[0] == '+')) clean += s[at++];
    take_digits(s, at, clean);
    errno = 0;
    const long long n = std::strtoll(clean.c_str(), nullptr, 10);
    return {n, errno != ERANGE ? 0 : n < 0 ? -1 : 1};
}

std::int64_t to_integer(const Value& v) {
    const NearestInteger nearest = nearest_integer(v);
    if (nearest.beyond != 0) {
        argument_error("The integer {} is beyond 64 bits", ruby_to_s(v));
    }
    return nearest.n;
}

bool all_digits(std::string_view s) {
    if (s.empty()) return false;
    for (char c : s)
        if (!digit(c)) return false;
    return true;
}

std::string inspect_string(std::string_view s) {
    std::string out;
    value::print_inspected_text(out, s);
    return out;
}

std::string inspect(const Value& v) { return ruby_inspect(v); }

bool regex_match(std::string_view pattern, std::string_view s, std::uint32_t options) {
    const auto compiled = regex::Regex::cached(pattern, options);
    if (!compiled) throw base::PuppetError(compiled.error().message);
    return (*compiled)->matches(s);
}

std::string replace_all(std::string_view s, std::string_view from, std::string_view to) {
    std::string out;
    if (from.empty()) return std::string(s);
    for (std::size_t at = 0;;) {
        const std::size_t hit = s.find(from, at);
        out += s.substr(at, hit - at);
        if (hit == std::string_view::npos) return out;
        out += to;
        at = hit + from.size();
    }
}

void scope_warning(const Call& call, std::string message) {
    auto& log = call.interpreter.log();
    if (!log.enabled(base::Level::Warning)) return;
    auto* host = call.interpreter.hosts().catalog;
    log.log(base::Diagnostic{.level = base::Level::Warning,
                             .message = std::move(message),
                             .source = host ? host->scope_label(call.scope) : "Scope()"});
}

Value fact_value(const Call& call, std::initializer_list<std::string_view> path) {
    const auto at = call.interpreter.lookup_variable(call.interpreter.top_scope(), "facts",
                                                     fmt::format("{}", fmt::join(path, ".")));
    if (!at) return Value::undef();
    Value v = *at;
    for (const std::string_view key : path) {
        const Value* next = v.is_hash() ? v.as_hash().find(key) : nullptr;
        if (!next) return Value::undef();
        v = *next;
    }
    return v;
}

std::string fqdn_of(const Call& call) {
    if (const auto v = call.interpreter.lookup_variable(call.interpreter.top_scope(), "fqdn"))
        return ruby_to_s(*v);
    return ruby_to_s(fact_value(call, {"networking", "fqdn"}));
}

evaluator::Inputs& require_inputs(const Call& call) {
    auto* in = call.interpreter.hosts().inputs;
    if (!in) argument_error("External inputs are not available in this context");
    return *in;
}

}  // namespace bunraku::function
