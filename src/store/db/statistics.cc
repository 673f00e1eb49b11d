// SPDX-License-Identifier: Apache-2.0
#include "store/db/statistics.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"
#include "store/query/report_sql.h"

namespace bunraku::store {

namespace {

Result<std::int64_t> number(Database& db, std::string_view sql) {
    Statement s = BUNRAKU_TRY(db.prepare_once(sql));
    return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
}

/// Returns the rows as JSON objects.
Result<std::string> rows(Database& db, std::string_view sql) {
    Statement s = BUNRAKU_TRY(db.prepare_once(sql));
    std::string out = "[";
    while (BUNRAKU_TRY(s.step())) {
        if (out.size() > 1) out += ',';
        out += '{';
        for (int i = 0; i < s.columns(); ++i) {
            if (i > 0) out += ',';
            codec::append_json_string(out, s.name(i));
            out += ':';
            switch (s.type(i)) {
                case Statement::Type::Null: out += "null"; break;
                case Statement::Type::Integer: out += std::to_string(s.integer(i)); break;
                case Statement::Type::Real: out += fmt::format("{}", s.real(i)); break;
                default: codec::append_json_string(out, s.text(i));
            }
        }
        out += '}';
    }
    return out + "]";
}

/// Returns 21 quantiles, 0 to 1, of the only column, computed like percentile_cont.
Result<std::string> quantiles(Database& db, std::string_view sql) {
    Statement s = BUNRAKU_TRY(db.prepare_once(sql));
    std::vector<double> values;
    while (BUNRAKU_TRY(s.step())) values.push_back(s.real(0));
    if (values.empty()) return std::string("[{\"quantiles\":null}]");
    std::sort(values.begin(), values.end());
    std::string out = "[{\"quantiles\":[";
    for (int i = 0; i <= 20; ++i) {
        double at = static_cast<double>(values.size() - 1) * i / 20;
        auto low = static_cast<std::size_t>(at);
        std::size_t high = std::min(low + 1, values.size() - 1);
        BUNRAKU_ASSERT(low <= high && high < values.size());
        double v = values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
        out += fmt::format("{}{}", i ? "," : "", v);
    }
    return out + "]}]";
}

}  // namespace

Result<std::string> summary_statistics(Database& db) {
    bool pg = db.postgresql();
    std::string out = "{";
    auto put = [&](std::string_view key, Result<std::string> value) -> Result<void> {
        if (!value) return std::unexpected(value.error());
        if (out.size() > 1) out += ',';
        out += fmt::format("\"{}\":{}", key, *value);
        return {};
    };
    BUNRAKU_TRY_VOID(put(
        "table_usage", rows(db, pg ? "SELECT relid::text, schemaname, relname, seq_scan, idx_scan,"
                                     " n_tup_ins, n_tup_upd, n_tup_del, n_live_tup, n_dead_tup"
                                     " FROM pg_stat_user_tables"
                                   : "SELECT name AS relname FROM sqlite_schema"
                                     " WHERE type = 'table'")));
    BUNRAKU_TRY_VOID(
        put("index_usage", rows(db, pg ? "SELECT schemaname, relname, indexrelname, idx_scan,"
                                         " idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes"
                                       : "SELECT tbl_name AS relname, name AS indexrelname"
                                         " FROM sqlite_schema WHERE type = 'index'")));
    BUNRAKU_TRY_VOID(put(
        "database_usage",
        rows(db, pg ? "SELECT now()::text AS current_time, datname, numbackends, xact_commit,"
                      " xact_rollback, blks_read, blks_hit, deadlocks,"
                      " pg_database_size(datname) AS size FROM pg_stat_database"
                      " WHERE datname = current_database()"
                    : "SELECT strftime('%Y-%m-%dT%H:%M:%fZ') AS current_time, (SELECT page_count"
                      " FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size())"
                      " AS size")));
    BUNRAKU_TRY_VOID(put("node_activity",
                         rows(db, pg ? "SELECT count(*) AS count, (deactivated IS NULL AND expired"
                                       " IS NULL) AS active FROM certnames GROUP BY 2"
                                     : "SELECT count(*) AS count, (deactivated IS NULL AND expired"
                                       " IS NULL) AS active FROM certnames GROUP BY 2")));
    BUNRAKU_TRY_VOID(put("fact_path_counts_by_depth",
                         rows(db,
                              "SELECT depth, count(*) AS count FROM fact_paths GROUP BY depth"
                              " ORDER BY depth")));
    const char* length = pg ? "pg_column_size" : "length";
    using query::ReportText;
    for (ReportText text : {ReportText::Metrics, ReportText::Logs}) {
        const std::string json = query::report_text_sql(query::Dialect(db.backend()), text, "r");
        BUNRAKU_TRY_VOID(
            put(text == ReportText::Metrics ? "report_metric_size_dist" : "report_log_size_dist",
                quantiles(db, fmt::format("SELECT {}({}) FROM reports r", length, json))));
    }
    BUNRAKU_TRY_VOID(
        put("num_resources_per_node",
            quantiles(db, "SELECT count(*) FROM catalog_resources GROUP BY certname_id")));
    BUNRAKU_TRY_VOID(
        put("num_resources_per_file",
            quantiles(db,
                      "SELECT count(*) FROM catalog_resources l JOIN resources r"
                      " ON r.id = l.resource_id WHERE r.file IS NOT NULL GROUP BY r.file")));
    BUNRAKU_TRY_VOID(put("file_resources_per_catalog",
                         quantiles(db,
                                   "SELECT count(*) FROM catalog_resources l JOIN resources r"
                                   " ON r.id = l.resource_id WHERE r.type = 'File'"
                                   " GROUP BY l.certname_id")));
    std::string has_source = pg ? "jsonb_exists(p.parameters::jsonb, 'source')"
                                : "json_type(p.parameters, '$.source') IS NOT NULL";
    BUNRAKU_TRY_VOID(
        put("file_resources_per_catalog_with_source",
            quantiles(db, fmt::format("SELECT count(*) FROM catalog_resources l JOIN resources r"
                                      " ON r.id = l.resource_id JOIN parameters p"
                                      " ON p.id = r.parameters_id WHERE r.type = 'File' AND {}"
                                      " GROUP BY l.certname_id",
                                      has_source))));
    BUNRAKU_TRY_VOID(
        put("num_distinct_edges_source_target",
            rows(db, pg ? "SELECT count(*) AS count FROM (SELECT DISTINCT e.s, e.t FROM catalogs c"
                          " CROSS JOIN LATERAL unnest(c.edge_sources, c.edge_targets)"
                          " AS e (s, t)) x"
                        : "SELECT count(*) AS count FROM (SELECT DISTINCT e.source, e.target"
                          " FROM catalogs c JOIN edges_of(c.edges) e)")));
    BUNRAKU_TRY_VOID(put("version", std::string("\"8.8.2\"")));
    return out + "}";
}

Result<StoreFigures> store_figures(Database& db) {
    StoreFigures f;
    f.nodes = BUNRAKU_TRY(
        number(db, "SELECT count(*) FROM certnames WHERE deactivated IS NULL AND expired IS NULL"));
    f.inactive = BUNRAKU_TRY(number(db, "SELECT count(*) FROM certnames")) - f.nodes;
    f.resources = BUNRAKU_TRY(number(db, "SELECT count(*) FROM catalog_resources"));
    f.distinct_resources = BUNRAKU_TRY(number(db, "SELECT count(*) FROM resources"));
    f.facts = BUNRAKU_TRY(number(db, "SELECT count(*) FROM factset_facts"));
    f.distinct_facts = BUNRAKU_TRY(number(db, "SELECT count(*) FROM facts"));
    f.reports = BUNRAKU_TRY(number(db, "SELECT count(*) FROM reports"));
    f.events = BUNRAKU_TRY(number(db, "SELECT count(*) FROM resource_events"));
    f.packages = BUNRAKU_TRY(number(db, "SELECT count(*) FROM packages"));
    f.bytes = BUNRAKU_TRY(number(db, db.postgresql()
                                         ? "SELECT pg_database_size(current_database())"
                                         : "SELECT (SELECT page_count FROM pragma_page_count())"
                                           " * (SELECT page_size FROM pragma_page_size())"));
    return f;
}

Result<void> compact(Database& db) {
    if (db.postgresql()) return db.execute("VACUUM (ANALYZE)");
    BUNRAKU_TRY_VOID(db.execute("VACUUM"));
    BUNRAKU_TRY_VOID(db.execute("ANALYZE"));
    return db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace bunraku::store
