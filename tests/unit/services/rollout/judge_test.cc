// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/judge.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace bunraku::rollout {
namespace {

constexpr std::int64_t kMinute = 60'000;

JudgedRun run(std::int64_t minute, std::vector<JudgedEvent> events = {}) {
    JudgedRun out;
    out.report = fmt::format("report {}", minute);
    out.transaction = fmt::format("t{}", minute);
    out.start = out.received = minute * kMinute;
    out.events = std::move(events);
    return out;
}

JudgedEvent change(std::string resource, std::string property = "content") {
    return {.resource = std::move(resource), .property = std::move(property)};
}

/// A node that moved in minute 100 and is expected to change File[/a].
JudgedNode node(std::vector<JudgedRun> runs) {
    JudgedNode out{.moved = 100 * kMinute, .transaction = "t100", .now = 150 * kMinute};
    out.expected = {"File[/a]"};
    out.runs = std::move(runs);
    return out;
}

std::string judged(const JudgedNode& node, const Rules& rules = {}) {
    const auto j = judge(node, rules);
    return fmt::format("{} {} {}", verdict_name(j.verdict), j.proofs, j.detail);
}

TEST(Judge, ProvesANodeByTwoGoodRuns) {
    EXPECT_EQ(judged(node({run(100, {change("File[/a]")})})), " 1 ");
    EXPECT_EQ(judged(node({run(100, {change("File[/a]")}), run(130)})), "proved 2 ");
}

TEST(Judge, FindsFailures) {
    auto bad = change("File[/a]");
    bad.failed = true;
    auto failed = run(100, {bad});
    failed.failed = true;
    EXPECT_EQ(judged(node({failed})), "failed 0 File[/a] failed");
    // A failure before the move is not a fault of the change.
    auto before = node({failed});
    before.failed_before = {"File[/a]"};
    EXPECT_EQ(judged(before), " 0 ");

    auto cached = run(130);
    cached.cached_on_failure = true;
    EXPECT_EQ(judged(node({run(100), cached})),
              "failed 1 The catalog could not be compiled; the agent used an older one");
    auto empty = run(100);
    empty.failed = true;
    EXPECT_EQ(judged(node({empty})), "failed 0 The run failed");
}

TEST(Judge, FindsUnpredictedChanges) {
    EXPECT_EQ(judged(node({run(100, {change("File[/b]")})})),
              "surprising 0 File[/b] content changed, which the plan does not predict");
    auto drift = change("File[/b]");
    drift.corrective = true;
    EXPECT_EQ(judged(node({run(100, {drift})})), " 1 ");
    auto habit = node({run(100, {change("File[/b]")})});
    habit.habitual = {"File[/b] content"};
    EXPECT_EQ(judged(habit), " 1 ");
    // A refresh follows from an expected change.
    EXPECT_EQ(judged(node({run(100, {change("File[/a]"), change("Service[x]", "")})})), " 1 ");
    auto plugins = node({run(100, {change("File[/b]")})});
    plugins.any_change = true;
    EXPECT_EQ(judged(plugins), " 1 ");
}

TEST(Judge, FindsUnplannedCatalogs) {
    auto unplanned = node({run(70)});
    unplanned.unplanned = "File[/b] was added in the catalog, which the plan does not predict";
    // No report is needed.
    EXPECT_EQ(judged(unplanned),
              "unplanned 0 File[/b] was added in the catalog, which the plan does not predict");
    auto bad = change("File[/a]");
    bad.failed = true;
    unplanned.runs = {run(100, {bad})};
    EXPECT_EQ(judged(unplanned), "failed 0 File[/a] failed");
    auto noted = node({run(100, {change("File[/a]")})});
    noted.note = "Facts have changed since the plan: os";
    EXPECT_EQ(judged(noted), " 1 Facts have changed since the plan: os");
}

TEST(Judge, FindsMissingChanges) {
    auto required = node({run(100)});
    required.required = {"File[/a] content"};
    EXPECT_EQ(judged(required),
              "surprising 0 The predicted change of File[/a] content did not come");
    // The report of the first run was lost, and the change came in that run.
    auto lost = node({run(130)});
    lost.required = {"File[/a] content"};
    EXPECT_EQ(judged(lost), " 1 ");
    // A run that skips resources proves nothing.
    required.runs[0].skipped = true;
    EXPECT_EQ(judged(required), " 0 ");
    required.runs[0].skipped = false;
    required.runs[0].noop = true;
    EXPECT_EQ(judged(required), " 0 ");
}

TEST(Judge, FindsNodesThatChangeAgain) {
    EXPECT_EQ(judged(node({run(100, {change("File[/a]")}), run(130, {change("File[/a]")})})),
              "restless 1 File[/a] content changed again");
    EXPECT_EQ(judged(node({run(100), run(130, {change("File[/b]")})})),
              "surprising 1 File[/b] content changed, which the plan does not predict");
}

TEST(Judge, FindsSilentNodes) {
    auto silent = node({run(70)});
    silent.now = 161 * kMinute;
    silent.watched = 61 * kMinute;
    EXPECT_EQ(judged(silent), "silent 0 No report came");
    silent.watched = 60 * kMinute;
    EXPECT_EQ(judged(silent), " 0 ");
    silent.watched = 61 * kMinute;
    silent.usual_gap = 240 * kMinute;
    EXPECT_EQ(judged(silent), " 0 ");
    // The server was down. The node has as much time after the start.
    silent.usual_gap = 0;
    silent.watched = 21 * kMinute;
    EXPECT_EQ(judged(silent), " 0 ");
    auto late = node({run(100)});
    late.now = 161 * kMinute;
    late.watched = 61 * kMinute;
    EXPECT_EQ(judged(late), "silent 1 No report came");
}

TEST(Judge, ToleratesStepsOfTheClock) {
    // A step forward of a day, which the controller records like an outage.
    auto silent = node({});
    silent.now = (110 + 24 * 60) * kMinute;
    silent.outages = {{110 * kMinute, silent.now}};
    silent.watched = 10 * kMinute;
    EXPECT_EQ(judged(silent), " 0 ");
    // After a step back, the move lies in the future.
    silent.outages.clear();
    silent.now = 50 * kMinute;
    EXPECT_EQ(judged(silent), " 0 ");
    silent.watched = 61 * kMinute;
    EXPECT_EQ(judged(silent), "silent 0 No report came");
}

TEST(Judge, KnowsRunsBeforeAStepOfAllClocks) {
    // The clocks of servers and agents were set back by three hours after two runs.
    std::vector<JudgedRun> runs = {run(200, {change("File[/a]")}), run(230), run(70)};
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].id = static_cast<std::int64_t>(i) + 1;
    auto moved = node(runs);
    moved.now = 101 * kMinute;
    EXPECT_EQ(judged(moved), " 0 ");
    auto first = run(100, {change("File[/a]")});
    first.id = 4;
    moved.runs.push_back(first);
    EXPECT_EQ(judged(moved), " 1 ");
    for (const JudgedRun& one : moved.runs) EXPECT_EQ(is_before_move(moved, one), one.id < 4);
    // Without the report of the first run, an earlier run does not count even if its time is right.
    auto lost = node({run(105, {change("File[/a]")}), run(230), run(70), run(118)});
    for (std::size_t i = 0; i < 4; ++i) lost.runs[i].id = static_cast<std::int64_t>(i) + 1;
    lost.now = 120 * kMinute;
    EXPECT_EQ(judged(lost), " 1 ");
    // The report of the first run arrives after that of the second one.
    auto second = run(130, {change("File[/a]")});
    second.id = 4;
    moved.runs.back().id = 5;
    moved.runs.back().received = 131 * kMinute;
    moved.runs.push_back(second);
    moved.now = 140 * kMinute;
    EXPECT_EQ(judged(moved), "restless 1 File[/a] content changed again");
}

