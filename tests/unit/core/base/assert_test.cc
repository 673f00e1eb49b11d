// SPDX-License-Identifier: Apache-2.0
#include "core/base/assert.h"

#include <gtest/gtest.h>

namespace {

TEST(AssertDeathTest, AlwaysAssertAbortsWithTheConditionAndItsLocation) {
    const int value = 1;
    BUNRAKU_ALWAYS_ASSERT(value == 1);
    EXPECT_DEATH(BUNRAKU_ALWAYS_ASSERT(value == 2),
                 "assert_test.cc:[0-9]+: assertion failed: value == 2");
}

TEST(AssertDeathTest, ReleaseBuildsDoNotEvaluateTheCondition) {
    int calls = 0;
    const auto count = [&] { return ++calls > 0; };
    BUNRAKU_ASSERT(count());
#if !defined(NDEBUG) || defined(BUNRAKU_ASSERTIONS)
    EXPECT_EQ(calls, 1);
#else
    EXPECT_EQ(calls, 0);
#endif
}

}  // namespace
