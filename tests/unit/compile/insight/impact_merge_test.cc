// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/impact_merge.h"

#include <gtest/gtest.h>

#include "compile/insight/group_key.h"

namespace bunraku::insight {
namespace {

Group group(std::string reference, std::vector<std::uint32_t> nodes, std::string cause = {}) {
    Group out;
    out.change = {.kind = Kind::Changed,
                  .reference = std::move(reference),
                  .parameter = "mode",
                  .before = "\"0644\"",
                  .after = "\"0600\""};
    out.nodes = std::move(nodes);
    out.key = group_key(out.change, nullptr);
    if (!cause.empty()) out.because.push_back({.input = std::move(cause)});
    return out;
}

Impact part(std::vector<std::string> names, std::vector<Group> groups) {
    Impact out;
    out.from = "a";
    out.to = "b";
    for (auto& name : names)
        out.nodes.push_back(
            {.name = std::move(name), .verdict = Verdict::Changed, .why = {}, .groups = {}});
    out.groups = std::move(groups);
    out.compiled_before = 1;
    return out;
}

TEST(MergeImpact, JoinsGroupsWithTheSameKey) {
    Impact all;
    merge_impact(all, part({"n1", "n2"}, {group("File[/a]", {1}), group("File[/b]", {0}, "key")}));
    auto more = part({"n3", "n4"}, {group("File[/a]", {0, 1}, "later")});
    more.notes = {"note"};
    merge_impact(all, std::move(more));
    auto again = part({"n5"}, {});
    again.notes = {"note"};
    merge_impact(all, std::move(again));
    EXPECT_EQ(all.from, "a");
    EXPECT_EQ(all.compiled_before, 3U);
    EXPECT_EQ(all.notes, std::vector<std::string>{"note"});
    ASSERT_EQ(all.nodes.size(), 5U);
    ASSERT_EQ(all.groups.size(), 2U);
    // The group with most nodes comes first.
    EXPECT_EQ(all.groups[0].change.reference, "File[/a]");
    EXPECT_EQ(all.groups[0].nodes, (std::vector<std::uint32_t>{1, 2, 3}));
    EXPECT_EQ(all.groups[0].because.at(0).input, "later");
    EXPECT_EQ(all.groups[1].because.at(0).input, "key");
    EXPECT_EQ(all.nodes[0].groups, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(all.nodes[3].groups, (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(all.nodes[4].groups, (std::vector<std::uint32_t>{}));
}

TEST(MergeImpact, PrefersTextsThatSuitAllNodes) {
    auto literal = group("File[/srv/web1]", {0});
    auto general = group("File[/srv/%{facts.hostname}]", {0});
    literal.key = general.key;
    Impact all;
    merge_impact(all, part({"web1"}, {literal}));
    merge_impact(all, part({"web2"}, {general}));
    ASSERT_EQ(all.groups.size(), 1U);
    EXPECT_EQ(all.groups[0].change.reference, "File[/srv/%{facts.hostname}]");
    merge_impact(all, part({"web3"}, {literal}));
    EXPECT_EQ(all.groups[0].change.reference, "File[/srv/%{facts.hostname}]");
    EXPECT_EQ(all.groups[0].nodes.size(), 3U);
}

}  // namespace
}  // namespace bunraku::insight