TEST(Judge, KnowsALaterRunBySetBackClocks) {
    // The first run ended without a report. Then the clock of the servers was set back by 90
    // minutes. The first catalog since the move names the second run.
    auto bad = change("File[/a]");
    bad.failed = true;
    std::vector<JudgedRun> runs = {run(70), run(125, {bad}), run(155, {bad})};
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].id = static_cast<std::int64_t>(i) + 1;
    runs[1].received -= 90 * kMinute;
    runs[2].received -= 90 * kMinute;
    auto moved = node(runs);
    moved.transaction = "t125";
    moved.now = 70 * kMinute;
    EXPECT_EQ(judged(moved), "failed 0 File[/a] failed");
    for (const JudgedRun& one : moved.runs) EXPECT_EQ(is_before_move(moved, one), one.id == 1);
    // All clocks are set back after the known run. The next run changes nothing.
    auto known = run(170, {change("File[/a]")}), next = run(110);
    known.id = 1;
    next.id = 2;
    auto ordered = node({next, known});
    ordered.transaction = "t170";
    ordered.now = 170 * kMinute;
    EXPECT_EQ(judged(ordered), "proved 2 ");
}

TEST(Judge, ExpectsTheChangeOnlyOfTheRunThatMovedTheNode) {
    auto named = node({run(120)});
    named.transaction = "t120";
    named.required = {"File[/a] content"};
    EXPECT_EQ(judged(named), " 1 ");
    // That run took 20 minutes.
    named.runs[0].start = 100 * kMinute;
    named.runs[0].end = 120 * kMinute;
    EXPECT_EQ(judged(named), "surprising 0 The predicted change of File[/a] content did not come");
    // Its report came twice.
    named.runs.push_back(named.runs[0]);
    EXPECT_EQ(judged(named), "surprising 0 The predicted change of File[/a] content did not come");
}

