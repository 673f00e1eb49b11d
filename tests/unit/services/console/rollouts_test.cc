// SPDX-License-Identifier: Apache-2.0
// The pages about rollouts, and what operators do there.
#include <fstream>
#include <tuple>

#include "fixture.h"
#include "net/http/body_stream.h"
#include "services/rollout/access.h"
#include "services/rollout/plan.h"
#include "store/db/writer.h"

namespace bunraku::console {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBefore = "aaaaaaaaaaaa-0000000000000001",
                           kAfter = "bbbbbbbbbbbb-0000000000000002";

class ConsoleRollouts : public ConsoleTest {
protected:
    void SetUp() override {
        ConsoleTest::SetUp();
        for (const char* node : {"a.test", "b.test", "c.test"}) report(node, {});
    }
    void add_roles() override {
        for (const auto version : {kBefore, kAfter}) {
            fs::create_directories(fmt::format("{}/envs/.bunraku/production/{}", folder_, version));
            std::ofstream(fmt::format("{}/envs/.bunraku/production/{}.json", folder_, version))
                << fmt::format(R"({{"commit":"{}","files":"f-{}"}})", version.substr(0, 12),
                               version.substr(0, 1));
        }
        fs::create_directory_symlink(fmt::format(".bunraku/production/{}", kBefore),
                                     folder_ + "/envs/production");
        settings_.set("environmentpath", folder_ + "/envs");
        auto role = server::make_rollout_role(*context_);
        ASSERT_TRUE(role) << role.error().message;
        rollouts_ = std::move(*role);
    }
    rollout::Controller& controller() { return *context_->rollouts->controller; }
    /// Starts a rollout that waits for the approval of wave 0, and returns its id.
    std::int64_t start_rollout(const std::string& rules = "approve: [0]\n") {
        std::ofstream(fmt::format("{}/envs/.bunraku/production/{}/rollout.yaml", folder_, kAfter))
            << rules;
        rollout::Plan plan;
        plan.environment = "production";
        plan.from = {.version = std::string(kBefore), .commit = "aaaaaaaaaaaa", .files = "f-a"};
        plan.to = {.version = std::string(kAfter), .commit = "bbbbbbbbbbbb", .files = "f-b"};
        plan.rules_text = rules;
        plan.groups = {{.kind = "changed",
                        .reference = "File[/<b>x]",
                        .parameter = "mode",
                        .because = {"data/common.yaml"}},
                       {.kind = "added", .reference = "File[/<b>y]"}};
        plan.nodes = {{.name = "a.test", .verdict = "changed", .groups = {0, 1}, .wave = 0},
                      {.name = "b.test", .verdict = "changed", .groups = {0}, .wave = 1},
                      {.name = "c.test", .verdict = "untouched", .groups = {}, .wave = 0}};
        plan.waves = {"canary", "100 %"};
        const auto started =
            controller().start(rollout::plan_text(plan), {.name = "ann", .reason = "<i>why</i>"});
        EXPECT_TRUE(started) << started.error().message;
        return started ? started->row.id : 0;
    }
    std::int64_t sequence(std::int64_t id) { return controller().status(id)->row.sequence; }
    std::string state(std::int64_t id) { return controller().status(id)->row.state; }
    http::Response act(const Headers& session, std::int64_t id, const std::string& action,
                       const std::string& fields) {
        return ask("POST", fmt::format("/console/rollouts/{}/{}", id, action), session,
                   fmt::format("csrf={}&{}", csrf(session), fields));
    }
    std::string audit() const {
        std::ifstream file(folder_ + "/console-audit.jsonl");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static bool has(const http::Response& page, std::string_view text) {
        return page.body.find(text) != std::string::npos;
    }
};

TEST_F(ConsoleRollouts, ShowsTheListAndOneRollout) {
    const auto viewer = sign_in_as("viewer");
    EXPECT_TRUE(has(get("/rollouts", viewer), "No rollout is under way"));
    const auto id = start_rollout();
    const auto list = get("/rollouts", viewer);
    EXPECT_EQ(list.status, 200);
    EXPECT_TRUE(has(list, fmt::format("href=\"/console/rollouts/{}\">Rollout {}</a>", id, id)));
    EXPECT_TRUE(has(list, "0 of 2 moved, 0 bad")) << list.body;
    EXPECT_TRUE(has(list, "waits for <bdi>an approval of wave 0</bdi>")) << list.body;
    const auto page = get(fmt::format("/rollouts/{}", id), viewer);
    EXPECT_EQ(page.status, 200);
    for (const char* text :
         {"0: <bdi>canary</bdi>", "1: <bdi>100 %</bdi>", "href=\"/console/nodes/a.test\"",
          "untouched", "File[/&lt;b&gt;x]", "data/common.yaml", "&lt;i&gt;why&lt;/i&gt;",
          "<bdi>ann</bdi>", "data-follow=\"rollouts\""})
        EXPECT_TRUE(has(page, text)) << text << "\n" << page.body;
    EXPECT_FALSE(has(page, "<i>why"));
    // A viewer cannot act, so there are no buttons.
    EXPECT_FALSE(has(page, "?confirm="));
    EXPECT_FALSE(
        has(get(fmt::format("/rollouts/{}?confirm=pause", id), viewer), "<form class=\"empty\""));
    const auto one = get(fmt::format("/rollouts/{}?wave=1", id), viewer);
    EXPECT_TRUE(has(one, "/console/nodes/b.test"));
    EXPECT_FALSE(has(one, "/console/nodes/a.test"));
    EXPECT_TRUE(has(get(fmt::format("/rollouts/{}?verdict=bad", id), viewer), "No node"));
    for (const auto& [verdict, word, number] :
         {std::tuple{"none", "no verdict", 2}, std::tuple{"untouched", "untouched", 1}})
        EXPECT_TRUE(has(page, fmt::format("?verdict={}\">{} <span class=\"m\">{}</span></a>",
                                          verdict, word, number)))
            << page.body;
    for (const char* path :
         {"/rollouts/999", "/rollouts/x", "/rollouts/-1", "/rollouts/99999999999999999999"})
        EXPECT_EQ(get(path, viewer).status, 404) << path;
}

TEST_F(ConsoleRollouts, OperatorsAct) {
    const auto id = start_rollout();
    const auto session = sign_in(token("bob", "operator"));
    const auto page = get(fmt::format("/rollouts/{}", id), session);
    for (const char* verb : {"Approve", "Pause", "Halt", "Halt and hold", "Go back", "Finish now"})
        EXPECT_TRUE(has(page, fmt::format(">{}</a>", verb))) << verb;
    EXPECT_FALSE(has(page, ">Resume</a>"));
    const auto confirm = get(fmt::format("/rollouts/{}?confirm=pause", id), session);
    EXPECT_TRUE(has(confirm, fmt::format("name=\"sequence\" value=\"{}\"", sequence(id))));
    // Another tab has acted meanwhile.
    const auto old = sequence(id);
    EXPECT_EQ(act(session, id, "pause", fmt::format("sequence={}&reason=lunch", old)).status, 303);
    EXPECT_EQ(state(id), "paused");
    const auto late = act(session, id, "halt", fmt::format("sequence={}", old));
    EXPECT_EQ(late.status, 409);
    EXPECT_TRUE(has(late, "The rollout has changed since")) << late.body;
    EXPECT_EQ(state(id), "paused");
    EXPECT_TRUE(has(get(fmt::format("/rollouts/{}?done=pause", id), session), "Done: paused."));
    EXPECT_TRUE(has(get(fmt::format("/rollouts/{}", id), session), "<bdi>lunch</bdi>"));
    const auto resumed = act(session, id, "resume", fmt::format("sequence={}", sequence(id)));
    EXPECT_EQ(resumed.status, 303);
    EXPECT_EQ(resumed.headers.get("Location"), fmt::format("/console/rollouts/{}?done=resume", id));
    EXPECT_EQ(act(session, id, "approve", fmt::format("sequence={}", sequence(id))).status, 303);
    EXPECT_EQ(state(id), "moving");
    // An approval cannot be given twice.
    EXPECT_EQ(act(session, id, "approve", fmt::format("sequence={}", sequence(id))).status, 409);
    EXPECT_EQ(act(session, id, "hold", fmt::format("sequence={}", sequence(id))).status, 303);
    EXPECT_EQ(state(id), "halted");
    EXPECT_EQ(act(session, id, "back", fmt::format("sequence={}", sequence(id))).status, 303);
    EXPECT_EQ(act(session, id, "resume", fmt::format("sequence={}", sequence(id))).status, 409);
    EXPECT_EQ(act(session, id, "none", "sequence=1").status, 404);
    EXPECT_EQ(act(session, id, "pause", "").status, 400);
    const auto text = audit();
    for (const char* action : {"pause", "resume", "approve", "hold", "back"}) {
        const auto line = fmt::format(
            R"x("action":"rollout.{}","target":"{} (production)","result":"done")x", action, id);
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
    EXPECT_NE(text.find(R"("result":"The rollout has changed since")"), std::string::npos);
}

TEST_F(ConsoleRollouts, ListsWhatAReturnDoesNotUndo) {
    constexpr std::string_view kTitle = "What a return does not undo";
    const auto id = start_rollout();
    const auto session = sign_in(token("bob", "operator"));
    const auto path = fmt::format("/rollouts/{}", id);
    ASSERT_EQ(act(session, id, "approve", fmt::format("sequence={}", sequence(id))).status, 303);
    EXPECT_TRUE(has(get(path, session), "data-part=\"rollout-leftovers\""));
    EXPECT_FALSE(has(get(path, session), kTitle));
    // The node has run with the new version.
    submit(store::CommandKind::ReplaceCatalog, 9, "a.test",
           fmt::format(R"({{"certname":"a.test","version":"1","environment":"production",)"
                       R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,"edges":[],)"
                       R"("producer_timestamp":"{}","producer":null,"job_id":null,"resources":[)"
                       R"({{"type":"File","title":"/<b>y","aliases":[],"exported":false,)"
                       R"("file":null,"line":null,"tags":[],"parameters":{{}}}}]}})",
                       sys::iso8601_utc(sys::machine().now_ms() * 1'000'000, 3)));
    report("a.test", {.status = "changed",
                      .events = event("success", "created"),
                      .title = "/<b>y",
                      .age_ms = 0});
    context_->store
        ->with_writer([&](store::Writer& writer) {
            return writer.db().execute("UPDATE rollouts SET started = 0");
        })
        .value();
    ASSERT_EQ(act(session, id, "hold", fmt::format("sequence={}", sequence(id))).status, 303);
    const auto page = get(path, session);
    for (const std::string& text :
         {std::string(kTitle), std::string("<bdi>File[/&lt;b&gt;y]</bdi>"),
          std::string("the new version created it"),
          std::string("<code><bdi>rm &#39;/&lt;b&gt;y&#39;</bdi></code>")})
        EXPECT_TRUE(has(page, text)) << text << "\n" << page.body;
    EXPECT_FALSE(has(page, "/<b>y"));
}

TEST_F(ConsoleRollouts, ActionsNeedRights) {
    const auto id = start_rollout();
    const auto fields = fmt::format("sequence={}", sequence(id));
    for (const char* action : {"approve", "pause", "resume", "halt", "hold", "back", "finish"}) {
        EXPECT_EQ(act(sign_in_as("viewer"), id, action, fields).status, 403) << action;
        // The form has no secret, or that of another session.
        const auto operators = sign_in_as("operator");
        EXPECT_EQ(ask("POST", fmt::format("/console/rollouts/{}/{}", id, action), operators, fields)
                      .status,
                  403);
        EXPECT_EQ(ask("POST", fmt::format("/console/rollouts/{}/{}", id, action), operators,
                      fmt::format("csrf={}&{}", csrf(sign_in_as("operator")), fields))
                      .status,
                  403);
        EXPECT_EQ(ask("POST", fmt::format("/console/rollouts/{}/{}", id, action)).status, 401);
        // An operator of another environment does not even learn that the rollout exists.
        EXPECT_EQ(act(sign_in_as("operator", {"staging"}), id, action, fields).status, 404);
    }
    EXPECT_EQ(fmt::format("sequence={}", sequence(id)), fields);
    const auto staging = sign_in_as("viewer", {"staging"});
    EXPECT_EQ(get(fmt::format("/rollouts/{}", id), staging).status, 404);
    EXPECT_FALSE(has(get("/rollouts", staging), fmt::format("Rollout {}", id)));
    EXPECT_EQ(get(fmt::format("/rollouts/{}", id), sign_in_as("viewer", {"production"})).status,
              200);
}

// Approvals by somebody else must not be possible with the same token through the console.
TEST_F(ConsoleRollouts, WhoStartedItMayNotApprove) {
    const auto id = start_rollout("approve: [0]\napprove_by: other\n");
    context_->store
        ->with_writer([&](store::Writer& writer) {
            return writer.db().execute("UPDATE rollouts SET starter = 'token bob'");
        })
        .value();
    const auto fields = fmt::format("sequence={}", sequence(id));
    const auto own = act(sign_in(token("bob", "operator")), id, "approve", fields);
    EXPECT_EQ(own.status, 403);
    EXPECT_TRUE(has(own, "Somebody else than who started the rollout must approve it"));
    EXPECT_EQ(act(sign_in(token("carol", "operator")), id, "approve", fields).status, 303);
}

TEST_F(ConsoleRollouts, ActionsWithoutAnAuditLineDoNotHappen) {
    const auto id = start_rollout();
    const auto session = sign_in_as("operator");
    fs::remove(folder_ + "/console-audit.jsonl");
    fs::create_directory(folder_ + "/console-audit.jsonl");
    const auto before = sequence(id);
    EXPECT_EQ(act(session, id, "pause", fmt::format("sequence={}", before)).status, 500);
    EXPECT_EQ(sequence(id), before);
}

TEST_F(ConsoleRollouts, PagesLearnOfChanges) {
    const auto id = start_rollout();
    const auto session = sign_in_as("operator");
    auto headers = session;
    headers.emplace_back("Accept", "text/event-stream");
    const auto answer = get("/events?follow=rollouts", headers);
    ASSERT_EQ(answer.status, 200);
    const auto stream = http::stream_of(answer);
    std::string received;
    const auto events = [&] {
        std::string piece;
        if (stream->waiting() > 0) (void)stream->take(piece, {});
        received += piece;
        std::size_t out = 0;
        for (auto at = received.find("event: rollouts"); at != std::string::npos;
             at = received.find("event: rollouts", at + 1))
            ++out;
        return out;
    };
    const auto wait_for = [&](std::size_t number) {
        for (int i = 0; i < 6000 && events() < number; ++i)
            sys::machine().sleep(std::chrono::milliseconds(10));
        EXPECT_GE(events(), number) << received;
    };
    wait_for(1);
    const auto before = events();
    EXPECT_EQ(act(session, id, "pause", fmt::format("sequence={}", sequence(id))).status, 303);
    wait_for(before + 1);
}

}  // namespace
}  // namespace bunraku::console
