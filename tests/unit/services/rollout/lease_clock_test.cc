// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/lease_clock.h"

#include <gtest/gtest.h>

#include "services/rollout/version_table.h"

namespace bunraku::rollout {
namespace {

constexpr std::int64_t kMinute = 60'000;

/// A machine whose monotonic clock and wall clock are set by the test.
class TwoClocks final : public sys::Clock {
public:
    std::int64_t now_ns() override { return wall_ms * 1'000'000; }
    std::int64_t monotonic_ns() override { return monotonic_ms * 1'000'000; }
    void sleep_ns(std::int64_t) override {}
    /// Time passes by both clocks.
    void pass(std::int64_t ms) {
        wall_ms += ms;
        monotonic_ms += ms;
    }
    std::int64_t wall_ms = 1'800'000'000'000, monotonic_ms = kMinute;
};

TEST(LeaseClock, CountsTimeWithoutAChange) {
    TwoClocks clocks;
    LeaseClock lease(clocks);
    EXPECT_EQ(lease.unchanged("a", {1, 1}), 0);
    lease.observe("a", {1, 1});
    for (int minute = 0; minute < 20; ++minute) {
        clocks.pass(kMinute);
        lease.observe("a", {1, 1});
    }
    EXPECT_EQ(lease.unchanged("a", {1, 1}), 20 * kMinute);
    // A state that was not observed is new.
    EXPECT_EQ(lease.unchanged("a", {1, 2}), 0);
    EXPECT_EQ(lease.unchanged("b", {1, 1}), 0);
    lease.observe("a", {1, 2});
    EXPECT_EQ(lease.unchanged("a", {1, 1}), 0);
    clocks.pass(kMinute);
    EXPECT_EQ(lease.unchanged("a", {1, 2}), kMinute);
    lease.restart();
    EXPECT_EQ(lease.unchanged("a", {1, 2}), 0);
}

TEST(LeaseClock, IgnoresStepsOfTheWallClock) {
    TwoClocks clocks;
    LeaseClock lease(clocks);
    lease.observe("a", {1, 1});
    clocks.wall_ms += 120 * kMinute;
    EXPECT_EQ(lease.unchanged("a", {1, 1}), 0);
    clocks.wall_ms -= 600 * kMinute;
    clocks.pass(kMinute);
    EXPECT_EQ(lease.unchanged("a", {1, 1}), kMinute);
}

TEST(LeaseClock, CountsLittleOfATimeWithoutObservations) {
    TwoClocks clocks;
    LeaseClock lease(clocks);
    lease.observe("a", {1, 1});
    // The process hung. Its first reading may be older than what it missed.
    clocks.pass(120 * kMinute);
    EXPECT_EQ(lease.unchanged("a", {1, 1}), 5 * kMinute);
    lease.observe("a", {1, 1});
    clocks.pass(kMinute);
    EXPECT_EQ(lease.unchanged("a", {1, 1}), 6 * kMinute);
}

TEST(LeaseClock, EndsTheLeaseOfAServerThatIsNotSeen) {
    TwoClocks clocks;
    LeaseClock lease(clocks);
    const store::RolloutServer server{.server = "server2", .epoch = 1, .seen = clocks.wall_ms};
    const VersionTable table{.epoch = 2, .servers = {server}};
    const auto knows = [&](Lease which) { return table.knows(server, lease, which); };
    // The clock of the database steps by a day, which this process sees first.
    observe_servers(lease, table.servers);
    clocks.wall_ms += 24 * 60 * kMinute;
    EXPECT_FALSE(knows(Lease::Back));
    const auto pass = [&](int minutes) {
        for (int i = 0; i < minutes; ++i) {
            clocks.pass(kMinute);
            observe_servers(lease, table.servers);
        }
    };
    pass(10);
    EXPECT_FALSE(knows(Lease::Back));
    pass(1);
    EXPECT_TRUE(knows(Lease::Back));
    EXPECT_FALSE(knows(Lease::Forward));
    // It steps back, and the server is still not seen.
    clocks.wall_ms -= 48 * 60 * kMinute;
    pass(50);
    EXPECT_TRUE(knows(Lease::Forward));
    // Another process has read a newer row.
    const store::RolloutServer newer{.server = "server2", .epoch = 1, .seen = clocks.wall_ms};
    EXPECT_FALSE(table.knows(newer, lease, Lease::Back));
}

TEST(StepDetector, FindsSteps) {
    TwoClocks clocks;
    StepDetector steps(clocks);
    EXPECT_EQ(steps.observe(clocks.wall_ms), 0);
    clocks.pass(100 * kMinute);
    EXPECT_EQ(steps.observe(clocks.wall_ms), 0);
    EXPECT_FALSE(steps.stepped_within(std::chrono::hours(24)));
    clocks.pass(kMinute);
    EXPECT_EQ(steps.observe(clocks.wall_ms + 59'999), 0);
    clocks.pass(kMinute);
    EXPECT_EQ(steps.observe(clocks.wall_ms + 59'999 + kMinute), kMinute);
    EXPECT_TRUE(steps.stepped_within(std::chrono::hours(24)));
    clocks.pass(24 * 60 * kMinute);
    EXPECT_FALSE(steps.stepped_within(std::chrono::hours(24)));
    clocks.pass(kMinute);
    steps.observe(clocks.wall_ms);
    clocks.pass(kMinute);
    EXPECT_EQ(steps.observe(clocks.wall_ms - 60 * kMinute), -60 * kMinute);
    EXPECT_TRUE(steps.stepped_within(std::chrono::hours(24)));
}

}  // namespace
}  // namespace bunraku::rollout
