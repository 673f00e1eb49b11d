// SPDX-License-Identifier: Apache-2.0
// The pages of exported resources.
#include "store/engine/exports.h"

#include "fixture.h"

namespace bunraku::console {
namespace {

class ConsoleExports : public ConsoleTest {
protected:
    void exported(const std::string& node, const std::string& title, const std::string& tag) {
        submit(store::CommandKind::ReplaceCatalog, 9, node,
               fmt::format(
                   R"({{"certname":"{}","version":"1","environment":"production",)"
                   R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,"producer":null,)"
                   R"("job_id":null,"producer_timestamp":"2026-01-01T00:00:00Z","edges":[],)"
                   R"("resources":[{{"type":"Host","title":"{}","exported":true,"file":"/s.pp",)"
                   R"("line":7,"tags":["{}"],"parameters":{{}}}}]}})",
                   node, title, tag));
    }
    static bool has(const http::Response& page, std::string_view text) {
        return page.body.find(text) != std::string::npos;
    }
};

TEST_F(ConsoleExports, TypesOrphansAndClashes) {
    const auto session = sign_in_as("viewer");
    EXPECT_TRUE(has(get("/exports", session), "No node exports or collects resources"));
    EXPECT_EQ(get("/exports/Host", session).status, 404);
    exported("a.test", "shared", "x");
    exported("b.test", "shared", "y");
    exported("c.test", "<script>", "z");
    const auto page = get("/exports", session);
    EXPECT_TRUE(has(page, "exported, never collected")) << page.body;
    EXPECT_TRUE(has(page, "href=\"/console/exports/Host\">3</a>")) << page.body;
    EXPECT_TRUE(has(page, "no node, so this does no harm"));
    const auto host = get("/exports/Host", session);
    for (const char* text :
         {"&lt;script&gt;", "/s.pp:7", "a.test", "b.test", "nobody", "No node collects this type"})
        EXPECT_TRUE(has(host, text)) << text << host.body;
    EXPECT_EQ(get("/exports/Host?show=other", session).status, 404);
    const auto after = get("/exports/Host?after=shared&node=a.test", session);
    EXPECT_TRUE(has(after, "b.test")) << after.body;
    EXPECT_FALSE(has(after, "a.test</bdi>"));
}

}  // namespace
}  // namespace bunraku::console
