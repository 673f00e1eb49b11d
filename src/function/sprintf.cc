// Ruby's Kernel#sprintf: flags, width, precision, %<name>d and %{name}.
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "codec/escapes.h"
#include "function/support.h"

namespace bunraku::function {
namespace {

struct Directive {
    bool minus = false, plus = false, space = false, zero = false, alternative = false;
    int width = -1;
    int precision = -1;
};

std::string pad(std::string body, const Directive& d) {
    const auto length = static_cast<int>(characters(body));
    if (d.width <= length) return body;
    const std::string fill(static_cast<std::size_t>(d.width - length), ' ');
    return d.minus ? body + fill : fill + body;
}

/// Sign, prefix and digits put together with zero filling as Ruby does it.
std::string pad_number(std::string sign, std::string prefix, std::string digits,
                       const Directive& d) {
    if (d.precision >= 0 && static_cast<int>(digits.size()) < d.precision) {
        digits.insert(0, static_cast<std::size_t>(d.precision) - digits.size(), '0');
    }
    const int length = static_cast<int>(sign.size() + prefix.size() + digits.size());
    if (d.zero && !d.minus && d.precision < 0 && d.width > length) {
        digits.insert(0, static_cast<std::size_t>(d.width - length), '0');
    }
    return pad(sign + prefix + digits, d);
}

std::int64_t to_integer(const Value& v) {
    using value::Kind;
    switch (v.kind()) {
        case Kind::Integer: return v.as_integer();
        case Kind::Float:
            if (!std::isfinite(v.as_float()))
                argument_error("{}", value::format_float(v.as_float()));
            return static_cast<std::int64_t>(std::floor(v.as_float()));
        case Kind::String: {  // Kernel#Integer: decimal, 0x, 0b, 0o, underscores between digits
            std::string s(v.as_string());
            const std::string original = s;
            std::erase(s, '_');
            while (!s.empty() && (s.front() == ' ' || s.front() == '\n')) s.erase(0, 1);
            while (!s.empty() && (s.back() == ' ' || s.back() == '\n')) s.pop_back();
            bool negative = false;
            std::size_t at = 0;
            if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
                negative = s[0] == '-';
                at = 1;
            }
            int base = 10;
            if (s.size() > at + 1 && s[at] == '0') {
                const char c = s[at + 1];
                if (c == 'x' || c == 'X')
                    base = 16, at += 2;
                else if (c == 'b' || c == 'B')
                    base = 2, at += 2;
                else if (c == 'o' || c == 'O')
                    base = 8, at += 2;
                else
                    base = 8, at += 1;
            }
            char* end = nullptr;
            errno = 0;
            const long long n = at < s.size() ? std::strtoll(s.c_str() + at, &end, base) : 0;
            if (at >= s.size() || *end != '\0' || errno != 0 || s[at] == '-' || s[at] == '+') {
                argument_error("invalid value for Integer(): {}", ruby_inspect(v));
            }
            return negative ? -n : n;
        }
        case Kind::Undef: argument_error("can't convert nil into Integer");
        default: argument_error("can't convert {} into Integer", ruby_class(v));
    }
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

std::string in_base(std::uint64_t n, unsigned base, bool upper) {
    const char* digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    std::string out;
    do {
        out.insert(out.begin(), digits[n % base]);
        n /= base;
    } while (n != 0);
    return out;
}

std::string format_integer(char type, const Directive& d, const Value& v) {
    const std::int64_t n = to_integer(v);
    std::string sign = n < 0 ? "-" : d.plus ? "+" : d.space ? " " : "";
    if (type == 'd' || type == 'i' || type == 'u') {
        std::string digits = std::to_string(n);
        if (n < 0) digits.erase(0, 1);
        return pad_number(sign, "", digits, d);
    }
    const unsigned base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : 2;
    std::string prefix;
    if (d.alternative) {
        prefix = type == 'x'   ? "0x"
                 : type == 'X' ? "0X"
                 : type == 'o' ? "0"
                 : type == 'b' ? "0b"
                               : "0B";
    }
    if (n >= 0 || d.plus || d.space) {
        const auto magnitude =
            n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
        return pad_number(sign, prefix, in_base(magnitude, base, type == 'X'), d);
    }
    // A negative number without sign flag shows as an endless two's complement: "..f85".
    std::string digits = in_base(static_cast<std::uint64_t>(n), base, type == 'X');
    const char top = type == 'X' ? 'F' : base == 16 ? 'f' : base == 8 ? '7' : '1';
    if (base == 8) digits[0] = '7';
    std::size_t same = 0;
    while (same + 1 < digits.size() && digits[same + 1] == top && digits[same] == top) ++same;
    digits.erase(0, same);
    if (digits.front() != top) digits.insert(digits.begin(), top);
    Directive rest = d;
    rest.precision = -1;
    if (d.zero && d.width > 0) {
        while (static_cast<int>(digits.size() + prefix.size()) < d.width)
            digits.insert(digits.begin(), top);
        return prefix + digits;
    }
    return pad(prefix + ".." + digits, rest);
}

std::string format_float(char type, const Directive& d, const Value& v) {
    const double number = to_float(v);
    std::string sign = std::signbit(number) ? "-" : d.plus ? "+" : d.space ? " " : "";
    if (!std::isfinite(number)) {
        Directive plain = d;
        plain.zero = false;
        return pad((std::isnan(number) ? (d.plus ? "+" : "") : sign) +
                       (std::isnan(number) ? "NaN" : "Inf"),
                   plain);
    }
    char spec[16];
    std::snprintf(spec, sizeof spec, "%%%s.*%c", d.alternative ? "#" : "", type);
    char small[512];
    const int precision = d.precision < 0 ? 6 : d.precision;
    std::string digits;
    // %a without a precision prints all digits there are.
    if ((type == 'a' || type == 'A') && d.precision < 0) {
        std::snprintf(small, sizeof small, type == 'a' ? "%a" : "%A", std::fabs(number));
        digits = small;
    } else {
        const int n = std::snprintf(small, sizeof small, spec, precision, std::fabs(number));
        if (n >= static_cast<int>(sizeof small)) {
            digits.resize(static_cast<std::size_t>(n) + 1);
            std::snprintf(digits.data(), digits.size(), spec, precision, std::fabs(number));
            digits.pop_back();
        } else {
            digits.assign(small, static_cast<std::size_t>(n));
        }
    }
    Directive rest = d;
    rest.precision = -1;
    return pad_number(sign, "", digits, rest);
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
    constexpr int kMaxWidth = 1 << 20;
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
                    const auto width = to_integer(take());
                    d.minus = d.minus || width < 0;
                    d.width =
                        static_cast<int>(std::min<std::int64_t>(std::llabs(width), kMaxWidth));
                    continue;
                }
                case '.': {
                    d.precision = 0;
                    if (i + 1 < format.size() && format[i + 1] == '*') {
                        d.precision =
                            static_cast<int>(std::min<std::int64_t>(to_integer(take()), kMaxWidth));
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
                case 'B': out += format_integer(c, d, chosen ? *chosen : take()); break;
                case 'f':
                case 'e':
                case 'E':
                case 'g':
                case 'G':
                case 'a':
                case 'A': out += format_float(c, d, chosen ? *chosen : take()); break;
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
                    if (v.is_integer()) {
                        const auto p = v.as_integer();
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

}  // namespace bunraku::function
