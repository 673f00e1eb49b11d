// SPDX-License-Identifier: Apache-2.0
// The page of a run: durations, skipped resources, and the link to the commit.
#include <fstream>

#include "fixture.h"
#include "services/console/run_analysis.h"

namespace bunraku::console {
namespace {

TEST(RunAnalysis, ResourcesOfSources) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"/Stage[main]/Web/File[/etc/motd]", "File[/etc/motd]"},
        {"/Stage[main]/Web::Vhost[a]/File[/a/b[1]]", "File[/a/b[1]]"},
        {"/Stage[main]/Main/Notify[a [b]]", "Notify[a [b]]"},
        {"Service[x]", "Service[x]"},
        {"Puppet", ""},
        {"/Stage[main]/Web/File[/etc/motd]/ensure", ""},
        {"[x]", ""},
        {"", ""},
    };
    for (const auto& [source, resource] : cases)
        EXPECT_EQ(resource_of_source(source), resource) << source;
}

Rows logs(std::initializer_list<std::pair<std::string, std::string>> lines) {
    std::string json;
    for (const auto& [source, message] : lines)
        json += fmt::format(R"({}{{"level":"info","source":"{}","message":"{}"}})",
                            json.empty() ? "" : ",", source, message);
    return Rows::parse("[" + json + "]").value();
}

TEST(RunAnalysis, SkipCausesAndTimes) {
    const auto rows = logs({{"/Stage[main]/A/File[/a]", "Evaluated in 0.25 seconds"},
                            {"/Stage[main]/A/File[/b]", "Dependency Exec[x] has failures: true"},
                            {"/Stage[main]/A/File[/b]", "Skipping because of failed dependencies"},
                            {"/Stage[main]/A/File[/c]", "Dependency Exec[x] has failures: true"},
                            {"/Stage[main]/A/File[/c]", "Dependency Exec[y] has failures: true"},
                            {"/Stage[main]/A/File[/c]", "Dependency Exec[z] has failures: false"},
                            {"Puppet", "Dependency Exec[y] has failures: true"},
                            {"/Stage[main]/A/File[/d]", "Evaluated in many seconds"},
                            {"/Stage[main]/A/File[/e]", "Evaluated in -1 seconds"},
                            {"/Stage[main]/A/File[/a]", "Evaluated in 0.5 seconds"}});
    const auto causes = skip_causes(rows);
    ASSERT_EQ(causes.size(), 2u);
    EXPECT_EQ(causes[0].cause, "Exec[x]");
    EXPECT_EQ(causes[0].skipped, (std::vector<std::string>{"File[/b]", "File[/c]"}));
    EXPECT_EQ(causes[1].cause, "Exec[y]");
    EXPECT_EQ(causes[1].skipped, (std::vector<std::string>{"File[/c]"}));
    EXPECT_EQ(resource_times(rows), (ResourceTimes{{"File[/a]", 0.75}}));
}

TEST(RunAnalysis, CriticalPathFollowsRelationshipsAndContainers) {
    using catalog::Relationship;
    store::CatalogView view;
    for (const char* title : {"A", "B"}) view.resources.push_back({"Class", title});
    for (const char* title : {"a1", "a2", "b1", "free"}) view.resources.push_back({"File", title});
    view.relations = {{0, 2, Relationship::Contains},
                      {0, 3, Relationship::Contains},
                      {1, 4, Relationship::Contains},
                      {0, 1, Relationship::Before}};
    const CatalogGraph graph(std::move(view));
    auto path = critical_path(graph, {{"File[a1]", 1},
                                      {"File[a2]", 3},
                                      {"File[b1]", 2},
                                      {"File[free]", 4},
                                      {"File[unknown]", 100}});
    EXPECT_DOUBLE_EQ(path.seconds, 5);
    EXPECT_EQ(path.resources, (std::vector<std::uint32_t>{3, 4}));
    path = critical_path(graph, {{"File[a1]", 1}, {"File[free]", 4}});
    EXPECT_DOUBLE_EQ(path.seconds, 4);
    EXPECT_EQ(path.resources, (std::vector<std::uint32_t>{5}));
    EXPECT_TRUE(critical_path(graph, {}).resources.empty());
}

class ConsoleRun : public ConsoleTest {
protected:
    http::Response run_page_of(const Headers& session, const std::string& certname) {
        const auto runs = get("/nodes/" + certname + "/runs", session).body;
        const auto at = runs.find("/console/runs/");
        EXPECT_NE(at, std::string::npos);
        return get(runs.substr(at + 8, runs.find('"', at) - at - 8), session);
    }
    static bool has(const http::Response& page, std::string_view text) {
        return page.body.find(text) != std::string::npos;
    }
};

