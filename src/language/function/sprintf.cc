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

/// Formats the arguments of one call.
class Sprintf {
public:
    Sprintf(std::string_view format, std::span<const Value> args) : format_(format), args_(args) {}

    std::string run() {
        for (; at_ < format_.size(); ++at_) {
            if (format_[at_] == '%') {
                ++at_;
                directive();
            } else {
                out_ += format_[at_];
            }
        }
        return std::move(out_);
    }

private:
    const Value& take() {
        if (next_ >= args_.size()) argument_error("too few arguments");
        return args_[next_++];
    }
    /// Returns the argument that the directive names, or the next one.
    const Value& argument() { return chosen_ != nullptr ? *chosen_ : take(); }

    /// Reads a directive. Leaves the position at its last character.
    void directive() {
        d_ = {};
        chosen_ = nullptr;
        for (;; ++at_) {
            if (at_ >= format_.size())
                argument_error("incomplete format specifier; use %% (double %) instead");
            const char c = format_[at_];
            switch (c) {
                case '-': d_.minus = true; break;
                case '+': d_.plus = true; break;
                case ' ': d_.space = true; break;
                case '0': d_.zero = true; break;
                case '#': d_.alternative = true; break;
                case '*': taken_width(); break;
                case '.': precision(); break;
                case '<': name('>'); break;
                case '{':
                    name('}');
                    add_text(ruby_to_s(*chosen_));
                    return;
                default:
                    if (c >= '1' && c <= '9') {
                        width_or_position();
                        break;
                    }
                    convert(c);
                    return;
            }
        }
    }

    void taken_width() {
        const auto width = to_width(take());
        d_.minus = d_.minus || width < 0;
        d_.width = static_cast<int>(std::abs(width));
    }

    bool digit_at(std::size_t i) const {
        return i < format_.size() && std::isdigit(static_cast<unsigned char>(format_[i]));
    }

    void precision() {
        d_.precision = 0;
        if (at_ + 1 < format_.size() && format_[at_ + 1] == '*') {
            d_.precision = static_cast<int>(to_width(take()));
            ++at_;
        }
        while (digit_at(at_ + 1)) {
            d_.precision = std::min(d_.precision * 10 + (format_[++at_] - '0'), kMaxWidth);
        }
    }

    void name(char close) {
        const std::size_t end = format_.find(close, at_);
        if (end == std::string_view::npos) argument_error("malformed name - unmatched parenthesis");
        chosen_ = named(args_, format_.substr(at_ + 1, end - at_ - 1),
                        format_.substr(at_, end - at_ + 1));
        at_ = end;
    }

    /// Reads "8" or "2$".
    void width_or_position() {
        int n = 0;
        while (digit_at(at_)) n = std::min(n * 10 + (format_[at_++] - '0'), kMaxWidth);
        if (at_ < format_.size() && format_[at_] == '$') {
            if (static_cast<std::size_t>(n) > args_.size()) argument_error("too few arguments");
            chosen_ = &args_[static_cast<std::size_t>(n) - 1];
        } else {
            d_.width = n;
            --at_;
        }
    }

    void convert(char c) {
        d_.letter = c;
        switch (c) {
            case '%': out_ += '%'; break;
            case '\n':
            case '\0':
                out_ += '%';
                out_ += c;
                break;
            case 'd':
            case 'i':
            case 'u':
            case 'x':
            case 'X':
            case 'o':
            case 'b':
            case 'B': out_ += value::format_ruby_integer(d_, to_big_integer(argument())); break;
            case 'f':
            case 'e':
            case 'E':
            case 'g':
            case 'G':
            case 'a':
            case 'A': out_ += floating(d_, argument()); break;
            case 's': add_text(ruby_to_s(argument())); break;
            case 'p': add_text(ruby_inspect(argument())); break;
            case 'c': character(argument()); break;
            default: argument_error("malformed format string - %{}", c);
        }
    }

    void add_text(std::string text) {
        out_ += pad(first_characters(std::move(text), d_.precision), d_);
    }

    void character(const Value& v) {
        if (v.is_numeric()) {
            const auto p = to_character(v);
            if (p < 0 || p > 0x10FFFF) argument_error("invalid character");
            std::string ch;
            codec::append_utf8(ch, static_cast<std::uint32_t>(p));
            out_ += pad(ch, d_);
        } else {
            const auto all = ruby_to_s(v);
            if (all.empty()) argument_error("%c requires a character");
            out_ += pad(first_characters(all, 1), d_);
        }
    }

    std::string_view format_;
    std::span<const Value> args_;
    std::size_t at_ = 0, next_ = 0;
    Directive d_;
    const Value* chosen_ = nullptr;
    std::string out_;
};

}  // namespace

std::string ruby_sprintf(std::string_view format, std::span<const Value> args) {
    return Sprintf(format, args).run();
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