TEST(Judge, FindsSilentNodesAcrossRestarts) {
    auto silent = node({});
    // The server starts again and again, and was away from minute 130 to 160.
    silent.outages = {{130 * kMinute, 150 * kMinute}, {140 * kMinute, 160 * kMinute}};
    silent.now = 250 * kMinute;
    EXPECT_EQ(judged(silent), " 0 ");
    silent.now = 251 * kMinute;
    EXPECT_EQ(judged(silent), "silent 0 No report came");
    // An outage before the move or later than now does not count.
    silent.outages = {{50 * kMinute, 90 * kMinute}, {300 * kMinute, 900 * kMinute}};
    silent.now = 220 * kMinute;
    EXPECT_EQ(judged(silent), " 0 ");
    silent.now = 221 * kMinute;
    EXPECT_EQ(judged(silent), "silent 0 No report came");
    // One that began before the move counts from the move on.
    silent.outages = {{50 * kMinute, 110 * kMinute}};
    EXPECT_EQ(judged(silent), " 0 ");
}

TEST(Judge, OrdersRunsIfTheClockOfTheAgentSteps) {
    // The clock was a day ahead in the first run, and is right since.
    auto first = run(100, {change("File[/a]")});
    first.start += 24 * 60 * kMinute;
    EXPECT_EQ(judged(node({first, run(130)})), "proved 2 ");
    EXPECT_EQ(judged(node({first, run(130, {change("File[/a]")})})),
              "restless 1 File[/a] content changed again");
    // It is a day ahead all the time. A late report of an earlier run does not count.
    auto second = run(130), late = run(90, {change("File[/b]")});
    late.received = 120 * kMinute;
    second.start += 24 * 60 * kMinute;
    late.start += 24 * 60 * kMinute;
    EXPECT_EQ(judged(node({late, first, second})), "proved 2 ");
    // It was set back by a day after the first run. Its reports prove nothing, but it is not
    // silent.
    auto back = run(200);
    back.start -= 24 * 60 * kMinute;
    auto stepped = node({run(100, {change("File[/a]")}), back});
    stepped.now = 250 * kMinute;
    EXPECT_EQ(judged(stepped), " 1 ");
    stepped.now = 261 * kMinute;
    stepped.watched = 61 * kMinute;
    EXPECT_EQ(judged(stepped), "silent 1 No report came");
}

TEST(Judge, IgnoresRunsInOtherEnvironments) {
    auto other = run(130, {change("File[/b]")});
    other.elsewhere = true;
    EXPECT_EQ(judged(node({run(100, {change("File[/a]")}), other})), " 1 ");
}

