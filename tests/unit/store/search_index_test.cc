// What queries find through the search tables, on both backends, before and after changes, and in a
// store that was made by the schema without them.
#include "store/search_index.h"

#include <fmt/format.h>
#include <functional>

#include "backends.h"
#include "query/pql.h"
#include "query/search_keys.h"
#include "store/command.h"
#include "store/garbage.h"
#include "store/impl.h"
#include "store/query/engine.h"
#include "store/schema.h"
#include "store/writer.h"

using namespace bunraku::store;
using namespace bunraku::query;

namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;

std::string catalog(const std::string& node, int day, const std::string& resources) {
    return fmt::format(
        R"({{"certname":"{}","version":"1","environment":"prod","transaction_uuid":null,)"
        R"("catalog_uuid":null,"code_id":null,"producer":"pm",)"
        R"("producer_timestamp":"2023-01-{:02}T00:00:00.000Z","edges":[{{"source":{{)"
        R"("type":"Class","title":"Main"}},"target":{{"type":"File","title":"/x"}},)"
        R"("relationship":"contains"}}],"resources":[{}]}})",
        node, day, resources);
}

std::string resource(const std::string& type, const std::string& title, const std::string& tags,
                     const std::string& parameters, bool exported = false) {
    return fmt::format(R"({{"type":"{}","title":"{}","exported":{},"tags":[{}],"parameters":{}}})",
                       type, title, exported, tags, parameters);
}

class SearchIndex : public OnBackend {
protected:
    void SetUp() override {
        OnBackend::SetUp();
        if (IsSkipped()) return;
        open();
        for (std::string n : {"a", "b"}) {
            put(n, catalog(n, 1,
                           resource("Class", "Main", R"("class","main")", "{}") + "," +
                               resource("File", "/x", R"("file","web","ünï")",
                                        R"({"mode":"0600","size":1.0,"on":true,"l":["p"],)"
                                        R"("deep":{"a":1},"none":null})") +
                               "," +
                               resource("File", "/" + n, R"("file")",
                                        R"({"mode":"0644","size":2,"zz":{"b":1,"aa":{}}})") +
                               "," +
                               resource("Host", n, R"("host","web")", R"({"ip":"10.0.0.1"})",
                                        n == "a")));
        }
    }
    void open() {
        auto opened = Writer::open(where_, {});
        ASSERT_TRUE(opened) << opened.error().message;
        writer_ = std::move(*opened);
        engine_ = std::make_unique<QueryEngine>(where_);
    }
    /// Makes it the store of an older schema, and opens that.
    void open_after(const std::string& back) {
        auto done = writer_->db().execute(back);
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_FALSE(check_schema(writer_->db()));
        engine_.reset();
        writer_.reset();
        open();
    }
    void put(const std::string& node, const std::string& body) {
        put_catalog(*writer_, node, body, kNow);
    }
    std::string ask(std::string_view query) {
        try {
            auto rows = engine_->run_text(query);
            return rows ? *rows : "!" + rows.error().message;
        } catch (const QueryError& e) {
            return e.message;
        }
    }
    std::int64_t number(std::string_view sql) {
        auto s = writer_->db().prepare_once(sql);
        if (!s) return -1;
        auto row = s->step();
        return row && *row ? s->integer(0) : -1;
    }
    struct Case {
        std::string_view query, rows;
    };
    void check(std::initializer_list<Case> cases) {
        for (const Case& c : cases) EXPECT_EQ(ask(c.query), c.rows) << c.query;
    }

    std::unique_ptr<Writer> writer_;
    std::unique_ptr<QueryEngine> engine_;
};

constexpr std::string_view kBoth = R"([{"certname":"a"},{"certname":"b"}])";
constexpr std::string_view kA = R"([{"certname":"a"}])";

