// SPDX-License-Identifier: Apache-2.0
// Tests that a new store has the same tables, indexes and triggers as a store of an older schema
// that was converted, on both backends.
#include "store/db/schema.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>

#include "backends.h"
#include "store/query/dialect.h"
#include "wide_reports.h"

namespace bunraku::store {
namespace {

/// The tables as programs of schema 2 created them.
constexpr std::string_view kSchema2 = R"sql(
CREATE TABLE store_meta (
    name {text} PRIMARY KEY,
    value {int} NOT NULL
){rowless};
CREATE TABLE environments (
    id {id},
    name {text} NOT NULL UNIQUE
);
CREATE TABLE producers (
    id {id},
    name {text} NOT NULL UNIQUE
);
CREATE TABLE certnames (
    id {id},
    certname {text} NOT NULL UNIQUE,
    deactivated {int},
    expired {int},
    facts_expire {small},
    facts_expire_updated {int},
    latest_report_id {int},
    latest_report_timestamp {int}
);
CREATE TABLE catalogs (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hash {blob} NOT NULL,
    wire_digest {blob},
    version {text} NOT NULL,
    api_version {small} NOT NULL,
    environment_id {int},
    transaction_uuid {text},
    catalog_uuid {text},
    code_id {text},
    job_id {text},
    producer_id {int},
    producer_timestamp {int} NOT NULL,
    timestamp {int} NOT NULL,
sqlite: edges BLOB NOT NULL
pg: edge_sources BIGINT[] NOT NULL,
pg: edge_targets BIGINT[] NOT NULL,
pg: edge_kinds BIGINT[] NOT NULL
);
CREATE INDEX catalogs_environment ON catalogs (environment_id);
CREATE TABLE catalog_agent_data (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    version_is_number {small} NOT NULL,
    catalog_format {small} NOT NULL,
    classes TEXT NOT NULL,
    tags TEXT NOT NULL,
    resource_order {blob} NOT NULL,
    containment {blob} NOT NULL
);
CREATE TABLE parameters (
    id {id},
    hash {blob} NOT NULL UNIQUE,
    parameters {json} NOT NULL,
    exact TEXT
);
CREATE TABLE resources (
    id {id},
    row_hash {blob} NOT NULL UNIQUE,
    parameters_id {int} NOT NULL,
    type {text} NOT NULL,
    title {text} NOT NULL,
    exported {small} NOT NULL,
    virtual {small} NOT NULL DEFAULT 0,
    file {text},
    line {int},
    tags {json} NOT NULL,
    kind {text},
    aliases {json}
);
CREATE INDEX resources_type_title ON resources (type, title);
CREATE INDEX resources_parameters ON resources (parameters_id);
CREATE INDEX resources_exported ON resources (type, title) WHERE exported = 1;
CREATE TABLE catalog_resources (
    certname_id {int} NOT NULL,
    resource_id {int} NOT NULL,
    PRIMARY KEY (certname_id, resource_id)
){rowless};
CREATE INDEX catalog_resources_resource ON catalog_resources (resource_id, certname_id);
CREATE TABLE exported_tags (
    tag {text} NOT NULL,
    resource_id {int} NOT NULL,
    PRIMARY KEY (tag, resource_id)
){rowless};
CREATE INDEX exported_tags_resource ON exported_tags (resource_id);
CREATE TABLE exported_params (
    name {text} NOT NULL,
    value {text} NOT NULL,
    member {small} NOT NULL,
    resource_id {int} NOT NULL,
    PRIMARY KEY (name, value, member, resource_id)
){rowless};
CREATE INDEX exported_params_resource ON exported_params (resource_id, name);
CREATE TABLE factsets (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hash {blob} NOT NULL,
    wire_digest {blob},
    package_digest {blob},
    environment_id {int},
    producer_id {int},
    producer_timestamp {int} NOT NULL,
    timestamp {int} NOT NULL
);
CREATE TABLE facts (
    id {id},
    name {text} NOT NULL,
    match {text} NOT NULL,
    value {json} NOT NULL,
    number {real},
    UNIQUE (name, match)
);
CREATE TABLE factset_facts (
    certname_id {int} NOT NULL,
    fact_id {int} NOT NULL,
    PRIMARY KEY (certname_id, fact_id)
){rowless};
CREATE INDEX factset_facts_fact ON factset_facts (fact_id, certname_id);
CREATE TABLE fact_paths (
    id {id},
    path {text} NOT NULL,
    path_array {json} NOT NULL,
    name {text} NOT NULL,
    depth {int} NOT NULL,
    type {text} NOT NULL,
    UNIQUE (path, type)
);
CREATE INDEX fact_paths_name ON fact_paths (name);
CREATE TABLE fact_leaves (
    fact_id {int} NOT NULL,
    path_id {int} NOT NULL,
    match {text} NOT NULL,
    value {json} NOT NULL,
    number {real},
    PRIMARY KEY (fact_id, path_id)
){rowless};
CREATE INDEX fact_leaves_path ON fact_leaves (path_id, match);
CREATE TABLE packages (
    id {id},
    name {text} NOT NULL,
    version {text} NOT NULL,
    provider {text} NOT NULL,
    UNIQUE (name, version, provider)
);
CREATE TABLE certname_packages (
    certname_id {int} NOT NULL,
    package_id {int} NOT NULL,
    PRIMARY KEY (certname_id, package_id)
){rowless};
CREATE INDEX certname_packages_package ON certname_packages (package_id, certname_id);
CREATE TABLE reports (
    id {id},
    certname_id {int} NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    hash {blob} NOT NULL UNIQUE,
    status {text},
    report_type {text} NOT NULL,
    noop {small},
    noop_pending {small},
    corrective_change {small},
    environment_id {int},
    producer_id {int},
    puppet_version {text} NOT NULL,
    report_format {int} NOT NULL,
    configuration_version {text} NOT NULL,
    start_time {int} NOT NULL,
    end_time {int} NOT NULL,
    producer_timestamp {int} NOT NULL,
    receive_time {int} NOT NULL,
    transaction_uuid {text},
    catalog_uuid {text},
    code_id {text},
    job_id {text},
    cached_catalog_status {text},
    event_count {int} NOT NULL
);
CREATE INDEX reports_certname ON reports (certname_id, producer_timestamp);
CREATE INDEX reports_timestamp ON reports (producer_timestamp);
CREATE INDEX reports_end_time ON reports (end_time);
CREATE TABLE report_data (
    report_id {int} PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
    metrics {json} NOT NULL,
    logs {json} NOT NULL
);
CREATE TABLE resource_events (
    certname_id {int} NOT NULL,
    report_id {int} NOT NULL,
    seq {int} NOT NULL,
    status {text} NOT NULL,
    timestamp {int} NOT NULL,
    resource_type {text} NOT NULL,
    resource_title {text} NOT NULL,
    property {text},
    name {text},
    new_value {json},
    old_value {json},
    message {text},
    file {text},
    line {int},
    containment_path {json},
    containing_class {text},
    corrective_change {small},
    PRIMARY KEY (certname_id, report_id, seq)
){rowless};
CREATE INDEX resource_events_timestamp ON resource_events (timestamp);
CREATE INDEX resource_events_resource ON resource_events (resource_type, resource_title);
CREATE TABLE catalog_inputs (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    catalog_uuid {text},
    producer_timestamp {int} NOT NULL,
    hash {blob} NOT NULL
);
CREATE TABLE catalog_input_contents (
    certname_id {int} NOT NULL,
    type {text} NOT NULL,
    name {text} NOT NULL,
    PRIMARY KEY (certname_id, type, name)
){rowless};
CREATE TABLE gc_candidates (
    kind {small} NOT NULL,
    id {int} NOT NULL,
    PRIMARY KEY (kind, id)
){rowless};
)sql";

/// What describes the schema of a database, a line for each column, index, constraint, trigger and
/// function.
constexpr std::string_view kSqlite[] = {
    "SELECT t.name || ' ' || t.wr || ' ' || c.cid || ' ' || c.name || ' ' || c.type || ' ' ||"
    " c.\"notnull\" || ' ' || coalesce(c.dflt_value, '-') || ' ' || c.pk"
    " FROM pragma_table_list() t JOIN pragma_table_xinfo(t.name) c WHERE t.schema = 'main' AND"
    " t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid",
    "SELECT t.name || ' ' || f.\"from\" || ' ' || f.\"table\" || ' ' || coalesce(f.\"to\", '-') ||"
    " ' ' || f.on_delete FROM pragma_table_list() t JOIN pragma_foreign_key_list(t.name) f"
    " WHERE t.schema = 'main' ORDER BY 1",
    "SELECT t.name || ' ' || i.name || ' ' || i.\"unique\" || ' ' || i.origin || ' ' ||"
    " coalesce((SELECT s.sql FROM sqlite_schema s WHERE s.name = i.name), '-')"
    " FROM pragma_table_list() t JOIN pragma_index_list(t.name) i WHERE t.schema = 'main'"
    " ORDER BY 1",
    "SELECT sql FROM sqlite_schema WHERE type NOT IN ('table', 'index') ORDER BY 1",
    "SELECT name || ' ' || value FROM store_meta ORDER BY 1",
};
constexpr std::string_view kPostgresql[] = {
    "SELECT concat_ws(' ', c.relname, c.relkind, coalesce(c.reloptions::text, '-'),"
    " row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum), a.attname,"
    " format_type(a.atttypid, a.atttypmod), a.attnotnull,"
    " coalesce(pg_get_expr(d.adbin, d.adrelid), '-'), a.attidentity,"
    " a.attcollation::regcollation, a.attstorage)"
    " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
    " LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum"
    " WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0"
    " AND NOT a.attisdropped ORDER BY c.relname, a.attnum",
    "SELECT concat_ws(' ', conname, conrelid::regclass, pg_get_constraintdef(oid))"
    " FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1",
    "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1",
    "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
    "SELECT concat_ws(' ', proname, prosrc) FROM pg_proc"
    " WHERE pronamespace = current_schema()::regnamespace ORDER BY 1",
    "SELECT concat_ws(' ', name, value) FROM store_meta ORDER BY 1",
};

class Schema : public OnBackend {
protected:
    void SetUp() override {
        OnBackend::SetUp();
        if (IsSkipped()) return;
        if (GetParam() == Backend::Sqlite) std::ofstream(where_).flush();
        auto opened = Database::open(where_, Database::Access::ReadWrite, 5000);
        ASSERT_TRUE(opened) << opened.error().message;
        db_ = std::move(*opened);
    }
    void execute(const std::string& sql) {
        auto done = db_->execute(sql);
        ASSERT_TRUE(done) << done.error().message;
    }
    void migrate_now() {
        auto done = migrate(*db_);
        ASSERT_TRUE(done) << done.error().message;
    }
    /// Returns the schema of the database, one object a line.
    std::string schema() {
        std::string out;
        const auto add = [&](std::string_view query) {
            auto s = db_->prepare_once(query);
            ASSERT_TRUE(s) << s.error().message;
            for (;;) {
                auto row = s->step();
                ASSERT_TRUE(row) << row.error().message;
                if (!*row) break;
                out += fmt::format("{}\n", s->text(0));
            }
        };
        if (db_->postgresql()) {
            for (std::string_view query : kPostgresql) add(query);
        } else {
            for (std::string_view query : kSqlite) add(query);
        }
        return out;
    }
    std::unique_ptr<Database> db_;
};
BUNRAKU_ON_BACKENDS(Schema);

TEST_P(Schema, ConversionFromSchema2GivesTheTablesOfANewStore) {
    migrate_now();
    const std::string fresh = schema();
    EXPECT_GT(std::ranges::count(fresh, '\n'), 300);
    TempFolder other;
    if (db_->postgresql()) {
        auto url = fresh_postgresql();
        ASSERT_TRUE(url);
        where_ = *url;
    } else {
        where_ = other / "old.sqlite3";
        std::ofstream(where_).flush();
    }
    auto opened = Database::open(where_, Database::Access::ReadWrite, 5000);
    ASSERT_TRUE(opened) << opened.error().message;
    db_ = std::move(*opened);
    execute(
        query::Dialect(db_->backend()).tables(kSchema2) +
        "INSERT INTO store_meta (name, value) VALUES ('schema', 2), ('synced', 0);" +
        (db_->postgresql() ? "" : "PRAGMA application_id = 1112886866; PRAGMA user_version = 2"));
    migrate_now();
    // Only a converted store may have unencrypted values.
    execute("DELETE FROM store_meta WHERE name = 'clear_secrets'");
    EXPECT_EQ(schema(), fresh);
}

TEST_P(Schema, ConversionFromSchema10GivesTheTablesOfANewStore) {
    migrate_now();
    const std::string fresh = schema();
    execute(
        wide_reports(db_->backend()) +
        "DROP INDEX catalog_places_generation; ALTER TABLE catalog_places DROP COLUMN generation;"
        " UPDATE store_meta SET value = 10 WHERE name = 'schema';" +
        (db_->postgresql() ? "" : " PRAGMA user_version = 10"));
    migrate_now();
    EXPECT_EQ(schema(), fresh);
}

}  // namespace
}  // namespace bunraku::store
