// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/text_position.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

#include "core/value/build.h"
#include "services/lsp/document.h"

namespace bunraku::lsp {
namespace {

TEST(TextPositionTest, CountsCharactersInTheUnitOfTheClient) {
    const std::string text = "a\n\xC3\xA9\xF0\x9F\x8D\xB7z\n";  // "é", a wine glass, "z"
    const LineIndex lines(text);
    EXPECT_EQ(lines.count(), 3u);
    const auto z = static_cast<std::uint32_t>(text.find('z'));
    EXPECT_EQ(lines.position(text, z, Encoding::Utf8), (Position{1, 6}));
    EXPECT_EQ(lines.position(text, z, Encoding::Utf16), (Position{1, 3}));
    EXPECT_EQ(lines.position(text, z, Encoding::Utf32), (Position{1, 2}));
    for (const Encoding encoding : {Encoding::Utf8, Encoding::Utf16, Encoding::Utf32})
        EXPECT_EQ(lines.offset(text, lines.position(text, z, encoding), encoding), z);
    // A position inside of a surrogate pair is that of the character.
    EXPECT_EQ(lines.offset(text, {1, 2}, Encoding::Utf16), 4u);
}

TEST(TextPositionTest, MovesPositionsBeyondTheEndOfALineToItsEnd) {
    const std::string text = "ab\r\ncd\re";
    const LineIndex lines(text);
    EXPECT_EQ(lines.count(), 3u);
    EXPECT_EQ(lines.line(text, 0), "ab");
    EXPECT_EQ(lines.line(text, 1), "cd");
    EXPECT_EQ(lines.offset(text, {0, 99}, Encoding::Utf16), 2u);
    EXPECT_EQ(lines.offset(text, {9, 0}, Encoding::Utf16), text.size());
}

TEST(TextPositionTest, ReplaceGivesTheIndexOfTheNewText) {
    std::mt19937 random(7);
    const std::string pieces[] = {"", "\n", "\r\n", "\r", "a", "b\nc", "\n\n", "x\ry"};
    std::string text = "one\ntwo\r\nthree\rfour";
    LineIndex lines(text);
    for (int i = 0; i < 3000; ++i) {
        const auto from = static_cast<std::uint32_t>(random() % (text.size() + 1));
        const auto removed =
            static_cast<std::uint32_t>(random() % std::min<std::size_t>(4, text.size() - from + 1));
        const std::string& added = pieces[random() % std::size(pieces)];
        text.replace(from, removed, added);
        lines.replace(text, from, removed, static_cast<std::uint32_t>(added.size()));
        const LineIndex fresh(text);
        ASSERT_EQ(lines.count(), fresh.count()) << i;
        for (std::size_t line = 0; line < fresh.count(); ++line)
            ASSERT_EQ(lines.start(line), fresh.start(line)) << i;
        if (text.size() > 200) text.resize(50), lines = LineIndex(text);
    }
}

TEST(DocumentTest, RefusesChangesThatAreNotValid) {
    base::Arena arena;
    Document document("file:///a.pp", "/a.pp", 1, "abc");
    value::HashBuilder change(arena);
    change.set("range", value::Value::integer(3));
    change.set("text", value::Value::string("x"));
    EXPECT_FALSE(document.apply(change.build(), Encoding::Utf16));
    EXPECT_FALSE(document.apply(value::Value::integer(1), Encoding::Utf16));
    EXPECT_EQ(document.text(), "abc");
}

}  // namespace
}  // namespace bunraku::lsp
