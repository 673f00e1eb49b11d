// SPDX-License-Identifier: Apache-2.0
#include "wide_reports.h"

#include <fmt/format.h>

#include "store/query/dialect.h"
#include "store/query/report_sql.h"

namespace bunraku::store {

std::string wide_reports(query::Backend backend) {
    using query::report_text_sql;
    using query::ReportText;
    const query::Dialect dialect(backend);
    const std::string tables = dialect.tables(R"sql(
CREATE TABLE wide_reports (
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
CREATE TABLE wide_data (
    report_id {int} PRIMARY KEY,
    metrics {json} NOT NULL,
    logs {json} NOT NULL
);
)sql");
    const std::string end = dialect.tables(R"sql(
DROP TABLE undeclared;
DROP TABLE created_resources;
DROP TABLE rollouts;
DROP TABLE rollout_plans;
DROP TABLE rollout_members;
DROP TABLE node_versions;
DROP TABLE rollout_events;
DROP TABLE rollout_servers;
DROP TABLE node_tries;
DROP TABLE report_data;
DROP TABLE reports;
DROP TABLE report_kinds;
ALTER TABLE wide_reports RENAME TO reports;
sqlite: CREATE TABLE report_data (
sqlite:     report_id INTEGER PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
sqlite:     metrics TEXT NOT NULL,
sqlite:     logs TEXT NOT NULL
sqlite: );
sqlite: INSERT INTO report_data SELECT * FROM wide_data;
sqlite: DROP TABLE wide_data;
pg: ALTER TABLE wide_data RENAME TO report_data;
pg: ALTER INDEX wide_data_pkey RENAME TO report_data_pkey;
pg: ALTER TABLE report_data ADD CONSTRAINT report_data_report_id_fkey
pg:     FOREIGN KEY (report_id) REFERENCES reports (id) ON DELETE CASCADE;
)sql");
    return tables +
           fmt::format(
               "INSERT INTO wide_reports SELECT r.id, r.certname_id, r.hash, k.status,"
               " CASE WHEN r.plan IS NULL THEN 'agent' ELSE 'plan' END, k.noop, k.noop_pending,"
               " k.corrective_change, k.environment_id, k.producer_id, k.puppet_version,"
               " k.report_format, k.configuration_version, r.start_time, r.end_time,"
               " r.producer_timestamp, r.receive_time, {}, {}, k.code_id, k.job_id,"
               " k.cached_catalog_status, coalesce(r.event_count, 0)"
               " FROM reports r JOIN report_kinds k ON k.id = r.kind_id;"
               "INSERT INTO wide_data SELECT r.id, {}, {} FROM reports r;\n",
               dialect.uuid_text("r.transaction_uuid"),
               dialect.uuid_text("coalesce(r.catalog_uuid, k.catalog_uuid)"),
               report_text_sql(dialect, ReportText::Metrics, "r"),
               report_text_sql(dialect, ReportText::Logs, "r")) +
           end;
}

}  // namespace bunraku::store
