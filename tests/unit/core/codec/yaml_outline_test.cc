// SPDX-License-Identifier: Apache-2.0
#include "core/codec/yaml_outline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bunraku::codec {
namespace {

/// Returns the scalars as "text@LINE:COLUMN", with "key" and the text of the parent key.
std::string outline(std::string_view text) {
    const auto found = outline_yaml(text);
    std::string out;
    for (const auto& scalar : found.scalars) {
        out += fmt::format("{}@{}:{}", scalar.text, scalar.start.line, scalar.start.column);
        if (scalar.key) out += " key";
        if (scalar.parent >= 0)
            out += " of " + found.scalars[static_cast<std::size_t>(scalar.parent)].text;
        out += "\n";
    }
    return out;
}

TEST(YamlOutlineTest, GivesEachScalarItsPlaceAndKey) {
    EXPECT_EQ(outline("---\n"
                      "a: 1\n"
                      "'b': [x, {c: y}]\n"
                      "d:\n"
                      "  é: z\n"
                      "  - : w\n"),
              "a@1:0 key\n"
              "1@1:3 of a\n"
              "b@2:0 key\n"
              "x@2:6 of b\n"
              "c@2:10 key of b\n"
              "y@2:13 of c\n"
              "d@3:0 key\n"
              "é@4:2 key of d\n"
              "z@4:5 of é\n");
}

TEST(YamlOutlineTest, HandlesCollectionsAsKeysAndAliases) {
    EXPECT_EQ(outline("? [a, b]\n: c\nd: &x 1\ne: *x\nf: g\n"),
              "a@0:3\nb@0:6\nc@1:2\nd@2:0 key\n1@2:3 of d\ne@3:0 key\nf@4:0 key\ng@4:3 of f\n");
}

TEST(YamlOutlineTest, KeepsTheScalarsBeforeAnError) {
    const auto found = outline_yaml("a: 1\nb: [x\nc: 2\n");
    ASSERT_TRUE(found.problem);
    EXPECT_EQ(found.problem->place.line, 2u);
    ASSERT_GE(found.scalars.size(), 3u);
    EXPECT_EQ(found.scalars[2].text, "b");
    EXPECT_FALSE(outline_yaml("").problem);
}

}  // namespace
}  // namespace bunraku::codec
