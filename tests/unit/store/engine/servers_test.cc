// SPDX-License-Identifier: Apache-2.0
// Tests several servers on one database, and that they do not disturb each other.
#include <fmt/format.h>
#include <fstream>
#include <mutex>
#include <thread>

#include "backends.h"
#include "store/db/command.h"
#include "store/db/replica.h"
#include "store/db/schema.h"
#include "store/engine/query_engine.h"
#include "store/engine/service.h"
#include "store/engine/store.h"

namespace bunraku::store {
namespace {

using std::chrono::milliseconds;

std::string catalog_at(std::string_view node, int second, std::string_view title) {
    return fmt::format(
        R"({{"certname":"{}","version":"1","environment":"e","transaction_uuid":null,)"
        R"("catalog_uuid":null,"code_id":null,"producer":"p","producer_timestamp":)"
        R"("2023-11-14T22:00:{:02}Z","resources":[{{"type":"File","title":"{}","exported":false,)"
        R"("tags":["x"],"parameters":{{}}}}],"edges":[]}})",
        node, second, title);
}

std::string facts_of(std::string_view node) {
    return fmt::format(R"({{"certname":"{}","environment":"e","producer":"p","producer_timestamp":)"
                       R"("2023-11-14T22:00:00Z","values":{{"a":1}}}})",
                       node);
}

std::unique_ptr<Writer> open_writer(const std::string& where) {
    auto writer = Writer::open(where, {});
    EXPECT_TRUE(writer) << writer.error().message;
    return writer ? std::move(*writer) : nullptr;
}

std::string one(Database& db, std::string_view sql) {
    auto s = db.prepare_once(sql);
    if (!s) return s.error().message;
    auto row = s->step();
    if (!row) return row.error().message;
    return *row ? std::string(s->text(0)) : "nothing";
}

class Servers : public testing::Test {
protected:
    void SetUp() override {
        auto url = fresh_postgresql();
        if (!url) GTEST_SKIP() << "no PostgreSQL (BUNRAKU_TEST_POSTGRESQL, or its programs)";
        where_ = *url;
    }
    Result<std::unique_ptr<Service>> start(const std::string& queue) {
        ServiceOptions options;
        options.database = where_;
        options.queue_folder = folder_ / queue;
        options.durable = false;
        return Service::start(std::move(options));
    }
    TempFolder folder_;
    std::string where_;
};

TEST_F(Servers, OlderCatalogOfNewNodeIsObsolete) {
    auto first = open_writer(where_), second = open_writer(where_);
    const std::string newer = catalog_at("n", 2, "new"), older = catalog_at("n", 1, "old");
    auto command = prepare_command({CommandKind::ReplaceCatalog, 9, "n", 1, 0}, newer, {});
    ASSERT_TRUE(command);
    std::thread other;
    {
        auto transaction = first->begin();
        ASSERT_TRUE(transaction);
        ASSERT_TRUE((*command)->apply(*first));
        // Neither server has data of the node yet.
        other = std::thread([&] { put_catalog(*second, "n", older, 1); });
        std::this_thread::sleep_for(milliseconds(200));
        ASSERT_TRUE(transaction->commit());
    }
    other.join();
    EXPECT_EQ(one(first->db(),
                  "SELECT string_agg(r.title, ',') FROM catalog_resources l"
                  " JOIN resources r ON r.id = l.resource_id"),
              "new");
}

TEST_F(Servers, SeveralServersCreateTablesConcurrently) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_TRUE(open_writer(where_)); });
    for (auto& t : threads) t.join();
}

TEST_F(Servers, LeavesServerThatBecameReadOnly) {
    auto writer = open_writer(where_);
    ASSERT_TRUE(writer->db().execute("SET default_transaction_read_only = on"));
    auto transaction = writer->begin();
    ASSERT_TRUE(transaction);
    auto node = writer->node("n", Writer::IfMissing::Create);
    ASSERT_FALSE(node);
    EXPECT_EQ(failure_of(node.error()), Failure::Unavailable);
    EXPECT_FALSE(writer->db().healthy());
}

