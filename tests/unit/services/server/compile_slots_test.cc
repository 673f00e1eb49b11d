// SPDX-License-Identifier: Apache-2.0
#include "services/server/compile_slots.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "testing/simulation.h"

namespace bunraku::server {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class CompileSlotsTest : public testing::Test {
protected:
    /// Simulates a compile in the background: takes a slot, holds it for `time`, records the name.
    void compile(const std::string& environment, const std::string& node, sys::Duration time) {
        ++asked_;
        (void)pool_->post([=, this] {
            const auto slot = slots_.take(environment, node, minutes(5));
            started_.push_back(slot ? node : "refused " + node);
            if (slot) world_.sleep(time);
        });
        (void)world_.run_until([&] { return started_.size() + slots_.waiting() == asked_; },
                               seconds(1));
    }

    sys::Simulation world_{7};
    CompileSlots slots_{world_, 2, 1000};
    std::vector<std::string> started_;
    std::size_t asked_ = 0;
    std::unique_ptr<sys::Executor> pool_ = world_.executor({.threads = 64});
};

TEST_F(CompileSlotsTest, CompilesWaitInOrder) {
    for (const auto* node : {"a", "b", "c", "d"}) compile("production", node, seconds(1));
    EXPECT_EQ(started_, (std::vector<std::string>{"a", "b"}));
    world_.run_for(seconds(5));
    EXPECT_EQ(started_, (std::vector<std::string>{"a", "b", "c", "d"}));
    EXPECT_EQ(slots_.figures().free, 2U);
}

TEST_F(CompileSlotsTest, EndlessCompilesOfOneEnvironmentDoNotStopOthers) {
    for (int i = 0; i < 12; ++i) compile("endless", "e" + std::to_string(i), std::chrono::hours(1));
    world_.run_for(seconds(30));
    EXPECT_EQ(started_.size(), 4U);  // exactly twice the number of slots
    compile("production", "p", seconds(1));
    world_.run_for(seconds(3));
    EXPECT_EQ(started_.back(), "p");
}

TEST_F(CompileSlotsTest, SlowTemplateDoesNotHoldAllSlots) {
    compile("production", "slow1", seconds(58));
    compile("production", "slow2", seconds(58));
    compile("production", "quick", seconds(1));
    EXPECT_EQ(started_.size(), 2U);
    world_.run_for(seconds(3));
    EXPECT_EQ(started_.back(), "quick");
}

TEST_F(CompileSlotsTest, OneNodeUsesAtMostHalfOfTheSlots) {
    compile("production", "greedy", minutes(10));
    for (int i = 0; i < 20; ++i) compile("production", "greedy", minutes(10));
    compile("production", "other", seconds(1));
    world_.run_for(seconds(1));
    EXPECT_EQ(std::ranges::count(started_, "greedy"), 1);
    EXPECT_EQ(std::ranges::count(started_, "refused greedy"), 12);
    EXPECT_EQ(std::ranges::count(started_, "other"), 1);
}

TEST_F(CompileSlotsTest, StuckEnvironmentDoesNotFillTheQueue) {
    for (int i = 0; i < 4; ++i) compile("endless", "e" + std::to_string(i), std::chrono::hours(1));
    world_.run_for(seconds(30));
    ASSERT_EQ(started_.size(), 4U);
    for (int i = 4; i < 40; ++i) compile("endless", "e" + std::to_string(i), std::chrono::hours(1));
    EXPECT_EQ(slots_.waiting(), CompileSlots::kMostOfStuck);
}

}  // namespace
}  // namespace bunraku::server
