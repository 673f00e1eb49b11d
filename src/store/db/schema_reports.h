// SPDX-License-Identifier: Apache-2.0
// The tables of reports since schema 11, as scripts for both backends, and the conversion of older
// ones.
#pragma once

#include <string_view>

namespace bunraku::store {

// Reports are short rows. `report_kinds` contains what the reports of a node have in common, and
// report_data only the texts that do not repeat; see report_texts.h. Rows of older schemas keep
// their texts in report_data until they expire.
inline constexpr std::string_view kReportKinds = R"sql(
CREATE TABLE report_kinds (
    id {id},
    certname_id {int} NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    report_format {int} NOT NULL,
    environment_id {int},
    producer_id {int},
    noop {small},
    noop_pending {small},
    corrective_change {small},
    hash {blob},
    catalog_uuid {uuid},
    status {text},
    puppet_version {text} NOT NULL,
    configuration_version {text} NOT NULL,
    code_id {text},
    job_id {text},
    cached_catalog_status {text},
    texts TEXT
);
CREATE UNIQUE INDEX report_kinds_hash ON report_kinds (certname_id, hash);
pg: ALTER TABLE report_kinds ALTER COLUMN texts SET STORAGE MAIN;
pg: ALTER TABLE report_kinds SET (toast_tuple_target = 128);
)sql";

// The columns of `reports`, which a conversion creates under another name.
inline constexpr std::string_view kReportColumns = R"sql(
(
    id {id},
    certname_id {int} NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    kind_id {int} NOT NULL,
    start_time {int} NOT NULL,
    end_time {int} NOT NULL,
    producer_timestamp {int} NOT NULL,
    receive_time {int} NOT NULL,
    transaction_uuid {uuid},
    hash {blob} NOT NULL,
    numbers {blob},
    plan {small},
    event_count {int},
    catalog_uuid {uuid}
);
)sql";

inline constexpr std::string_view kReportData = R"sql(
CREATE TABLE report_data (
    report_id {int} PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
sqlite: metrics TEXT NOT NULL,
sqlite: logs TEXT NOT NULL
pg: metrics JSONB,
pg: logs JSONB
);
)sql";

// Converts the reports of schema 10 and older, between kReportKinds and kReportIndexes. Text before
// kReportColumns:
inline constexpr std::string_view kConvertReportKinds = R"sql(
INSERT INTO report_kinds (id, certname_id, report_format, environment_id, producer_id, noop,
        noop_pending, corrective_change, catalog_uuid, status, puppet_version,
        configuration_version, code_id, job_id, cached_catalog_status)
    SELECT min(id), certname_id, report_format, environment_id, producer_id, noop,
        noop_pending, corrective_change,
sqlite: uuid_blob(min(catalog_uuid)),
pg: min(catalog_uuid)::uuid,
        status, puppet_version, configuration_version, code_id, job_id, cached_catalog_status
    FROM reports
    GROUP BY certname_id, report_format, environment_id, producer_id, noop, noop_pending,
        corrective_change, status, puppet_version, configuration_version, code_id, job_id,
        cached_catalog_status, catalog_uuid IS NULL;
CREATE TABLE short_reports
)sql";
// Text after kReportColumns:
inline constexpr std::string_view kConvertReports = R"sql(
INSERT INTO short_reports (id, certname_id, kind_id, start_time, end_time, producer_timestamp,
        receive_time, hash, plan, event_count, transaction_uuid, catalog_uuid)
    SELECT id, certname_id, min(id) OVER kind, start_time, end_time, producer_timestamp,
        receive_time, hash, CASE WHEN report_type = 'plan' THEN 1 END, nullif(event_count, 0),
sqlite: uuid_blob(transaction_uuid),
sqlite: CASE WHEN catalog_uuid <> min(catalog_uuid) OVER kind THEN uuid_blob(catalog_uuid) END
pg: transaction_uuid::uuid,
pg: CASE WHEN catalog_uuid <> min(catalog_uuid) OVER kind THEN catalog_uuid::uuid END
    FROM reports
    WINDOW kind AS (PARTITION BY certname_id, report_format, environment_id, producer_id, noop,
        noop_pending, corrective_change, status, puppet_version, configuration_version, code_id,
        job_id, cached_catalog_status, catalog_uuid IS NULL)
    ORDER BY id;