TEST_P(SearchIndex, FindsTagsAndParameters) {
    check({
        {"resources[certname]{ tag = 'WEB' and type = 'File' order by certname }", kBoth},
        {"resources[title]{ tag = 'web' and certname = 'b' order by title }",
         R"([{"title":"/x"},{"title":"b"}])"},
        {"resources[title]{ tags = 'web' and !(tag = 'file') order by title }",
         R"([{"title":"a"},{"title":"b"}])"},
        {"resources[title]{ tag ~ '^ma' and certname = 'a' }", R"([{"title":"Main"}])"},
        {"resources[certname]{ tag ~ '^ma' order by certname }", kBoth},
        {"resources[title]{ certname = 'a' and !(tag ~ 'fil|class') }", R"([{"title":"a"}])"},
        {"resources[title]{ (tag = 'main' or tag = 'host') and certname = 'a' order by title }",
         R"([{"title":"Main"},{"title":"a"}])"},
        {"resources[certname]{ tag = 'absent' }", "[]"},
        {"resources[certname]{ tag = 'web' and exported = true }", kA},
        {"resources[certname]{ parameters.mode = '0600' order by certname }", kBoth},
        {"resources[certname,title]{ type = 'File' and parameters.size = 2.0 order by certname }",
         R"([{"certname":"a","title":"/a"},{"certname":"b","title":"/b"}])"},
        {"resources[title]{ certname = 'a' and parameters.size = 1 }", R"([{"title":"/x"}])"},
        {"resources[certname]{ parameters.on = true and type = 'Class' }", "[]"},
        {"resources[certname]{ parameters.on = 'true' }", "[]"},
        {"resources[title]{ certname = 'a' and type = 'File' and !(parameters.mode = '0600') }",
         R"([{"title":"/a"}])"},
        {"resources[certname]{ parameters.l = ['p'] order by certname }", kBoth},
        {"resources[certname]{ parameters.l = 'p' }", "[]"},
        {"resources[certname]{ parameters.deep.a = 1 order by certname }", kBoth},
        {R"(["from","resources",["extract","certname",["and",["=",["parameter","ip"],"10.0.0.1"],["=","exported",false]]]])",
         R"([{"certname":"b"}])"},
        {R"(["from","resources",["extract","title",["and",["=",["parameter","size"],1.0],["=","certname","b"]]]])",
         R"([{"title":"/x"}])"},
        {R"(["from","resources",["extract","title",["and",["=",["parameter","deep"],{"a":1}],["=","certname","b"]]]])",
         R"([{"title":"/x"}])"},
        {R"(["from","resources",["extract","title",["and",["=",["parameter","none"],null],["=","certname","b"]]]])",
         R"([{"title":"/x"}])"},
    });
}

TEST_P(SearchIndex, CountsByTypeWithoutLookingAtResources) {
    check({
        {"resources[count()]{}", R"([{"count":8}])"},
        {"resources[count(), type]{ group by type }",
         R"([{"type":"Class","count":2},{"type":"File","count":4},{"type":"Host","count":2}])"},
        {"resources[type, count()]{ certname = 'a' and !(type = 'File') group by type }",
         R"([{"type":"Class","count":1},{"type":"Host","count":1}])"},
        {"resources[count()]{ exported = true }", R"([{"count":1}])"},
        {"resources[count(), environment]{ group by environment }",
         R"([{"environment":"prod","count":8}])"},
        {"resources[count()]{ type in ['Host', 'Class'] and nodes { certname = 'b' } }",
         R"([{"count":2}])"},
        {"resources[count()]{ type = 'None' }", R"([{"count":0}])"},
        {"resources[count(), type]{ type = 'None' group by type }", "[]"},
        {"resources[count()]{ title = '/x' and type = 'File' }", R"([{"count":2}])"},
        {"resources[count(title)]{ type = 'File' }", R"([{"count":4}])"},
    });
    put("b", catalog("b", 2,
                     resource("Class", "Main", R"("class","main")", "{}") + "," +
                         resource("File", "/x", R"("file","new")", R"({"mode":"0600"})")));
    check({
        {"resources[count(), type]{ group by type }",
         R"([{"type":"Class","count":2},{"type":"File","count":3},{"type":"Host","count":1}])"},
        {"resources[certname]{ tag = 'new' }", R"([{"certname":"b"}])"},
        {"resources[certname,title]{ tag = 'web' and certname = 'b' }", "[]"},
        {"resources[certname]{ parameters.on = true }", kA},
    });
    QueryOptions options;
    options.include_total = true;
    options.limit = 1;
    for (auto [query, total] :
         {std::pair{R"(["=","type","File"])", 3}, {R"(["=","title","/x"])", 2}, {"[]", 6}}) {
        auto cursor = engine_->start("resources", read_query_json(query), options);
        ASSERT_TRUE(cursor) << cursor.error().message;
        EXPECT_EQ((*cursor)->total(), total) << query;
    }
    auto nodes = engine_->start("nodes", Ast(), options);
    ASSERT_TRUE(nodes);
    EXPECT_EQ((*nodes)->total(), 2);
}

