// SPDX-License-Identifier: Apache-2.0
// Queries of dashboards must not scan a large table. The test checks the query plans of the
// generated statements, on both backends.
#include <array>
#include <fmt/format.h>
#include <memory>

#include "backends.h"
#include "core/value/rich_data.h"
#include "store/db/command.h"
#include "store/engine/catalog_view.h"
#include "store/engine/export_pages.h"
#include "store/engine/node_exports.h"
#include "store/engine/runs.h"
#include "store/query/compile.h"
#include "store/query/pql.h"

namespace bunraku::store {
namespace {

/// The size of each is proportional to the number of nodes.
constexpr std::array<std::string_view, 12> kLarge = {
    "catalog_resources", "resources",       "parameters",       "parameter_values",
    "factset_facts",     "facts",           "fact_leaves",      "reports",
    "report_data",       "resource_events", "catalog_versions", "factset_versions"};

struct Question {
    std::string_view name, text;
    std::string_view entity = {};  ///< the entity of this endpoint, if the query is not PQL
    std::string_view summarize_by = {}, order_by = {};
};
constexpr std::string_view kLatest = R"(["=","latest_report?",true])";
constexpr Question kQuestions[] = {
    {"facts counted by name", "facts[name, count()]{ group by name }"},
    {"resources by tag, a page",
     "resources{ tag = 'nginx' order by certname, type, title limit 50 }"},
    {"fact-contents ~>, a page",
     "fact_contents{ path ~> ['networking','interfaces','.*','ip'] order by certname limit 50 }"},
    {"fact-contents by value",
     "fact_contents{ name = 'processors' and value > 4 order by certname limit 50 }"},
    {"aggregate event counts", kLatest, "aggregate-event-counts", "certname"},
    {"event counts by resource", kLatest, "event-counts", "resource", "successes"},
    {"type and title pattern, a page",
     "resources{ type = 'File' and title ~ '^base-1' order by certname, title limit 50 }"},
    {"file and line grouped", "resources[file, line, count()]{ group by file, line }"},
    {"files of some nodes",
     "resources[file, count()]{ certname ~ '^n1' and line > 5 group by file }"},
    {"reports by environment", "reports[environment, count()]{ group by environment }"},
    {"exported, all of a type", "resources{ type = 'Sshkey' and exported = true }"},
    {"types in an environment",
     "resources[type, count()]{ environment = 'production' group by type }"},
    {"classes in an environment",
     "resources[title, count()]{ type = 'Class' and environment = 'production' group by title }"},
    {"fact by name", "facts{ name = 'kernel' }"},
    {"nodes by time of report", "nodes{ order by report_timestamp desc limit 50 }"},
    {"facts of a node",
     "facts[name, value]{ certname = 'n1' and node_state = 'any' order by name }"},
    {"some facts of a node", "inventory[facts.kernel, facts.processors.count]{ certname = 'n1' }"},
    {"a fact column of a page of nodes",
     "fact_contents[certname, value]{ certname in ['n1', 'n2'] and path = ['processors', 'count'] "
     "}"},
    {"classes of a node",
     "resources[title]{ certname = 'n1' and type = 'Class' and node_state = 'any' order by title "
     "}"},
    {"resources of a title", "resources[count()]{ type = 'File' and title = '/etc/motd' }"},
    {"newest reports by status",
     "reports[certname, status]{ latest_report? = true and status = 'failed' }"},
    {"facts of some nodes", "inventory{ facts.kernel = 'Linux' order by certname limit 50 }"},
    {"packages counted",
     "package_inventory[package_name, version, count()]{ group by package_name, version }"},
    {"events by status", "events[status, count()]{ latest_report? = true group by status }"},
};

class Plans : public OnWriter {
protected:
    void SetUp() override {
        OnWriter::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        for (int n = 0; n < 20; ++n) fill(fmt::format("n{}", n));
        if (db().postgresql()) pretend_large_store();
    }
    Database& db() { return writer_->db(); }
    void fill(const std::string& node) {
        std::string resources = R"({"type":"Sshkey","title":")" + node +
                                R"(","exported":true,"tags":["a"],"parameters":{"key":")" + node +
                                "\"}}";
        for (int i = 0; i < 40; ++i) {
            resources +=
                fmt::format(R"(,{{"type":"{}","title":"base-{}","exported":false,"tags":["t{}"],)"
                            R"("file":"/m/{}.pp","line":{},"parameters":{{"own":"{}"}}}})",
                            i % 2 ? "File" : "Class", i, i, i % 4, i, i % 5 ? "" : node);
        }
        put_catalog(*writer_, node,
                    R"({"certname":")" + node +
                        R"(","version":"1","environment":"production","transaction_uuid":null,)"
                        R"("catalog_uuid":null,"code_id":null,"producer":"p","producer_timestamp":)"
                        R"("2023-01-01T00:00:00Z","edges":[],"resources":[)" +
                        resources + "]}",
                    1);
        put_facts(*writer_, node,
                  R"({"kernel":"Linux","ipaddress":")" + node +
                      R"(","processors":{"count":8},"networking":{"interfaces":{"lo":{"ip":")" +
                      node + R"("}}}})",
                  1);
        put_report(node);
    }
    void put_report(const std::string& node) {
        const std::string body =
            R"({"certname":")" + node +
            R"(","puppet_version":"8","report_format":12,"configuration_version":"c",)"
            R"("start_time":"2023-11-14T22:00:00Z","end_time":"2023-11-14T22:00:00Z",)"
            R"("producer_timestamp":"2023-11-14T22:00:00Z","producer":null,"environment":"e",)"
            R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,"status":"changed",)"
            R"("cached_catalog_status":null,"noop":false,"noop_pending":false,)"
            R"("corrective_change":false,"metrics":[],"logs":[],"resources":[{"timestamp":)"
            R"("2023-11-14T22:00:00Z","resource_type":"File","resource_title":"/1","skipped":)"
            R"(false,"file":null,"line":null,"containment_path":["C"],"corrective_change":null,)"
            R"("events":[{"status":"success","timestamp":"2023-11-14T22:00:00Z","property":)"
            R"("mode","name":null,"new_value":"a","old_value":"b","message":"m",)"
            R"("corrective_change":null}]}]})";
        auto report = prepare_command({CommandKind::StoreReport, 8, node, 1, 0}, body, {});
        ASSERT_TRUE(report) << report.error().message;
        auto transaction = writer_->begin();
        ASSERT_TRUE(transaction);
        ASSERT_TRUE((*report)->apply(*writer_));
        ASSERT_TRUE(transaction->commit());
    }
    /// A full scan is the right plan for a small store, so this sets statistics of a large one.
    void pretend_large_store() {
        ASSERT_TRUE(db().execute("ANALYZE"));
        auto grown = db().execute(
            "UPDATE pg_class SET reltuples = reltuples * CASE WHEN relname LIKE 'report%' OR"
            " relname LIKE 'resource_events%' THEN 250000 ELSE 500 END WHERE relnamespace ="
            " current_schema()::regnamespace AND reltuples > 0");
        if (!grown) GTEST_SKIP() << grown.error().message;
    }

    /// Returns the lines of a plan that scan a large table.
    std::vector<std::string> scans(const query::Sql& sql) {
        const bool pg = db().postgresql();
        auto s =
            db().prepare_once((pg ? "EXPLAIN (FORMAT JSON) " : "EXPLAIN QUERY PLAN ") + sql.text);
        if (!s) return {s.error().message + ": " + sql.text};
        for (const query::BoundValue& v : sql.values) bind(*s, v);
        std::vector<std::string> out;
        for (;;) {
            auto row = s->step();
            if (!row) return {row.error().message + ": " + sql.text};
            if (!*row) return out;
            if (pg) {
                base::Arena arena(4096);
                auto plan = value::parse_json(arena, s->text(0));
                if (plan) look(*plan, out);
            } else {
                look(sql.text, s->text(3), out);
            }
        }
    }
    static void bind(Statement& s, const query::BoundValue& v) {
        if (const auto* i = std::get_if<std::int64_t>(&v)) {
            s.bind(*i);
        } else if (const auto* d = std::get_if<double>(&v)) {
            s.bind(*d);
        } else if (const auto* b = std::get_if<query::Blob>(&v)) {
            s.bind_blob(b->bytes);
        } else if (const auto* t = std::get_if<std::string>(&v)) {
            s.bind(*t);
        } else if (std::get<query::Listed>(v).part == query::Listed::Packed) {
            s.bind_blob("");
        } else {
            s.bind("{1,2,3}");
        }
    }
    /// SQLite: looks for "SCAN alias .."; the table for the alias is in the statement.
    static void look(std::string_view sql, std::string_view line, std::vector<std::string>& out) {
        if (!line.starts_with("SCAN ")) return;
        const std::string_view alias = line.substr(5, line.find(' ', 5) - 5);
        for (std::string_view table : kLarge) {
            const std::string named = fmt::format(" {} {} ", table, alias);
            if (alias == table || (std::string(sql) + " ").find(named) != std::string::npos) {
                out.emplace_back(line);
            }
        }
    }
    /// PostgreSQL: looks for a plan node that reads a table without an index condition.
    /// `one_row` is true below a limit of one row, which needs only the first entry of an index.
    static void look(const value::Value& plan, std::vector<std::string>& out,
                     bool one_row = false) {
        if (plan.is_array()) {
            for (const value::Value& item : plan.as_array()) look(item, out, one_row);
        }
        if (!plan.is_hash()) return;
        auto text = [&](std::string_view key) {
            const value::Value* v = plan.as_hash().find(key);
            return v && v->is_string() ? std::string(v->as_string()) : std::string();
        };
        const std::string relation = text("Relation Name"), kind = text("Node Type");
        const bool first_entry = one_row && kind == "Index Only Scan" && text("Filter").empty();
        const bool found = kind == "Bitmap Heap Scan" || !text("Index Cond").empty() || first_entry;
        if (!found && std::ranges::find(kLarge, relation) != kLarge.end()) {
            out.push_back(fmt::format("{} on {} {}", kind, relation, text("Filter")));
        }
        const value::Value* rows = plan.as_hash().find("Plan Rows");
        const bool limited =
            kind == "Limit" && rows && rows->is_integer() && rows->as_integer() == 1;
        for (const auto& [key, value] : plan.as_hash()) look(value, out, limited);
    }
};
BUNRAKU_ON_BACKENDS(Plans);

