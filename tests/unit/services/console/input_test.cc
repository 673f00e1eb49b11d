// SPDX-License-Identifier: Apache-2.0
// Unusual data and unusual times: no facts, large facts, strange names, an expired session, and a
// database that fails and comes back.
#include "fixture.h"
#include "services/console/errors.h"
#include "store/db/database.h"
#include "store/db/writer.h"

namespace bunraku::console {
namespace {

class ConsoleInput : public ConsoleTest {
protected:
    static bool has(const http::Response& page, std::string_view text) {
        return page.body.find(text) != std::string::npos;
    }
    static std::vector<std::string> pages_of_node(const std::string& name) {
        const auto node = "/nodes/" + http::percent_encode(name);
        return {node,
                node + "/runs",
                node + "/facts",
                node + "/catalog",
                node + "/catalogs",
                node + "/exports",
                node + "/packages"};
    }
    void expect_pages(const std::string& name, const Headers& session) {
        for (const auto& path : pages_of_node(name))
            EXPECT_EQ(get(path, session).status, 200) << path;
    }
};

TEST_F(ConsoleInput, NodesWithoutFactsOrRuns) {
    report("bare.test", {});
    facts("never.test", R"({"role":"web"})");
    const auto session = sign_in_as("viewer");
    expect_pages("bare.test", session);
    expect_pages("never.test", session);
    EXPECT_TRUE(has(get("/nodes/bare.test", session), "This node has sent no facts"));
    EXPECT_TRUE(has(get("/nodes/never.test", session), "This node has sent no report"));
    EXPECT_TRUE(has(get("/nodes/bare.test/catalog", session), "The store has no catalog"));
    EXPECT_EQ(get("/nodes/bare.test/difference?from=x&to=y", session).status, 404);
    EXPECT_TRUE(has(get("/?by=no-such-fact", session), ">2 nodes</a>"));
}

TEST_F(ConsoleInput, ReportsOfFailedCompiles) {
    report("web.test",
           {.status = "failed",
            .logs = R"([{"level":"err","message":"Could not retrieve catalog from remote server: )"
                    R"(Error 500 on SERVER","source":"Puppet","tags":[],"time":)"
                    R"("2026-01-01T00:00:00Z","file":null,"line":null}])"});
    const auto session = sign_in_as("viewer");
    expect_pages("web.test", session);
    const auto node = get("/nodes/web.test", session);
    EXPECT_TRUE(has(node, "The run ended before the catalog was applied"));
    EXPECT_TRUE(has(node, "Error 500 on SERVER")) << node.body;
    EXPECT_TRUE(has(get("/failures", session), "Could not retrieve catalog"));
}

