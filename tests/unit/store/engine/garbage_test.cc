// SPDX-License-Identifier: Apache-2.0
// Tests the garbage collector on both backends: its steps are small, and other work continues in
// parallel.
#include "store/engine/garbage.h"

#include <atomic>
#include <fmt/format.h>
#include <thread>

#include "backends.h"
#include "store/db/command.h"
#include "store/engine/exports.h"
#include "store/engine/service.h"
#include "store/engine/store.h"

namespace bunraku::store {
namespace {

constexpr std::int64_t kDay = 86400LL * 1000;

class Garbage : public OnBackend {
protected:
    /// Adds `count` old reports of the node, each with `events` events.
    static void add_reports(Database& db, std::int64_t node, int count, int events) {
        std::string first = fmt::format("{}", node * 1000000);
        ASSERT_TRUE(db.execute(fmt::format(
            "INSERT INTO report_kinds (id, certname_id, puppet_version, report_format,"
            " configuration_version) VALUES ({0}, {0}, '8', 12, 'c') ON CONFLICT DO NOTHING",
            node)));
        ASSERT_TRUE(db.execute(fmt::format(
            "INSERT INTO reports (id, certname_id, kind_id, hash, start_time, end_time,"
            " producer_timestamp, receive_time, event_count) WITH RECURSIVE n (i) AS (SELECT 1"
            " UNION ALL SELECT i + 1 FROM n WHERE i < {0}) SELECT {1} + i, {2}, {2}, {4}, 1000,"
            " 1000, 1000 + i, 1000, {3} FROM n",
            count, first, node, events,
            db.postgresql() ? fmt::format("decode(md5(({} + i)::text), 'hex')", first)
                            : fmt::format("CAST('r' || ({} + i) AS BLOB)", first))));
        ASSERT_TRUE(db.execute(fmt::format(
            "INSERT INTO report_data (report_id, metrics, logs) SELECT id, '[]', '[]' FROM reports"
            " WHERE certname_id = {}",
            node)));
        ASSERT_TRUE(db.execute(fmt::format(
            "INSERT INTO resource_events (certname_id, report_id, seq, status, timestamp,"
            " resource_type, resource_title) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL"
            " SELECT i + 1 FROM n WHERE i < {0}) SELECT {1}, r.id, n.i, 'success', 1000, 'File',"
            " '/' || n.i FROM reports r, n WHERE r.certname_id = {1}",
            events, node)));
        ASSERT_TRUE(
            db.execute(fmt::format("UPDATE certnames SET latest_report_id = {0} + {1},"
                                   " latest_report_timestamp = 1000 + {1} WHERE id = {2}",
                                   first, count, node)));
    }
    static std::int64_t number(Database& db, const std::string& sql) {
        auto s = db.prepare_once(sql);
        if (!s || !s->step()) return -1;
        return s->integer(0);
    }
    static std::string facts(std::string_view certname, int value) {
        return fmt::format(
            R"({{"certname":"{}","environment":"e","producer":"p","producer_timestamp":{},)"
            R"("values":{{"common":"x","n":{}}}}})",
            certname, now_ms() + value, value);
    }
};
BUNRAKU_ON_BACKENDS(Garbage);

TEST_P(Garbage, LimitsSizeOfSteps) {
    auto writer = Writer::open(where_, {.durable = false});
    ASSERT_TRUE(writer) << writer.error().message;
    Writer& w = **writer;
    ASSERT_TRUE(
        w.db().execute("INSERT INTO certnames (id, certname, deactivated) VALUES (1, 'gone', 1000),"
                       " (2, 'lives', NULL), (3, 'busy', NULL)"));
    add_reports(w.db(), 1, 1200, 10);
    add_reports(w.db(), 2, 900, 30);
    add_reports(w.db(), 3, 30, 4000);
    Lifetimes lifetimes;
    auto reports = [&] { return number(w.db(), "SELECT count(*) FROM reports"); };
    auto events = [&] { return number(w.db(), "SELECT count(*) FROM resource_events"); };
    // The reports of a node are removed first, in several steps.
    std::size_t nodes = 0;
    int steps = 0;
    for (bool more = true; more; ++steps) {
        std::int64_t before = reports();
        auto step = purge_nodes(w, lifetimes, 100 * kDay, 10);
        ASSERT_TRUE(step) << step.error().message;
        EXPECT_LE(before - reports(), 500);
        nodes += step->done;
        more = step->more;
    }
    EXPECT_EQ(nodes, 1U);
    EXPECT_EQ(steps, 4);  // 500, 500 and 200 reports, then the node
    EXPECT_EQ(number(w.db(), "SELECT count(*) FROM certnames"), 2);
    EXPECT_EQ(number(w.db(), "SELECT count(*) FROM reports WHERE certname_id = 1"), 0);
    // Reports of other nodes: the number of reports and of events per step is limited.
    for (bool more = true; more;) {
        std::int64_t had = reports(), had_events = events();
        auto step = purge_reports(w, lifetimes, 100 * kDay, 200);
        ASSERT_TRUE(step) << step.error().message;
        EXPECT_LE(had - reports(), 200);
        EXPECT_LT(had_events - events(), 5000 + 4000);
        more = step->more;
    }
    EXPECT_EQ(reports(), 0);
    EXPECT_EQ(events(), 0);
    EXPECT_EQ(number(w.db(), "SELECT count(*) FROM report_data"), 0);
    EXPECT_EQ(number(w.db(), "SELECT count(*) FROM report_kinds"), 0);
    EXPECT_EQ(number(w.db(), "SELECT count(*) FROM certnames WHERE latest_report_id IS NULL"), 2);
    // Events with a shorter lifetime than their reports.
    add_reports(w.db(), 2, 100, 50);
    lifetimes.resource_events_ttl_ms = kDay;
    for (bool more = true; more;) {
        std::int64_t had = events();
        auto step = purge_events(w, lifetimes, 100 * kDay, 2000);
        ASSERT_TRUE(step) << step.error().message;
        EXPECT_LE(had - events(), 2000);
        more = step->more;
    }
    EXPECT_EQ(events(), 0);
    EXPECT_EQ(reports(), 100);
}

/// Matches PuppetDB 7.12.
TEST_P(Garbage, ExpiresInactiveNodes) {
    auto opened = Writer::open(where_, {.durable = false});
    ASSERT_TRUE(opened) << opened.error().message;
    Writer& w = **opened;
    constexpr std::int64_t kNow = 20'000 * kDay, kOld = kNow - 10 * kDay, kFresh = kNow - kDay;
    const auto send = [&](CommandKind kind, int version, std::string node, std::int64_t at,
                          std::string_view rest) {
        const std::string body =
            fmt::format(R"({{"certname":"{}","producer_timestamp":{}{}}})", node, at, rest);
        auto command = prepare_command({kind, version, node, at, 0}, body, {});
        ASSERT_TRUE(command) << command.error().message;
        auto transaction = w.begin();
        ASSERT_TRUE(transaction);
        auto applied = (*command)->apply(w);
        ASSERT_TRUE(applied) << applied.error().message;
        ASSERT_TRUE(transaction->commit());
    };
    const auto facts = [&](const char* node, std::int64_t at) {
        send(CommandKind::ReplaceFacts, 5, node, at,
             R"(,"environment":"e","producer":"p","values":{"a":1})");
    };
    const auto inputs = [&](const char* node, std::int64_t at) {
        send(CommandKind::ReplaceCatalogInputs, 1, node, at,
             R"(,"catalog_uuid":"a1b2c3d4-0000-4000-8000-000000000001","inputs":[["hiera","a"]])");
    };
    const auto configure = [&](const char* node, std::int64_t at, bool expire) {
        send(CommandKind::ConfigureExpiration, 1, node, at,
             fmt::format(R"(,"expire":{{"facts":{}}})", expire));
    };
    facts("facts old", kOld);
    facts("facts fresh", kFresh);
    inputs("inputs old", kOld);
    facts("inputs fresh", kOld);
    inputs("inputs fresh", kFresh);
    facts("configured old", kOld);
    configure("configured old", kOld, true);
    facts("configured fresh", kOld);
    configure("configured fresh", kFresh, true);
    facts("never", kOld);
    configure("never", kOld, false);
    facts("deactivated", kOld);
    send(CommandKind::DeactivateNode, 3, "deactivated", kOld, "");
    ASSERT_TRUE(w.db().execute(fmt::format(
        "INSERT INTO certnames (certname, latest_report_timestamp) VALUES ('bare', NULL),"
        " ('report old', {}), ('report fresh', {})",
        kOld, kFresh)));
    ASSERT_TRUE(remember_collections(w, "collects", {"File null"}));
    auto step = expire_nodes(w, {}, kNow, 100);
    ASSERT_TRUE(step) << step.error().message;
    EXPECT_EQ(step->done, 5U);
    std::string expired;
    auto s = w.db().prepare_once("SELECT certname FROM certnames WHERE expired = ? ORDER BY 1");
    ASSERT_TRUE(s);
    s->bind(kNow);
    while (*s->step()) expired += fmt::format("{}, ", s->text(0));
    EXPECT_EQ(expired, "bare, configured old, facts old, inputs old, report old, ");
}

/// Data of the day that was one lifetime ago stays until the end of that day.
TEST_P(Garbage, RemovesReportsAndEventsByDay) {
    auto opened = Writer::open(where_, {.durable = false});
    ASSERT_TRUE(opened) << opened.error().message;
    Writer& w = **opened;
    ASSERT_TRUE(w.db().execute("INSERT INTO certnames (id, certname) VALUES (1, 'n')"));
    add_reports(w.db(), 1, 2, 3);  // a second after midnight
    Lifetimes lifetimes;
    lifetimes.report_ttl_ms = 5 * kDay;
    const auto left = [&](std::int64_t now) {
        EXPECT_TRUE(purge_events(w, lifetimes, now, 100));
        const auto events = number(w.db(), "SELECT count(*) FROM resource_events");
        EXPECT_TRUE(purge_reports(w, lifetimes, now, 100));
        return fmt::format("{} {}", number(w.db(), "SELECT count(*) FROM reports"), events);
    };
    EXPECT_EQ(left(6 * kDay - 1), "2 6");
    EXPECT_EQ(left(6 * kDay), "0 0");
}

/// `purge_resource_events` and `purge_reports` of the command `clean` have lifetimes of their own:
/// a report outlives its events, and reports alone take the events of their age with them.
TEST_P(Garbage, CleansEventsAndReportsSeparately) {
    const std::int64_t now = now_ms();
    ServiceOptions options;
    options.database = where_;
    options.queue_folder = folder_ / "q";
    options.durable = false;
    options.gc_interval_ms = 0;
    options.lifetimes.report_ttl_ms = 14 * kDay;
    options.lifetimes.resource_events_ttl_ms = kDay;
    auto service = Service::start(std::move(options));
    ASSERT_TRUE(service) << service.error().message;
    Service& s = **service;
    ASSERT_TRUE(s.with_writer([&](Writer& w) -> Result<void> {
        BUNRAKU_TRY_VOID(w.db().execute("INSERT INTO certnames (id, certname) VALUES (1, 'n')"));
        add_reports(w.db(), 1, 3, 2);
        // The second report has outlived its events, and the third has outlived itself.
        for (const auto& [id, age] : {std::pair{1000001, 0}, {1000002, 5}, {1000003, 30}}) {
            const std::int64_t at = now - age * kDay;
            BUNRAKU_TRY_VOID(w.db().execute(
                fmt::format("UPDATE reports SET producer_timestamp = {} WHERE id = {}", at, id)));
            BUNRAKU_TRY_VOID(w.db().execute(fmt::format(
                "UPDATE resource_events SET timestamp = {} WHERE report_id = {}", at, id)));
        }
        return {};
    }));
    const auto left = [&](const CleanWhat& what) {
        const auto done = s.clean(what);
        EXPECT_TRUE(done && *done);
        auto reader = s.reader();
        EXPECT_TRUE(reader);
        return fmt::format("{} {}", number(**reader, "SELECT count(*) FROM reports"),
                           number(**reader, "SELECT count(*) FROM resource_events"));
    };
    EXPECT_EQ(left({.expire_nodes = true, .purge_nodes = true}), "3 6");
    EXPECT_EQ(left({.purge_reports = true}), "2 4");
    EXPECT_EQ(left({.purge_events = true}), "2 2");
    EXPECT_EQ(left({.purge_reports = true, .purge_events = true}), "2 2");
}

TEST_P(Garbage, RemovesNodesInSteps) {
    ServiceOptions options;
    options.database = where_;
    options.queue_folder = folder_ / "q";
    options.durable = false;
    options.gc_interval_ms = 0;
    auto service = Service::start(std::move(options));
    ASSERT_TRUE(service) << service.error().message;
    Service& s = **service;
    ASSERT_TRUE(s.with_writer([&](Writer& w) -> Result<void> {
        BUNRAKU_TRY_VOID(w.db().execute("INSERT INTO certnames (id, certname) VALUES (1, 'n')"));
        add_reports(w.db(), 1, 1100, 3);
        return {};
    }));
    auto known = s.delete_node("n");
    ASSERT_TRUE(known) << known.error().message;
    EXPECT_TRUE(*known);
    auto reader = s.reader();
    ASSERT_TRUE(reader);
    EXPECT_EQ(number(**reader,
                     "SELECT (SELECT count(*) FROM certnames) + (SELECT count(*) FROM reports)"
                     " + (SELECT count(*) FROM resource_events)"),
              0);
}

TEST_P(Garbage, KeepsCachesOfOtherWriters) {
    const auto removals = std::make_shared<Removals>();
    auto first = Writer::open(where_, {.durable = false, .removals = removals});
    auto second = Writer::open(where_, {.durable = false, .removals = removals});
    ASSERT_TRUE(first && second);
    Writer &a = **first, &b = **second;
    put_facts(a, "n", R"({"x":1,"y":1})", 1'700'000'000'000);
    EXPECT_EQ(a.facts.size(), 2U);
    const auto cached = [&] {
        auto transaction = a.begin();
        EXPECT_TRUE(transaction);
        return a.facts.size();
    };
    const auto remove = [&] {
        const auto removed = remove_content(b, 100, INT64_MAX);
        EXPECT_TRUE(removed);
        return removed->removed;
    };
    put_facts(b, "n", R"({"x":1,"y":2})", 1'700'000'000'001);
    EXPECT_EQ(remove(), 1U);
    EXPECT_EQ(cached(), 1U);
    // The removed value gets a new id.
    put_facts(a, "n", R"({"x":1,"y":1})", 1'700'000'000'002);
    EXPECT_EQ(number(a.db(), "SELECT count(*) FROM facts WHERE name = 'y' AND match = '1'"), 1);
    EXPECT_EQ(remove(), 1U);
    ASSERT_TRUE(begin_search(b));
    EXPECT_EQ(cached(), 2U);
    // A removal that does not list what it removes.
    {
        auto transaction = b.begin_removal();
        ASSERT_TRUE(transaction && transaction->commit());
    }
    EXPECT_EQ(cached(), 0U);
}

TEST_P(Garbage, RunsConcurrentlyWithWriters) {
    ServiceOptions options;
    options.database = where_;
    options.queue_folder = folder_ / "q";
    options.durable = false;
    options.workers = 2;
    options.gc_interval_ms = 0;
    options.lifetimes.node_ttl_ms = kDay;
    options.lifetimes.node_purge_ttl_ms = 1;
    options.lifetimes.report_ttl_ms = kDay;
    std::mutex mutex;
    std::string problems;
    options.log = [&](std::string_view level, const std::string& text) {
        std::lock_guard lock(mutex);
        problems += fmt::format("{}: {}\n", level, text);
    };
    auto service = Service::start(std::move(options));
    ASSERT_TRUE(service) << service.error().message;
    Service& s = **service;
    // Many inactive nodes with their own facts and old reports.
    constexpr int kOld = 30, kLive = 8;
    CommandHeader header;
    header.kind = CommandKind::ReplaceFacts;
    header.version = 5;
    for (int i = 0; i < kOld; ++i) {
        header.certname = fmt::format("old{}", i);
        ASSERT_TRUE(s.submit(
            header,
            fmt::format(
                R"({{"certname":"old{0}","environment":"gone","producer":"p","values":)"
                R"({{"own{0}":"{0}","n":{0}}},"producer_timestamp":"2001-01-01T00:00:00Z"}})",
                i)));
    }
    ASSERT_TRUE(s.drain(std::chrono::seconds(60)));
    ASSERT_TRUE(s.with_writer([&](Writer& w) -> Result<void> {
        for (int i = 0; i < kOld; ++i) {
            std::int64_t id =
                number(w.db(), fmt::format("SELECT id FROM certnames WHERE certname = 'old{}'", i));
            add_reports(w.db(), id, 40, 5);
        }
        return {};
    }));
    std::atomic<bool> cleaning{true};
    std::thread collector([&] {
        // Nodes expire in one cycle and are purged in the next one, because the purge time is a
        // millisecond.
        for (int i = 0; i < 3; ++i) {
            auto done = s.clean(CleanWhat::all());
            EXPECT_TRUE(done) << done.error().message;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        cleaning = false;
    });
    int n = 0;
    while (cleaning || n < 20) {
        ++n;
        for (int i = 0; i < kLive; ++i) {
            header.certname = fmt::format("live{}", i);
            ASSERT_TRUE(s.submit(header, facts(header.certname, n)));
        }
        auto reader = s.reader();
        ASSERT_TRUE(reader);
        EXPECT_GE(number(**reader, "SELECT count(*) FROM factset_facts"), 0);
        // Commands are added faster than they are processed. Without a limit, the test would mostly
        // process the commands that were added while the cleaning waited for the workers.
        if (n % 8 == 0) {
            ASSERT_TRUE(s.drain(std::chrono::seconds(600)));
        }
    }
    collector.join();
    ASSERT_TRUE(s.drain(std::chrono::seconds(600)));
    ASSERT_TRUE(s.clean(CleanWhat::all()));
    auto reader = s.reader();
    ASSERT_TRUE(reader);
    EXPECT_EQ(number(**reader, "SELECT count(*) FROM certnames"), kLive);
    EXPECT_EQ(number(**reader, "SELECT count(*) FROM reports"), 0);
    EXPECT_EQ(number(**reader, "SELECT count(*) FROM resource_events"), 0);
    EXPECT_EQ(number(**reader, "SELECT count(*) FROM environments"), 1);
    EXPECT_EQ(number(**reader, "SELECT count(*) FROM facts WHERE name LIKE 'own%'"), 0);
    EXPECT_EQ(
        number(**reader, fmt::format("SELECT count(*) FROM factset_facts l JOIN facts f ON f.id ="
                                     " l.fact_id WHERE f.name = 'n' AND f.match = '{}'",
                                     n)),
        kLive);
    EXPECT_EQ(problems, "");
    EXPECT_EQ(s.health().dead_letters, 0U);
}

}  // namespace
}  // namespace bunraku::store
