// SPDX-License-Identifier: Apache-2.0
// Tests the rows of rollouts on both backends.
#include "store/engine/rollouts.h"

#include <fmt/format.h>

#include "backends.h"
#include "store/engine/node_versions.h"

namespace bunraku::store {
namespace {

RolloutRow new_row(std::string_view environment) {
    RolloutRow row;
    row.environment = environment;
    row.from = "v1";
    row.to = "v2";
    row.plan = "digest";
    row.state = "waiting";
    row.started = row.since = 1000;
    row.starter = "ann";
    return row;
}

class Rollouts : public OnWriter {
protected:
    std::int64_t start(std::string_view environment = "production") {
        auto id = insert_rollout(*writer_, new_row(environment), "{}",
                                 {{.certname = "b", .wave = 1, .judged = true},
                                  {.certname = "a", .wave = 1},
                                  {.certname = "c", .judged = true}},
                                 {.time = 1000, .actor = "ann", .what = "start", .detail = "{}"});
        EXPECT_TRUE(id) << id.error().message;
        return id.value_or(0);
    }
    RolloutRow row(std::int64_t id) { return find_rollout(writer_->db(), id)->value(); }
};

TEST_P(Rollouts, StoresARolloutWithItsPlanAndMembers) {
    const auto id = start();
    EXPECT_EQ(row(id).state, "waiting");
    EXPECT_EQ(row(id).sequence, 1);
    EXPECT_EQ(row(id).epoch, 1);
    EXPECT_TRUE(row(id).live);
    EXPECT_EQ(*rollout_plan(writer_->db(), "digest"), "{}");
    EXPECT_EQ(*rollout_plan(writer_->db(), "other"), std::nullopt);
    std::string members;
    const auto stored = *rollout_members(writer_->db(), id);
    for (const auto& m : stored) members += m.certname;
    EXPECT_EQ(members, "cab");
    EXPECT_EQ(rollout_events(writer_->db(), id)->size(), 1u);
    EXPECT_EQ(*find_rollout(writer_->db(), id + 1), std::nullopt);
}

TEST_P(Rollouts, RefusesASecondLiveRolloutOfAnEnvironment) {
    const auto id = start();
    const auto second = insert_rollout(*writer_, new_row("production"), "{}", {}, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, kLiveRollout);
    EXPECT_EQ(second.error().message,
              "The environment 'production' has a rollout that is not finished");
    EXPECT_EQ(*rollout_epoch(writer_->db()), 1);  // the failed transaction changed nothing
    start("test");
    RolloutRow closed = row(id);
    closed.live = false;
    closed.state = "done";
    ASSERT_TRUE(*change_rollout(*writer_, closed, Targets::Changed, {.what = "done"}));
    start();
    EXPECT_EQ(list_rollouts(writer_->db(), "production", Which::Live)->size(), 1u);
    EXPECT_EQ(list_rollouts(writer_->db(), "production", Which::All)->size(), 2u);
    const auto newest = list_rollouts(writer_->db(), "production", Which::All, 1);
    ASSERT_EQ(newest->size(), 1u);
    EXPECT_EQ(newest->at(0).state, "waiting");
    EXPECT_EQ(list_rollouts(writer_->db(), "", Which::Live)->size(), 2u);
}

TEST_P(Rollouts, TakesATransitionOnce) {
    const auto id = start();
    RolloutRow next = row(id);
    next.state = "moving";
    next.moved = 1;
    const auto first = change_rollout(*writer_, next, Targets::Changed, {.what = "moving"});
    ASSERT_TRUE(first && *first);
    EXPECT_EQ((*first)->sequence, 2);
    EXPECT_EQ((*first)->epoch, 2);
    // The same row again: its sequence number is old.
    const auto second = change_rollout(*writer_, next, Targets::Changed, {.what = "moving"});
    ASSERT_TRUE(second);
    EXPECT_FALSE(*second);
    EXPECT_EQ(row(id).sequence, 2);
    EXPECT_EQ(*rollout_epoch(writer_->db()), 2);
    EXPECT_EQ(rollout_events(writer_->db(), id)->size(), 2u);
}

TEST_P(Rollouts, NumbersEventsAndRemembersWhichWereSent) {
    const auto id = start();
    ASSERT_TRUE(add_rollout_event(*writer_, {.rollout = id, .what = "note", .detail = "{}"}));
    const auto unsent = unsent_events(writer_->db());
    ASSERT_EQ(unsent->size(), 2u);
    EXPECT_EQ((*unsent)[1].number, 2);
    ASSERT_TRUE(mark_sent(*writer_, (*unsent)[0]));
    EXPECT_EQ(unsent_events(writer_->db())->size(), 1u);
    EXPECT_EQ(rollout_events(writer_->db(), id, 1)->at(0).what, "note");
}

TEST_P(Rollouts, RecordsMembersThatHaveNotMoved) {
    const auto id = start();
    const NodeVersion moved{.certname = "a",
                            .environment = "production",
                            .version = "v2",
                            .previous = "v1",
                            .since = 5};
    ASSERT_TRUE(move_node(*writer_, moved, ""));
    RolloutRow closed = row(id);
    closed.live = false;
    closed.state = "done";
    closed.since = 2000;
    ASSERT_TRUE(*change_rollout(*writer_, closed, Targets::Finished, {.what = "switched"}));
    EXPECT_EQ(*rollout_epoch(writer_->db()), 2);
    const auto text = [&] {
        std::string out;
        const auto rows = *node_versions(writer_->db(), "production");
        for (const auto& node : rows)
            out += fmt::format("{} {} {};", node.certname, node.version, node.since);
        return out;
    };
    EXPECT_EQ(text(), "a v2 5;b v1 2000;c v1 2000;");
    ASSERT_TRUE(forget_nodes(*writer_, "production", "v2", 2001));
    EXPECT_EQ(text(), "b v1 2000;c v1 2000;");
    ASSERT_TRUE(forget_unmoved(*writer_, "production", 2000));
    EXPECT_EQ(text(), "b v1 2000;c v1 2000;");
    ASSERT_TRUE(forget_unmoved(*writer_, "production", 2001));
    EXPECT_EQ(text(), "");
}

TEST_P(Rollouts, StoresVerdicts) {
    const auto id = start();
    ASSERT_TRUE(set_verdicts(*writer_, id,
                             {{.certname = "b", .verdict = "failed", .detail = "x", .proofs = 1}}));
    const auto members = *rollout_members(writer_->db(), id);
    EXPECT_EQ(members[2].verdict, "failed");
    EXPECT_EQ(members[2].proofs, 1);
    EXPECT_EQ(members[1].verdict, "");
}

TEST_P(Rollouts, MovesANodeOnce) {
    NodeVersion to{.certname = "a",
                   .environment = "production",
                   .version = "v2",
                   .previous = "v1",
                   .since = 5,
                   .transaction = "t1",
                   .epoch = 2};
    EXPECT_EQ(move_node(*writer_, to, "")->version, "v2");
    // Another server with an older target does not win.
    to.version = "v1";
    to.transaction = "t2";
    EXPECT_EQ(move_node(*writer_, to, "")->transaction, "t1");
    EXPECT_EQ(move_node(*writer_, to, "v3")->version, "v2");
    EXPECT_EQ(move_node(*writer_, to, "v2")->version, "v1");
    to.epoch = 3;
    const auto idle = *set_idle(*writer_, to);
    ASSERT_TRUE(idle);
    EXPECT_TRUE(idle->idle);
    EXPECT_EQ(idle->epoch, 3);
    // The report of a run with another version changes nothing.
    to.version = "v2";
    to.epoch = 4;
    EXPECT_EQ((*set_idle(*writer_, to))->epoch, 3);
    EXPECT_EQ(*node_version(writer_->db(), "test", "a"), std::nullopt);
    ASSERT_TRUE(forget_nodes(*writer_, "production", "v1", 5));
    EXPECT_EQ(node_versions(writer_->db(), "")->size(), 1u);
    ASSERT_TRUE(forget_nodes(*writer_, "production", "v1", 6));
    EXPECT_EQ(node_versions(writer_->db(), "production")->size(), 0u);
}

TEST_P(Rollouts, RaisesTheEpochIfATryChangesATarget) {
    const auto epochs = [&] {
        const auto now = *rollout_epochs(writer_->db());
        return std::pair(now.present, now.joined);
    };
    using Epochs = std::pair<std::int64_t, std::int64_t>;
    EXPECT_EQ(epochs(), Epochs(0, 0));
    ASSERT_TRUE(set_try(*writer_, {"a", "production", "v2", 10, "ann"}));
    EXPECT_EQ(epochs(), Epochs(1, 1));
    // The same version for another time.
    ASSERT_TRUE(set_try(*writer_, {"a", "production", "v2", 15, "ann"}));
    EXPECT_EQ(epochs(), Epochs(1, 1));
    ASSERT_TRUE(set_try(*writer_, {"a", "production", "v3", 20, "bob"}));
    ASSERT_TRUE(set_try(*writer_, {"a", "testing", "v3", 30, "bob"}));
    EXPECT_EQ(epochs(), Epochs(3, 3));
    const auto tries = *node_tries(writer_->db());
    ASSERT_EQ(tries.size(), 2u);
    EXPECT_EQ(tries[0].version, "v3");
    EXPECT_EQ(tries[0].ends, 20);
    EXPECT_EQ(end_tries(*writer_, 19)->size(), 0u);
    EXPECT_EQ(epochs(), Epochs(3, 3));
    const auto ended = *end_tries(*writer_, 20);
    ASSERT_EQ(ended.size(), 1u);
    EXPECT_EQ(ended[0].environment, "production");
    EXPECT_EQ(epochs(), Epochs(4, 3));
    EXPECT_TRUE(*remove_try(*writer_, "testing", "a"));
    EXPECT_FALSE(*remove_try(*writer_, "testing", "a"));
    EXPECT_EQ(epochs(), Epochs(5, 3));
    EXPECT_EQ(node_tries(writer_->db())->size(), 0u);
}

TEST_P(Rollouts, RaisesTheEpochIfAServerJoinsOthers) {
    const auto joined = [&] { return rollout_epochs(writer_->db())->joined; };
    ASSERT_TRUE(acknowledge_epoch(*writer_, {"s1", 0, 100, "{}"}));
    EXPECT_EQ(joined(), 0);
    ASSERT_TRUE(acknowledge_epoch(*writer_, {"s2", 0, 100, "{}"}));
    EXPECT_EQ(joined(), 1);
    ASSERT_TRUE(acknowledge_epoch(*writer_, {"s2", 1, 200, "{}"}));
    EXPECT_EQ(joined(), 1);
    EXPECT_TRUE(*forget_server(*writer_, "s2"));
    ASSERT_TRUE(acknowledge_epoch(*writer_, {"s2", 1, 300, "{}"}));
    EXPECT_EQ(joined(), 2);
}

TEST_P(Rollouts, StoresServers) {
    ASSERT_TRUE(acknowledge_epoch(*writer_, {"s1", 3, 100, "{}"}));
    EXPECT_TRUE(*forget_server(*writer_, "s1"));
    EXPECT_FALSE(*forget_server(*writer_, "s2"));
    EXPECT_TRUE(rollout_servers(writer_->db())->at(0).forgotten);
    ASSERT_TRUE(acknowledge_epoch(*writer_, {"s1", 4, 200, "{}"}));
    EXPECT_FALSE(rollout_servers(writer_->db())->at(0).forgotten);
    EXPECT_EQ(rollout_servers(writer_->db())->at(0).epoch, 4);
}

BUNRAKU_ON_BACKENDS(Rollouts);

}  // namespace
}  // namespace bunraku::store
