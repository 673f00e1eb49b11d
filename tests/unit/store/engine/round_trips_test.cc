// SPDX-License-Identifier: Apache-2.0
// Tests what saves round trips to PostgreSQL: pipelines, and unchanged catalogs in one statement.
#include <fmt/format.h>

#include "backends.h"
#include "store/db/bulk.h"
#include "store/db/command.h"

namespace bunraku::store {
namespace {

class RoundTrips : public OnWriter {
protected:
    std::int64_t number(const std::string& sql) {
        auto s = writer_->db().prepare_once(sql);
        if (!s || !s->step().value_or(false)) return -1;
        return s->integer(0);
    }
    std::string text(const std::string& sql) {
        auto s = writer_->db().prepare_once(sql);
        if (!s || !s->step().value_or(false)) return "none";
        return std::string(s->text(0));
    }
    static std::string catalog(const std::string& version, int day, const std::string& environment,
                               const std::string& mode) {
        return fmt::format(
            R"({{"certname":"n","version":"{}","environment":"{}","transaction_uuid":null,)"
            R"("catalog_uuid":null,"code_id":null,"job_id":null,"producer":"pm",)"
            R"("producer_timestamp":"2023-01-{:02}T00:00:00.000Z","edges":[],"resources":[)"
            R"({{"type":"File","title":"/x","exported":false,"tags":[],"parameters":)"
            R"({{"mode":"{}"}}}}]}})",
            version, environment, day, mode);
    }
    /// Returns whether the catalog was stored without a transaction of the caller.
    bool renewed(const std::string& body) {
        const CommandHeader header{CommandKind::ReplaceCatalog, 9, "n", 1'700'000'000'000, 0};
        auto command = prepare_command(header, body, {});
        EXPECT_TRUE(command) << command.error().message;
        const auto done = (*command)->apply_unchanged(*writer_);
        EXPECT_TRUE(done) << done.error().message;
        EXPECT_EQ(done->value_or(Applied::Unchanged), Applied::Unchanged);
        return done->has_value();
    }
};
BUNRAKU_ON_BACKENDS(RoundTrips);

/// SQLite has no pipelines.
class Pipelines : public RoundTrips {};
INSTANTIATE_TEST_SUITE_P(Backends, Pipelines, testing::Values(Backend::Postgresql), backend_name);

TEST_P(Pipelines, RunsStatementsTogether) {
    Database& db = writer_->db();
    for (int round = 0; round < 3; ++round) {  // the first round also prepares the statements
        auto two = db.prepare("SELECT * FROM (VALUES (1), (2)) AS v (n) WHERE n > ?");
        auto none = db.prepare("SELECT 1 WHERE false");
        auto once = db.prepare_once("SELECT 'x'");
        ASSERT_TRUE(two && none && once);
        two->bind(round - 1);
        ASSERT_TRUE(db.run_together({&*two, &*none, nullptr, &*once}));
        int rows = 0;
        while (*two->step()) ++rows;
        EXPECT_EQ(rows, 3 - std::max(round, 1));
        EXPECT_FALSE(*none->step());
        ASSERT_TRUE(*once->step());
        EXPECT_EQ(once->text(0), "x");
        EXPECT_FALSE(*once->step());
    }
    EXPECT_EQ(number("SELECT 7"), 7);
}

TEST_P(Pipelines, ErrorEndsTheStatementsThatFollow) {
    Database& db = writer_->db();
    for (int round = 0; round < 2; ++round) {
        {
            auto begin = db.prepare("BEGIN");
            auto before = db.prepare("INSERT INTO environments (name) VALUES ('before')");
            auto wrong = db.prepare("SELECT 1 / ?::bigint");
            auto after = db.prepare("INSERT INTO environments (name) VALUES ('after')");
            ASSERT_TRUE(begin && before && wrong && after);
            wrong->bind(0);
            const auto begun = Transaction::begin_with(db, {&*begin, &*before, &*wrong, &*after});
            ASSERT_FALSE(begun);
            EXPECT_EQ(failure_of(begun.error()), Failure::Query);
            EXPECT_TRUE(begun.error().message.ends_with("division by zero"))
                << begun.error().message;
        }
        EXPECT_TRUE(db.healthy());
        EXPECT_EQ(number("SELECT count(*) FROM environments"), 0);
    }
}

TEST_P(RoundTrips, DeferredStatementsRunInOrder) {
    Database& db = writer_->db();
    for (int round = 0; round < 2; ++round) {  // the first round also prepares the statements
        auto transaction = writer_->begin();
        ASSERT_TRUE(transaction);
        auto add = db.prepare("INSERT INTO environments (name) VALUES (?)");
        auto rename = db.prepare("UPDATE environments SET name = ? WHERE name = ?");
        ASSERT_TRUE(add && rename);
        for (const char* name : {"a", "b"}) {
            add->bind(name);
            ASSERT_TRUE(add->run_later());
        }
        ASSERT_TRUE(rename->bind("c").bind("b").run_later());
        EXPECT_EQ(text("SELECT min(name) FROM environments"), "a");
        EXPECT_EQ(text("SELECT max(name) FROM environments"), "c");
        ASSERT_TRUE(rename->bind("d").bind("a").run_later());
        ASSERT_TRUE(transaction->commit());
        EXPECT_EQ(text("SELECT min(name) FROM environments"), "c");
        EXPECT_EQ(text("SELECT max(name) FROM environments"), "d");
        ASSERT_TRUE(db.execute("DELETE FROM environments"));
    }
}

TEST_P(RoundTrips, DeferredStatementsEndWithTheirTransaction) {
    Database& db = writer_->db();
    auto add = db.prepare("INSERT INTO environments (name) VALUES (?)");
    ASSERT_TRUE(add);
    {
        auto transaction = writer_->begin();
        ASSERT_TRUE(transaction);
        ASSERT_TRUE(add->bind("a").run_later());
    }
    EXPECT_EQ(number("SELECT count(*) FROM environments"), 0);
    // Without a transaction, no other statement may follow.
    ASSERT_TRUE(add->bind("b").run_later());
    auto other = Database::open(where_, Database::Access::Read, 1000);
    ASSERT_TRUE(other) << other.error().message;
    auto s = (*other)->prepare("SELECT name FROM environments");
    ASSERT_TRUE(s && s->step().value_or(false));
    EXPECT_EQ(s->text(0), "b");
}

TEST_P(Pipelines, CommitFailsWithADeferredStatement) {
    Database& db = writer_->db();
    {
        auto transaction = writer_->begin();
        ASSERT_TRUE(transaction);
        auto add = db.prepare("INSERT INTO environments (name) VALUES (?)");
        ASSERT_TRUE(add);
        for (const char* name : {"a", "a", "b"}) ASSERT_TRUE(add->bind(name).run_later());
        const auto done = transaction->commit();
        ASSERT_FALSE(done);
        EXPECT_EQ(failure_of(done.error()), Failure::Constraint);
    }
    EXPECT_TRUE(db.healthy());
    EXPECT_EQ(number("SELECT count(*) FROM environments"), 0);
}

TEST_P(RoundTrips, RenewsOnlyUnchangedCatalogs) {
    EXPECT_FALSE(renewed(catalog("1", 1, "prod", "0644")));
    EXPECT_EQ(number("SELECT count(*) FROM certnames"), 0);
    put_catalog(*writer_, "n", catalog("1", 2, "prod", "0644"), 1'700'000'000'000);
    const auto version = [&] { return text("SELECT version FROM catalogs"); };
    // SQLite applies all commands of a batch in one transaction.
    EXPECT_EQ(renewed(catalog("2", 3, "prod", "0644")), writer_->postgresql());
    EXPECT_EQ(version(), writer_->postgresql() ? "2" : "1");
    const std::int64_t day = 1'672'704'000'000;  // 2023-01-03
    EXPECT_EQ(number("SELECT producer_timestamp FROM catalogs"),
              writer_->postgresql() ? day : day - 86'400'000);
    EXPECT_FALSE(renewed(catalog("3", 1, "prod", "0644")));   // older
    EXPECT_FALSE(renewed(catalog("3", 4, "prod", "0600")));   // other content
    EXPECT_FALSE(renewed(catalog("3", 4, "other", "0644")));  // other environment
    ASSERT_TRUE(writer_->db().execute("UPDATE certnames SET deactivated = 1"));
    EXPECT_FALSE(renewed(catalog("3", 4, "prod", "0644")));
    ASSERT_TRUE(
        writer_->db().execute("UPDATE certnames SET deactivated = NULL;"
                              " UPDATE store_meta SET value = 1000 WHERE name = 'usable_since'"));
    EXPECT_FALSE(renewed(catalog("3", 4, "prod", "0644")));
    EXPECT_EQ(version(), writer_->postgresql() ? "2" : "1");
}

/// Few rows are inserted, many are copied.
TEST_P(RoundTrips, BulkStoresAnyNumberOfRows) {
    Database& db = writer_->db();
    ASSERT_TRUE(db.execute("CREATE TABLE t (n BIGINT, r DOUBLE PRECISION, v TEXT)"));
    const std::string odd = "a\"b\\c\td\ne,{}'NULL";
    for (const int count : {1, 99, 100, 250}) {
        Bulk rows(db, "t",
                  {{"n", Bulk::Type::Integer}, {"r", Bulk::Type::Real}, {"v", Bulk::Type::Text}});
        for (int i = 0; i < count; ++i) {
            i % 3 == 0 ? rows.null() : rows.integer(i);
            i % 3 == 1 ? rows.null() : rows.real(i + 0.5);
            i % 3 == 2 ? rows.null() : rows.text(i % 2 == 0 ? odd : "");
            ASSERT_TRUE(rows.end_row());
        }
        ASSERT_TRUE(rows.flush());
        ASSERT_TRUE(rows.flush());  // nothing is left
        EXPECT_EQ(number("SELECT count(*) FROM t"), count);
        EXPECT_EQ(number("SELECT count(*) FROM t WHERE n IS NULL AND r IS NOT NULL"),
                  (count + 2) / 3);
        EXPECT_EQ(number("SELECT count(*) FROM t WHERE v IS NULL AND n IS NOT NULL"), count / 3);
        EXPECT_EQ(text("SELECT v FROM t WHERE r = 0.5"), odd);
        ASSERT_TRUE(db.execute("DELETE FROM t"));
    }
}

TEST_P(RoundTrips, ReadsTheNodeWhenATransactionBegins) {
    {
        auto transaction = writer_->begin(true, "n");
        ASSERT_TRUE(transaction);
        const auto made = writer_->node("n", Writer::IfMissing::Create);
        ASSERT_TRUE(made);
        EXPECT_TRUE(made->created);
        ASSERT_TRUE(transaction->commit());
    }
    ASSERT_TRUE(writer_->db().execute("UPDATE certnames SET latest_report_timestamp = 5"));
    auto transaction = writer_->begin(true, "n");
    ASSERT_TRUE(transaction);
    const auto other = writer_->node("m", Writer::IfMissing::Skip);
    const auto node = writer_->node("n", Writer::IfMissing::Skip);
    ASSERT_TRUE(node && other);
    EXPECT_EQ(other->id, 0);
    EXPECT_EQ(node->id, number("SELECT id FROM certnames"));
    EXPECT_EQ(node->latest_report_timestamp, 5);
}

}  // namespace
}  // namespace bunraku::store
