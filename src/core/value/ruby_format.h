// Numbers as the directives of Ruby's Kernel#format write them (Ruby 3.1's sprintf.c, observed).
#pragma once

#include <string>

#include "core/value/big_integer.h"

namespace bunraku::value {

/// "%-+ 0#<width>.<precision><letter>"
struct RubyDirective {
    char letter = 'd';
    bool minus = false, plus = false, space = false, zero = false, alternative = false;
    int width = -1;  ///< -1: none
    int precision = -1;
};

/// For the letters d i u x X o b B. Without a sign flag a negative number to another base than 10
/// shows as an endless two's complement: "..f85".
std::string format_ruby_integer(const RubyDirective& directive, const BigInteger& n);
/// For the letters f e E g G a A.
std::string format_ruby_float(const RubyDirective& directive, double d);
/// The same for the letter f with more digits.
std::string format_ruby_float(const RubyDirective& directive, long double d);

}  // namespace bunraku::value
