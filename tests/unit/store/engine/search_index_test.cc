// SPDX-License-Identifier: Apache-2.0
// Tests queries that use the search tables, on both backends: before and after changes, and in a
// store whose schema did not have these tables.
#include "store/db/search_index.h"

#include <fmt/format.h>
#include <functional>

#include "backends.h"
#include "store/db/command.h"
#include "store/db/schema.h"
#include "store/db/source_locations.h"
#include "store/db/writer.h"
#include "store/engine/garbage.h"
#include "store/engine/impl.h"
#include "store/engine/query_engine.h"
#include "store/query/pql.h"
#include "store/query/search_keys.h"
#include "wide_reports.h"

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

/// Reverts the changes of schemas 8 to 10; open_after() reverts those of 11.
#define BUNRAKU_NO_COUNTERS                                                         \
    "DROP TABLE places; DROP TABLE catalog_places;"                                 \
    " ALTER TABLE parameters DROP COLUMN sealed; "                                  \
    "DROP INDEX catalogs_kind_set; ALTER TABLE catalogs DROP COLUMN kind_set_id;"   \
    " DROP TABLE kind_sets; DROP TABLE kind_set_members; DROP TABLE report_counts;" \
    " DROP TABLE latest_events; DROP TABLE exported_collections; "
constexpr std::string_view kNoTriggersSqlite =
    "DROP TRIGGER reports_counted; DROP TRIGGER reports_discounted; ";
