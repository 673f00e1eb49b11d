// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bunraku::rollout {
namespace {

Plan example() {
    Plan out;
    out.program = "1.0";
    out.environment = "production";
    out.from = {.version = "v1", .commit = "c1", .files = "d1"};
    out.to = {.version = "v2", .commit = "c2", .files = "d2"};
    out.rules_text = "soak: 1m\n";
    out.groups = {{.kind = "changed",
                   .reference = "File[/etc/%{facts.networking.hostname}.conf]",
                   .parameter = "content",
                   .file = "site.pp",
                   .before = "\"a\"",
                   .after = "\"b\"",
                   .because = {"data/common.yaml#x"}},
                  {.kind = "added", .reference = "File[/etc/it's]"}};
    out.nodes = {{.name = "a",
                  .verdict = "changed",
                  .groups = {0, 1},
                  .wave = 1,
                  .identity = {{"%{facts.networking.hostname}", "a"}}},
                 {.name = "b", .verdict = "untouched"}};
    out.waves = {"canary", "100 %"};
    out.excluded = {{"c", "rollout.yaml excludes it"}};
    out.uncovered = {"changed File"};
    out.notes = {"a note"};
    return out;
}

std::string error_of(const std::string& text) {
    const auto plan = read_plan(text);
    return plan ? "" : plan.error().message;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Plan, IsReadAsItWasWritten) {
    const std::string text = plan_text(example());
    const auto plan = read_plan(text);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan_text(*plan), text);
    EXPECT_EQ(plan->rules.soak_s, 60);
    EXPECT_TRUE(plan->nodes[0].touched());
    EXPECT_FALSE(plan->nodes[1].touched());
}

TEST(Plan, NamesTheMemberOfAnError) {
    const std::string text = plan_text(example());
    EXPECT_EQ(error_of(replaced(text, "\"wave\":1", "\"wave\":7")),
              "The plan is not valid: nodes[0].wave: there is no such wave");
    EXPECT_EQ(error_of(replaced(text, "\"groups\":[0,1]", "\"groups\":[0,2]")),
              "The plan is not valid: nodes[0].groups[1]: there is no such group");
    EXPECT_EQ(error_of(replaced(text, "\"version\":\"v2\"", "\"version\":2")),
              "The plan is not valid: to.version: expected a text");
    EXPECT_EQ(error_of(replaced(text, "\"plan_version\":1", "\"plan_version\":9")),
              "The plan has another format (plan_version is not 1)");
    EXPECT_EQ(error_of(replaced(text, "\"name\":\"b\"", "\"name\":\"a\"")),
              "The plan is not valid: nodes[1]: not sorted by name");
    EXPECT_EQ(error_of(replaced(text, "soak: 1m", "soak: x")),
              "rollout.yaml: soak: expected a duration such as 30m, not 'x'");
    EXPECT_EQ(error_of("[]"), "The plan is not valid: expected an object");
    EXPECT_EQ(error_of("{").find("The plan is not JSON: "), 0u);
}

TEST(Plan, ReplacesThePlaceholdersOfANode) {
    const Plan plan = example();
    EXPECT_EQ(with_identity(plan.groups[0].reference, plan.nodes[0]), "File[/etc/a.conf]");
    EXPECT_EQ(with_identity("%{other} %{", plan.nodes[0]), "%{other} %{");
}

}  // namespace
}  // namespace bunraku::rollout
