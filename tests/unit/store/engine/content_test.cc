// SPDX-License-Identifier: Apache-2.0
// Tests queries of collectors for exported resources, which return whole rows. With PostgreSQL, the
// rows are built from cached content.
#include <fmt/format.h>

#include "backends.h"
#include "store/db/writer.h"
#include "store/engine/query_content.h"
#include "store/engine/query_engine.h"
#include "store/query/pql.h"

namespace bunraku::store {
namespace {

std::shared_ptr<const ContentTexts> texts(std::size_t bytes) {
    return std::make_shared<ContentTexts>(ContentTexts{std::string(bytes, 'x')});
}

TEST(ContentCache, EvictsEntriesNotUsedRecently) {
    ContentCache cache(1000);
    for (std::int64_t id = 1; id <= 4; ++id) cache.put(id, texts(150));
    auto known = [&](std::int64_t id) { return cache.find(std::array{id})[0] != nullptr; };
    EXPECT_TRUE(known(1));
    for (std::int64_t id = 5; id <= 7; ++id) cache.put(id, texts(150));
    EXPECT_TRUE(known(1));
    for (std::int64_t id = 8; id <= 10; ++id) cache.put(id, texts(150));
    EXPECT_TRUE(known(1));
    EXPECT_FALSE(known(2));
    cache.put(11, texts(5000));  // an entry above the limit stays only until the next one
    cache.put(12, texts(150));
    EXPECT_TRUE(known(12));
    cache.clear();
    EXPECT_FALSE(known(12));
    EXPECT_EQ(cache.find({}).size(), 0U);
}

class Content : public OnWriter {
protected:
    void SetUp() override {
        OnWriter::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        engine_ = std::make_unique<QueryEngine>(where_);
    }
    void put(const std::string& node, int day, const std::string& resources) {
        std::string body = fmt::format(
            R"({{"certname":"{}","version":"1","environment":"prod","transaction_uuid":null,)"
            R"("catalog_uuid":null,"code_id":null,"producer":"pm",)"
            R"("producer_timestamp":"2023-01-{:02}T00:00:00.000Z","edges":[],"resources":[{}]}})",
            node, day, resources);
        put_catalog(*writer_, node, body, 1'700'000'000'000);
    }
    static std::string host(const std::string& title, const std::string& ip) {
        return fmt::format(
            R"({{"type":"Host","title":"{}","exported":true,"tags":["web"],"file":"/f","line":7,)"
            R"("parameters":{{"ip":"{}","l":[1,{{"a":"}}"}}]}}}})",
            title, ip);
    }
    /// Returns the row of such a host; reads `hash` from the store, because the test does not check
    /// it.
    std::string row(const std::string& node, const std::string& title, const std::string& ip) {
        std::string hash =
            ask("resources[resource]{ title = '" + title + "' and certname = '" + node + "' }");
        return R"({"tags":["web"],"file":"/f","type":"Host","title":")" + title + R"(","line":7,)" +
               hash.substr(2, hash.size() - 4) + R"(,"environment":"prod","certname":")" + node +
               R"(","parameters":{"ip":")" + ip + R"(","l":[1,{"a":"}"}]},"exported":true})";
    }
    std::string ask(std::string_view query, bool pretty = false) {
        try {
            auto rows = engine_->run_root(query::parse_pql(query), {}, pretty);
            return rows ? *rows : "!" + rows.error().message;
        } catch (const query::QueryError& e) {
            return e.message;
        }
    }
    std::unique_ptr<QueryEngine> engine_;
};
BUNRAKU_ON_BACKENDS(Content);

