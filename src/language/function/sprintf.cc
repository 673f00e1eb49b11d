// SPDX-License-Identifier: Apache-2.0
// Ruby's Kernel#sprintf: flags, width, precision, %<name>d and %{name}.
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/escapes.h"
#include "core/value/ruby_format.h"
#include "language/function/support.h"

namespace bunraku::function {
namespace {

using Directive = value::RubyDirective;
constexpr int kMaxWidth = 1 << 20;

std::string pad(std::string body, const Directive& d) {
    const auto length = static_cast<int>(characters(body));
    if (d.width <= length) return body;
    const std::string fill(static_cast<std::size_t>(d.width - length), ' ');
    return d.minus ? body + fill : fill + body;
}

/// Converts a string like Kernel#Integer: decimal, 0x, 0b, 0o, underscores between digits.
value::BigInteger read_integer(const Value& v) {
    std::string s(v.as_string());
    std::erase(s, '_');
    while (!s.empty() && (s.front() == ' ' || s.front() == '\n')) s.erase(0, 1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\n')) s.pop_back();
    std::string_view rest = s;
    const bool negative = rest.starts_with('-');
    if (negative || rest.starts_with('+')) rest.remove_prefix(1);
    unsigned base = 10;
    if (rest.size() > 1 && rest[0] == '0') {
        const char c = base::lower(rest[1]);
        base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
        rest.remove_prefix(c == 'x' || c == 'b' || c == 'o' ? 2 : 1);
    }
    const auto n = value::BigInteger::parse(rest, base);
    if (!n) argument_error("invalid value for Integer(): {}", ruby_inspect(v));
    return negative ? n->negated() : *n;
}

value::BigInteger to_big_integer(const Value& v) {
    using value::Kind;
    switch (v.kind()) {
        case Kind::Integer: return value::BigInteger(v.as_integer());
        case Kind::Float:
            if (!std::isfinite(v.as_float()))
                argument_error("{}", value::format_float(v.as_float()));
            return value::BigInteger::truncated(v.as_float());
        case Kind::String: return read_integer(v);
        case Kind::Undef: argument_error("can't convert nil into Integer");
        default: argument_error("can't convert {} into Integer", ruby_class(v));
    }
}

/// Returns the code point of a character, or -1 if the value is not one.
std::int64_t to_character(const Value& v) {
    return base::parse_integer<std::int32_t>(to_big_integer(v).digits(10))
        .transform([&](std::int32_t n) { return to_big_integer(v).negative() ? -1 : n; })
        .value_or(-1);
}

/// Returns a width or precision that is passed as an argument.
std::int64_t to_width(const Value& v) {
    const auto given = to_big_integer(v);
    const auto n = base::parse_integer<std::int64_t>(given.digits(10)).value_or(kMaxWidth);
    return std::min<std::int64_t>(n, kMaxWidth) * (given.negative() ? -1 : 1);
}

double to_float(const Value& v) {
    using value::Kind;
    switch (v.kind()) {
        case Kind::Integer: return static_cast<double>(v.as_integer());
        case Kind::Float: return v.as_float();
        case Kind::String: {
            std::string s(v.as_string());
            std::erase(s, '_');
            char* end = nullptr;
            const double d = std::strtod(s.c_str(), &end);
            if (s.empty() || *end != '\0')
                argument_error("invalid value for Float(): {}", ruby_inspect(v));
            return d;
        }
        case Kind::Undef: argument_error("can't convert nil into Float");
        default: argument_error("can't convert {} into Float", ruby_class(v));
    }
}

/// Ruby formats integers exactly with %f. A long double holds them without loss.
std::string floating(const Directive& d, const Value& v) {
    if (d.letter == 'f' && v.is_integer())
        return value::format_ruby_float(d, static_cast<long double>(v.as_integer()));
    return value::format_ruby_float(d, to_float(v));
}

std::string first_characters(std::string s, int n) {
    if (n < 0) return s;
    std::size_t at = 0;
    while (at < s.size() && n > 0) {
        ++at;
        while (at < s.size() && (static_cast<unsigned char>(s[at]) & 0xC0) == 0x80) ++at;
        --n;
    }
    return s.substr(0, at);
}

const Value* named(std::span<const Value> args, std::string_view name, std::string_view shown) {
    if (args.size() != 1 || !args[0].is_hash()) argument_error("one hash required");
    const Value* v = args[0].as_hash().find(name);
    if (!v) argument_error("key{} not found", shown);
    return v;
}

}  // namespace

std::string ruby_sprintf(std::string_view format, std::span<const Value> args) {
    std::string out;
    std::size_t next = 0;
    auto take = [&]() -> const Value& {
        if (next >= args.size()) argument_error("too few arguments");
        return args[next++];
    };
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') {
            out += format[i];
            continue;
        }
        Directive d;
        const Value* chosen = nullptr;
        for (++i;; ++i) {
            if (i >= format.size())
                argument_error("incomplete format specifier; use %% (double %) instead");
            const char c = format[i];
            switch (c) {
                case '-': d.minus = true; continue;
                case '+': d.plus = true; continue;
                case ' ': d.space = true; continue;
                case '0': d.zero = true; continue;
                case '#': d.alternative = true; continue;
                case '*': {
                    const auto width = to_width(take());
                    d.minus = d.minus || width < 0;
                    d.width = static_cast<int>(std::abs(width));
                    continue;
                }
                case '.': {
                    d.precision = 0;
                    if (i + 1 < format.size() && format[i + 1] == '*') {
                        d.precision = static_cast<int>(to_width(take()));
                        ++i;
                    }
                    while (i + 1 < format.size() &&
                           std::isdigit(static_cast<unsigned char>(format[i + 1]))) {
                        d.precision = std::min(d.precision * 10 + (format[++i] - '0'), kMaxWidth);
                    }
                    continue;
                }
                case '<':
                case '{': {
                    const std::size_t end = format.find(c == '<' ? '>' : '}', i);
                    if (end == std::string_view::npos)
                        argument_error("malformed name - unmatched parenthesis");
                    chosen = named(args, format.substr(i + 1, end - i - 1),
                                   format.substr(i, end - i + 1));
                    i = end;
                    if (c == '{') {
                        out += pad(first_characters(ruby_to_s(*chosen), d.precision), d);
                        goto finished;
                    }
                    continue;
                }
                case '%':
                case '\n':
                case '\0':
                    out += '%';
                    if (c != '%') out += c;
                    goto finished;
                default: break;
            }
            if (c >= '1' && c <= '9') {
                int n = 0;
                while (i < format.size() && std::isdigit(static_cast<unsigned char>(format[i]))) {
                    n = std::min(n * 10 + (format[i++] - '0'), kMaxWidth);
                }
                if (i < format.size() && format[i] == '$') {
                    if (static_cast<std::size_t>(n) > args.size())
                        argument_error("too few arguments");
                    chosen = &args[static_cast<std::size_t>(n) - 1];
                } else {
                    d.width = n;
                    --i;
                }
                continue;
            }
            switch (c) {
                case 'd':
                case 'i':
                case 'u':
                case 'x':
                case 'X':
                case 'o':
                case 'b':
                case 'B':
                    d.letter = c;
                    out += value::format_ruby_integer(d, to_big_integer(chosen ? *chosen : take()));
                    break;
                case 'f':
                case 'e':
                case 'E':
                case 'g':
                case 'G':
                case 'a':
                case 'A':
                    d.letter = c;
                    out += floating(d, chosen ? *chosen : take());
                    break;
                case 's':
                    out +=
                        pad(first_characters(ruby_to_s(chosen ? *chosen : take()), d.precision), d);
                    break;
                case 'p':
                    out += pad(
                        first_characters(ruby_inspect(chosen ? *chosen : take()), d.precision), d);
                    break;
                case 'c': {
                    const Value& v = chosen ? *chosen : take();
                    if (v.is_numeric()) {
                        const auto p = to_character(v);
                        if (p < 0 || p > 0x10FFFF) argument_error("invalid character");
                        std::string ch;
                        codec::append_utf8(ch, static_cast<std::uint32_t>(p));
                        out += pad(ch, d);
                    } else {
                        const auto all = ruby_to_s(v);
                        if (all.empty()) argument_error("%c requires a character");
                        out += pad(first_characters(all, 1), d);
                    }
                    break;
                }
                default: argument_error("malformed format string - %{}", c);
            }
            goto finished;
        }
    finished:;
    }
    return out;
}

Value formatted(const Call& call) {
    const Value& format = call[0];
    const std::string out = ruby_sprintf(format.as_string(), call.args.subspan(1));
    // Ruby starts with the encoding of the format and changes it at the first piece that needs
    // another encoding.
    const bool bytes = std::ranges::any_of(call.args, value::holds_wide_bytes) ||
                       (format.is_bytes() && value::ascii_only(out));
    return text(call, out).in_encoding(bytes);
}

}  // namespace bunraku::function