TEST(Judge, IgnoresRunsOfTheVersionBefore) {
    auto bad = run(90, {change("File[/b]")});
    bad.received = 120 * kMinute;  // late
    EXPECT_EQ(judged(node({bad, run(100), run(130)})), "proved 2 ");
    // Without the transaction of the first run, reports from before the move do not count.
    auto unknown = node({run(90, {change("File[/b]")}), run(101), run(130)});
    unknown.transaction = "";
    EXPECT_EQ(judged(unknown), "proved 2 ");
}

TEST(Judge, DoesNotDependOnOrderOrRepetition) {
    std::mt19937 chance(1);
    const auto pick = [&](int most) {
        return static_cast<int>(chance() % static_cast<unsigned>(most));
    };
    for (int round = 0; round < 2000; ++round) {
        JudgedNode one = node({});
        for (int i = 0, count = pick(6); i < count; ++i) {
            auto next = run(80 + 10 * pick(8));
            next.report += fmt::format(" {}", i);
            next.failed = pick(5) == 0;
            next.noop = pick(6) == 0;
            next.skipped = pick(6) == 0;
            for (int e = 0, events = pick(3); e < events; ++e) {
                auto event = change(pick(2) == 0 ? "File[/a]" : "File[/b]");
                event.failed = next.failed && pick(2) == 0;
                event.corrective = pick(3) == 0;
                next.events.push_back(event);
            }
            one.runs.push_back(next);
        }
        // Transactions are unique.
        std::ranges::sort(one.runs, {}, &JudgedRun::start);
        const auto same = std::ranges::unique(one.runs, {}, &JudgedRun::transaction);
        one.runs.erase(same.begin(), same.end());
        const Judgement expected = judge(one, {});
        for (int shuffle = 0; shuffle < 5; ++shuffle) {
            if (!one.runs.empty()) {
                auto again = one.runs[chance() % one.runs.size()];
                again.received += kMinute;
                // A repeated report has the same hash. The store keeps the first one.
                again.received -= kMinute;
                one.runs.push_back(again);
            }
            std::ranges::shuffle(one.runs, chance);
            ASSERT_EQ(judge(one, {}), expected) << round;
        }
    }
}

TEST(Thresholds, HaltAtTheFirstBadCanaryAndAtOnePercentLater) {
    const Rules rules;
    EXPECT_FALSE(too_many_bad({}, rules));
    EXPECT_TRUE(too_many_bad({.canaries_bad = 1}, rules));
    EXPECT_FALSE(too_many_bad({.later_bad = 1, .later_judged = 50}, rules));
    EXPECT_TRUE(too_many_bad({.later_bad = 2, .later_judged = 50}, rules));
    EXPECT_FALSE(too_many_bad({.later_bad = 9, .later_judged = 1000}, rules));
    EXPECT_TRUE(too_many_bad({.later_bad = 10, .later_judged = 1000}, rules));
    Rules observe;
    observe.observe = true;
    EXPECT_FALSE(too_many_bad({.canaries_bad = 5}, observe));
}

TEST(Thresholds, HaltASmallWaveIfMostNodesAreBad) {
    EXPECT_TRUE(most_are_bad(1, 1, {}));
    EXPECT_FALSE(most_are_bad(1, 2, {}));
    EXPECT_TRUE(most_are_bad(2, 3, {}));
    EXPECT_FALSE(most_are_bad(0, 0, {}));
    Rules observe;
    observe.observe = true;
    EXPECT_FALSE(most_are_bad(1, 1, observe));
}

TEST(Thresholds, DoNotBlameTheChangeIfTheFleetFails) {
    EXPECT_FALSE(fleet_fails(0, 100, 1, 10));
    EXPECT_FALSE(fleet_fails(2, 100, 1, 100));
    EXPECT_TRUE(fleet_fails(10, 100, 1, 10));
    EXPECT_TRUE(fleet_fails(5, 100, 1, 10));
    EXPECT_FALSE(fleet_fails(4, 100, 1, 10));
}

}  // namespace
}  // namespace bunraku::rollout