query::CompiledQuery compiled(const Question& q, Backend backend) {
    query::QueryOptions options;
    if (q.entity.empty()) {
        query::FromQuery from =
            query::parse_from(query::root_query(query::parse_pql(std::string(q.text))), options);
        return query::compile_query(from.entity, from.query, options, backend);
    }
    options.summarize_by = std::string(q.summarize_by);
    if (!q.order_by.empty()) {
        options.order_by = {{std::string(q.order_by), true}};
        options.limit = 100;
    }
    return query::compile_query(q.entity, query::read_query_json(std::string(q.text)), options,
                                backend);
}

TEST_P(Plans, DashboardQueriesScanNoLargeTable) {
    for (const Question& q : kQuestions) {
        const query::CompiledQuery c = compiled(q, GetParam());
        std::vector<std::pair<std::string_view, query::Sql>> statements = {{"rows", c.sql}};
        if (c.alternative) {
            statements.emplace_back("probe", c.alternative->probe);
            statements.emplace_back("other way", c.alternative->sql);
        }
        if (c.content) statements.emplace_back("content", c.content->rows);
        if (c.lists) statements.emplace_back("lists", *c.lists);
        for (const auto& [what, sql] : statements) {
            const auto found = scans(sql);
            EXPECT_TRUE(found.empty())
                << q.name << ", " << what << ": " << fmt::format("{}", found.front()) << "\n"
                << sql.text;
        }
    }
}

