// SPDX-License-Identifier: Apache-2.0
#include "store/db/schema.h"

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "store/db/fact_names.h"
#include "store/db/kind_sets.h"
#include "store/db/schema_changes.h"
#include "store/db/schema_reports.h"
#include "store/db/search_index.h"
#include "store/db/source_locations.h"
#include "store/db/undeclared_tables.h"
#include "store/query/dialect.h"

namespace bunraku::store {

namespace {

/// Marks the program's files ("BUNR"), as shown by `file` and PRAGMA application_id.
constexpr std::int64_t kApplicationId = 0x42554e52;
/// Schema versions: 1 stored only exported resources, on SQLite. 2 lacked search tables
/// (kSearchTables). 3 stored tags and parameters as jsonb on PostgreSQL. 4 lacked sets of fact
/// names (kFactNameTables). 5 lacked history (kHistoryTables). 6 lacked the history of facts
/// (kFactHistoryTables). 7 lacked counters (kCounterTables). 8 stored Sensitive values unencrypted
/// (kSecretColumns). 9 lacked source locations (kPlaceTables). 10 lacked rollouts (kRolloutTables)
/// and the resources that are no longer declared (kUndeclaredTables), and stored each report in
/// full (schema_reports.h).
constexpr std::int64_t kNewest = 11;

/// The oldest schema whose programs may read and write the same database as this program. Later
/// schemas only add tables that those programs do not need. This allows rolling upgrades of a fleet
/// of servers. Programs before schema 11 do not know the short rows of reports.
constexpr std::int64_t kUsableSince = 11;

constexpr const char* kUsableSinceSql = "SELECT value FROM store_meta WHERE name = 'usable_since'";

Result<std::int64_t> number(Database& db, std::string_view sql) {
    Statement s = BUNRAKU_TRY(db.prepare_once(sql));
    bool row = BUNRAKU_TRY(s.step());
    return row ? s.integer(0) : 0;
}

std::unexpected<base::Error> foreign_database(Database& db) {
    return base::failure(
        fmt::format("Could not open the store {}: it is a database of another program", db.path()));
}

Result<std::int64_t> known_version(Database& db) {
    std::int64_t version = 0;
    if (db.postgresql()) {
        // One statement, because another program may create the tables at any time. PuppetDB's own
        // database has a table `certnames`, too.
        enum Found : std::int64_t { Nothing, Foreign, Store };
        const auto found = BUNRAKU_TRY(
            number(db,
                   "SELECT CASE WHEN count(*) = 0 THEN 0 WHEN bool_or(table_name = 'store_meta')"
                   " THEN 2 ELSE 1 END FROM information_schema.tables"
                   " WHERE table_schema = current_schema()"
                   " AND table_name IN ('store_meta', 'certnames')"));
        if (found == Foreign) return foreign_database(db);
        if (found == Store)
            version = BUNRAKU_TRY(number(db, "SELECT value FROM store_meta WHERE name = 'schema'"));
    } else {
        // The application comes last, because another program may create the tables at any time.
        const auto tables = BUNRAKU_TRY(number(db, "SELECT count(*) FROM sqlite_schema"));
        version = BUNRAKU_TRY(number(db, "PRAGMA user_version"));
        const auto application = BUNRAKU_TRY(number(db, "PRAGMA application_id"));
        const bool empty = tables == 0 && version == 0 && application == 0;
        if (!empty && application != kApplicationId) return foreign_database(db);
    }
    if (version > kNewest) {
        std::int64_t since = BUNRAKU_TRY(number(db, kUsableSinceSql));
        if (since == 0 || since > kNewest) {
            return base::failure(
                fmt::format("Could not open the store {}: it was written by a newer "
                            "program (schema {}, this one knows {})",
                            db.path(), version, kNewest));
        }
    }
    return version;
}

}  // namespace

Result<void> check_schema(Database& db) {
    std::int64_t version = BUNRAKU_TRY(known_version(db));
    if (version < kNewest) {
        // The writer of this or another process may be about to create or migrate the schema.
        return base::failure(fmt::format("Could not open the store {}: its schema is {}, {} is "
                                         "needed; open it for writing once",
                                         db.path(), version, kNewest),
                             static_cast<int>(Failure::Unavailable));
    }
    return {};
}

std::int64_t newest_schema() { return kNewest; }

bool usable_with(std::int64_t usable_since) { return usable_since <= kNewest; }

namespace {

/// Creates the tables of the newest schema.
Result<void> create_tables(Database& db) {
    const Dialect dialect(db.backend());
    std::string script;
    for (std::string_view part :
         {kTables, kSearchTables, kFactNameTables, kHistoryTables, kFactHistoryTables,
          kCounterTables, kPlaceTables, kRolloutTables, kUndeclaredTables, kReportKinds,
          std::string_view("CREATE TABLE reports\n"), kReportColumns, kReportData,
          kReportIndexes}) {
        script += dialect.tables(part);
    }
    script += fmt::format(
        "INSERT INTO store_meta (name, value) VALUES ('schema', {}), ('synced', 0)", kNewest);
    return db.execute(script);
}

/// Converts the tables of schema `version`, which is 2 or newer.
Result<void> convert_tables(Database& db, std::int64_t version) {
    BUNRAKU_ASSERT(version >= 2 && version < kNewest);
    const Dialect dialect(db.backend());
    const auto run = [&](std::initializer_list<std::string_view> scripts) -> Result<void> {
        std::string script;
        for (std::string_view part : scripts) script += dialect.tables(part);
        return db.execute(script);
    };
    if (version < 3) {
        BUNRAKU_TRY_VOID(run({kSearchColumns, kSearchTables}));
        BUNRAKU_TRY_VOID(fill_search_index(db));
    }
    if (version < 4 && db.postgresql()) {
        BUNRAKU_TRY_VOID(
            db.execute("ALTER TABLE resources ALTER COLUMN tags TYPE json;"
                       " ALTER TABLE parameters ALTER COLUMN parameters TYPE json"));
    }
    if (version < 5) {
        BUNRAKU_TRY_VOID(run({kFactNameColumns, kFactNameTables}));
        BUNRAKU_TRY_VOID(fill_fact_name_sets(db));
    }
    if (version < 6) BUNRAKU_TRY_VOID(run({kHistoryTables, kHistoryChanges}));
    if (version < 7) BUNRAKU_TRY_VOID(run({kFactHistoryTables, kFactHistoryColumns}));
    if (version < 8) {
        BUNRAKU_TRY_VOID(run({kCounterColumns, kCounterTables, kCounterChanges}));
        BUNRAKU_TRY_VOID(fill_kind_sets(db));
    }
    if (version < 9) {
        BUNRAKU_TRY_VOID(run({kSecretColumns}));
        BUNRAKU_TRY_VOID(
            db.execute("INSERT INTO store_meta (name, value) VALUES ('clear_secrets', 1)"
                       " ON CONFLICT (name) DO UPDATE SET value = 1"));
    }
    if (version < 10) {
        BUNRAKU_TRY_VOID(run({kPlaceTables}));
        BUNRAKU_TRY(fill_source_locations(db));
    } else {
        BUNRAKU_TRY_VOID(run({kPlaceColumns}));
    }
    BUNRAKU_TRY_VOID(run({kRolloutTables, kUndeclaredTables, kReportKinds, kConvertReportKinds,
                          kReportColumns, kConvertReports, kReportIndexes}));
    return db.execute(
        fmt::format("UPDATE store_meta SET value = {} WHERE name = 'schema'", kNewest));
}

Result<bool> migrate_once(Database& db) {
    if (BUNRAKU_TRY(known_version(db)) >= kNewest) {
        if (db.postgresql()) return false;
        // A conversion was interrupted.
        return BUNRAKU_TRY(
                   number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'v1_catalogs'")) > 0;
    }
    // Another process may be migrating too, so check again with the lock held.
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(db));
    if (db.postgresql()) {
        BUNRAKU_TRY_VOID(db.execute("SELECT pg_advisory_xact_lock(1112886866, 2)"));
    }
    std::int64_t version = BUNRAKU_TRY(known_version(db));
    if (version >= kNewest) return false;
    if (db.postgresql() && version > 0) {
        // Servers of the previous version are running. Their writers finish their transactions and
        // then wait, which avoids deadlocks with this one. Readers are blocked for one table at a
        // time, and the timeout ensures that a long query does not make all others wait.
        BUNRAKU_TRY_VOID(
            db.execute("SELECT pg_advisory_xact_lock(1112886866, 1);"
                       " SET LOCAL lock_timeout = '5s'"));
    }
    if (version == 1) {
        BUNRAKU_TRY_VOID(db.execute(
            "DROP INDEX resources_exported; DROP INDEX exported_tags_resource;"
            " DROP INDEX exported_params_resource;"
            " DROP TABLE edges; DROP TABLE exported_tags; DROP TABLE exported_params;"
            " DROP TABLE counters;"
            " ALTER TABLE environments RENAME TO v1_environments;"
            " ALTER TABLE nodes RENAME TO v1_nodes; ALTER TABLE catalogs RENAME TO v1_catalogs;"
            " ALTER TABLE resources RENAME TO v1_resources;"
            " ALTER TABLE resource_params_cache RENAME TO v1_params"));
    }
    if (version < 2) {
        BUNRAKU_TRY_VOID(create_tables(db));
    } else {
        BUNRAKU_TRY_VOID(convert_tables(db, version));
    }
    BUNRAKU_TRY_VOID(
        db.execute(fmt::format("INSERT INTO store_meta (name, value) VALUES ('usable_since', {})"
                               " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                               kUsableSince)));
    if (!db.postgresql()) {
        BUNRAKU_TRY_VOID(db.execute(fmt::format(
            "PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kNewest)));
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return version == 1;
}

}  // namespace

Result<bool> migrate(Database& db) {
    constexpr int kTries = 12;
    for (int attempt = 1;; ++attempt) {
        BUNRAKU_ASSERT(attempt <= kTries);
        auto done = migrate_once(db);
        bool again = !done && db.postgresql() && failure_of(done.error()) == Failure::Retry;
        if (!again || attempt == kTries) return done;
        ::usleep(500'000);  // lets the transactions that wait for our locks run
    }
}

}  // namespace bunraku::store
