// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bunraku::rollout {
namespace {

std::string error_of(std::string_view text) {
    const auto rules = read_rules(text);
    return rules ? "" : rules.error().message;
}

TEST(Rules, HaveDefaults) {
    const auto rules = read_rules("");
    ASSERT_TRUE(rules);
    EXPECT_EQ(rules->waves, (std::vector<double>{0.01, 0.1, 0.5, 1}));
    EXPECT_EQ(rules->soak_s, 1800);
    EXPECT_TRUE(rules->go_back);
    EXPECT_TRUE(rules->open_at(0));
}

TEST(Rules, ReadsAllKeys) {
    const auto rules = read_rules(R"(
waves: [2%, 50%]
canaries: [a.example.com]
canary_limit: 3
spread: [facts.datacenter]
exclude: ['db*']
windows: ['Mon-Fri 09:00-16:00', 'Sun 00:00-24:00']
soak: 10m
approve: [1, 2]
approve_by: other
proofs: 1
proved: 75%
thresholds: {canary: 2, later: 5%, least: 3}
silent_after: 2h
check:
  command: [/usr/bin/true, -x]
  prometheus: http://prometheus:9090
  query: errors
  min: -1
  max: 0.5
  timeout: 10s
back: ask
rollback: [file, package]
observe: true
try: agents
webhook: https://chat.example.com/hook
)");
    ASSERT_TRUE(rules) << rules.error().message;
    EXPECT_EQ(rules->waves, (std::vector<double>{0.02, 0.5, 1}));
    EXPECT_EQ(rules->canaries, std::vector<std::string>{"a.example.com"});
    EXPECT_EQ(rules->canary_limit, 3);
    EXPECT_EQ(rules->windows.size(), 2u);
    EXPECT_EQ(rules->windows[0], (Window{.days = 0b0111110, .begin = 540, .end = 960}));
    EXPECT_EQ(rules->soak_s, 600);
    EXPECT_TRUE(rules->needs_approval(2));
    EXPECT_FALSE(rules->needs_approval(0));
    EXPECT_TRUE(rules->approve_by_another);
    EXPECT_EQ(rules->proofs, 1);
    EXPECT_EQ(rules->proved, 0.75);
    EXPECT_EQ(rules->canary_failures, 2);
    EXPECT_EQ(rules->failures, 0.05);
    EXPECT_EQ(rules->least_failures, 3);
    EXPECT_EQ(rules->silent_after_s, 7200);
    EXPECT_EQ(rules->check.command, (std::vector<std::string>{"/usr/bin/true", "-x"}));
    EXPECT_EQ(rules->check.timeout_s, 10);
    EXPECT_EQ(rules->check.prometheus, "http://prometheus:9090");
    EXPECT_EQ(rules->check.query, "errors");
    EXPECT_EQ(rules->check.least, -1.0);
    EXPECT_EQ(rules->check.most, 0.5);
    EXPECT_FALSE(rules->go_back);
    EXPECT_EQ(rules->rollback, (std::vector<std::string>{"File", "Package"}));
    EXPECT_TRUE(rules->observe);
    EXPECT_TRUE(rules->agents_may_try);
    EXPECT_EQ(rules->webhook, "https://chat.example.com/hook");
}

TEST(Rules, RemovesOnlySafeTypesByDefault) {
    EXPECT_EQ(read_rules("rollback: remove")->rollback,
              (std::vector<std::string>{"File", "Service", "Cron"}));
    EXPECT_TRUE(read_rules("rollback: keep")->rollback.empty());
    EXPECT_TRUE(read_rules("")->rollback.empty());
}

TEST(Rules, NamesTheKeyOfAnError) {
    EXPECT_EQ(error_of("waves: all"),
              "rollout.yaml: waves: expected a list such as [1%, 10%, 100%], not 'all'");
    EXPECT_EQ(error_of("waves: [10]"),
              "rollout.yaml: waves: expected a percentage such as 10%, not 10");
    EXPECT_EQ(error_of("waves: [10%, 5%]"),
              "rollout.yaml: waves: each wave must be larger than the one before");
    EXPECT_EQ(error_of("thresholds: {canary: no}"),
              "rollout.yaml: thresholds: canary: expected a number, not false");
    EXPECT_EQ(error_of("windows: 'Mon 25:00-26:00'"),
              "rollout.yaml: windows: expected times such as 'Mon-Fri 09:00-16:00' (in UTC), not "
              "'Mon 25:00-26:00'");
    EXPECT_EQ(error_of("back: never"), "rollout.yaml: back: expected 'auto' or 'ask', not 'never'");
    for (const char* wrong : {"rollback: undo", "rollback: [exec]", "rollback: true"})
        EXPECT_EQ(error_of(wrong).find("rollout.yaml: rollback: expected 'keep', 'remove' or a list"
                                       " of file, service, cron, package and user, not "),
                  0u)
            << error_of(wrong);
    EXPECT_EQ(error_of("check: {shell: x}"),
              "rollout.yaml: check: unknown key 'shell'; the keys are command, prometheus, query, "
              "min, max, timeout");
    EXPECT_EQ(error_of("check: {prometheus: 'http://x'}"),
              "rollout.yaml: check: 'prometheus' and 'query' belong together");
    EXPECT_EQ(error_of("check: {prometheus: 'http://x', query: up}"),
              "rollout.yaml: check: the query needs 'min' or 'max'");
    EXPECT_EQ(error_of("check: {prometheus: x}"),
              "rollout.yaml: check: prometheus: expected an address such as "
              "http://prometheus:9090, not 'x'");
    EXPECT_EQ(error_of("soak: -1m").find("rollout.yaml: soak: expected a duration"), 0u);
    EXPECT_EQ(error_of("- a"), "rollout.yaml: expected a mapping, not a list");
    EXPECT_NE(error_of("{"), "");
}

TEST(Rules, OpensWindows) {
    const auto rules = *read_rules("windows: ['Fri-Mon 09:00-16:00']");
    constexpr std::int64_t kHour = 3600, kThursday = 0;  // 1970-01-01
    EXPECT_FALSE(rules.open_at(kThursday + 10 * kHour));
    EXPECT_FALSE(rules.open_at(kThursday + 24 * kHour + 9 * kHour - 1));
    EXPECT_TRUE(rules.open_at(kThursday + 24 * kHour + 9 * kHour));
    EXPECT_FALSE(rules.open_at(kThursday + 24 * kHour + 16 * kHour));
    EXPECT_TRUE(rules.open_at(kThursday + 4 * 24 * kHour + 10 * kHour));
    EXPECT_FALSE(rules.open_at(kThursday + 5 * 24 * kHour + 10 * kHour));
}

}  // namespace
}  // namespace bunraku::rollout