constexpr std::string_view kNoTriggersPostgresql = "DROP FUNCTION count_report CASCADE; ";

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
    /// Converts the store to an older schema and opens it.
    void open_after(const std::string& back) {
        std::string all(writer_->db().postgresql() ? kNoTriggersPostgresql : kNoTriggersSqlite);
        auto done = writer_->db().execute(all + back);
        ASSERT_TRUE(done) << done.error().message;
        done = writer_->db().execute(wide_reports(writer_->db().backend()));
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

TEST_P(SearchIndex, CountsByTypeWithoutReadingResources) {
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

TEST_P(SearchIndex, RemovesUnusedEntries) {
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

/// Reverts the changes of schema 5.
constexpr std::string_view kNoNameSets = BUNRAKU_NO_COUNTERS
    "DROP TABLE factset_versions; ALTER TABLE factsets DROP COLUMN steady_hash;"
    " DROP TABLE catalog_versions; DROP INDEX gc_candidates_lost_at;"
    " ALTER TABLE gc_candidates DROP COLUMN lost_at; DROP INDEX resource_events_corrective;"
    " DROP INDEX factsets_name_set; DROP TABLE fact_name_sets; DROP TABLE fact_name_set_members;"
    " ALTER TABLE factsets DROP COLUMN name_set_id; ";

TEST_P(SearchIndex, CountsFactsFromNameSets) {
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
        // Queries that must read the facts themselves.
        {"facts[name, count()]{ name ~ 'k' group by name }", R"([{"name":"kernel","count":3}])"},
        {"facts[count()]{ value = 'Linux' }", R"([{"count":3}])"},
    };
    check(cases);
    bool pg = writer_->db().postgresql();
    open_after(std::string(kNoNameSets) + "UPDATE store_meta SET value = 4 WHERE name = 'schema'" +
               (pg ? "" : "; PRAGMA user_version = 4"));
    check(cases);
    // The sets of the older store are reused; a set without nodes is removed.
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

TEST_P(SearchIndex, CountsKindsFromKindSets) {
    std::initializer_list<Case> cases = {
        {"resources[type, count()]{ environment = 'prod' group by type }",
         R"([{"type":"Class","count":2},{"type":"File","count":4},{"type":"Host","count":2}])"},
        {"resources[title, count()]{ type = 'Class' group by title }",
         R"([{"title":"Main","count":2}])"},
        {"resources[environment, count()]{ exported = false group by environment }",
         R"([{"environment":"prod","count":7}])"},
        {"resources[type, count()]{ certname = 'a' and type ~ '^H' group by type }",
         R"([{"type":"Host","count":1}])"},
        {"resources[count()]{ environment = 'other' }", R"([{"count":0}])"},
        {"resources[count()]{ nodes { certname = 'b' } and type in ['File', 'Host'] }",
         R"([{"count":3}])"},
        // Queries that must read the resources themselves.
        {"resources[title, count()]{ type = 'File' and title = '/x' group by title }",
         R"([{"title":"/x","count":2}])"},
        {"resources[certname, count()]{ type = 'File' group by certname }",
         R"([{"certname":"a","count":2},{"certname":"b","count":2}])"},
    };
    check(cases);
    bool pg = writer_->db().postgresql();
    open_after(BUNRAKU_NO_COUNTERS "UPDATE store_meta SET value = 7 WHERE name = 'schema'" +
               std::string(pg ? "" : "; PRAGMA user_version = 7"));
    check(cases);
    EXPECT_EQ(number("SELECT count(*) FROM kind_sets"), 2);
    // b gets the same resources as a; the unused set is removed.
    put("b", catalog("b", 2,
                     resource("Class", "Main", R"("class","main")", "{}") + "," +
                         resource("File", "/x", R"("file")", "{}") + "," +
                         resource("File", "/z", R"("file")", "{}") + "," +
                         resource("Host", "b", R"("host")", "{}", true)));
    EXPECT_EQ(number("SELECT count(DISTINCT kind_set_id) FROM catalogs"), 1);
    auto unused = unused_names(writer_->db(), 100);
    ASSERT_TRUE(unused);
    ASSERT_TRUE(purge_names(*writer_, *unused));
    EXPECT_EQ(number("SELECT count(*) FROM kind_sets"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM kind_set_members"), 3);
    EXPECT_EQ(ask("resources[count()]{ exported = true }"), R"([{"count":2}])");
}

TEST_P(SearchIndex, CountsResourcesByFile) {
    auto at = [](const std::string& title, const std::string& place) {
        return R"({"type":"File","title":")" + title +
               R"(","exported":false,"tags":[],"parameters":{})" + place + "}";
    };
    const std::string main = resource("Class", "Main", "", "{}") + ",";
    const std::string m = R"(,"file":"/m.pp","line":3)", n = R"(,"file":"/n.pp")";
    put("a", catalog("a", 2, main + at("/x", m) + "," + at("/y", m) + "," + at("/z", n)));
    put("b", catalog("b", 2, main + at("/x", m)));
    const std::initializer_list<Case> cases = {
        {"resources[file, line, count()]{ file = '/m.pp' group by file, line }",
         R"([{"file":"/m.pp","line":3,"count":3}])"},
        {"resources[line, count()]{ certname = 'a' and file = '/m.pp' group by line }",
         R"([{"line":3,"count":2}])"},
        {"resources[file, line, count()]{ file = '/n.pp' group by file, line }",
         R"([{"file":"/n.pp","line":null,"count":1}])"},
        {"resources[count()]{ file is null }", R"([{"count":2}])"},
        {"resources[count()]{ line > 2 and environment = 'prod' }", R"([{"count":3}])"},
        {"resources[count()]{ line > 2 and environment = 'other' }", R"([{"count":0}])"},
        {"resources[file, count()]{ environment = 'other' group by file }", "[]"},
        // Queries that must read the resources themselves.
        {"resources[file, count()]{ type = 'File' and file = '/m.pp' group by file }",
         R"([{"file":"/m.pp","count":3}])"},
    };
    check(cases);
    open_after(
        "DROP TABLE places; DROP TABLE catalog_places;"
        " UPDATE store_meta SET value = 9 WHERE name = 'schema'" +
        std::string(writer_->db().postgresql() ? "" : "; PRAGMA user_version = 9"));
    check(cases);
    // The hash shows which rows a program with an older schema has written.
    EXPECT_EQ(fill_source_locations(writer_->db()).value_or(99), 0U);
    ASSERT_TRUE(writer_->db().execute("UPDATE catalog_places SET places = hash, hash = places"));
    EXPECT_EQ(fill_source_locations(writer_->db()).value_or(99), 2U);
    check(cases);
    // Unused rows are removed, and can be added again.
    EXPECT_EQ(number("SELECT count(*) FROM places"), 3);
    put("a", catalog("a", 3, main + at("/x", m)));
    const auto generation = begin_search(*writer_);
    ASSERT_TRUE(generation);
    auto unused = unused_names(writer_->db(), 100, *generation);
    ASSERT_TRUE(unused);
    EXPECT_EQ(unused->places.size(), 1U);
    // A catalog that uses the row again meanwhile keeps it.
    put("b", catalog("b", 3, main + at("/x", m) + "," + at("/z", n)));
    ASSERT_TRUE(purge_names(*writer_, *unused));
    EXPECT_EQ(number("SELECT count(*) FROM places"), 3);
    put("b", catalog("b", 4, main + at("/x", m)));
    const auto later = begin_search(*writer_);
    ASSERT_TRUE(later);
    unused = unused_names(writer_->db(), 100, *later);
    ASSERT_TRUE(unused && purge_names(*writer_, *unused));
    EXPECT_EQ(number("SELECT count(*) FROM places"), 2);
    put("a", catalog("a", 4, main + at("/x", m) + "," + at("/y", m) + "," + at("/z", n)));
    check(cases);
    EXPECT_EQ(number("SELECT count(*) FROM places"), 3);
}

std::string report(int day, const std::string& status, const std::string& events,
                   const std::string& environment = "prod") {
    return fmt::format(
        R"({{"certname":"a","environment":"{2}","puppet_version":"8","report_format":12,)"
        R"("configuration_version":"1","start_time":"2023-01-{0:02}T00:00:00.000Z",)"
        R"("end_time":"2023-01-{0:02}T00:00:30.000Z",)"
        R"("producer_timestamp":"2023-01-{0:02}T00:00:31.000Z","producer":"pm",)"
        R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
        R"("cached_catalog_status":null,"status":{1},"noop":false,"noop_pending":false,)"
        R"("corrective_change":false,"metrics":[],"logs":[],"resources":[{3}]}})",
        day, status, environment, events);
}

std::string event(int day, const std::string& title, const std::string& status) {
    return fmt::format(
        R"({{"timestamp":"2023-01-{0:02}T00:00:10.000Z","resource_type":"File",)"
        R"("resource_title":"{1}","skipped":false,"file":null,"line":null,)"
        R"("containment_path":["Stage[main]","Main","File[{1}]"],"corrective_change":false,)"
        R"("events":[{{"status":"{2}","property":"mode","old_value":"0644","new_value":"0600",)"
        R"("message":"m","timestamp":"2023-01-{0:02}T00:00:10.000Z",)"
        R"("corrective_change":false,"name":null}}]}})",
        day, title, status);
}

TEST_P(SearchIndex, CountsReportsAndNewestEvents) {
    auto send = [&](const std::string& body) {
        CommandHeader header;
        header.kind = CommandKind::StoreReport;
        header.version = 8;
        header.certname = "a";
        header.received = kNow;
        auto prepared = prepare_command(header, body, {});
        ASSERT_TRUE(prepared) << prepared.error().message;
        auto transaction = writer_->begin();
        ASSERT_TRUE((*prepared)->apply(*writer_));
        ASSERT_TRUE(transaction->commit());
    };
    send(report(2, "\"changed\"", event(2, "/x", "success")));
    send(report(2, "\"changed\"", event(2, "/x", "success")));  // a duplicate
    send(report(4, "\"failed\"", event(4, "/x", "failure") + "," + event(4, "/y", "success")));
    send(report(3, "\"changed\"", event(3, "/z", "success")));  // late
    send(report(1, "null", "", "test"));
    std::initializer_list<Case> cases = {
        {R"(["from","reports",["extract",["status",["function","count"]],["group_by","status"]],)"
         R"(["order_by",["status"]]])",
         R"([{"status":"changed","count":2},{"status":"failed","count":1},)"
         R"({"status":null,"count":1}])"},
        {R"(["from","reports",["extract",["environment",["function","count"]],)"
         R"(["group_by","environment"]],["order_by",[["count","desc"]]]])",
         R"([{"environment":"prod","count":3},{"environment":"test","count":1}])"},
        {"reports[count()]{ certname = 'a' and status = 'changed' }", R"([{"count":2}])"},
        {"reports[count()]{ type = 'plan' }", R"([{"count":0}])"},
        {"events[status, count()]{ latest_report? = true and status = 'failure' group by status }",
         R"([{"status":"failure","count":1}])"},
        {"events[count()]{ latest_report? = true and environment = 'prod' }", R"([{"count":2}])"},
        {"events[count()]{ latest_report? = true and certname = 'b' }", R"([{"count":0}])"},
        {"events[count()]{ }", R"([{"count":4}])"},
    };
    check(cases);
    auto counts = [&](const char* by, bool all) {
        QueryOptions options;
        options.summarize_by = by;
        auto rows = engine_->run(all ? "aggregate_event_counts" : "event_counts",
                                 read_query_json(R"(["=","latest_report?",true])"), options);
        return rows ? *rows : rows.error().message;
    };
    constexpr std::string_view kOfA =
        R"([{"failures":1,"skips":0,"successes":1,"noops":0,"subject_type":"certname",)"
        R"("subject":{"title":"a"}}])";
    EXPECT_EQ(counts("certname", false), kOfA);
    EXPECT_EQ(counts("containing_class", true),
              R"([{"failures":1,"skips":0,"successes":1,"noops":0,"total":1,)"
              R"("summarize_by":"containing_class"}])");
    bool pg = writer_->db().postgresql();
    open_after(BUNRAKU_NO_COUNTERS "UPDATE store_meta SET value = 7 WHERE name = 'schema'" +
               std::string(pg ? "" : "; PRAGMA user_version = 7"));
    check(cases);
    EXPECT_EQ(counts("certname", false), kOfA);

    // Deleted reports no longer count.
    Lifetimes lifetimes;
    lifetimes.report_ttl_ms = kNow - 1672704000000;  // 2023-01-03
    ASSERT_TRUE(purge_reports(*writer_, lifetimes, kNow, 100));
    check({{"reports[count()]{ }", R"([{"count":2}])"},
           {"events[count()]{ latest_report? = true }", R"([{"count":2}])"}});
    EXPECT_EQ(number("SELECT count(*) FROM report_counts"), 2);
    lifetimes.report_ttl_ms = 1000;
    ASSERT_TRUE(purge_reports(*writer_, lifetimes, kNow, 100));
    EXPECT_EQ(number("SELECT count(*) FROM report_counts"), 0);
    EXPECT_EQ(number("SELECT count(*) FROM latest_events"), 0);
    // Deleting a node also deletes its counts.
    send(report(5, "\"failed\"", event(5, "/x", "failure")));
    EXPECT_EQ(number("SELECT count(*) FROM latest_events"), 1);
    {
        auto transaction = writer_->begin();
        ASSERT_TRUE(purge_node(*writer_, "a"));
        ASSERT_TRUE(transaction->commit());
    }
    EXPECT_EQ(number("SELECT count(*) FROM report_counts"), 0);
    EXPECT_EQ(number("SELECT count(*) FROM latest_events"), 0);
}

TEST_P(SearchIndex, DashboardQueriesDoNotScanAllRows) {
    struct Question {
        std::string_view entity, query, summarize_by;
    };
    constexpr std::string_view kLatest = R"(["=","latest_report?",true])";
    const Question questions[] = {
        {"facts", R"(["extract",["name",["function","count"]],["group_by","name"]])", ""},
        {"resources", R"(["extract",["type",["function","count"]],["group_by","type"]])", ""},
        {"resources",
         R"(["extract",["type",["function","count"]],["=","environment","prod"],)"
         R"(["group_by","type"]])",
         ""},
        {"resources",
         R"(["extract",["title",["function","count"]],["=","type","Class"],["group_by","title"]])",
         ""},
        {"resources",
         R"(["extract",["environment",["function","count"]],["group_by","environment"]])", ""},
        {"reports", R"(["extract",["status",["function","count"]],["group_by","status"]])", ""},
        {"reports",
         R"(["extract",["environment",["function","count"]],["group_by","environment"]])", ""},
        {"events",
         R"(["extract",["status",["function","count"]],["=","latest_report?",true],)"
         R"(["group_by","status"]])",
         ""},
        {"event_counts", kLatest, "resource"},
        {"event_counts", kLatest, "certname"},
        {"event_counts", kLatest, "containing_class"},
        {"aggregate_event_counts", kLatest, "certname"},
    };
    // Queries must not read all rows of these tables. The size of the remaining tables depends on
    // the number of nodes, or of their different values.
    constexpr std::string_view kLarge[] = {
        "catalog_resources", "factset_facts", "resource_events", "report_data", "parameters",
        "parameter_values",  "fact_leaves",   "resources",       "reports",     "catalog_types"};
    for (const Question& q : questions) {
        QueryOptions options;
        if (!q.summarize_by.empty()) options.summarize_by = std::string(q.summarize_by);
        CompiledQuery compiled =
            compile_query(q.entity, read_query_json(q.query), options, writer_->db().backend());
        for (std::string_view table : kLarge) {
            std::string from = fmt::format(" {} ", table);
            EXPECT_EQ(compiled.sql.text.find(from), std::string::npos)
                << q.entity << " " << q.query << "\n"
                << compiled.sql.text;
        }
        // Verifies that the database accepts the statement.
        auto rows = engine_->run(q.entity, read_query_json(q.query), options);
        EXPECT_TRUE(rows) << rows.error().message;
    }
}

TEST_P(SearchIndex, PagesAreEqualWithAndWithoutIndex) {
    for (int i = 0; i < 20; ++i) {
        std::string node = fmt::format("n{:02}", i * 7 % 20);
        put(node,
            catalog(node, 1,
                    resource("Class", "Main", R"("class")", "{}") + "," +
                        resource("File", "/x", R"("file","web","ünï")", R"({"mode":"0600"})") +
                        "," + resource("File", "/" + node, R"("file")", "{}")));
        put_facts(*writer_, node, R"({"os":{"name":"Debian"},"n":)" + std::to_string(i) + "}",
                  kNow);
    }
    QueryEngineOptions all_are_many;
    all_are_many.many_rows = 0;
    QueryEngine second(where_, all_are_many);
    const std::pair<std::string_view, std::string_view> questions[] = {
        {"resources", R"(["extract",["certname","title"],["=","tag","web"]])"},
        {"resources",
         R"(["and",["=","type","File"],["~","title","^/n"],["=","node_state","active"]])"},
        {"resources", R"(["extract",["certname","title"],["and",["=","parameters.mode","0600"],)"
                      R"(["or",["=","tag","web"],["=","title","/n03"]]]])"},
        {"fact_contents", R"(["extract",["certname","value"],["~>","path",["os",".*"]]])"},
        {"fact_contents", R"(["and",["=","name","n"],[">","value",4]])"},
    };
    for (const auto& [entity, query] : questions) {
        for (bool descending : {false, true}) {
            QueryOptions options;
            options.limit = 7;
            options.offset = 3;
            options.order_by = {{"certname", descending}, {entity[0] == 'r' ? "title" : "value"}};
            Ast ast = read_query_json(query);
            CompiledQuery compiled = compile_query(entity, ast, options, engine_->backend());
            if (!compiled.alternative && engine_->backend() == Backend::Postgresql) continue;
            ASSERT_TRUE(compiled.alternative) << query;
            auto usual = engine_->run(entity, ast, options);
            ASSERT_TRUE(usual) << usual.error().message;
            EXPECT_EQ(read_query_json(*usual).size(), 7U) << query;
            auto other = second.run(entity, ast, options);
            ASSERT_TRUE(other) << other.error().message;
            EXPECT_EQ(*usual, *other) << query;
        }
    }
}

TEST_P(SearchIndex, MigratesSchemaTwo) {
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
    // Existing sets and values are reused.
    std::int64_t sets = number("SELECT count(*) FROM tag_sets");
    put("c", catalog("c", 1,
                     resource("Class", "Main", R"("class","main")", "{}") + "," +
                         resource("File", "/x", R"("file","web","ünï")", R"({"mode":"0700"})")));
    EXPECT_EQ(number("SELECT count(*) FROM tag_sets"), sets);
    EXPECT_EQ(ask("resources[certname]{ parameters.mode = '0700' }"), R"([{"certname":"c"}])");
}

TEST_P(SearchIndex, MigratesSchemaThree) {
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

TEST_P(SearchIndex, CatalogsContainTheirRows) {
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
    // Several rows, and one page of rows.
    EXPECT_EQ(read_query_json(ask("catalogs{}")).size(), 2U);
    Ast page = read_query_json(ask("catalogs{ order by certname desc limit 1 }"));
    ASSERT_EQ(page.size(), 1U);
    EXPECT_EQ(page[0].find("certname")->as_text(), "b");
}

TEST_P(SearchIndex, TimeLimitAppliesToOneQuery) {
    QueryOptions options;
    options.time_limit_ms = 1;
    std::string condition = R"(["~","title","(a|b|x)+$"])";
    auto run = engine_->run("resources", read_query_json(condition), options);
    // A small store may answer within a millisecond too, so the test only checks the error if there
    // is one.
    if (!run) {
        EXPECT_EQ(failure_of(run.error()), Failure::Timeout);
    }
    options.time_limit_ms = 60'000;
    EXPECT_TRUE(engine_->run("resources", read_query_json(condition), options));
}

BUNRAKU_ON_BACKENDS(SearchIndex);

TEST(ParameterHash, EqualNumbersAreStoredOnce) {
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