TEST_F(ConsoleRun, ShowsTimesAndCauses) {
    const auto line = [](const char* source, const char* message) {
        return fmt::format(R"({{"level":"info","message":"{}","source":"{}","tags":[],"time":)"
                           R"("2026-01-01T00:00:00Z","file":null,"line":null}})",
                           message, source);
    };
    report("web1.test",
           {.status = "failed",
            .events = event("failure", "it broke"),
            .logs = "[" + line("/Stage[main]/Web/File[/slow]", "Evaluated in 12.50 seconds") + "," +
                    line("/Stage[main]/Web/File[/<b>]", "Dependency Exec[<i>] has failures: true") +
                    "]"});
    const auto session = sign_in_as("viewer");
    const auto page = run_page_of(session, "web1.test");
    for (const char* text : {"Slowest resources", "<bdi>File[/slow]</bdi>", "12.5 s",
                             "Skipped because of failures", "Exec[&lt;i&gt;]", "File[/&lt;b&gt;]"})
        EXPECT_TRUE(has(page, text)) << text << page.body;
    report("db1.test", {});
    EXPECT_TRUE(has(run_page_of(session, "db1.test"), "evaltrace = true"));
}

TEST_F(ConsoleRun, ShowsTheCriticalPathOfItsCatalog) {
    const std::string uuid = "2f3a1a6e-7bd3-4c1e-9d6a-000000000001";
    const auto catalog = [&](const std::string& id) {
        submit(store::CommandKind::ReplaceCatalog, 9, "web1.test",
               fmt::format(
                   R"({{"certname":"web1.test","version":"v1","environment":"production",)"
                   R"("transaction_uuid":null,"catalog_uuid":"{}","code_id":null,"producer":null,)"
                   R"("producer_timestamp":"{}","resources":[{{"type":"File","title":"/a",)"
                   R"("exported":false,"tags":[],"file":null,"line":null,"parameters":{{}}}},)"
                   R"({{"type":"File","title":"/b","exported":false,"tags":[],"file":null,)"
                   R"("line":null,"parameters":{{}}}}],"edges":[{{"source":{{"type":"File",)"
                   R"("title":"/a"}},"target":{{"type":"File","title":"/b"}},"relationship":)"
                   R"("before"}}]}})",
                   id, sys::iso8601_utc(sys::machine().now_ms() * 1'000'000, 3)));
    };
    catalog(uuid);
    report(
        "web1.test",
        {.logs = R"([{"level":"info","message":"Evaluated in 2.00 seconds","source":)"
                 R"("/Stage[main]/Main/File[/a]","tags":[],"time":"2026-01-01T00:00:00Z",)"
                 R"("file":null,"line":null},{"level":"info","message":)"
                 R"("Evaluated in 3.00 seconds","source":"/Stage[main]/Main/File[/b]","tags":[],)"
                 R"("time":"2026-01-01T00:00:00Z","file":null,"line":null}])",
         .catalog_uuid = uuid});
    const auto session = sign_in_as("viewer");
    const auto page = run_page_of(session, "web1.test");
    EXPECT_TRUE(has(page, "Critical path")) << page.body;
    EXPECT_TRUE(has(page, "5.0 s")) << page.body;
    // A later catalog is not that of this run.
    catalog("2f3a1a6e-7bd3-4c1e-9d6a-000000000002");
    EXPECT_FALSE(has(run_page_of(session, "web1.test"), "Critical path"));
}

TEST_F(ConsoleRun, LinksToTheCommit) {
    report("web1.test", {.code = "\"4f2a91c04f2a91c04f2a91c04f2a91c04f2a91c0\""});
    report("db1.test", {.code = "\"v1 <b>\""});
    std::ofstream(folder_ + "/console.conf")
        << "[links]\ncommit = https://git.test/c/{commit}?x=1\n";
    ASSERT_TRUE(console_->reload());
    const auto session = sign_in_as("viewer");
    EXPECT_TRUE(has(run_page_of(session, "web1.test"),
                    "href=\"https://git.test/c/4f2a91c04f2a91c04f2a91c04f2a91c04f2a91c0?x=1\" "
                    "rel=\"noreferrer\">4f2a91c04f2a</a>"));
    EXPECT_FALSE(has(run_page_of(session, "db1.test"), "git.test"));
    for (const char* bad : {"commit = javascript:{commit}", "commit = https://git.test/",
                            "other = https://git.test/{commit}"}) {
        std::ofstream(folder_ + "/console.conf") << "[links]\n" << bad << "\n";
        const auto reloaded = console_->reload();
        ASSERT_FALSE(reloaded) << bad;
        EXPECT_EQ(reloaded.error().message, folder_ +
                                                "/console.conf:2: expected commit = https://... "
                                                "with {commit} in it");
    }
}

}  // namespace
}  // namespace bunraku::console
