// SPDX-License-Identifier: Apache-2.0
// Formats numbers by the directives of Ruby's Kernel#format (Ruby 3.1's sprintf.c, observed).
#pragma once

#include <string>

#include "core/value/big_integer.h"

namespace bunraku::value {

/// "%-+ 0#<width>.<precision><letter>"
struct RubyDirective {
    char letter = 'd';
    bool minus = false, plus = false, space = false, zero = false, alternative = false;
    int width = -1;  ///< -1 means none
    int precision = -1;
};

/// Formats for the letters d i u x X o b B. Without a sign flag, a negative number in a base other
/// than 10 is written as an infinite two's complement: "..f85".
std::string format_ruby_integer(const RubyDirective& directive, const BigInteger& n);
/// Formats for the letters f e E g G a A.
std::string format_ruby_float(const RubyDirective& directive, double d);
/// Does the same for the letter f with more digits.
std::string format_ruby_float(const RubyDirective& directive, long double d);

}  // namespace bunraku::value
