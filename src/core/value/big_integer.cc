// SPDX-License-Identifier: Apache-2.0
#include "core/value/big_integer.h"

#include <algorithm>
#include <cmath>

namespace bunraku::value {

BigInteger::BigInteger(std::int64_t n) : negative_(n < 0) {
    auto u = static_cast<std::uint64_t>(n);
    if (negative_) u = 0 - u;
    for (; u != 0; u >>= 32) words_.push_back(static_cast<std::uint32_t>(u));
}

BigInteger BigInteger::truncated(double d) {
    BigInteger out;
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(d), &exponent);
    if (exponent <= 0) return out;
    // The 53 bits of the mantissa, to be shifted by the exponent.
    auto bits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    int shift = exponent - 53;
    if (shift < 0) {
        bits >>= -shift;
        shift = 0;
    }
    out = BigInteger(static_cast<std::int64_t>(bits));
    for (; shift >= 31; shift -= 31) out.multiply_add(1U << 31, 0);
    out.multiply_add(1U << shift, 0);
    out.negative_ = d < 0 && !out.words_.empty();
    return out;
}

std::optional<BigInteger> BigInteger::parse(std::string_view digits, unsigned base) {
    if (digits.empty()) return std::nullopt;
    BigInteger out;
    for (const char c : digits) {
        unsigned digit = 99;
        if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
        if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
        if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
        if (digit >= base) return std::nullopt;
        out.multiply_add(base, digit);
    }
    return out;
}

BigInteger BigInteger::negated() const {
    BigInteger out = *this;
    out.negative_ = !negative_ && !words_.empty();
    return out;
}

std::string BigInteger::digits(unsigned base) const {
    BigInteger rest = *this;
    std::string out;
    do {
        out += "0123456789abcdefghijklmnopqrstuvwxyz"[rest.divide(base)];
    } while (!rest.words_.empty());
    std::ranges::reverse(out);
    return out;
}

std::string BigInteger::complement_digits(unsigned base) const {
    BigInteger less = *this;
    for (auto& word : less.words_)
        if (word-- != 0) break;  // a zero word borrows from the next one
    while (!less.words_.empty() && less.words_.back() == 0) less.words_.pop_back();
    return less.digits(base);
}

void BigInteger::multiply_add(std::uint32_t factor, std::uint32_t more) {
    std::uint64_t carry = more;
    for (auto& word : words_) {
        carry += static_cast<std::uint64_t>(word) * factor;
        word = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    if (carry != 0) words_.push_back(static_cast<std::uint32_t>(carry));
}

std::uint32_t BigInteger::divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (auto word = words_.rbegin(); word != words_.rend(); ++word) {
        rest = rest << 32 | *word;
        *word = static_cast<std::uint32_t>(rest / divisor);
        rest %= divisor;
    }
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
    return static_cast<std::uint32_t>(rest);
}

}  // namespace bunraku::value
