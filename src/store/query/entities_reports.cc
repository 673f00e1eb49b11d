// SPDX-License-Identifier: Apache-2.0
// Reports, their logs and metrics, and events.
#include <fmt/format.h>

#include "store/query/entity_parts.h"
#include "store/query/report_sql.h"

namespace bunraku::query {

namespace entities {

namespace {

constexpr auto kOfReports = with_nodes({{"environments", "environment", "name"},
                                        {"producers", "producer", "name"},
                                        {"events", "hash", "report"}});
constexpr auto kOfEvents =
    with_nodes({{"reports", "report", "hash"}, {"environments", "environment", "name"}});

constexpr Join kReportJoins[] = {
    // With two conditions between the same tables, PostgreSQL expects one row and then looks up the
    // rest row by row.
    {.alias = "c",
     .sql = "JOIN certnames c ON c.id = rp.certname_id",
     .newest = "JOIN certnames c ON c.latest_report_id = rp.id"},
    {"rk", "LEFT JOIN report_kinds rk ON rk.id = rp.kind_id"},
    {"env", "LEFT JOIN environments env ON env.id = rk.environment_id", "rk"},
    {"pr", "LEFT JOIN producers pr ON pr.id = rk.producer_id", "rk"},
};
constexpr std::string_view kReportType = "CASE WHEN rp.plan IS NULL THEN 'agent' ELSE 'plan' END";
constexpr std::string_view kOfAgents = "rp.plan IS NULL";
std::string transaction_uuid(const Dialect& d) { return d.uuid_text("rp.transaction_uuid"); }
std::string catalog_uuid(const Dialect& d) {
    return d.uuid_text("coalesce(rp.catalog_uuid, rk.catalog_uuid)");
}
std::string report_part(const Dialect& d, ReportText text, std::string_view name) {
    return json_object(d, {{"data", JsonSql::Json, json_ordered(d, report_text_sql(d, text, "rp"))},
                           {"href", JsonSql::Text, href(d, "reports", "rp.hash", name)}});
}
std::string report_metrics(const Dialect& d) {
    return report_part(d, ReportText::Metrics, "metrics");
}
std::string report_logs(const Dialect& d) { return report_part(d, ReportText::Logs, "logs"); }
std::string only_metrics(const Dialect& d) { return report_text_sql(d, ReportText::Metrics, "rp"); }
std::string only_logs(const Dialect& d) { return report_text_sql(d, ReportText::Logs, "rp"); }
std::string report_events(const Dialect& d) {
    std::string rows = json_rows(d,
                                 {{"status", JsonSql::Text, "dre.status"},
                                  {"timestamp", JsonSql::Offset, "dre.timestamp"},
                                  {"resource_type", JsonSql::Text, "dre.resource_type"},
                                  {"resource_title", JsonSql::Text, "dre.resource_title"},
                                  {"property", JsonSql::Text, "dre.property"},
                                  {"corrective_change", JsonSql::Bool, "CAST(NULL AS INTEGER)"},
                                  {"new_value", JsonSql::Json, "dre.new_value"},
                                  {"old_value", JsonSql::Json, "dre.old_value"},
                                  {"message", JsonSql::Text, "dre.message"},
                                  {"file", JsonSql::Text, "dre.file"},
                                  {"line", JsonSql::Number, "dre.line"},
                                  {"containment_path", JsonSql::Json, "dre.containment_path"},
                                  {"containing_class", JsonSql::Text, "dre.containing_class"},
                                  {"name", JsonSql::Text, "dre.name"}},
                                 "resource_events dre WHERE dre.certname_id = rp.certname_id AND"
                                 " dre.report_id = rp.id");
    return json_object(d, {{"data", JsonSql::Json, rows},
                           {"href", JsonSql::Text, href(d, "reports", "rp.hash", "events")}});
}
constexpr std::string_view kReportNames[] = {"receive_time",
                                             "corrective_change",
                                             "code_id",
                                             "noop",
                                             "certname",
                                             "puppet_version",
                                             "hash",
                                             "cached_catalog_status",
                                             "transaction_uuid",
                                             "configuration_version",
                                             "status",
                                             "job_id",
                                             "producer",
                                             "catalog_uuid",
                                             "logs",
                                             "noop_pending",
                                             "end_time",
                                             "type",
                                             "environment",
                                             "latest_report?",
                                             "start_time",
                                             "resource_events",
                                             "metrics",
                                             "producer_timestamp",
                                             "report_format"};
constexpr Field kReportFields[] = {
    {"catalog_uuid", T::Text, kNull, {}, "rk", catalog_uuid},
    {"receive_time", T::Time, kBoth, "rp.receive_time"},
    {"producer", T::Text, kNull, "pr.name", "pr"},
    {"hash", T::Hash, kBoth, "rp.hash"},
    {"transaction_uuid", T::Text, kNull, {}, {}, transaction_uuid},
    {"puppet_version", T::Text, kBoth, "rk.puppet_version", "rk"},
    {"noop", T::Bool, kNull, "rk.noop", "rk"},
    {"corrective_change", T::Bool, kNull, "CAST(NULL AS INTEGER)"},
    {"logs", T::Json, F::Project, {}, {}, report_logs},
    {"report_format", T::Number, kBoth, "rk.report_format", "rk"},
    {"start_time", T::Time, kBoth, "rp.start_time"},
    {"producer_timestamp", T::Time, kBoth, "rp.producer_timestamp"},
    {"type", T::Text, kBoth, kReportType},
    {"cached_catalog_status", T::Text, kNull, "rk.cached_catalog_status", "rk"},
    {"end_time", T::Time, kBoth, "rp.end_time"},
    {"resource_events", T::Json, F::Project, {}, {}, report_events},
    {"status", T::Text, kNull, "rk.status", "rk"},
    {"configuration_version", T::Text, kBoth, "rk.configuration_version", "rk"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"code_id", T::Text, kNull, "rk.code_id", "rk"},
    {"noop_pending", T::Bool, kNull, "rk.noop_pending", "rk"},
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"metrics", T::Json, F::Project, {}, {}, report_metrics},
    {"job_id", T::Text, kNull, "rk.job_id", "rk"},
    {"latest_report?", T::Bool, F::Query, "rp.id"},
};
constexpr Field kReportLogFields[] = {
    {"logs", T::Json, F::Project, {}, {}, only_logs},
    {"hash", T::Hash, F::Query, "rp.hash"},
    {"type", T::Text, F::Query, kReportType},
};
constexpr Field kReportMetricFields[] = {
    {"metrics", T::Json, F::Project, {}, {}, only_metrics},
    {"hash", T::Hash, F::Query, "rp.hash"},
    {"type", T::Text, F::Query, kReportType},
};

constexpr Join kEventJoins[] = {
    {"rp", "JOIN reports rp ON rp.id = ev.report_id"},
    {"c", "JOIN certnames c ON c.id = ev.certname_id"},
    {"rk", "LEFT JOIN report_kinds rk ON rk.id = rp.kind_id", "rp"},
    {"env", "LEFT JOIN environments env ON env.id = rk.environment_id", "rk"},
};
constexpr std::string_view kEventNames[] = {"message",
                                            "old_value",
                                            "report_receive_time",
                                            "corrective_change",
                                            "containment_path",
                                            "certname",
                                            "timestamp",
                                            "run_end_time",
                                            "name",
                                            "configuration_version",
                                            "new_value",
                                            "resource_title",
                                            "status",
                                            "property",
                                            "resource_type",
                                            "line",
                                            "environment",
                                            "containing_class",
                                            "run_start_time",
                                            "latest_report?",
                                            "file",
                                            "report"};
constexpr Field kEventFields[] = {
    {"new_value", T::JsonText, kNull, "ev.new_value"},
    {.name = "report",
     .type = T::Hash,
     .flags = kBoth,
     .sql = "rp.hash",
     .need = "rp",
     .late = "(SELECT lr.hash FROM reports lr WHERE lr.id = ev.report_id)"},
    {"corrective_change", T::Bool, kNull, "CAST(NULL AS INTEGER)"},
    {.name = "run_start_time",
     .type = T::Time,
     .flags = kBoth,
     .sql = "rp.start_time",
     .need = "rp",
     .late = "(SELECT lr.start_time FROM reports lr WHERE lr.id = ev.report_id)"},
    {"property", T::Text, kNull, "ev.property"},
    {"name", T::Text, kNull, "ev.name"},
    {"file", T::Text, kNull, "ev.file"},
    {"old_value", T::JsonText, kNull, "ev.old_value"},
    {"containing_class", T::Text, kNull, "ev.containing_class"},
    {"line", T::Number, kNull, "ev.line"},
    {"resource_type", T::Text, kBoth, "ev.resource_type"},
    {"status", T::Text, kBoth, "ev.status"},
    {.name = "configuration_version",
     .type = T::Text,
     .flags = kBoth,
     .sql = "rk.configuration_version",
     .need = "rk",
     .late = "(SELECT lk.configuration_version FROM reports lr JOIN report_kinds lk ON lk.id ="
             " lr.kind_id WHERE lr.id = ev.report_id)"},
    {"resource_title", T::Text, kBoth, "ev.resource_title"},
    {.name = "environment",
     .type = T::Text,
     .flags = kNull,
     .sql = "env.name",
     .need = "env",
     .late = "(SELECT le.name FROM reports lr JOIN report_kinds lk ON lk.id = lr.kind_id JOIN"
             " environments le ON le.id = lk.environment_id WHERE lr.id = ev.report_id)"},
    {"timestamp", T::Time, kBoth, "ev.timestamp"},
    {.name = "run_end_time",
     .type = T::Time,
     .flags = kBoth,
     .sql = "rp.end_time",
     .need = "rp",
     .late = "(SELECT lr.end_time FROM reports lr WHERE lr.id = ev.report_id)"},
    {.name = "report_receive_time",
     .type = T::Time,
     .flags = kBoth,
     .sql = "rp.receive_time",
     .need = "rp",
     .late = "(SELECT lr.receive_time FROM reports lr WHERE lr.id = ev.report_id)"},
    {"containment_path", T::TextArray, kNull, "ev.containment_path"},
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"message", T::Text, kNull, "ev.message"},
    {"latest_report?", T::Bool, F::Query, "ev.report_id"},
};

constexpr Join kReportCountJoins[] = {
    {"c", "JOIN certnames c ON c.id = rp.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = rp.environment_id"},
};
constexpr Field kReportCountFields[] = {
    {"type", T::Text, kBoth, "rp.report_type"},
    // Stored with a prefix character, because a missing status differs from an empty one.
    {"status", T::Text, kNull, "CASE WHEN rp.status <> '' THEN substr(rp.status, 2) END"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"certname", T::Text, kBoth, "c.certname", "c"},
};

constexpr Join kNewestEventJoins[] = {
    {"c", "JOIN certnames c ON c.id = ev.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = ev.environment_id"},
};
constexpr Field kNewestEventFields[] = {
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"status", T::Text, kBoth, "ev.status"},
    {"timestamp", T::Time, kBoth, "ev.timestamp"},
    {"resource_type", T::Text, kBoth, "ev.resource_type"},
    {"resource_title", T::Text, kBoth, "ev.resource_title"},
    {"containing_class", T::Text, kNull, "ev.containing_class"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"latest_report?", T::Bool, F::Query, "ev.report_id"},
};

