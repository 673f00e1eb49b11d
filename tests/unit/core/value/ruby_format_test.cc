// SPDX-License-Identifier: Apache-2.0
#include "core/value/ruby_format.h"

#include <cctype>
#include <gtest/gtest.h>
#include <string_view>

namespace bunraku::value {

struct Case {
    std::string_view format, number, text;
};

RubyDirective parse(std::string_view format) {
    RubyDirective d;
    std::size_t i = 1;
    for (;; ++i) {
        if (format[i] == '-') {
            d.minus = true;
        } else if (format[i] == '+') {
            d.plus = true;
        } else if (format[i] == ' ') {
            d.space = true;
        } else if (format[i] == '0') {
            d.zero = true;
        } else if (format[i] == '#') {
            d.alternative = true;
        } else {
            break;
        }
    }
    auto number = [&](int& out) {
        for (out = 0; std::isdigit(static_cast<unsigned char>(format[i])); ++i) {
            out = out * 10 + format[i] - '0';
        }
    };
    if (std::isdigit(static_cast<unsigned char>(format[i]))) number(d.width);
    if (format[i] == '.') ++i, number(d.precision);
    d.letter = format[i];
    return d;
}

// A sample of 60,000 random directives formatted by Ruby 3.1. All gave the same result except %.0a.
constexpr Case kCases[] = {
    {"%-+#11e", "135.50474752381956", "+1.355047e+02"},
    {"%08e", "-1.5", "-1.500000e+00"},
    {"%0#.8A", "3.14159", "0X1.921F9F02P+1"},
    {"%+09X", "38231", "+00009557"},
    {"%-0#19.1G", "-455.49201262033023", "-5.E+02            "},
    {"%-0 4G", "123456.789", " 123457"},
    {"%G", "-Infinity", "-Inf"},
    {"%0# .10G", "NaN", " NaN"},
    {"%0.2G", "-0.0", "-0"},
    {"%+#X", "-4096", "-0X1000"},
    {"%-B", "79418", "10011011000111010"},
    {"%0b", "5", "101"},
    {"%+ o", "-256", "-400"},
    {"%-d", "-61262", "-61262"},
    {"%+7.10G", "0.0", "     +0"},
    {"%+f", "3.14159", "+3.141590"},
    {"%- 11x", "20303", " 4f4f      "},
    {"%-#x", "-82253", "0x..febeb3"},
    {"%-18G", "-301.29610581375573", "-301.296          "},
    {"%-+0 17e", "399.25768791046596", "+3.992577e+02    "},
    {"%02E", "NaN", "NaN"},
    {"%-#1o", "1", "01"},
    {"%03.3e", "1.0", "1.000e+00"},
    {"%+0G", "10000000000.0", "+1E+10"},
    {"%-7f", "-137.30255030354044", "-137.302550"},
    {"% .1B", "5", " 101"},
    {"%d", "-15", "-15"},
    {"%#x", "0", "0"},
    {"%#o", "0", "0"},
    {"%08x", "-255", "..ffff01"},
    {"%.8x", "-255", "..ffff01"},
    {"%#.5o", "-8", "..770"},
    {"%12.3x", "-1", "         ..f"},
    {"%-.5x", "255", "000ff"},
    {"%-5.0x", "-1", "..f  "},
    {"%.0d", "0", ""},
    {"%+x", "-255", "-ff"},
};

TEST(RubyFormat, Numbers) {
    for (const Case& c : kCases) {
        const RubyDirective d = parse(c.format);
        const std::string number(c.number);
        const std::string got = std::string_view("dxXobB").find(d.letter) != std::string_view::npos
                                    ? format_ruby_integer(d, BigInteger(std::stoll(number)))
                                    : format_ruby_float(d, std::stod(number));
        EXPECT_EQ(got, c.text) << c.format << " of " << c.number;
    }
}

// Recorded from Ruby 3.1.
TEST(RubyFormat, LargeNumbers) {
    const struct {
        std::string_view format;
        double number;
        std::string_view text;
    } cases[] = {
        {"%d", 1e30, "1000000000000000019884624838656"},
        {"%d", -1e19, "-10000000000000000000"},
        {"%x", 1e19, "8ac7230489e80000"},
        {"%#o", -1e30, "..76330151543137346130000000000000000"},
        {"%x", -1e19, "..f7538dcfb76180000"},
        {"%+b", -18446744073709551616.0,
         "-10000000000000000000000000000000000000000000000000000000000000000"},
        {"%d", 0.9, "0"},
        {"%d", -0.9, "0"},
        {"%d", 4503599627370497.5, "4503599627370498"},
        {"%25d", 1e20, "    100000000000000000000"},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(format_ruby_integer(parse(c.format), BigInteger::truncated(c.number)), c.text)
            << c.format << " of " << c.number;
    }
    EXPECT_EQ(BigInteger::parse("ffffffffffffffffff", 16)->digits(10), "4722366482869645213695");
    EXPECT_FALSE(BigInteger::parse("12a", 10));
    EXPECT_FALSE(BigInteger::parse("", 10));
}

}  // namespace bunraku::value