TEST_P(Plans, CatalogsOfNodesScanNoLargeTable) {
    if (db().postgresql()) {
        // Otherwise the 20 nodes of the test seem to have thousands of resources each.
        ASSERT_TRUE(db().execute(
            "ALTER TABLE catalog_resources ALTER COLUMN certname_id SET (n_distinct = -0.02);"
            "ANALYZE catalog_resources"));
        ASSERT_TRUE(
            db().execute("UPDATE pg_class SET reltuples = reltuples * 500 WHERE relname ="
                         " 'catalog_resources' AND relnamespace ="
                         " current_schema()::regnamespace"));
    }
    auto statements = catalog_view_statements(GetParam());
    for (auto& text : node_exports_statements()) statements.push_back(std::move(text));
    for (const auto& text : statements) {
        query::Sql sql(text);
        // A node that is not one of the most common values, as almost all nodes of a large fleet.
        sql.values.emplace_back(std::int64_t{1'000'000});
        if (text.find("?2") != std::string::npos) sql.values.emplace_back(std::int64_t{100});
        const auto found = scans(sql);
        EXPECT_TRUE(found.empty()) << fmt::format("{}", found.front()) << "\n" << text;
    }
}

TEST_P(Plans, ExportsScanNoLargeTable) {
    const auto check = [&](query::Sql sql) {
        const auto found = scans(sql);
        EXPECT_TRUE(found.empty()) << found.front() << "\n" << sql.text;
    };
    check(query::Sql(std::string(kExportedTypesSql)));
    check(query::Sql(std::string(kCollectedTypesSql)));
    for (const bool orphans : {false, true}) {
        query::Sql sql(exports_sql({"r.title = ?"}, orphans));
        sql.values = {std::string("t"), std::string("Sshkey"), std::string("a"), std::string("a"),
                      std::string("n")};
        if (orphans) sql.values.emplace_back(std::string("t"));
        sql.values.emplace_back(std::int64_t{100});
        check(std::move(sql));
    }
}

