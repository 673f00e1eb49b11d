// SPDX-License-Identifier: Apache-2.0
// Tests executors and conditions with real threads and in virtual time, with the same cases.
#include "core/sys/executor.h"

#include <atomic>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <thread>

#include "testing/simulation.h"

namespace bunraku::sys {
namespace {

using namespace std::chrono_literals;

enum class World { Threads, Simulated };

class ExecutorIn : public testing::TestWithParam<World> {
protected:
    void SetUp() override {
        if (GetParam() == World::Simulated) simulation_ = std::make_unique<Simulation>(7);
    }
    Runtime& runtime() { return simulation_ ? *simulation_ : machine(); }
    std::unique_ptr<Executor> executor(int threads, std::size_t limit = 0) {
        return runtime().executor({.threads = threads, .limit = limit, .error = [this](auto& e) {
                                       std::lock_guard lock(mutex_);
                                       errors_.push_back(e);
                                   }});
    }
    std::unique_ptr<Simulation> simulation_;
    std::mutex mutex_;
    std::vector<std::string> errors_;
};

INSTANTIATE_TEST_SUITE_P(Worlds, ExecutorIn, testing::Values(World::Threads, World::Simulated),
                         [](const auto& info) {
                             return info.param == World::Threads ? "Threads" : "Simulated";
                         });

TEST_P(ExecutorIn, OneThreadKeepsTheOrderOfTasksAndTimers) {
    auto e = executor(1);
    std::string order;  // written only by the executor's one thread
    EXPECT_TRUE(e->post([&] { order += 'a'; }));
    EXPECT_TRUE(e->post([&] { order += 'b'; }));
    EXPECT_NE(e->post_after(10ms, [&] { order += 'c'; }), 0U);
    EXPECT_NE(e->post_after(30ms, [&] { order += 'd'; }), 0U);
    TimePoint begin = runtime().now();
    runtime().sleep(60ms);
    EXPECT_GE(runtime().now() - begin, 60ms);
    if (simulation_) {
        EXPECT_EQ(runtime().now() - begin, 60ms);
    }
    e->stop();
    EXPECT_EQ(order, "abcd");
}

TEST_P(ExecutorIn, CancelledTimersDoNotRunAndStopDropsTheRest) {
    auto e = executor(2);
    std::atomic<int> ran{0};
    auto soon = e->post_after(5ms, [&] { ran += 1; });
    auto cancelled = e->post_after(5ms, [&] { ran += 10; });
    EXPECT_NE(e->post_after(1h, [&] { ran += 100; }), 0U);
    EXPECT_TRUE(e->cancel(cancelled));
    EXPECT_FALSE(e->cancel(cancelled));
    runtime().sleep(40ms);
    EXPECT_FALSE(e->cancel(soon));
    e->stop();
    EXPECT_EQ(ran, 1);
    EXPECT_FALSE(e->post([] {}));
    EXPECT_FALSE(e->post_more([] {}));
    EXPECT_EQ(e->post_after(1ms, [] {}), 0U);
    e->stop();
}

TEST_P(ExecutorIn, WaitingTasksRunBeforeStopReturns) {
    auto e = executor(3);
    std::atomic<int> ran{0};
    for (int i = 0; i < 500; ++i) EXPECT_TRUE(e->post([&] { ++ran; }));
    e->stop();
    EXPECT_EQ(ran, 500);
}

TEST_P(ExecutorIn, ThrowingTaskDoesNotAffectOthers) {
    auto e = executor(1);
    std::atomic<int> ran{0};
    EXPECT_TRUE(e->post([] { throw std::runtime_error("broken"); }));
    EXPECT_TRUE(e->post([] { throw 7; }));
    EXPECT_TRUE(e->post([&] { ++ran; }));
    e->stop();
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(errors_, (std::vector<std::string>{"broken", "unknown exception"}));
}

TEST_P(ExecutorIn, FullQueueRefusesOnlyNewTasks) {
    auto e = executor(1, 2);
    std::mutex mutex;
    Condition changed(runtime());
    bool begun = false, open = false;
    int ran = 0;
    EXPECT_TRUE(e->post([&] {
        std::unique_lock lock(mutex);
        begun = true;
        changed.notify_all();
        changed.wait(lock, [&] { return open; });
    }));
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return begun; });
    EXPECT_TRUE(e->post([&] { ++ran; }));
    EXPECT_TRUE(e->post([&] { ++ran; }));
    EXPECT_EQ(e->waiting(), 2U);
    EXPECT_FALSE(e->post([&] { ++ran; }));
    EXPECT_TRUE(e->post_more([&] { ++ran; }));
    open = true;
    changed.notify_all();
    lock.unlock();
    e->stop();
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(e->waiting(), 0U);
}

