// SPDX-License-Identifier: Apache-2.0
// Messages of failures, numbers and times, and the cells of the wall.
#include <gtest/gtest.h>

#include "services/console/format.h"
#include "services/console/message_parts.h"
#include "services/console/state.h"
#include "services/console/wall.h"

namespace bunraku::console {
namespace {

TEST(MessageParts, ReplaceWhatDiffersBetweenNodes) {
    struct Case {
        const char *message, *pattern;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"Version 1.26.3-1 is not available", "Version <version> is not available"},
             {"returned 2 instead of one of [0]", "returned <number> instead of one of [<number>]"},
             {"Could not connect to 192.0.2.17:443.", "Could not connect to <address>."},
             {"commit 4f2a91cd is missing", "commit <hash> is missing"},
             {"Cannot find 'web1' on host web1.example.org", "Cannot find '<text>' on host <node>"},
             {"can't write: it isn't there", "can't write: it isn't there"},
             {"needs sha256 and libssl3", "needs sha256 and libssl3"},
             {"\"a\" and \"b\"", "\"<text>\" and \"<text>\""},
             {"an empty '' stays", "an empty '' stays"},
             {"", ""},
         }) {
        EXPECT_EQ(pattern_of(split_message(c.message, "web1.example.org")), c.pattern);
    }
}

TEST(MessageParts, KeepEveryByte) {
    const std::string message = "x 'a b' 1.2.3, \xff web1 (web1.example.org)\n7";
    std::string joined;
    for (const auto& part : split_message(message, "web1.example.org")) joined += part.text;
    EXPECT_EQ(joined, message);
}

TEST(Format, Numbers) {
    EXPECT_EQ(number_text(0), "0");
    EXPECT_EQ(number_text(999), "999");
    EXPECT_EQ(number_text(1000), "1,000");
    EXPECT_EQ(number_text(1234567), "1,234,567");
    EXPECT_EQ(number_text(-1000), "-1,000");
    EXPECT_EQ(number_text(-100), "-100");
    EXPECT_EQ(count_text(1, "node", "nodes"), "1 node");
    EXPECT_EQ(count_text(12431, "node", "nodes"), "12,431 nodes");
    EXPECT_EQ(bytes_text(999), "999 B");
    EXPECT_EQ(bytes_text(4200), "4.2 KB");
    EXPECT_EQ(bytes_text(1'100'000'000), "1.1 GB");
}

TEST(Format, Times) {
    EXPECT_EQ(seconds_text(0.034), "0.03 s");
    EXPECT_EQ(seconds_text(14.94), "14.9 s");
    EXPECT_EQ(seconds_text(200), "3 min 20 s");
    EXPECT_EQ(seconds_text(7500), "2 h 5 min");
    EXPECT_EQ(latency_text(340), "0.3 ms");
    EXPECT_EQ(latency_text(9'960), "10 ms");
    EXPECT_EQ(latency_text(999'400), "999 ms");
    EXPECT_EQ(latency_text(999'600), "1.0 s");
    EXPECT_EQ(ago_text(1000, 21'000), "20 s ago");
    EXPECT_EQ(ago_text(0, 4 * 60'000), "4 min ago");
    EXPECT_EQ(ago_text(0, 50LL * 3600 * 1000), "2 days ago");
    EXPECT_EQ(ago_text(3 * 3600'000, 0), "in 3 h");
    EXPECT_EQ(span_text(1571LL * 86'400'000), "4.3 years");
    EXPECT_EQ(time_text(1795859292000), "28 Nov 2026 09:48:12 UTC");
    EXPECT_EQ(machine_time(1795859292000), "2026-11-28T09:48:12Z");
    EXPECT_EQ(hour_text(1795859292000), "09:48");
}

TEST(State, FollowsTheLastRun) {
    using store::RunStatus;
    store::RunRow run;
    EXPECT_EQ(state_of(run, 0), State::Never);
    run.id = 1;
    run.status = RunStatus::Unchanged;
    EXPECT_EQ(state_of(run, kSilentAfterMs - 1), State::Unchanged);
    EXPECT_EQ(state_of(run, kSilentAfterMs), State::Silent);
    run.noop_pending = true;
    EXPECT_EQ(state_of(run, 0), State::Noop);
    run.status = RunStatus::Changed;
    EXPECT_EQ(state_of(run, 0), State::Changed);
    run.corrective = true;
    EXPECT_EQ(state_of(run, 0), State::Corrected);
    run.status = RunStatus::Failed;
    EXPECT_EQ(state_of(run, kSilentAfterMs), State::Failed);
}

TEST(Wall, CoversRunsOfCells) {
    EXPECT_EQ(cells_path(0, 0), "");
    EXPECT_EQ(cells_path(2, 5), "M22 0H55V11H22z");
    EXPECT_EQ(cells_path(0, 36), "M0 0H396V11H0z");
    EXPECT_EQ(cells_path(35, 37), "M385 0H396V11H385zM0 11H11V22H0z");
    EXPECT_EQ(cells_path(5, 110), "M55 0H396V11H55zM0 11H396V33H0zM0 33H22V44H0z");
}

}  // namespace
}  // namespace bunraku::console
