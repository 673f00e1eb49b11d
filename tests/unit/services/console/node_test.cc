// SPDX-License-Identifier: Apache-2.0
// Pages of a node: exports, changes of facts, and the difference between catalogs.
#include "fixture.h"

namespace bunraku::console {
namespace {

class ConsoleNode : public ConsoleTest {
protected:
    void catalog(const std::string& certname, const std::string& resources,
                 const std::string& environment = "production") {
        submit(store::CommandKind::ReplaceCatalog, 9, certname,
               fmt::format(R"({{"certname":"{}","version":"v1","environment":"{}",)"
                           R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
                           R"("producer":null,"producer_timestamp":"{}","resources":[{}],)"
                           R"("edges":[]}})",
                           certname, environment,
                           sys::iso8601_utc(sys::machine().now_ms() * 1'000'000, 3), resources));
    }
    static std::string key(const std::string& title, const std::string& value, bool exported) {
        return fmt::format(R"({{"type":"Sshkey","title":"{}","exported":{},"tags":[],"file":)"
                           R"("/m/k.pp","line":3,"parameters":{{"key":"{}"}}}})",
                           title, exported, value);
    }
    static bool has(const http::Response& page, std::string_view text) {
        return page.body.find(text) != std::string::npos;
    }
};

TEST_F(ConsoleNode, ExportsAndCollections) {
    report("a.test", {});
    report("b.test", {.environment = "staging"});
    catalog("a.test", key("a", "AAA", true) + "," + key("b", "BBB", false) + "," +
                          key("own", "OWN", false) + "," + key("other", "1", false));
    catalog("b.test", key("b", "BBB", true) + "," + key("other", "2", true), "staging");
    const auto page = get("/nodes/a.test/exports", sign_in_as("viewer"));
    EXPECT_EQ(page.status, 200);
    for (const char* text :
         {"Exports (1)", "Collected (1)", "/m/k.pp:3", "href=\"/console/nodes/b.test\"",
          "href=\"/console/nodes/a.test/catalog?resource=Sshkey%5Bb%5D\""})
        EXPECT_TRUE(has(page, text)) << text << page.body;
    // The page shows neither the export of the node itself, nor one with the same name and other
    // parameters.
    EXPECT_FALSE(has(page, "own")) << page.body;
    EXPECT_FALSE(has(page, "<bdi>other</bdi>")) << page.body;
    // Exporters of other environments are not shown.
    const auto some = get("/nodes/a.test/exports", sign_in_as("viewer", {"production"}));
    EXPECT_TRUE(has(some, "Exports (1)"));
    EXPECT_FALSE(has(some, "b.test")) << some.body;
    const auto none = get("/nodes/b.test/exports", sign_in_as("viewer"));
    EXPECT_TRUE(has(none, "Nothing was collected"));
    // The newest catalog is of another environment than the run.
    catalog("a.test", key("secret", "S", true), "staging");
    const auto hidden = get("/nodes/a.test/exports", sign_in_as("viewer", {"production"}));
    EXPECT_EQ(hidden.status, 404);
    EXPECT_FALSE(has(hidden, "secret"));
}

TEST_F(ConsoleNode, ChangesOfFactsWithTheirValues) {
    facts("a.test", R"({"role":"web","gone":"x"})");
    sys::machine().sleep(std::chrono::milliseconds(2));  // versions have different times
    facts("a.test", R"({"role":"<b>db","fresh":{"n":1}})");
    const auto session = sign_in_as("viewer");
    const auto page = get("/nodes/a.test/facts", session);
    const std::string prefix = "/console/nodes/a.test/facts?at=";
    const auto at = page.body.find(prefix);
    ASSERT_NE(at, std::string::npos) << page.body;
    const auto change = ask("GET", page.body.substr(at, page.body.find('"', at) - at), session);
    EXPECT_EQ(change.status, 200);
    for (const char* text :
         {"Changes of ", "<bdi>web</bdi></td><td class=\"mono val\"><bdi>&lt;b&gt;db</bdi>",
          "<bdi>x</bdi></td><td class=\"m\">none",
          "<td class=\"m\">none</td><td class=\"mono "
          "val\"><bdi>{&quot;n&quot;:1}</bdi>"})
        EXPECT_TRUE(has(change, text)) << text << change.body;
    EXPECT_EQ(get("/nodes/a.test/facts?at=never", session).status, 404);
    EXPECT_EQ(get("/nodes/a.test/facts?at=2001-01-01T00:00:00Z", session).status, 404);
}

// The versions of one second are different ones.
TEST_F(ConsoleNode, DifferencesOfCatalogs) {
    facts("a.test", R"({"role":"web"})");
    for (const char* value : {"one", "two", "three"}) {
        catalog("a.test", key("k", value, false));
        sys::machine().sleep(std::chrono::milliseconds(2));
    }
    const auto session = sign_in_as("viewer");
    const auto page = get("/nodes/a.test/catalogs", session).body;
    std::vector<std::string> times;
    const std::string mark = "name=\"from\" value=\"";
    for (auto at = page.find(mark); at != std::string::npos; at = page.find(mark, at + 1))
        times.push_back(
            page.substr(at + mark.size(), page.find('"', at + mark.size()) - at - mark.size()));
    ASSERT_EQ(times.size(), 3u) << page;
    const auto difference = [&](std::size_t from, std::size_t to) {
        return get("/nodes/a.test/difference?from=" + http::percent_encode(times[from]) +
                       "&to=" + http::percent_encode(times[to]),
                   session);
    };
    const auto oldest = difference(2, 0);
    EXPECT_TRUE(has(oldest, "one") && has(oldest, "three")) << oldest.body;
    EXPECT_FALSE(has(oldest, "two"));
    EXPECT_TRUE(has(difference(1, 1), "The same"));
}

// The node has moved from staging to production, and its new facts have not come yet.
TEST_F(ConsoleNode, FactsAndClassesOfAnotherEnvironment) {
    facts("a.test", R"({"secret_fact":"hidden-value","kernel":"Linux"})", "staging");
    catalog("a.test",
            R"({"type":"Class","title":"Secret_class","exported":false,"tags":[],"file":null,)"
            R"("line":null,"parameters":{}})",
            "staging");
    report("a.test", {});
    const auto some = sign_in_as("viewer", {"production"});
    const auto all = sign_in_as("viewer");
    for (const char* path : {"", "/facts", "/packages", "/catalog"}) {
        const auto page = get(std::string("/nodes/a.test") + path, some);
        EXPECT_EQ(page.status, 200) << path;
        for (const char* text : {"hidden-value", "secret_fact", "Secret_class", "Linux"})
            EXPECT_EQ(page.body.find(text), std::string::npos) << path << page.body;
    }
    EXPECT_NE(get("/nodes/a.test", some).body.find("No facts that you may see"), std::string::npos);
    EXPECT_NE(get("/nodes/a.test", all).body.find("Secret_class"), std::string::npos);
    EXPECT_NE(get("/nodes/a.test", all).body.find("facts of <b><bdi>staging</bdi></b>"),
              std::string::npos);
    EXPECT_NE(get("/nodes/a.test/facts", all).body.find("hidden-value"), std::string::npos);
    // A node without facts is not one whose facts are hidden.
    report("b.test", {});
    EXPECT_NE(get("/nodes/b.test/facts", some).body.find("This node has sent no facts"),
              std::string::npos);
}

}  // namespace
}  // namespace bunraku::console