pg: ALTER TABLE report_data DROP CONSTRAINT report_data_report_id_fkey;
DROP TABLE reports;
ALTER TABLE short_reports RENAME TO reports;
pg: ALTER INDEX short_reports_pkey RENAME TO reports_pkey;
pg: ALTER SEQUENCE short_reports_id_seq RENAME TO reports_id_seq;
pg: ALTER TABLE reports
pg:     RENAME CONSTRAINT short_reports_certname_id_fkey TO reports_certname_id_fkey;
pg: SELECT setval('reports_id_seq', coalesce(max(id), 0) + 1, false) FROM reports;
pg: SELECT setval('report_kinds_id_seq', coalesce(max(id), 0) + 1, false) FROM reports;
pg: ALTER TABLE report_data ADD CONSTRAINT report_data_report_id_fkey
pg:     FOREIGN KEY (report_id) REFERENCES reports (id) ON DELETE CASCADE;
pg: ALTER TABLE report_data ALTER COLUMN metrics DROP NOT NULL,
pg:     ALTER COLUMN logs DROP NOT NULL;
)sql";

// Indexes, storage options and triggers. Triggers count reports for kCounterTables.
inline constexpr std::string_view kReportIndexes = R"sql(
CREATE INDEX reports_hash ON reports
sqlite: (hash);
pg: USING hash (hash);
CREATE INDEX reports_certname ON reports (certname_id, producer_timestamp);
CREATE INDEX reports_timestamp ON reports (producer_timestamp);
CREATE INDEX reports_end_time ON reports (end_time);
CREATE INDEX reports_start_time ON reports (start_time);
pg: ALTER TABLE report_data ALTER COLUMN metrics SET STORAGE MAIN,
pg:     ALTER COLUMN logs SET STORAGE MAIN;
pg: ALTER TABLE report_data SET (toast_tuple_target = 128);
sqlite: CREATE TRIGGER reports_counted AFTER INSERT ON reports BEGIN
sqlite: INSERT INTO report_counts (certname_id, environment_id, report_type, status, reports)
sqlite:     SELECT new.certname_id, coalesce(k.environment_id, 0),
sqlite:         CASE WHEN new.plan IS NULL THEN 'agent' ELSE 'plan' END, coalesce('=' || k.status, ''), 1
sqlite:     FROM report_kinds k WHERE k.id = new.kind_id
sqlite:     ON CONFLICT (certname_id, environment_id, report_type, status)
sqlite:     DO UPDATE SET reports = reports + 1;
sqlite: END;
sqlite: CREATE TRIGGER reports_discounted AFTER DELETE ON reports BEGIN
sqlite: UPDATE report_counts SET reports = reports - 1 WHERE certname_id = old.certname_id
sqlite:     AND environment_id =
sqlite:         coalesce((SELECT environment_id FROM report_kinds WHERE id = old.kind_id), 0)
sqlite:     AND report_type = CASE WHEN old.plan IS NULL THEN 'agent' ELSE 'plan' END
sqlite:     AND status = coalesce('=' || (SELECT status FROM report_kinds WHERE id = old.kind_id), '');
sqlite: DELETE FROM report_counts WHERE certname_id = old.certname_id AND reports <= 0;
sqlite: END;
pg: CREATE OR REPLACE FUNCTION count_report() RETURNS trigger LANGUAGE plpgsql AS $count$
pg: DECLARE
pg:     kind record;
pg: BEGIN
pg: IF TG_OP = 'INSERT' THEN
pg:     INSERT INTO report_counts AS c (certname_id, environment_id, report_type, status, reports)
pg:     SELECT NEW.certname_id, coalesce(k.environment_id, 0),
pg:         CASE WHEN NEW.plan IS NULL THEN 'agent' ELSE 'plan' END, coalesce('=' || k.status, ''), 1
pg:     FROM report_kinds k WHERE k.id = NEW.kind_id
pg:     ON CONFLICT (certname_id, environment_id, report_type, status)
pg:     DO UPDATE SET reports = c.reports + 1;
pg: ELSE
pg:     SELECT k.environment_id, k.status INTO kind FROM report_kinds k WHERE k.id = OLD.kind_id;
pg:     UPDATE report_counts SET reports = reports - 1 WHERE certname_id = OLD.certname_id
pg:         AND environment_id = coalesce(kind.environment_id, 0)
pg:         AND report_type = CASE WHEN OLD.plan IS NULL THEN 'agent' ELSE 'plan' END
pg:         AND status = coalesce('=' || kind.status, '');
pg:     DELETE FROM report_counts WHERE certname_id = OLD.certname_id AND reports <= 0;
pg: END IF;
pg: RETURN NULL;
pg: END $count$;
pg: CREATE TRIGGER reports_counted AFTER INSERT OR DELETE ON reports
pg:     FOR EACH ROW EXECUTE FUNCTION count_report();
)sql";

}  // namespace bunraku::store