TEST_P(Plans, GroupsOfTheFleetScanNoLargeTable) {
    const auto check = [&](std::string_view text, std::vector<query::BoundValue> values) {
        query::Sql sql{std::string(text)};
        sql.values = std::move(values);
        const auto found = scans(sql);
        EXPECT_TRUE(found.empty()) << found.front() << "\n" << sql.text;
    };
    check(kFactValuesSql, {std::string("kernel")});
    check(kClassValuesSql, {std::string("Role"), std::string("Role::"), std::string("Role::")});
}

/// PostgreSQL chooses other plans for a small store, so this checks the statements.
TEST(PostgresqlStatements, ReadRowsOfPagesAndNodesByIndex) {
    const auto sql = [](std::string_view text) {
        return compiled({"", text}, Backend::Postgresql).sql.text;
    };
    const auto count = [](const std::string& in, std::string_view word) {
        std::size_t out = 0;
        for (auto at = in.find(word); at != in.npos; at = in.find(word, at + 1)) ++out;
        return out;
    };
    EXPECT_EQ(count(sql("inventory{ facts.kernel = 'Linux' }"), "df.id = ANY (ARRAY("), 1u);
    EXPECT_EQ(count(sql("factsets{}"), "df.id = ANY (ARRAY("), 1u);
    EXPECT_EQ(count(sql("nodes{ order by report_timestamp limit 50 }"), "c.id = ANY (ARRAY("), 1u);
    EXPECT_EQ(count(sql("nodes{ order by report_timestamp limit 5000 }"), "ANY (ARRAY("), 0u);
    constexpr std::string_view kJoined = "JOIN factsets fs", kLate = "FROM factsets ls";
    const std::string page = sql("facts{ name = 'kernel' order by certname limit 50 }");
    EXPECT_EQ(count(page, kJoined), 0u) << page;
    EXPECT_EQ(count(page, kLate), 1u) << page;
    for (const char* text : {"facts{ name = 'kernel' order by environment limit 50 }",
                             "facts{ environment = 'e' order by certname limit 50 }"}) {
        EXPECT_EQ(count(sql(text), kJoined), 1u) << text;
    }
    EXPECT_EQ(count(sql("facts{ name = 'kernel' }"), kLate), 0u);
    const std::string events = sql("events{ status = 'success' order by timestamp limit 50 }");
    EXPECT_EQ(count(events, "JOIN reports rp"), 0u) << events;
    EXPECT_EQ(count(events, "FROM reports lr"), 6u) << events;
    EXPECT_EQ(count(sql("reports{ latest_report? = true and status = 'failed' }"),
                    "JOIN certnames c ON c.latest_report_id = rp.id"),
              1u);
    EXPECT_EQ(count(sql("reports{ latest_report? = true or status = 'failed' }"),
                    "JOIN certnames c ON c.id = rp.certname_id"),
              1u);
}

/// Verifies that the test detects a scan.
TEST_P(Plans, DetectsFullScan) {
    EXPECT_FALSE(scans(query::Sql("SELECT count(*) FROM catalog_resources cr JOIN resources r"
                                  " ON r.id = cr.resource_id WHERE r.line = 1 "))
                     .empty());
}

}  // namespace
}  // namespace bunraku::store