const Entity kEntities[] = {
    {
        .name = "reports",
        .shown = "reports",
        .from = "reports rp",
        .joins = kReportJoins,
        .fields = kReportFields,
        .relations = kOfReports,
        .node = "rp.certname_id",
        .key = "rp.id",
        .agents = kOfAgents,
        .listed = kReportNames,
    },
    {
        .name = "report_logs",
        .shown = "logs",
        .from = "reports rp",
        .fields = kReportLogFields,
        .agents = kOfAgents,
        .single = true,
        .subquery = false,
    },
    {
        .name = "report_metrics",
        .shown = "metrics",
        .from = "reports rp",
        .fields = kReportMetricFields,
        .agents = kOfAgents,
        .single = true,
        .subquery = false,
    },
    {
        .name = "events",
        .shown = "events",
        .from = "resource_events ev",
        .joins = kEventJoins,
        .fields = kEventFields,
        .relations = kOfEvents,
        .node = "ev.certname_id",
        .listed = kEventNames,
    },
};

}  // namespace

std::span<const Entity> of_reports() { return kEntities; }

}  // namespace entities

const Entity& report_counts() {
    static const Entity entity = {
        .name = "reports",
        .shown = "reports",
        .from = "report_counts rp",
        .joins = entities::kReportCountJoins,
        .fields = entities::kReportCountFields,
        .node = "rp.certname_id",
        .count = "CAST(coalesce(sum(rp.reports), 0) AS BIGINT)",
        .agents = "rp.report_type = 'agent'",
    };
    return entity;
}

const Entity& newest_events() {
    static const Entity entity = {
        .name = "events",
        .shown = "events",
        .from = "latest_events ev",
        .joins = entities::kNewestEventJoins,
        .fields = entities::kNewestEventFields,
        .node = "ev.certname_id",
    };
    return entity;
}

}  // namespace bunraku::query