TEST_F(Servers, ReconnectsAfterTableChange) {
    auto reader = Database::open(where_, Database::Access::Read, 1000),
         other = Database::open(where_, Database::Access::ReadWrite, 1000);
    ASSERT_TRUE(reader && other);
    ASSERT_TRUE((*other)->execute("CREATE TABLE t (v bigint)"));
    auto ask = [&]() -> Result<void> {
        Statement s = BUNRAKU_TRY((*reader)->prepare("SELECT v FROM t"));
        return s.run();
    };
    ASSERT_TRUE(ask());
    ASSERT_TRUE((*other)->execute("ALTER TABLE t ALTER v TYPE text"));
    auto again = ask();
    ASSERT_FALSE(again);
    EXPECT_EQ(failure_of(again.error()), Failure::Unavailable) << again.error().message;
    EXPECT_FALSE((*reader)->healthy());
}

TEST_F(Servers, QueriesSurviveLossOfAllConnections) {
    open_writer(where_);
    QueryEngine engine(where_);
    auto ask = [&] { return engine.run_text("nodes[certname]{}"); };
    {
        // Several connections are idle.
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_TRUE(ask()); });
        for (auto& t : threads) t.join();
    }
    auto other = Database::open(where_, Database::Access::ReadWrite, 1000);
    ASSERT_TRUE(
        (*other)->execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                          " WHERE datname = current_database() AND pid <> pg_backend_pid()"));
    EXPECT_EQ(ask().value_or("failed"), "[]");
}

TEST_F(Servers, ConnectsIfOneOfSeveralHostsWorks) {
    std::string several = where_;
    auto at = several.find("host=");
    if (at == std::string::npos) GTEST_SKIP() << "the server has no socket of its own";
    several.insert(at + 5, "/nowhere,");
    for (const auto access : {Database::Access::ReadWrite, Database::Access::Read}) {
        auto db = Database::open(several, access, 1000);
        EXPECT_TRUE(db) << db.error().message;
    }
    // No host accepts writes, so even reads fail, because their data may be old.
    auto admin = Database::open(where_, Database::Access::ReadWrite, 1000);
    ASSERT_TRUE((*admin)->execute("ALTER DATABASE " + one(**admin, "SELECT current_database()") +
                                  " SET default_transaction_read_only = on"));
    for (const auto access : {Database::Access::ReadWrite, Database::Access::Read}) {
        auto db = Database::open(several, access, 1000);
        ASSERT_FALSE(db);
        EXPECT_EQ(failure_of(db.error()), Failure::Unavailable);
    }
    EXPECT_TRUE(Database::open(where_, Database::Access::Read, 1000));
    EXPECT_TRUE(Database::open_replica(several));
}

TEST_F(Servers, OnlyOneServerCleansAtATime) {
    auto service = start("q");
    ASSERT_TRUE(service) << service.error().message;
    auto other = Database::open(where_, Database::Access::ReadWrite, 1000);
    ASSERT_TRUE((*other)->execute("SELECT pg_advisory_lock(1112886866, 3)"));
    EXPECT_FALSE((*service)->clean(CleanWhat::all()).value_or(true));
    other->reset();
    // The server takes a while to detect the closed connection.
    for (int i = 0; i < 100 && !(*service)->clean(CleanWhat::all()).value_or(false); ++i) {
        std::this_thread::sleep_for(milliseconds(20));
        ASSERT_LT(i, 99);
    }
}

