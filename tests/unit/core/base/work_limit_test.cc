// SPDX-License-Identifier: Apache-2.0
#include "core/base/work_limit.h"

#include <gtest/gtest.h>
#include <new>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"

namespace bunraku::base {
namespace {

using Clock = std::chrono::steady_clock;

// Sanitizer builds have their own `operator new`, which does not count.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BUNRAKU_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BUNRAKU_SANITIZED 1
#endif
#endif

#ifndef BUNRAKU_SANITIZED
TEST(WorkLimit, LargeAllocationsBeyondTheLimitFail) {
    const WorkLimit limit({.memory = 8 << 20, .deadline = {}, .cancelled = {}});
    std::vector<char> part(6 << 20);
    EXPECT_THROW(std::string(4 << 20, 'x'), std::bad_alloc);
    part = std::vector<char>();
    EXPECT_NO_THROW(std::string(4 << 20, 'x'));
}

TEST(WorkLimit, SmallAllocationsBeyondTheLimitEndTheNextStep) {
    const WorkLimit limit({.memory = 1 << 20, .deadline = {}, .cancelled = {}});
    step();
    std::vector<std::string> parts;
    parts.reserve(4096);
    EXPECT_NO_THROW(for (int i = 0; i < 2048; ++i) parts.emplace_back(1024, 'x'));
    EXPECT_THROW(step(), std::bad_alloc);
    EXPECT_THROW(step(), std::bad_alloc);
}

TEST(WorkLimit, OuterLimitCountsInnerAllocations) {
    const WorkLimit outer({.memory = 4 << 20, .deadline = {}, .cancelled = {}});
    std::string kept;
    {
        const WorkLimit inner({.memory = 64 << 20, .deadline = {}, .cancelled = {}});
        kept.assign(3 << 20, 'x');
        EXPECT_THROW(std::string(2 << 20, 'x'), std::bad_alloc);
    }
    EXPECT_THROW(std::string(2 << 20, 'x'), std::bad_alloc);
}
#endif

TEST(WorkLimit, StepsEndAtTheDeadline) {
    const WorkLimit limit({.memory = 0, .deadline = Clock::now(), .cancelled = {}});
    EXPECT_EQ(work_end(), WorkEnd::Expired);
    EXPECT_THROW(step(), PuppetError);
    EXPECT_THROW(step(), PuppetError);
}

TEST(WorkLimit, StepsEndWhenCancelled) {
    bool gone = false;
    const WorkLimit outer({.memory = 0, .deadline = {}, .cancelled = [&] { return gone; }});
    {
        const WorkLimit inner(
            {.memory = 0, .deadline = Clock::now() + std::chrono::hours(1), .cancelled = {}});
        EXPECT_NO_THROW(step());
    }
    gone = true;
    EXPECT_EQ(work_end(), WorkEnd::Cancelled);
    EXPECT_THROW(check_work_limit(), PuppetError);
}

TEST(WorkLimit, ThreadsWithoutLimitContinue) {
    EXPECT_FALSE(work_is_limited());
    for (int i = 0; i < 1000; ++i) EXPECT_NO_THROW(step());
    {
        const WorkLimit limit({.memory = 0, .deadline = Clock::now(), .cancelled = {}});
        WorkLimit* const mine = WorkLimit::exchange(nullptr);
        EXPECT_NO_THROW(step());
        WorkLimit::exchange(mine);
        EXPECT_THROW(step(), PuppetError);
    }
    EXPECT_NO_THROW(step());
}

}  // namespace
}  // namespace bunraku::base
