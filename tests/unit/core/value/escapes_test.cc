// SPDX-License-Identifier: Apache-2.0
// Tests quoted strings as Ruby 3.1 writes them, and decoding of JSON escapes.
#include "core/codec/escapes.h"

#include <gtest/gtest.h>

#include "core/codec/json_text.h"
#include "core/value/escapes.h"
#include "core/value/rich_data.h"

namespace bunraku::value {
namespace {

using namespace std::string_view_literals;

TEST(Escapes, Inspect) {
    struct Case {
        std::string_view text, expected;
    };
    for (const auto& c : {
             Case{"", R"("")"},
             {"a\"b\\c", R"("a\"b\\c")"},
             {"\n\t\r\f\v\a\b\033", R"("\n\t\r\f\v\a\b\e")"},
             {"\0\1\x1f\x7f"sv, R"("\u0000\u0001\u001F\u007F")"},
             {"#{a} #$b #@c # #a #", R"("\#{a} \#$b \#@c # #a #")"},
             {"\xc3\xa9", "\"\xc3\xa9\""},
         }) {
        std::string out = "<";
        print_inspected_text(out, c.text);
        EXPECT_EQ(out, "<" + std::string(c.expected));
    }
}

TEST(Escapes, Json) {
    struct Case {
        std::string_view text, expected;
    };
    for (const auto& c : {
             Case{"", R"("")"},
             {"a\"b\\c/", R"("a\"b\\c/")"},
             {"\n\t\r\f\b", R"("\n\t\r\f\b")"},
             {"\0\v\a\033\x1f\x7f"sv, "\"\\u0000\\u000b\\u0007\\u001b\\u001f\x7f\""},
             {"#{a} \xc3\xa9", "\"#{a} \xc3\xa9\""},
         }) {
        std::string out = "<";
        codec::append_json_string(out, c.text, codec::BadBytes::Keep);
        EXPECT_EQ(out, "<" + std::string(c.expected));
    }
}

TEST(Escapes, Utf8) {
    std::string out;
    for (std::uint32_t c : {0x0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xffffu, 0x10000u, 0x10ffffu})
        codec::append_utf8(out, c);
    EXPECT_EQ(out,
              "\0\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"sv);
    EXPECT_EQ(codec::join_surrogates(0xd83d, 0xde00), 0x1f600u);
    EXPECT_TRUE(codec::is_high_surrogate(0xdbff) && !codec::is_high_surrogate(0xdc00));
    EXPECT_TRUE(codec::is_low_surrogate(0xdfff) && !codec::is_low_surrogate(0xe000));
}

TEST(Escapes, JsonRead) {
    std::string out;
    for (char c : "\"\\/bfnrt"sv) out += codec::json_escape(c);
    EXPECT_EQ(out, "\"\\/\b\f\n\r\t");
    for (char c : "uaxv0'\0"sv) EXPECT_EQ(codec::json_escape(c), '\0') << c;

    base::Arena arena(512);
    const auto read = parse_json(arena, R"("\ud83d\ude00\u00e9\/\t")");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->as_string(), "\xf0\x9f\x98\x80\xc3\xa9/\t");
    for (const char* bad :
         {R"("\x")", R"("\ud83d")", R"("\ude00")", R"("\ud83d\u0041")", R"("\u12")"})
        EXPECT_FALSE(parse_json(arena, bad)) << bad;
}

}  // namespace
}  // namespace bunraku::value