TEST_P(ExecutorIn, LimitsConcurrentTasks) {
    auto e = executor(3);
    std::atomic<int> now{0}, most{0};
    for (int i = 0; i < 12; ++i) {
        EXPECT_TRUE(e->post([&] {
            int n = ++now;
            for (int m = most; n > m && !most.compare_exchange_weak(m, n);) {
            }
            runtime().sleep(5ms);
            --now;
        }));
    }
    e->stop();
    EXPECT_LE(most, 3);
    if (simulation_) {
        EXPECT_EQ(most, 3);
    }
}

/// Counts the threads that have ended.
struct EndOfThread {
    std::atomic<int>* ended = nullptr;
    ~EndOfThread() {
        if (ended) ++*ended;
    }
};

TEST(ThreadExecutor, UnusedThreadsEnd) {
    std::atomic<int> ended{0}, ready{0}, ran{0};
    const auto e = machine().executor({.threads = 4, .idle = 5ms});
    for (int round = 1; round <= 2; ++round) {
        ready = 0;
        for (int i = 0; i < 4; ++i) {
            e->post([&] {
                thread_local EndOfThread end;
                end.ended = &ended;
                ++ready;
                while (ready < 4) std::this_thread::yield();
            });
        }
        // One thread stays.
        while (ended < 3 * round) std::this_thread::yield();
    }
    EXPECT_EQ(ended, 6);
    e->post_after(20ms, [&] { ++ran; });
    while (ran == 0) std::this_thread::yield();
    e->stop();
    EXPECT_EQ(ended, 7);
}

TEST(ThreadExecutor, FurtherThreadsStartOnlyDuringAStall) {
    std::mutex mutex;
    Condition changed(machine());
    bool open = false;
    std::set<std::thread::id> threads;
    const auto e = machine().executor({.threads = 3, .eager = 1});
    const auto wait = [&] {
        std::unique_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
        changed.wait(lock, [&] { return open; });
    };
    std::atomic<int> ran{0};
    for (int i = 0; i < 2; ++i) e->post(wait);
    e->post([&] { ++ran; });
    // The third task runs although the first two wait for the test.
    while (ran == 0) std::this_thread::yield();
    {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(threads.size(), 2U);
        open = true;
    }
    changed.notify_all();
    e->stop();
}

TEST_P(ExecutorIn, ExpiredTasksDoNotStart) {
    auto e = executor(1);
    std::string order;
    EXPECT_TRUE(e->post([&] { runtime().sleep(20ms); }));
    TimePoint now = runtime().now();
    EXPECT_TRUE(e->post_until(now + 5ms, [&] { order += 'x'; }, [&] { order += 'l'; }));
    EXPECT_TRUE(e->post_until(now + 1h, [&] { order += 't'; }, [&] { order += 'x'; }));
    e->stop();
    EXPECT_EQ(order, "lt");
}

TEST_P(ExecutorIn, ConditionsAreNotifiedOrTimeOut) {
    auto e = executor(2);
    std::mutex mutex;
    Condition changed(runtime());
    bool ready = false;
    {
        std::unique_lock lock(mutex);
        TimePoint begin = runtime().now();
        EXPECT_FALSE(changed.wait_for(lock, 10ms, [&] { return ready; }));
        EXPECT_GE(runtime().now() - begin, 10ms);
    }
    EXPECT_NE(e->post_after(5ms,
                            [&] {
                                std::lock_guard lock(mutex);
                                ready = true;
                                changed.notify_one();
                            }),
              0U);
    {
        std::unique_lock lock(mutex);
        EXPECT_TRUE(changed.wait_for(lock, 1h, [&] { return ready; }));
    }
    e->stop();
}

