// SPDX-License-Identifier: Apache-2.0
// What converts the tables of an older store, in addition to the new tables of schema_tables.h.
#pragma once

#include <string_view>

namespace bunraku::store {

// Schema 3: see kSearchTables.
inline constexpr std::string_view kSearchColumns = R"sql(
ALTER TABLE resources ADD COLUMN tag_set_id {int} NOT NULL DEFAULT 0;
)sql";

// Schema 5: see kFactNameTables.
inline constexpr std::string_view kFactNameColumns = R"sql(
ALTER TABLE factsets ADD COLUMN name_set_id {int} NOT NULL DEFAULT 0;
)sql";

// Schema 6: the current catalogs become the first known versions.
inline constexpr std::string_view kHistoryChanges = R"sql(
ALTER TABLE gc_candidates ADD COLUMN lost_at {int} NOT NULL DEFAULT 0;
CREATE INDEX gc_candidates_lost_at ON gc_candidates (kind, lost_at);
CREATE INDEX resource_events_corrective ON resource_events (timestamp) WHERE corrective_change = 1;
INSERT INTO catalog_versions (certname_id, valid_from, hash, version, code_id, environment, added, removed)
    SELECT c.certname_id, c.producer_timestamp, c.hash, c.version, c.code_id, e.name, 0, 0
    FROM catalogs c LEFT JOIN environments e ON e.id = c.environment_id;
)sql";

// Schema 7: see kFactHistoryTables.
inline constexpr std::string_view kFactHistoryColumns = R"sql(
ALTER TABLE factsets ADD COLUMN steady_hash {blob};
)sql";

// Schema 8: kCounterTables needs the column, and is then filled.
inline constexpr std::string_view kCounterColumns = R"sql(
ALTER TABLE catalogs ADD COLUMN kind_set_id {int} NOT NULL DEFAULT 0;
)sql";
inline constexpr std::string_view kCounterChanges = R"sql(
INSERT INTO report_counts (certname_id, environment_id, report_type, status, reports)
    SELECT certname_id, coalesce(environment_id, 0), report_type, coalesce('=' || status, ''), count(*)
    FROM reports GROUP BY 1, 2, 3, 4;
INSERT INTO latest_events (certname_id, seq, report_id, environment_id, status, timestamp,
        resource_type, resource_title, containing_class)
    SELECT e.certname_id, e.seq, e.report_id, r.environment_id, e.status, e.timestamp,
        e.resource_type, e.resource_title, e.containing_class
    FROM certnames c JOIN reports r ON r.id = c.latest_report_id
    JOIN resource_events e ON e.certname_id = c.id AND e.report_id = c.latest_report_id;
)sql";

// Schema 9: parameters with their Sensitive values, encrypted. `clear_secrets` means
// that older programs may have left unencrypted values in `exact`.
inline constexpr std::string_view kSecretColumns = R"sql(
ALTER TABLE parameters ADD COLUMN sealed {blob};
)sql";

// Schema 11: see kPlaceTables.
inline constexpr std::string_view kPlaceColumns = R"sql(
ALTER TABLE catalog_places ADD COLUMN generation {int} NOT NULL DEFAULT 0;
CREATE INDEX catalog_places_generation ON catalog_places (generation);
)sql";

}  // namespace bunraku::store
