// SPDX-License-Identifier: Apache-2.0
// Integers beyond the 64 bits of a Value, for functions that only format them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::value {

class BigInteger {
public:
    BigInteger() = default;
    explicit BigInteger(std::int64_t n);
    /// Returns the integer part of a finite number.
    static BigInteger truncated(double d);
    /// Reads digits of a base from 2 to 16, without a sign. Returns nullopt if there is no digit or
    /// any other character.
    static std::optional<BigInteger> parse(std::string_view digits, unsigned base);

    bool negative() const { return negative_; }
    BigInteger negated() const;
    /// Returns the digits in a base from 2 to 36 without a sign, in lower case, or "0" for zero.
    std::string digits(unsigned base) const;
    /// For a negative n, returns the digits of -(n + 1). Their complement gives the infinite two's
    /// complement of n.
    std::string complement_digits(unsigned base) const;

private:
    void multiply_add(std::uint32_t factor, std::uint32_t more);
    std::uint32_t divide(std::uint32_t divisor);

    bool negative_ = false;
    std::vector<std::uint32_t> words_;  // the lowest word first; no zero words at the end
};

}  // namespace bunraku::value