/// Concurrent posts, timers and a stop from several threads; for ThreadSanitizer.
TEST_P(ExecutorIn, ManyAtOnce) {
    auto posters = executor(4), e = executor(4, 100);
    std::atomic<int> taken{0}, ran{0}, timers{0};
    for (int p = 0; p < 4; ++p) {
        EXPECT_TRUE(posters->post([&] {
            for (int i = 0; i < 300; ++i) {
                if (e->post([&] { ++ran; })) ++taken;
                auto timer = e->post_after(std::chrono::microseconds(i % 7), [&] { ++timers; });
                if (i % 3 == 0 && e->cancel(timer)) ++timers;
            }
        }));
    }
    posters->stop();
    runtime().sleep(5ms);
    e->stop();
    EXPECT_EQ(ran, taken);
    EXPECT_EQ(timers, 1200);
}

// ---- Features of the simulation only

/// Runs a few workers that alternate, some with waits.
std::vector<std::string> story(std::uint64_t seed) {
    Simulation world(seed);
    auto e = world.executor({.threads = 4}), other = world.executor({.threads = 1});
    std::mutex mutex;
    Condition changed(world);
    int turns = 0;
    for (int i = 0; i < 6; ++i) {
        e->post([&, i] {
            world.note(fmt::format("{} begins", i));
            world.sleep(std::chrono::milliseconds(world.random(5)));
            std::unique_lock lock(mutex);
            ++turns;
            changed.notify_all();
            changed.wait(lock, [&] { return turns >= 3; });
            world.note(fmt::format("{} goes on", i));
            other->post([&, i] { world.note(fmt::format("{} ends", i)); });
        });
    }
    e->stop();
    other->stop();
    return world.events();
}

TEST(Simulation, SameSeedGivesTheSameEvents) {
    std::set<std::vector<std::string>> stories;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        auto first = story(seed);
        EXPECT_EQ(first.size(), 18U);
        EXPECT_EQ(first, story(seed)) << seed;
        stories.insert(first);
    }
    EXPECT_GT(stories.size(), 40U);
}

TEST(Simulation, TimeIsVirtual) {
    Simulation world(1);
    auto e = world.executor({});
    int ticks = 0;
    std::function<void()> tick = [&] {
        ++ticks;
        e->post_after(1min, [&] { tick(); });
    };
    e->post([&] { tick(); });
    std::int64_t begin = world.now_ns();
    world.run_for(24h);
    EXPECT_EQ(world.now_ns() - begin, 86'400'000'000'000);
    EXPECT_EQ(ticks, 24 * 60);
    EXPECT_TRUE(world.run_until([&] { return ticks >= 2000; }, 24h));
    EXPECT_FALSE(world.run_until([] { return false; }, 10s));
}

TEST(Simulation, ExceptionsStayOnTheirStacks) {
    Simulation world(3);
    auto e = world.executor({.threads = 8});
    int caught = 0;
    for (int i = 0; i < 8; ++i) {
        e->post([&, i] {
            try {
                throw i;
            } catch (int value) {
                // Other tasks throw and catch exceptions in the meantime.
                world.sleep(1ms);
                try {
                    throw std::runtime_error("inner");
                } catch (const std::exception&) {
                    world.sleep(1ms);
                }
                EXPECT_EQ(std::uncaught_exceptions(), 0);
                if (value == i) ++caught;
            }
        });
    }
    e->stop();
    EXPECT_EQ(caught, 8);
}

TEST(Simulation, ReportsDeadlock) {
    Simulation world(1);
    std::mutex mutex;
    std::unique_lock lock(mutex);
    Condition never(world);
    try {
        never.wait(lock, [] { return false; });
        FAIL();
    } catch (const std::logic_error& e) {
        EXPECT_STREQ(e.what(), "Deadlock: all tasks wait and no timer is set");
    }
}

TEST(Simulation, ThousandsWaitAtOnce) {
#ifdef __SANITIZE_THREAD__
    constexpr int kMany = 100;  // the simulation runs each as a thread
#else
    constexpr int kMany = 3000;
#endif
    Simulation world(5);
    auto e = world.executor({.threads = kMany});
    int woken = 0;
    for (int i = 0; i < kMany; ++i) {
        e->post([&, i] {
            world.sleep(std::chrono::seconds(1 + i % 10));
            ++woken;
        });
    }
    world.run_for(5s + 1ms);
    EXPECT_EQ(woken, kMany / 2);
    e->stop();
    EXPECT_EQ(woken, kMany);
}

}  // namespace
}  // namespace bunraku::sys
