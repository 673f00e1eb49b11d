#include "store/schema.h"

#include <fmt/format.h>

namespace bunraku::store {

namespace {

/// Marks our files ("BUNR"), as `file` and PRAGMA application_id show it.
constexpr std::int64_t kApplicationId = 0x42554e52;

/// Step n leads from schema n to n + 1. A step that has been released never changes.
constexpr const char* kSteps[] = {
    R"sql(
CREATE TABLE environments (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE nodes (
    id INTEGER PRIMARY KEY,
    certname TEXT NOT NULL UNIQUE,
    deactivated INTEGER,
    expired INTEGER
);
-- The newest catalog of each node. `hash` stands for all of its content; `resource_order` lists
-- resources.id, `containment` pairs of positions in it.
CREATE TABLE catalogs (
    node_id INTEGER PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE,
    hash BLOB NOT NULL,
    version TEXT NOT NULL,
    version_is_number INTEGER NOT NULL,
    catalog_format INTEGER NOT NULL,
    environment_id INTEGER REFERENCES environments (id),
    code_id TEXT,
    catalog_uuid TEXT,
    transaction_uuid TEXT,
    job_id TEXT,
    producer TEXT,
    producer_timestamp INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    classes TEXT NOT NULL,
    tags TEXT NOT NULL,
    resource_order BLOB NOT NULL,
    containment BLOB NOT NULL
);
-- Type, title and parameters by their hash, shared between nodes.
CREATE TABLE resource_params_cache (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    parameters TEXT NOT NULL
);
CREATE TABLE resources (
    id INTEGER PRIMARY KEY,
    node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    params_id INTEGER NOT NULL,
    row_hash BLOB NOT NULL,
    exported INTEGER NOT NULL,
    virtual INTEGER NOT NULL,
    file TEXT,
    line INTEGER,
    kind TEXT,
    tags TEXT NOT NULL,
    aliases TEXT,
    UNIQUE (node_id, type, title)
);
CREATE INDEX resources_exported ON resources (type, title, node_id) WHERE exported = 1;
CREATE TABLE edges (
    node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
    source_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    PRIMARY KEY (node_id, source_id, target_id, kind)
) WITHOUT ROWID;
-- What collectors ask for. Only exported resources are here: they are few.
CREATE TABLE exported_tags (
    tag TEXT NOT NULL,
    resource_id INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    PRIMARY KEY (tag, resource_id)
) WITHOUT ROWID;
CREATE INDEX exported_tags_resource ON exported_tags (resource_id);
CREATE TABLE exported_params (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    member INTEGER NOT NULL,
    resource_id INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    PRIMARY KEY (name, value, member, resource_id)
) WITHOUT ROWID;
CREATE INDEX exported_params_resource ON exported_params (resource_id, name);
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
)sql",
};
constexpr std::int64_t kNewest = std::size(kSteps);

Result<std::int64_t> pragma(Database& db, std::string_view name) {
    Statement s = BUNRAKU_TRY(db.prepare(fmt::format("PRAGMA {}", name)));
    bool row = BUNRAKU_TRY(s.step());
    return row ? s.integer(0) : 0;
}

Result<std::int64_t> known_version(Database& db) {
    std::int64_t version = BUNRAKU_TRY(pragma(db, "user_version"));
    std::int64_t application = BUNRAKU_TRY(pragma(db, "application_id"));
    bool empty = version == 0 && application == 0;
    if (empty) {
        Statement s = BUNRAKU_TRY(db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1"));
        empty = !BUNRAKU_TRY(s.step());
    }
    if (!empty && application != kApplicationId) {
        return base::failure(
            fmt::format("Could not open the store {}: it is a database of "
                        "another program",
                        db.path()));
    }
    if (version > kNewest) {
        return base::failure(
            fmt::format("Could not open the store {}: it was written by a newer "
                        "program (schema {}, this one knows {})",
                        db.path(), version, kNewest));
    }
    return version;
}

}  // namespace

Result<void> check_schema(Database& db) {
    std::int64_t version = BUNRAKU_TRY(known_version(db));
    if (version < kNewest) {
        return base::failure(
            fmt::format("Could not open the store {}: its schema is {}, {} is "
                        "needed; open it for writing once",
                        db.path(), version, kNewest));
    }
    return {};
}

Result<void> migrate(Database& db) {
    if (BUNRAKU_TRY(known_version(db)) == kNewest) return {};
    // Another process may be doing the same: look again with the lock held.
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(db));
    std::int64_t version = BUNRAKU_TRY(known_version(db));
    for (; version < kNewest; ++version) {
        BUNRAKU_TRY_VOID(db.execute(kSteps[version]));
    }
    BUNRAKU_TRY_VOID(db.execute(fmt::format("PRAGMA application_id = {}", kApplicationId)));
    BUNRAKU_TRY_VOID(db.execute(fmt::format("PRAGMA user_version = {}", kNewest)));
    return transaction.commit();
}

}  // namespace bunraku::store
