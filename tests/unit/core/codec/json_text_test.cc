// SPDX-License-Identifier: Apache-2.0
#include "core/codec/json_text.h"

#include <gtest/gtest.h>
#include <string>

#include "core/codec/json_cursor.h"

namespace bunraku::codec {
namespace {

TEST(JsonText, QuotesAndEscapes) {
    struct Case {
        std::string text, json, kept;
    } cases[] = {
        {"", R"("")", R"("")"},
        {"plain, /slash/ 'x' \x7f", "\"plain, /slash/ 'x' \x7f\"", "\"plain, /slash/ 'x' \x7f\""},
        {"\"\\\b\f\n\r\t", R"("\"\\\b\f\n\r\t")", R"("\"\\\b\f\n\r\t")"},
        {std::string("\0\x01\x1f", 3), R"("\u0000\u0001\u001f")", R"("\u0000\u0001\u001f")"},
        {"\xc3\xa9\xe2\x98\x83\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x98\x83\xf0\x9f\x98\x80\"",
         "\"\xc3\xa9\xe2\x98\x83\xf0\x9f\x98\x80\""},
        // Truncated, overlong, a surrogate, beyond U+10FFFF.
        {"a\xc3", "\"a\xef\xbf\xbd\"", "\"a\xc3\""},
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"", "\"\xc0\x80\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"", "\"\xed\xa0\x80\""},
        {"\xf4\x90\x80\x80.", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.\"",
         "\"\xf4\x90\x80\x80.\""},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(json_string(c.text), c.json);
        std::string kept;
        append_json_string(kept, c.text, BadBytes::Keep);
        EXPECT_EQ(kept, c.kept);
        EXPECT_EQ(is_utf8(c.text), c.json == c.kept);
    }
}

// The function checks eight bytes at a time. It must find an invalid byte at any position.
TEST(JsonText, FindsInvalidUtf8) {
    for (std::size_t before = 0; before < 20; ++before) {
        for (std::size_t behind = 0; behind < 20; ++behind) {
            const std::string a(before, 'a'), b(behind, 'b');
            EXPECT_EQ(first_invalid_utf8(a + "\xc3\xa9" + b), std::string::npos);
            EXPECT_EQ(first_invalid_utf8(a + "\xff" + b), before);
            EXPECT_EQ(first_invalid_utf8(a + "\xe2\x98" + b), before);
        }
    }
    EXPECT_EQ(check_utf8("abcdefgh\xff"), "Invalid UTF-8 at byte 8");
    EXPECT_EQ(check_utf8("abcdefgh\xc3\xa9"), "");
}

}  // namespace
}  // namespace bunraku::codec
