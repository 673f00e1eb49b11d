// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/group_key.h"

#include <gtest/gtest.h>

namespace bunraku::insight {
namespace {

Change content(std::string before, std::string after) {
    return {.kind = Kind::Changed,
            .reference = "File[/etc/motd]",
            .parameter = "content",
            .before = std::move(before),
            .after = std::move(after)};
}

TEST(GroupKey, DependsOnChangedLinesOnly) {
    const auto one = content(R"("a\nold\nz\n")", R"("a\nnew\nz\n")");
    const auto other = content(R"("b\nold\ny\n")", R"("b\nnew\ny\n")");
    EXPECT_EQ(group_key(one, nullptr), group_key(other, nullptr));
    EXPECT_NE(group_key(one, nullptr),
              group_key(content(R"("a\nold\nz\n")", R"("a\nnewer\nz\n")"), nullptr));
    EXPECT_EQ(changed_lines(one), (std::vector<std::string>{"-old", "+new"}));
}

TEST(GroupKey, DependsOnWholeValueIfNotText) {
    EXPECT_FALSE(changed_lines(content("\"a\"", "\"b\"")));
    EXPECT_FALSE(changed_lines(content("", R"("a\nb\n")")));
    EXPECT_FALSE(changed_lines(content("[\"a\\nb\"]", "[\"a\\nc\"]")));
    EXPECT_NE(group_key(content("\"a\"", "\"c\""), nullptr),
              group_key(content("\"b\"", "\"c\""), nullptr));
}

}  // namespace
}  // namespace bunraku::insight
