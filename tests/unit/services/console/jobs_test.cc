// SPDX-License-Identifier: Apache-2.0
// Jobs of the console: one of a kind for each viewer, cached, and stopped if no page polls them.
#include "services/console/jobs.h"

#include <gtest/gtest.h>

namespace bunraku::console {
namespace {

/// A job that ends when the test allows it, or when it is stopped.
class TestJob final : public Job {
public:
    std::atomic<bool> may_end{false};
    std::atomic<int> runs{0};
    std::string failure;

protected:
    base::Result<void> run(const std::stop_token& stop) override {
        ++runs;
        while (!may_end && !stop.stop_requested()) {
            sys::machine().sleep(std::chrono::milliseconds(1));
            progress(1, 2);
        }
        if (!failure.empty()) return base::failure(failure);
        return {};
    }
};

class Jobs : public testing::Test {
protected:
    std::shared_ptr<TestJob> start(std::string_view viewer, const std::string& key) {
        auto job = runner_.find_or_start(viewer, key, [] { return std::make_shared<TestJob>(); });
        if (!job) {
            refused_ = job.error().message;
            return nullptr;
        }
        return std::static_pointer_cast<TestJob>(*job);
    }
    static void wait_for(const Job& job, Job::State state) {
        while (job.state() != state) sys::machine().sleep(std::chrono::milliseconds(1));
    }
    JobRunner runner_{sys::machine()};
    std::string refused_;
};

TEST_F(Jobs, ShareAndCacheResults) {
    const auto job = start("alice", "change a");
    wait_for(*job, Job::State::Running);
    while (job->done() == 0) sys::machine().sleep(std::chrono::milliseconds(1));
    EXPECT_EQ(job->all(), 2U);
    EXPECT_EQ(start("bob", "change a"), job);
    job->may_end = true;
    wait_for(*job, Job::State::Done);
    EXPECT_EQ(start("alice", "change a"), job);
    EXPECT_EQ(job->runs, 1);
    EXPECT_GT(job->ended_ms(), 0);
    // A dropped result is computed again.
    runner_.drop("alice", "change a");
    EXPECT_NE(start("alice", "change a"), job);
}

TEST_F(Jobs, OneOfAKindForEachViewer) {
    const auto first = start("alice", "change a");
    const auto code = start("alice", "code a");
    const auto second = start("alice", "change b");
    wait_for(*first, Job::State::Stopped);
    EXPECT_EQ(first->problem(), "You started another one.");
    wait_for(*code, Job::State::Running);
    EXPECT_EQ(second->state(), Job::State::Waiting);
    code->may_end = true;
    wait_for(*second, Job::State::Running);
}

TEST_F(Jobs, OthersKeepAJobRunning) {
    const auto job = start("alice", "change a");
    EXPECT_EQ(start("bob", "change a"), job);
    runner_.drop("alice", "change a");
    wait_for(*job, Job::State::Running);
    runner_.drop("carol", "change a");
    EXPECT_EQ(job->state(), Job::State::Running);
    runner_.drop("bob", "change a");
    wait_for(*job, Job::State::Stopped);
    EXPECT_EQ(job->problem(), "You stopped it.");
    // The page shows that it was stopped, and does not start it again.
    EXPECT_EQ(start("alice", "change a"), job);
}

TEST_F(Jobs, Failures) {
    const auto job = start("alice", "change a");
    job->failure = "no such file";
    job->may_end = true;
    wait_for(*job, Job::State::Failed);
    EXPECT_EQ(job->problem(), "no such file");
}

TEST_F(Jobs, Limits) {
    for (std::size_t i = 0; i < JobRunner::kMostWaiting; ++i)
        ASSERT_TRUE(start("viewer" + std::to_string(i), "change " + std::to_string(i)));
    EXPECT_FALSE(start("one more", "change more"));
    EXPECT_EQ(refused_, "Too many people wait for results. Try again in some minutes.");
    runner_.stop();
    EXPECT_FALSE(start("late", "change late"));
}

TEST_F(Jobs, CacheIsLimited) {
    const auto first = start("alice", "change 0");
    first->may_end = true;
    wait_for(*first, Job::State::Done);
    for (std::size_t i = 1; i <= JobRunner::kMostCached + 1; ++i) {
        const auto job = start("alice", "change " + std::to_string(i));
        job->may_end = true;
        wait_for(*job, Job::State::Done);
    }
    EXPECT_NE(start("alice", "change 0"), first);
}

}  // namespace
}  // namespace bunraku::console
