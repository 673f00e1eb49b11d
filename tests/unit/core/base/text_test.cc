// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <gtest/gtest.h>
#include <string>

#include "core/base/plain_error.h"
#include "core/base/uuid.h"

namespace bunraku::base {
namespace {

std::string joined(const std::vector<std::string_view>& parts) {
    std::string out;
    for (const std::string_view part : parts) out += '<' + std::string(part) + '>';
    return out;
}

TEST(Text, CaseConversionIsAsciiOnly) {
    struct Case {
        std::string_view text, lower, upper, capitalized;
    } cases[] = {
        {"", "", "", ""},
        {"aZ@[`{09", "az@[`{09", "AZ@[`{09", "AZ@[`{09"},
        {"file", "file", "FILE", "File"},
        {"\xc3\x84\xc3\xa4 I\xc4\xb0", "\xc3\x84\xc3\xa4 i\xc4\xb0", "\xc3\x84\xc3\xa4 I\xc4\xb0",
         "\xc3\x84\xc3\xa4 I\xc4\xb0"},
        {std::string_view("A\0b\xff", 4), std::string_view("a\0b\xff", 4),
         std::string_view("A\0B\xff", 4), std::string_view("A\0b\xff", 4)},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(lower(c.text), c.lower);
        EXPECT_EQ(upper(c.text), c.upper);
        EXPECT_EQ(capitalized(c.text), c.capitalized);
        EXPECT_TRUE(same_ignoring_case(c.text, c.upper));
    }
    EXPECT_FALSE(same_ignoring_case("a", "ab"));
    EXPECT_FALSE(same_ignoring_case("@", "`"));
}

TEST(Text, TrimsSplitsAndFindsWords) {
    EXPECT_EQ(trim(" \t\n\v\f\r a b \r\n"), "a b");
    EXPECT_EQ(trim(" \n "), "");
    EXPECT_EQ(trim(""), "");
    EXPECT_EQ(trim("\n a \n", " "), "\n a \n");
    EXPECT_EQ(trim(std::string_view("\0a\0", 3)).size(), 3U);
    EXPECT_EQ(joined(split("", ',')), "<>");
    EXPECT_EQ(joined(split("a,,b,", ',')), "<a><><b><>");
    EXPECT_EQ(joined(words("", ",")), "");
    EXPECT_EQ(joined(words(",a,,b,", ",")), "<a><b>");
    EXPECT_EQ(joined(words(" a\tb \n")), "<a><b><\n>");
    EXPECT_EQ(joined(lines("a\n\nb\n")), "<a><><b>");
}

TEST(Text, RandomUuidsHaveVersionFour) {
    const std::string a = random_uuid(), b = random_uuid();
    ASSERT_EQ(a.size(), 36U);
    EXPECT_NE(a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            EXPECT_EQ(a[i], '-');
        } else {
            EXPECT_NE(std::string_view("0123456789abcdef").find(a[i]), std::string_view::npos);
        }
    }
    EXPECT_EQ(a[14], '4');
    EXPECT_NE(std::string_view("89ab").find(a[19]), std::string_view::npos);
}

TEST(Text, PlainErrorsArePrintedUnchanged) {
    EXPECT_EQ(plain_error("no such thing").full_text(), "no such thing");
    EXPECT_EQ(plain_error("x").issue_code(), "");
}

}  // namespace
}  // namespace bunraku::base