TEST_F(ConsoleInput, AFactOfOneMegabyte) {
    facts("big.test", fmt::format(R"({{"big":"{}","role":"web"}})", std::string(1 << 20, 'x')));
    const auto session = sign_in_as("viewer");
    expect_pages("big.test", session);
    for (const char* path : {"/nodes/big.test/facts", "/nodes/big.test", "/nodes?columns=big",
                             "/?by=big", "/nodes/big.test/facts?find=xxx"}) {
        const auto page = get(path, session);
        EXPECT_EQ(page.status, 200) << path;
        EXPECT_LT(page.body.size(), 60'000u) << path;
    }
}

TEST_F(ConsoleInput, NamesWithUnusualCharacters) {
    std::string printable;
    for (char c = '!'; c <= '~'; ++c) printable += c;
    const std::string arabic = "\u0645\u0635\u0631.\u202etest";
    const std::string umlaut = "m\u00fcnchen-\u6771\u4eac.test";
    const auto json = [](const std::string& text) {
        std::string out;
        for (const char c : text) out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
        return out;
    };
    const auto session = sign_in_as("viewer");
    for (const auto& name : {printable, arabic, umlaut}) {
        submit(store::CommandKind::ReplaceFacts, 5, name,
               fmt::format(R"({{"certname":"{}","environment":"production","producer":null,)"
                           R"("producer_timestamp":"{}","values":{{"role":"web"}}}})",
                           json(name), sys::iso8601_utc(sys::machine().now_ms() * 1'000'000, 3)));
    }
    for (const auto& name : {printable, arabic, umlaut}) {
        expect_pages(name, session);
        const auto page = get("/nodes/" + http::percent_encode(name), session);
        // The text does not change the direction of what surrounds it.
        EXPECT_TRUE(has(page, "<h1><bdi>")) << name;
        EXPECT_EQ(get("/search?q=" + http::percent_encode(name), session).headers.get("Location"),
                  "/console/nodes/" + http::percent_encode(name));
    }
    const auto list = get("/nodes", session);
    EXPECT_TRUE(has(list, "3 nodes"));
}

// Columns, order and filter of a list stay when one of them changes.
TEST_F(ConsoleInput, ListsKeepTheirAddress) {
    facts("a.test", R"({"role":"web","kernel":"Linux"})");
    const auto session = sign_in_as("viewer");
    const auto page = get("/nodes?columns=kernel&order=-name&fact=role&value=web", session);
    EXPECT_TRUE(has(page, "href=\"/console/nodes?fact=role&amp;value=web&amp;columns=kernel\">"))
        << page.body;
    EXPECT_TRUE(has(page, "name=\"order\" value=\"-name\""));
    const auto missing = get("/nodes?fact=none&missing=true", session);
    EXPECT_TRUE(has(missing, "name=\"missing\" value=\"true\"")) << missing.body;
    EXPECT_TRUE(has(get("/nodes?columns=,", session), "1 node"));
}

TEST_F(ConsoleInput, AnExpiredSessionAsksToSignInAndReturns) {
    report("a.test", {});
    const auto session = sign_in(token("alice", "viewer"));
    EXPECT_EQ(get("/nodes?state=failed", session).status, 200);
    ASSERT_TRUE(tokens_->revoke("alice").value());
    const auto page = get("/nodes?state=failed", session);
    EXPECT_EQ(page.status, 303);
    EXPECT_EQ(page.headers.get("Location"),
              "/console/sign-in?to=%2Fconsole%2Fnodes%3Fstate%3Dfailed");
    // A restart of the server ends sessions too. The address stays.
    const auto other = sign_in_as("viewer");
    stop();
    start();
    EXPECT_EQ(get("/nodes", other).status, 303);
    // A form that is sent then does nothing, and the sign-in leads back to its page.
    auto headers = other;
    headers.emplace_back("Referer", "http://console.test/console/change?from=a");
    auto form = ask("POST", "/console/change", headers);
    EXPECT_EQ(form.status, 401);
    EXPECT_TRUE(has(form, "nothing was done")) << form.body;
    EXPECT_TRUE(has(form, "value=\"/console/change?from=a\"")) << form.body;
    headers.back().second = "http://elsewhere.test//evil.test/";
    form = ask("POST", "/console/change", headers);
    EXPECT_TRUE(has(form, "name=\"to\" value=\"/console/\"")) << form.body;
}

TEST_F(ConsoleInput, ADatabaseThatFailsAndRecovers) {
    report("a.test", {});
    const auto session = sign_in_as("viewer");
    EXPECT_EQ(get("/nodes/a.test/runs", session).status, 200);
    const auto execute = [&](const std::string& statement) {
        context_->store
            ->with_writer([&](store::Writer& writer) { return writer.db().execute(statement); })
            .value();
    };
    execute("ALTER TABLE certname_packages RENAME TO gone");
    const auto page = get("/nodes/a.test/packages", session);
    EXPECT_GE(page.status, 400);
    EXPECT_FALSE(has(page, "no such table"));
    EXPECT_TRUE(has(page, "<h1>"));
    // Pages that do not need the table still work.
    EXPECT_EQ(get("/nodes/a.test/runs", session).status, 200);
    execute("ALTER TABLE gone RENAME TO certname_packages");
    EXPECT_EQ(get("/nodes/a.test/packages", session).status, 200);
}

TEST(ConsoleErrors, AreSentences) {
    using store::Failure;
    const auto error = [](Failure kind) {
        return base::Error{"could not connect to server db1.internal: SELECT secret",
                           static_cast<int>(kind)};
    };
    for (const auto& [kind, status] :
         {std::pair{Failure::Unavailable, 503}, std::pair{Failure::Retry, 503},
          std::pair{Failure::Timeout, 503}, std::pair{Failure::Full, 503},
          std::pair{Failure::Query, 400}, std::pair{Failure::Constraint, 500},
          std::pair{Failure::Other, 500}}) {
        const auto text = database_error(error(kind));
        ASSERT_TRUE(text);
        EXPECT_EQ(text->status, status);
        const auto shown = shown_message(error(kind));
        EXPECT_EQ(shown.find("db1.internal"), std::string::npos);
        EXPECT_EQ(shown.find("SELECT"), std::string::npos);
        EXPECT_TRUE(shown.ends_with('.'));
    }
    EXPECT_FALSE(database_error(base::Error{"The code has an error"}));
    EXPECT_EQ(shown_message(base::Error{"The code has an error"}), "The code has an error");
}

}  // namespace
}  // namespace bunraku::console
