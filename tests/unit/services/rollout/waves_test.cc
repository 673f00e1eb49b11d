// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/waves.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace bunraku::rollout {
namespace {

std::vector<Candidate> fleet(int count, int strata) {
    std::vector<Candidate> out;
    for (int i = 0; i < count; ++i)
        out.push_back({.name = fmt::format("node{}", i),
                       .kinds = {0},
                       .stratum = fmt::format("{}", i % strata)});
    return out;
}

TEST(Canaries, CoverAllKinds) {
    std::vector<Candidate> nodes = fleet(6, 1);
    nodes[2].kinds = {1, 2};
    nodes[4].kinds = {3};
    nodes[5].kinds = {1};
    Rules rules;
    rules.canary_limit = 10;
    const auto canaries = choose_canaries(nodes, rules, "seed");
    ASSERT_EQ(canaries.size(), 3u);
    EXPECT_TRUE(std::ranges::find(canaries, 2u) != canaries.end());
    EXPECT_TRUE(std::ranges::find(canaries, 4u) != canaries.end());
    EXPECT_TRUE(uncovered_kinds(nodes, canaries).empty());
    // The default limit is one node for small fleets; the best one is taken.
    EXPECT_EQ(choose_canaries(nodes, {}, "seed"), std::vector<std::size_t>{2});
    EXPECT_EQ(uncovered_kinds(nodes, {2}), (std::vector<std::uint32_t>{0, 3}));
}

TEST(Canaries, AreThoseOfTheRules) {
    Rules rules;
    rules.canaries = {"node3", "unknown"};
    EXPECT_EQ(choose_canaries(fleet(6, 1), rules, "seed"), std::vector<std::size_t>{3});
    EXPECT_TRUE(choose_canaries({}, rules, "seed").empty());
}

TEST(Canaries, AreNodesThatReport) {
    auto nodes = fleet(20, 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].late = i != 7;
    for (int seed = 0; seed < 10; ++seed)
        EXPECT_EQ(choose_canaries(nodes, {}, fmt::format("{}", seed)), std::vector<std::size_t>{7});
    // A late node may have a kind of change that no other node has, but a silent one waits.
    Rules rules;
    rules.canary_limit = 3;
    nodes[3].kinds = {1};
    nodes[5].kinds = {2};
    nodes[5].silent = true;
    EXPECT_EQ(choose_canaries(nodes, rules, "seed"), (std::vector<std::size_t>{3, 7}));
    for (auto& node : nodes) node.silent = true;
    EXPECT_EQ(choose_canaries(nodes, rules, "seed"), (std::vector<std::size_t>{3, 5, 7}));
}

TEST(Canaries, DependOnTheSeed) {
    std::set<std::size_t> chosen;
    for (int seed = 0; seed < 30; ++seed)
        chosen.insert(choose_canaries(fleet(20, 1), {}, fmt::format("{}", seed)).at(0));
    EXPECT_GT(chosen.size(), 5u);
}

TEST(Waves, HaveTheirShares) {
    const auto nodes = fleet(1001, 1);
    const auto waves = make_waves(nodes, {0}, {}, "seed");
    EXPECT_EQ(waves.names, (std::vector<std::string>{"canary", "1 %", "10 %", "50 %", "100 %"}));
    std::map<std::int64_t, int> sizes;
    for (const auto wave : waves.wave) ++sizes[wave];
    EXPECT_EQ(sizes, (std::map<std::int64_t, int>{{0, 1}, {1, 10}, {2, 90}, {3, 400}, {4, 500}}));
}

TEST(Waves, LeaveOutEmptyOnes) {
    const auto waves = make_waves(fleet(3, 1), {0}, {}, "seed");
    // 1 % of two nodes is the first of them; 10 % and 50 % add nothing.
    EXPECT_EQ(waves.names, (std::vector<std::string>{"canary", "1 %", "100 %"}));
    EXPECT_EQ(make_waves({}, {}, {}, "seed").names, std::vector<std::string>{"canary"});
}

TEST(Waves, SpreadEachValue) {
    for (int seed = 0; seed < 20; ++seed) {
        const auto nodes = fleet(400, 4);
        const auto waves = make_waves(nodes, {}, {}, fmt::format("{}", seed));
        std::map<std::pair<std::int64_t, std::string>, int> counts;
        for (std::size_t i = 0; i < nodes.size(); ++i) ++counts[{waves.wave[i], nodes[i].stratum}];
        for (const auto& [key, count] : counts) {
            // No wave has all nodes of a value, and each has nearly its share.
            constexpr int kShares[] = {0, 1, 9, 40, 50};
            EXPECT_NEAR(count, kShares[key.first], 1) << key.first;
        }
    }
}

TEST(Waves, DoNotDependOnTheOrder) {
    auto nodes = fleet(50, 3);
    const auto waves = make_waves(nodes, {}, {}, "seed");
    std::map<std::string, std::int64_t> expected, other;
    for (std::size_t i = 0; i < nodes.size(); ++i) expected[nodes[i].name] = waves.wave[i];
    std::ranges::reverse(nodes);
    const auto again = make_waves(nodes, {}, {}, "seed");
    for (std::size_t i = 0; i < nodes.size(); ++i) other[nodes[i].name] = again.wave[i];
    EXPECT_EQ(expected, other);
}

}  // namespace
}  // namespace bunraku::rollout