TEST_P(Content, ReturnsExportedResourcesAsWholeRows) {
    put("a", 1, host("x", "1") + "," + host("y", "2"));
    put("b", 1, host("x", "1"));
    constexpr std::string_view kAll = "resources{ exported = true order by title, certname }";
    std::string all =
        "[" + row("a", "x", "1") + "," + row("b", "x", "1") + "," + row("a", "y", "2") + "]";
    EXPECT_EQ(ask(kAll), all);
    EXPECT_EQ(ask(kAll), all);  // now from the cache
    EXPECT_EQ(ask("resources{ exported = true and tag = 'web' and !(certname = 'a') }"),
              "[" + row("b", "x", "1") + "]");
    EXPECT_EQ(ask("resources{ exported = true order by title, certname limit 1 offset 1 }"),
              "[" + row("b", "x", "1") + "]");
    EXPECT_EQ(ask("resources{ exported = true and type = 'None' }"), "[]");
    EXPECT_EQ(ask("resources[title, certname]{ exported = true and parameters.ip = '2' }"),
              R"([{"title":"y","certname":"a"}])");
    EXPECT_EQ(ask("resources{ exported = true and title = 'y' }", true),
              pretty_json("[" + row("a", "y", "2") + "]"));
    // Changed resources are new content; unchanged ones are still cached.
    put("a", 2, host("x", "1") + "," + host("y", "3"));
    EXPECT_EQ(ask(kAll),
              "[" + row("a", "x", "1") + "," + row("b", "x", "1") + "," + row("a", "y", "3") + "]");
    put("a", 3, "");
    EXPECT_EQ(ask(kAll), "[" + row("b", "x", "1") + "]");
}

TEST_P(Content, ReturnsRowsOfNodeAndTitle) {
    put("a", 1, host("x", "1") + "," + host("y", "2"));
    put("b", 1, host("x", "1"));
    struct {
        std::string_view query;
        std::string rows;
    } cases[] = {
        {"resources{ certname = 'a' order by title }",
         row("a", "x", "1") + "," + row("a", "y", "2")},
        {"resources{ type = 'Host' and title = 'x' order by certname }",
         row("a", "x", "1") + "," + row("b", "x", "1")},
        {"resources{ certname = 'b' or title = 'y' order by title }",
         row("b", "x", "1") + "," + row("a", "y", "2")},
        {"resources{ !(certname = 'b') and title = 'x' }", row("a", "x", "1")},
        {"resources{ certname = 'c' }", ""},
    };
    for (int again = 0; again < 2; ++again) {
        for (const auto& c : cases) EXPECT_EQ(ask(c.query), "[" + c.rows + "]") << c.query;
    }
}

TEST_P(Content, StreamsManyRows) {
    constexpr int kRows = static_cast<int>(query::ContentQuery::kMostRows) + 1;
    std::string resources;
    for (int i = 0; i < kRows; ++i) {
        if (i > 0) resources += ',';
        resources += host(fmt::format("h{:05}", i), "1");
    }
    put("a", 1, resources);
    auto count = [&](std::string_view query) {
        std::string rows = ask(query);
        int n = 0;
        for (std::size_t at = 0; (at = rows.find(R"("exported":true})", at)) != std::string::npos;
             ++at) {
            ++n;
        }
        return n;
    };
    EXPECT_EQ(count("resources{ exported = true }"), kRows);
    EXPECT_EQ(count("resources{ exported = true limit 20000 }"), kRows - 1);
    EXPECT_EQ(count("resources{ exported = true limit 20002 }"), kRows);
    EXPECT_EQ(count("resources{ exported = true order by title offset 20000 }"), 1);
}

TEST_P(Content, ReturnsManyRowsInChunks) {
    std::string resources;
    for (int i = 0; i < 2500; ++i) {
        if (i > 0) resources += ',';
        resources += host(fmt::format("h{:04}", i), fmt::format("{}", i));
    }
    put("a", 1, resources);
    for (int again = 0; again < 2; ++again) {
        query::Ast rows =
            query::read_query_json(ask("resources{ exported = true order by title }"));
        ASSERT_EQ(rows.size(), 2500U);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].find("title")->as_text(), fmt::format("h{:04}", i));
            ASSERT_EQ(rows[i].find("parameters")->find("ip")->as_text(), fmt::format("{}", i));
            ASSERT_EQ(rows[i].find("certname")->as_text(), "a");
        }
    }
}

}  // namespace
}  // namespace bunraku::store