TEST_F(Servers, UsesStandbyWhileItIsCurrent) {
    auto writer = open_writer(where_);
    auto there = fresh_postgresql();
    auto standby = open_writer(*there);
    ReplicaWatch watch(where_, *there, 60'000, sys::machine());
    auto beat = [&] {
        return one(writer->db(), "SELECT value FROM store_meta WHERE name = 'beat'");
    };
    auto reaches = [&](const std::string& number) {
        ASSERT_TRUE(standby->db().execute(
            fmt::format("INSERT INTO store_meta (name, value) VALUES ('beat', {})"
                        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                        number)));
    };
    EXPECT_TRUE(watch.look());
    EXPECT_FALSE(watch.usable());
    EXPECT_EQ(watch.age_ms(), -1);
    reaches(beat());
    EXPECT_TRUE(watch.look());
    EXPECT_TRUE(watch.usable());
    // The age is that of the newest heartbeat, not of the newest content.
    std::int64_t age = watch.age_ms();
    std::this_thread::sleep_for(milliseconds(30));
    EXPECT_TRUE(watch.look());
    EXPECT_GE(watch.age_ms(), age + 30);
    // A replica with a maximum lag of 0 never counts as current.
    ReplicaWatch strict(where_, *there, 0, sys::machine());
    EXPECT_TRUE(strict.look());
    reaches(beat());
    EXPECT_TRUE(strict.look());
    EXPECT_GE(strict.age_ms(), 0);
    std::this_thread::sleep_for(milliseconds(2));
    EXPECT_FALSE(strict.usable());
}

TEST_F(Servers, QueriesMoveToStandbyAndBack) {
    auto writer = open_writer(where_);
    auto there = fresh_postgresql();
    auto standby = open_writer(*there);
    put_facts(*standby, "stale", "{}", 1);
    auto watch = std::make_shared<ReplicaWatch>(where_, *there, 60'000, sys::machine());
    QueryEngineOptions options;
    options.replica = watch;
    QueryEngine engine(where_, options);
    auto nodes = [&] { return engine.run_text("nodes[certname]{}").value_or("failed"); };
    EXPECT_EQ(nodes(), "[]");
    ASSERT_TRUE(standby->db().execute("INSERT INTO store_meta (name, value) VALUES ('beat', 100)"));
    ASSERT_TRUE(watch->look());
    EXPECT_EQ(nodes(), R"([{"certname":"stale"}])");
    // The same URL may lead to another standby with a larger lag.
    ASSERT_TRUE(standby->db().execute("UPDATE store_meta SET value = 0 WHERE name = 'beat'"));
    EXPECT_TRUE(watch->usable());
    EXPECT_EQ(nodes(), "[]");
    ASSERT_TRUE(standby->db().execute("UPDATE store_meta SET value = 100 WHERE name = 'beat'"));
    EXPECT_EQ(nodes(), R"([{"certname":"stale"}])");
    // Queries that fail on the standby are sent to the primary.
    const std::string name = one(standby->db(), "SELECT current_database()");
    auto closed = writer->db().execute(
        fmt::format("ALTER DATABASE {0} ALLOW_CONNECTIONS false; SELECT pg_terminate_backend(pid)"
                    " FROM pg_stat_activity WHERE datname = '{0}'",
                    name));
    ASSERT_TRUE(closed) << closed.error().message;
    EXPECT_EQ(nodes(), "[]");
}

class NewerSchema : public OnBackend {};
BUNRAKU_ON_BACKENDS(NewerSchema);

TEST_P(NewerSchema, SupportsOlderProgramDuringUpgrade) {
    auto running = open_writer(where_);
    Database& db = running->db();
    const std::string known = one(db, "SELECT value FROM store_meta WHERE name = 'schema'");
    auto newer = [&](std::string_view usable_since) {
        ASSERT_TRUE(db.execute(fmt::format(
            "UPDATE store_meta SET value = {0} + 1 WHERE name = 'schema';"
            " UPDATE store_meta SET value = {1} WHERE name = 'usable_since'{2}",
            known, usable_since,
            db.postgresql() ? ""
                            : "; PRAGMA user_version = " + std::to_string(std::stoi(known) + 1))));
    };
    newer(known);
    auto beside = open_writer(where_);
    ASSERT_TRUE(beside);
    put_facts(*beside, "n", R"({"a":1})", 1);
    EXPECT_EQ(one(db, "SELECT value FROM store_meta WHERE name = 'schema'"),
              std::to_string(std::stoi(known) + 1));
    EXPECT_TRUE(Writer::open(where_, {.read_only = true}));
    newer(known + " + 1");
    auto refused = Writer::open(where_, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("it was written by a newer program (schema"),
              std::string::npos);
    // Running servers detect the newer schema, and their commands wait.
    auto transaction = running->begin();
    ASSERT_FALSE(transaction);
    EXPECT_EQ(failure_of(transaction.error()), Failure::Unavailable);
    EXPECT_NE(transaction.error().message.find("upgrade this program"), std::string::npos);
}

TEST(OneFile, ServesOneServer) {
    TempFolder folder;
    auto start = [&](const std::string& file, const std::string& queue) {
        ServiceOptions options;
        options.database = file;
        options.queue_folder = folder / queue;
        return Service::start(std::move(options));
    };
    const std::string file = folder / "s.sqlite3", link = folder / "link.sqlite3";
    auto first = start(file, "q1");
    ASSERT_TRUE(first) << first.error().message;
    std::filesystem::create_symlink(file, link);
    for (const auto& name : {file, link}) {
        auto second = start(name, "q2");
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().message,
                  fmt::format("Another server uses the store {}: only one server can use an "
                              "SQLite file; to share a store, use PostgreSQL",
                              name));
    }
    EXPECT_TRUE(Store::open(file)) << "other programs may read and write meanwhile";
    first->reset();
    EXPECT_TRUE(start(file, "q2"));
}

TEST_F(Servers, StartsWithoutDatabase) {
    const auto other = fresh_postgresql();
    ASSERT_TRUE(other);
    auto admin = Database::open(*other, Database::Access::ReadWrite, 1000);
    ASSERT_TRUE(admin) << admin.error().message;
    const std::size_t path = where_.find('/', where_.find("://") + 3) + 1;
    const std::string name = where_.substr(path, where_.find('?') - path);
    ASSERT_TRUE((*admin)->execute(fmt::format("ALTER DATABASE {0} RENAME TO {0}_away", name)));
    std::vector<std::string> logged;
    std::mutex mutex;
    ServiceOptions options;
    options.database = where_;
    options.queue_folder = folder_ / "queue";
    options.durable = false;
    options.log = [&](std::string_view level, const std::string& text) {
        const std::lock_guard lock(mutex);
        if (level == "err" || level == "notice") logged.push_back(text);
    };
    auto service = Service::start(std::move(options));
    ASSERT_TRUE(service) << service.error().message;
    EXPECT_FALSE((*service)->health().database_up);
    EXPECT_FALSE((*service)->reader());
    auto ticket = (*service)->submit({CommandKind::ReplaceFacts, 5, "n", 1, 0}, facts_of("n"));
    ASSERT_TRUE(ticket) << ticket.error().message;
    EXPECT_EQ((*service)->queue().figures().depth, 1U);
    ASSERT_TRUE((*admin)->execute(fmt::format("ALTER DATABASE {0}_away RENAME TO {0}", name)));
    EXPECT_TRUE((*service)->wait(*ticket, milliseconds(60'000)));
    EXPECT_EQ(ticket->completion->state, Completion::State::Done);
    EXPECT_TRUE((*service)->health().database_up);
    service->reset();
    ASSERT_GE(logged.size(), 3U);
    EXPECT_EQ(logged.front(),
              "The store's database does not answer. Until it does, commands wait on disk and "
              "queries are answered 503");
    EXPECT_EQ(logged.back(), "The store's database is available again");
}

TEST_F(Servers, CommandsWaitWhileDatabaseIsReadOnly) {
    auto service = start("q");
    ASSERT_TRUE(service) << service.error().message;
    auto admin = Database::open(where_, Database::Access::ReadWrite, 1000);
    ASSERT_TRUE(admin);
    const std::string name = one(**admin, "SELECT current_database()");
    ASSERT_TRUE(
        (*admin)->execute("ALTER DATABASE " + name +
                          " SET default_transaction_read_only = on;"
                          " SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                          " WHERE datname = current_database() AND pid <> pg_backend_pid()"));
    auto ticket =
        (*service)->submit({CommandKind::ReplaceFacts, 5, "n", now_ms(), 0}, facts_of("n"));
    ASSERT_TRUE(ticket);
    EXPECT_FALSE((*service)->wait(*ticket, milliseconds(300)));
    EXPECT_FALSE((*service)->health().database_up);
    ASSERT_TRUE((*admin)->execute("SET default_transaction_read_only = off; ALTER DATABASE " +
                                  name + " RESET default_transaction_read_only"));
    EXPECT_TRUE((*service)->wait(*ticket, milliseconds(20000)));
    EXPECT_EQ(ticket->completion->state, Completion::State::Done);
}

}  // namespace
}  // namespace bunraku::store
