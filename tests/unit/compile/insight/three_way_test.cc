// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/three_way.h"

#include <gtest/gtest.h>

namespace bunraku::insight {
namespace {

TEST(ThreeWay, TakesChangesOfEitherSide) {
    struct Case {
        const char *base, *ours, *theirs;
        const char* expected;  ///< null if both sides change the same lines
    };
    const Case cases[] = {
        {"a\nb\nc\n", "a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n"},
        {"a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"},
        {"a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n"},
        {"a\nb\n", "x\na\nb\n", "a\nb\ny\n", "x\na\nb\ny\n"},
        {"a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", "a\nX\nc\n"},
        {"a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", nullptr},
        {"a\nb\nc\n", "a\nc\n", "a\nY\nc\n", nullptr},
        {"a\nb\n", "a\nb\nx\n", "a\nb\ny\n", nullptr},
        {"", "a\n", "", "a\n"},
        {"", "a\n", "b\n", nullptr},
        {"a\n", "", "a\n", ""},
        {"a\nb", "a\nb\n", "x\na\nb", "x\na\nb\n"},
        {"a\na\na\n", "a\na\n", "a\na\na\nb\n", nullptr},
    };
    for (const auto& c : cases) {
        const auto out = merged_text(c.base, c.ours, c.theirs);
        ASSERT_EQ(out.has_value(), c.expected != nullptr) << c.base << c.ours << c.theirs;
        if (out) {
            EXPECT_EQ(*out, c.expected) << c.base << c.ours << c.theirs;
        }
        // The result does not depend on the order of the two sides.
        const auto turned = merged_text(c.base, c.theirs, c.ours);
        EXPECT_EQ(out, turned) << c.base << c.ours << c.theirs;
    }
}

}  // namespace
}  // namespace bunraku::insight