TEST_P(SearchIndex, ShrinksWithWhatItLeadsTo) {
    EXPECT_EQ(number("SELECT count(*) FROM tag_sets"), 4);
    put("b", catalog("b", 2,
                     resource("Class", "Main", R"("class","main")", "{}") + "," +
                         resource("File", "/x", R"("file","web","ünï")", R"({"mode":"0600"})")));
    {
        auto transaction = writer_->begin_removal();
        ASSERT_TRUE(transaction);
        ASSERT_TRUE(purge_node(*writer_, "a"));
        ASSERT_TRUE(transaction->commit());
    }
    ASSERT_TRUE(remove_content(*writer_, 1000, INT64_MAX));
    auto unused = unused_names(writer_->db(), 100);
    ASSERT_TRUE(unused);
    ASSERT_TRUE(purge_names(*writer_, *unused));
    EXPECT_EQ(number("SELECT count(*) FROM parameter_values"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM tag_sets"), 2);
    EXPECT_EQ(number("SELECT count(*) FROM tag_set_members"), 5);
    EXPECT_EQ(number("SELECT count(*) FROM catalog_types"), 2);
    check({{"resources[count(), type]{ group by type }",
            R"([{"type":"Class","count":1},{"type":"File","count":1}])"},
           {"resources[title]{ tag = 'web' }", R"([{"title":"/x"}])"}});
}

/// What schema 5 brought, undone.
constexpr std::string_view kNoNameSets =
    "DROP TABLE factset_versions; ALTER TABLE factsets DROP COLUMN steady_hash;"
    " DROP TABLE catalog_versions; DROP INDEX gc_candidates_lost_at;"
    " ALTER TABLE gc_candidates DROP COLUMN lost_at; DROP INDEX resource_events_corrective;"
    " DROP INDEX factsets_name_set; DROP TABLE fact_name_sets; DROP TABLE fact_name_set_members;"
    " ALTER TABLE factsets DROP COLUMN name_set_id; ";

TEST_P(SearchIndex, CountsFactsByNameFromSetsOfNames) {
    put_facts(*writer_, "a", R"({"kernel":"Linux","os":{"family":"Debian"}})", kNow);
    put_facts(*writer_, "b", R"({"kernel":"Linux","os":{"family":"RedHat"}})", kNow);
    put_facts(*writer_, "c", R"({"kernel":"Linux"})", kNow);
    EXPECT_EQ(number("SELECT count(*) FROM fact_name_sets"), 2);
    std::initializer_list<Case> cases = {
        {R"(["from","facts",["extract",["name",["function","count"]],["group_by","name"]],)"
         R"(["order_by",["name"]]])",
         R"([{"name":"kernel","count":3},{"name":"os","count":2}])"},
        {R"(["from","facts",["extract",[["function","count"],"name"],["~","certname","^[ac]"],)"
         R"(["group_by","name"]],["order_by",[["count","desc"]]],["limit",1]])",
         R"([{"name":"kernel","count":2}])"},
        {"facts[name, count()]{ certname = 'c' group by name }",
         R"([{"name":"kernel","count":1}])"},
        {"facts[count()]{ environment = 'production' }", R"([{"count":5}])"},
        {"facts[count()]{ certname = 'nobody' }", R"([{"count":0}])"},
        // Those that are asked of the facts themselves.
        {"facts[name, count()]{ name ~ 'k' group by name }", R"([{"name":"kernel","count":3}])"},
        {"facts[count()]{ value = 'Linux' }", R"([{"count":3}])"},
    };
    check(cases);
    bool pg = writer_->db().postgresql();
    open_after(std::string(kNoNameSets) + "UPDATE store_meta SET value = 4 WHERE name = 'schema'" +
               (pg ? "" : "; PRAGMA user_version = 4"));
    check(cases);
    // The sets of the older store are found again; one without nodes goes.
    put_facts(*writer_, "c", R"({"kernel":"Linux","os":1})", kNow + 1);
    EXPECT_EQ(number("SELECT count(*) FROM fact_name_sets"), 2);
    EXPECT_EQ(ask("facts[count()]{}"), R"([{"count":6}])");
    auto unused = unused_names(writer_->db(), 100);
    ASSERT_TRUE(unused);
    ASSERT_TRUE(purge_names(*writer_, *unused));
    EXPECT_EQ(number("SELECT count(*) FROM fact_name_sets"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM fact_name_set_members"), 2);
    EXPECT_EQ(ask("facts[count()]{}"), R"([{"count":6}])");
}

TEST_P(SearchIndex, IsMadeForAStoreOfSchemaTwo) {
    bool pg = writer_->db().postgresql();
    std::string back =
        std::string(kNoNameSets) +
        "DROP INDEX resources_tag_set; DROP TABLE tag_sets; DROP TABLE tag_set_members;"
        " DROP TABLE parameter_values; DROP TABLE catalog_types; DROP INDEX reports_start_time;"
        " ALTER TABLE resources DROP COLUMN tag_set_id;"
        " UPDATE store_meta SET value = 2 WHERE name = 'schema'";
    back += pg ? "; ALTER TABLE resources ALTER COLUMN tags TYPE jsonb;"
                 " ALTER TABLE parameters ALTER COLUMN parameters TYPE jsonb"
               : "; PRAGMA user_version = 2";
    open_after(back);
    check({
        {"resources[certname]{ tag = 'web' and type = 'File' order by certname }", kBoth},
        {"resources[title]{ tags = 'ünï' and certname = 'a' }", R"([{"title":"/x"}])"},
        {"resources[certname]{ parameters.mode = '0600' order by certname }", kBoth},
        {"resources[title]{ type = 'File' and parameters.size = 2 and certname = 'b' }",
         R"([{"title":"/b"}])"},
        {"resources[count(), type]{ group by type }",
         R"([{"type":"Class","count":2},{"type":"File","count":4},{"type":"Host","count":2}])"},
        {"resources[count()]{ exported = true }", R"([{"count":1}])"},
    });
    // Sets and values are found again, not made twice.
    std::int64_t sets = number("SELECT count(*) FROM tag_sets");
    put("c", catalog("c", 1,
                     resource("Class", "Main", R"("class","main")", "{}") + "," +
                         resource("File", "/x", R"("file","web","ünï")", R"({"mode":"0700"})")));
    EXPECT_EQ(number("SELECT count(*) FROM tag_sets"), sets);
    EXPECT_EQ(ask("resources[certname]{ parameters.mode = '0700' }"), R"([{"certname":"c"}])");
}

TEST_P(SearchIndex, TakesAStoreOfSchemaThree) {
    bool pg = writer_->db().postgresql();
    std::string back =
        std::string(kNoNameSets) + "UPDATE store_meta SET value = 3 WHERE name = 'schema'";
    back += pg ? "; ALTER TABLE resources ALTER COLUMN tags TYPE jsonb;"
                 " ALTER TABLE parameters ALTER COLUMN parameters TYPE jsonb"
               : "; PRAGMA user_version = 3";
    open_after(back);
    EXPECT_TRUE(check_schema(writer_->db()));
    check({
        {"resources[certname]{ tag = 'web' and type = 'File' order by certname }", kBoth},
        {"resources[certname]{ parameters.mode = '0600' order by certname }", kBoth},
        {"resources[title]{ parameters.size > 1 and certname = 'b' }", R"([{"title":"/b"}])"},
    });
}

TEST_P(SearchIndex, CatalogsHoldTheirRows) {
    std::string rows = ask("catalogs[certname, resources, edges]{ certname = 'a' }");
    Ast a = read_query_json(rows)[0];
    EXPECT_EQ(to_json(*a.find("edges")),
              R"({"data":[{"source_type":"Class","source_title":"Main","target_type":"File",)"
              R"("target_title":"/x","relationship":"contains"}],)"
              R"("href":"/pdb/query/v4/catalogs/a/edges"})");
    const Ast& resources = *a.find("resources");
    EXPECT_EQ(resources.find("href")->as_text(), "/pdb/query/v4/catalogs/a/resources");
    ASSERT_EQ(resources.find("data")->size(), 4U);
    std::string files;
    for (const Ast& r : resources.find("data")->items()) {
        if (!r.find("title")->is_text("/a")) continue;
        EXPECT_EQ(to_json(*r.find("parameters")),
                  R"({"mode":"0644","size":2,"zz":{"aa":{},"b":1}})");
        files += to_json(*r.find("tags")) + to_json(*r.find("exported")) + to_json(*r.find("line"));
    }
    EXPECT_EQ(files, R"(["file"]falsenull)");
    // Several rows, and a page of them.
    EXPECT_EQ(read_query_json(ask("catalogs{}")).size(), 2U);
    Ast page = read_query_json(ask("catalogs{ order by certname desc limit 1 }"));
    ASSERT_EQ(page.size(), 1U);
    EXPECT_EQ(page[0].find("certname")->as_text(), "b");
}

TEST_P(SearchIndex, ATimeLimitIsTheQuerysOwn) {
    QueryOptions options;
    options.time_limit_ms = 1;
    std::string condition = R"(["~","title","(a|b|x)+$"])";
    auto run = engine_->run("resources", read_query_json(condition), options);
    // Small stores answer within a millisecond too: only what may come of it is checked.
    if (!run) {
        EXPECT_EQ(failure_of(run.error()), Failure::Timeout);
    }
    options.time_limit_ms = 60'000;
    EXPECT_TRUE(engine_->run("resources", read_query_json(condition), options));
}

BUNRAKU_ON_BACKENDS(SearchIndex);

TEST(ParameterHash, EqualNumbersAreOne) {
    EXPECT_EQ(parameter_hash("a", "1"), parameter_hash("a", "1.0"));
    EXPECT_EQ(parameter_hash("a", "100"), parameter_hash("a", "1e2"));
    EXPECT_EQ(parameter_hash("a", "0"), parameter_hash("a", "-0.0"));
    EXPECT_NE(parameter_hash("a", "1"), parameter_hash("a", "\"1\""));
    EXPECT_NE(parameter_hash("a", "9007199254740993"), parameter_hash("a", "9007199254740992"));
    EXPECT_NE(parameter_hash("a", "1"), parameter_hash("b", "1"));
    EXPECT_TRUE(is_scalar_json("\"x\""));
    EXPECT_FALSE(is_scalar_json("null"));
    EXPECT_FALSE(is_scalar_json("[1]"));
}

}  // namespace
