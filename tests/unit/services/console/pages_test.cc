// SPDX-License-Identifier: Apache-2.0
// The content of pages. Data of nodes is never markup.
#include "fixture.h"
#include "services/console/page.h"

namespace bunraku::console {
namespace {

class ConsolePages : public ConsoleTest {};

bool has(const http::Response& page, std::string_view text) {
    return page.body.find(text) != std::string::npos;
}

TEST_F(ConsolePages, EmptyStore) {
    const auto session = sign_in_as("viewer");
    const auto fleet = get("/", session);
    EXPECT_EQ(fleet.status, 200);
    EXPECT_TRUE(has(fleet, "No node has reported yet")) << fleet.body;
    EXPECT_TRUE(has(fleet, "<code>bunraku agent --test --server ")) << fleet.body;
    EXPECT_TRUE(has(get("/nodes", session), "No node has reported yet"));
    EXPECT_TRUE(has(get("/failures", session), "No failures"));
    EXPECT_EQ(get("/nodes/none", session).status, 404);
    EXPECT_EQ(get("/runs/00", session).status, 404);
    EXPECT_EQ(get("/runs/zz", session).status, 404);
    EXPECT_EQ(get("/failures/none", session).status, 404);
    EXPECT_EQ(get("/none", session).status, 404);
}

TEST_F(ConsolePages, RefuseUnknownParameters) {
    const auto session = sign_in_as("viewer");
    for (const Page& page : all_pages()) {
        if (page.method != "GET") continue;
        std::string path(page.path);
        for (auto open = path.find('{'); open != std::string::npos; open = path.find('{'))
            path.replace(open, path.find('}') - open + 1, "x");
        EXPECT_EQ(get(path + "?no-such=1", session).status, 400) << path;
    }
}

TEST_F(ConsolePages, FleetCountsStates) {
    facts("never.test", R"({"role":"web"})");
    facts("failed.test", R"({"role":"web"})");
    facts("good.test", R"({"role":"db"})");
    report("failed.test", {.status = "failed", .events = event("failure", "Version 1.2 is gone")});
    report("good.test", {});
    report("old.test", {.age_ms = 3 * 3600 * 1000});
    report("drift.test",
           {.status = "changed", .events = event("success", "m", true), .corrective = true});
    report("new.test", {.status = "changed", .events = event("success", "m")});
    const auto session = sign_in_as("viewer");
    const auto page = get("/?by=role", session);
    ASSERT_EQ(page.status, 200);
    EXPECT_TRUE(has(page, ">6 nodes</a>")) << page.body;
    for (const char* id : {"failed", "silent", "corrected", "changed", "never", "unchanged"}) {
        const auto nodes = get(fmt::format("/nodes?state={}", id), session);
        EXPECT_TRUE(has(nodes, ">1 node of ")) << id;
    }
    EXPECT_TRUE(has(page, "File[/tmp/x]: Version 1.2 is gone"));
    EXPECT_TRUE(has(page, "href=\"/console/nodes?fact=role&amp;value=web\">2</a>"));
    EXPECT_TRUE(has(page, "href=\"/console/nodes?fact=role&amp;missing=true\">3</a>")) << page.body;
    EXPECT_TRUE(has(get("/nodes?fact=role&missing=true", session), "3 nodes of"));
    EXPECT_TRUE(has(get("/nodes?fact=role&value=web", session), "2 nodes of"));
    EXPECT_TRUE(has(get("/nodes?filter=certname+~+%22d%22", session), ">failed.test<"));
    EXPECT_EQ(get("/nodes?filter=certname+~", session).status, 400);
    EXPECT_EQ(get("/nodes?state=none", session).status, 404);
}

TEST_F(ConsolePages, FleetByClass) {
    const auto catalog = [&](const std::string& node, const std::string& title) {
        submit(store::CommandKind::ReplaceCatalog, 9, node,
               fmt::format(R"({{"certname":"{}","version":"v1","environment":"production",)"
                           R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
                           R"("producer":null,"producer_timestamp":"{}","edges":[],"resources":[)"
                           R"({{"type":"Class","title":"{}","exported":false,"tags":[],"file":)"
                           R"(null,"line":null,"parameters":{{}}}}]}})",
                           node, sys::iso8601_utc(sys::machine().now_ms() * 1'000'000, 3), title));
    };
    catalog("a.test", "Role::Web");
    catalog("b.test", "Role::Db");
    catalog("c.test", "Roles");
    const auto session = sign_in_as("viewer");
    const auto page = get("/?by=class:role", session);
    EXPECT_EQ(page.status, 200);
    for (const char* text :
         {"value=Role%3A%3AWeb\">1</a>", "value=Role%3A%3ADb\">1</a>", "missing=true\">1</a>"})
        EXPECT_TRUE(has(page, text)) << text << page.body;
    EXPECT_FALSE(has(page, "value=Roles"));
    EXPECT_TRUE(has(get("/nodes?fact=class:role&value=Role::Web", session), "1 node of"));
}

TEST_F(ConsolePages, FailuresAreGroupedByMessage) {
    for (int i = 1; i <= 3; ++i) {
        report(fmt::format("web{}.test", i),
               {.status = "failed",
                .events = event("failure", fmt::format("Version 1.{} is gone", i))});
    }
    report("db.test", {.status = "failed", .events = event("failure", "no space left")});
    report("compile.test",
           {.status = "failed",
            .logs = R"([{"level":"err","message":"Could not compile <b>","source":"Puppet",)"
                    R"("tags":[],"time":"2026-01-01T00:00:00Z","file":"/m/site.pp","line":3}])"});
    const auto session = sign_in_as("viewer");
    const auto page = get("/failures", session);
    EXPECT_TRUE(has(page, "3 kinds on ")) << page.body;
    EXPECT_TRUE(has(page, "Version <span class=\"ph\">version</span> is gone")) << page.body;
    EXPECT_TRUE(has(page, "Could not compile &lt;b&gt;"));
    const auto at = page.body.find("/console/failures/");
    const auto path = page.body.substr(at + 8, page.body.find('"', at) - at - 8);
    const auto kind = get(path, session);
    EXPECT_EQ(kind.status, 200);
    for (const char* text : {"web1.test", "web2.test", "web3.test", ">1.1<", ">1.3<"})
        EXPECT_TRUE(has(kind, text)) << text;
    // The report that failed leads to the run, and a good run ends the failure.
    EXPECT_TRUE(has(kind, "/console/runs/"));
    report("db.test", {.age_ms = 0});
    for (int i = 0; i < 600 && has(get("/failures", session), "no space left"); ++i)
        sys::machine().sleep(std::chrono::milliseconds(100));
    EXPECT_FALSE(has(get("/failures", session), "no space left"));
}

TEST_F(ConsolePages, NodeAndRun) {
    facts("web1.test", R"({"role":"web","os":{"name":"Debian","release":{"full":"12.5"}},"big":)"
                       R"([1,2,{"deep":"needle"}]})");
    report("web1.test", {.age_ms = 120'000});
    report("web1.test",
           {.status = "failed",
            .events = event("failure", "it broke"),
            .logs = R"([{"level":"notice","message":"hello","source":"Puppet","tags":[],"time":)"
                    R"("2026-01-01T00:00:00Z","file":null,"line":null}])"});
    const auto session = sign_in_as("viewer");
    const auto node = get("/nodes/web1.test", session);
    EXPECT_EQ(node.status, 200);
    for (const char* text : {"Failing now, for 1 run", "it broke", "Debian", "Last 2 runs"})
        EXPECT_TRUE(has(node, text)) << text << node.body;
    const auto facts_page = get("/nodes/web1.test/facts?find=needle", session);
    EXPECT_TRUE(has(facts_page, "<details open>"));
    EXPECT_TRUE(has(facts_page, ">needle<"));
    EXPECT_FALSE(has(facts_page, "12.5"));
    EXPECT_TRUE(has(get("/nodes/web1.test/facts?find=zz", session), "No fact matches"));
    const auto runs = get("/nodes/web1.test/runs", session);
    // times.js shows these times in the zone of the viewer.
    EXPECT_TRUE(has(runs, "\"><time datetime=\"")) << runs.body;
    EXPECT_TRUE(has(runs, "Z\" data-at=\"")) << runs.body;
    const auto at = runs.body.find("/console/runs/");
    ASSERT_NE(at, std::string::npos);
    const auto run = get(runs.body.substr(at + 8, runs.body.find('"', at) - at - 8), session);
    EXPECT_EQ(run.status, 200);
    for (const char* text :
         {"1 failed", "it broke", "/m/init.pp:7", ">hello<", "Class[<bdi>Web</bdi>]"})
        EXPECT_TRUE(has(run, text)) << text << run.body;
}

TEST_F(ConsolePages, QueriesAsTableAndFiles) {
    facts("web1.test", R"({"role":"=cmd|' /C x'!A1"})");
    const auto session = sign_in_as("viewer");
    const auto query = [](std::string_view text) { return http::percent_encode(text); };
    const std::string pql = query("facts[certname, value] { name = 'role' }");
    const auto table = get("/query?q=" + pql, session);
    EXPECT_TRUE(has(table, "href=\"/console/nodes/web1.test\"")) << table.body;
    const auto csv = get("/query.csv?q=" + pql, session);
    EXPECT_EQ(csv.body, "certname,value\r\nweb1.test,'=cmd|' /C x'!A1\r\n");
    EXPECT_EQ(csv.headers.get("Content-Disposition"), "attachment; filename=\"query.csv\"");
    EXPECT_EQ(get("/query.json?q=" + pql, session).body,
              "[\n{\"certname\":\"web1.test\",\"value\":\"=cmd|' /C x'!A1\"}\n]\n");
    facts("web2.test", R"({"role":"b"})");
    const auto names = [&](std::string_view text) {
        return get("/query.json?q=" + query(text), session).body;
    };
    EXPECT_EQ(names("nodes[certname] { order by certname limit 1 }"),
              "[\n{\"certname\":\"web1.test\"}\n]\n");
    EXPECT_EQ(names("nodes[certname] { order by certname limit 1 offset 1 }"),
              "[\n{\"certname\":\"web2.test\"}\n]\n");
    EXPECT_TRUE(has(get("/query?page=2&q=" + query("nodes { limit 1 }"), session), "No rows"));
    const auto wrong = get("/query?q=" + query("facts { name = }"), session);
    EXPECT_EQ(wrong.status, 400);
    EXPECT_TRUE(has(wrong, "The query is not valid"));
    EXPECT_EQ(get("/query.csv?q=" + query("facts {"), session).status, 400);
    EXPECT_EQ(get("/query", sign_in_as("viewer", {"production"})).status, 403);
}

// Every field that a node fills, with markup in it.
TEST_F(ConsolePages, DataOfNodesIsNeverMarkup) {
    const std::string evil = R"(<img src=x onerror=alert(1)>\"'</title></script>)";
    const std::string name = "<b>x.test";
    facts(name, fmt::format(R"({{"role":"{0}","{0}":{{"{0}":["{0}"]}}}})", evil), evil);
    report(name,
           {.status = "failed",
            .environment = evil,
            .events = fmt::format(
                R"([{{"status":"failure","timestamp":"2026-01-01T00:00:00Z","property":"{0}",)"
                R"("name":"{0}","new_value":"{0}","old_value":{{"a":"{0}"}},"message":"{0}",)"
                R"("corrective_change":true}}])",
                evil),
            .type = evil,
            .title = evil,
            .logs = fmt::format(
                R"([{{"level":"{0}","message":"{0}","source":"{0}","tags":["{0}"],"time":)"
                R"("2026-01-01T00:00:00Z","file":"{0}","line":1}}])",
                evil)});
    const auto session = sign_in_as("viewer");
    const auto node = "/nodes/" + http::percent_encode(name);
    std::vector<std::string> paths{"/",
                                   "/?by=role",
                                   "/nodes",
                                   "/failures",
                                   node,
                                   node + "/runs",
                                   node + "/facts",
                                   node + "/facts?find=img",
                                   node + "/packages",
                                   "/nodes?fact=role&value=" + http::percent_encode("<b>\"")};
    for (const char* parent : {"/failures", "/nodes"}) {
        const auto page = get(parent, session).body;
        for (const std::string prefix : {"/console/failures/", "/console/runs/"}) {
            const auto at = page.find(prefix);
            if (at != std::string::npos)
                paths.push_back(page.substr(at + 8, page.find('"', at) - at - 8));
        }
    }
    EXPECT_EQ(paths.size(), 12u);
    for (const auto& path : paths) {
        const auto page = get(path, session);
        EXPECT_EQ(page.status, 200) << path;
        for (const char* bad : {"<img", "<b>x", "<b>\"", "onerror=alert(1)>", "\"'<", "'</title"})
            EXPECT_FALSE(has(page, bad)) << path << " " << bad;
    }
}

}  // namespace
}  // namespace bunraku::console
