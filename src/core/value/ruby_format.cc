// SPDX-License-Identifier: Apache-2.0
#include "core/value/ruby_format.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <type_traits>

#include "core/base/text.h"

namespace bunraku::value {

namespace {

struct Digits {
    std::string text;
    bool complement = false;  ///< true for digits that continue to the left with `fill`
    char fill = '0';
};

Digits digits_of(const BigInteger& n, unsigned base, bool has_sign) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    if (!n.negative() || has_sign) return {.text = n.digits(base)};
    // The digits of the infinite complement that differ from the leading ones, and one leading
    // digit.
    Digits out{.text = n.complement_digits(base), .complement = true, .fill = kDigits[base - 1]};
    for (char& c : out.text) c = kDigits[base - 1 - kDigits.find(c)];
    if (const auto first = out.text.find_first_not_of(out.fill); first == std::string::npos)
        out.text.clear();
    else
        out.text.erase(0, first);
    out.text.insert(out.text.begin(), out.fill);
    return out;
}

void upcase(std::string& text) {
    for (char& c : text) c = base::upper(c);
}

std::string blanks(int n) { return std::string(static_cast<std::size_t>(std::max(n, 0)), ' '); }

}  // namespace

std::string format_ruby_integer(const RubyDirective& d, const BigInteger& n) {
    unsigned base = 10;
    std::string_view prefix;
    switch (d.letter) {
        case 'x': base = 16, prefix = "0x"; break;
        case 'X': base = 16, prefix = "0X"; break;
        case 'o': base = 8, prefix = "0"; break;
        case 'b': base = 2, prefix = "0b"; break;
        case 'B': base = 2, prefix = "0B"; break;
        default: break;
    }
    if (!d.alternative) prefix = {};
    const bool has_sign = base == 10 || d.plus || d.space;
    Digits digits = digits_of(n, base, has_sign);
    if (d.letter == 'X') {
        upcase(digits.text);
        digits.fill = base::upper(digits.fill);
    }
    std::string_view sign;
    if (has_sign) sign = n.negative() ? "-" : d.plus ? "+" : d.space ? " " : "";

    int width = d.width - static_cast<int>(sign.size());
    int precision = d.precision;
    if (digits.complement) {
        width -= 2;
        precision -= 2;
    }
    auto length = [&] { return static_cast<int>(digits.text.size()); };
    const bool zero = digits.text == "0";
    if (prefix == "0") {
        if (digits.complement) {
            prefix = {};
        } else if (zero) {
            digits.text.clear();
            if (d.precision >= 0) --precision;
        } else if (d.precision > length()) {
            prefix = {};
        }
    } else if (zero) {
        prefix = {};
    }
    width -= static_cast<int>(prefix.size());
    if (d.zero && !d.minus && d.precision < 0) {
        precision = width;
        width = 0;
    } else {
        if (precision < length()) {
            if (prefix.empty() && precision == 0 && zero) digits.text.clear();
            precision = length();
        }
        width -= precision;
    }
    std::string out;
    if (!d.minus) out = blanks(width);
    out += sign;
    out += prefix;
    if (digits.complement) out += "..";
    if (precision > length()) {
        out.append(static_cast<std::size_t>(precision - length()), digits.fill);
    }
    out += digits.text;
    if (d.minus) out += blanks(width);
    return out;
}

namespace {

template <class Number>
std::string write_float(const RubyDirective& d, Number number) {
    if (!std::isfinite(number)) {
        std::string text = std::isnan(number) ? "NaN" : "Inf";
        const bool negative = std::signbit(number) && !std::isnan(number);
        if (negative || d.plus || d.space) text.insert(0, negative ? "-" : d.plus ? "+" : " ");
        const std::string fill = blanks(d.width - static_cast<int>(text.size()));
        return d.minus ? text + fill : fill + text;
    }
    // Finite numbers have C's format (except for %.0a, where glibc may carry to 2p+0).
    std::string spec = "%";
    if (d.minus) spec += '-';
    if (d.plus) spec += '+';
    if (d.space) spec += ' ';
    if (d.alternative) spec += '#';
    if (d.zero) spec += '0';
    spec += "*.*";
    if constexpr (std::is_same_v<Number, long double>) spec += 'L';
    spec += d.letter;
    const auto print = [&](char* to, std::size_t size) {
        // A negative precision means that none is given.
        return std::snprintf(to, size, spec.c_str(), std::max(d.width, 0), d.precision, number);
    };
    std::string out(static_cast<std::size_t>(std::max(print(nullptr, 0), 0)), '\0');
    print(out.data(), out.size() + 1);
    return out;
}

}  // namespace

std::string format_ruby_float(const RubyDirective& d, double number) {
    return write_float(d, number);
}

std::string format_ruby_float(const RubyDirective& d, long double number) {
    return write_float(d, number);
}

}  // namespace bunraku::value
