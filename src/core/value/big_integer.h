// Integers beyond the 64 bits of a Value, for functions that only write them as text.
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
    /// The integer part of a finite number.
    static BigInteger truncated(double d);
    /// Reads digits of a base from 2 to 16, without a sign; nullopt if there are others, or none.
    static std::optional<BigInteger> parse(std::string_view digits, unsigned base);

    bool negative() const { return negative_; }
    BigInteger negated() const;
    /// The digits without a sign, in lower case; "0" for zero.
    std::string digits(unsigned base) const;
    /// The digits of -(n + 1) of a negative number n: what its endless two's complement inverts.
    std::string complement_digits(unsigned base) const;

private:
    void multiply_add(std::uint32_t factor, std::uint32_t more);
    std::uint32_t divide(std::uint32_t divisor);

    bool negative_ = false;
    std::vector<std::uint32_t> words_;  // the lowest first; no leading zeros
};

}  // namespace bunraku::value
