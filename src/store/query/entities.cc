#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "store/query/entity.h"
#include "store/query/json_sql.h"
#include "store/schema_tables.h"

namespace bunraku::store {

namespace {

using F = Field;
using T = FieldType;
constexpr auto kBoth = F::Both;
constexpr auto kNull = static_cast<std::uint8_t>(F::Both | F::Nullable);

// --- what most entities lead to: the other things of the same node

constexpr std::string_view kOfNodes[] = {"factsets",       "reports",  "package_inventory",
                                         "inventory",      "catalogs", "catalog_input_contents",
                                         "catalog_inputs", "nodes",    "facts",
                                         "fact_contents",  "events",   "edges",
                                         "resources"};

template <std::size_t N>
constexpr auto with_nodes(const Relation (&own)[N]) {
    std::array<Relation, N + std::size(kOfNodes)> all{};
    std::size_t n = 0;
    for (const Relation& r : own) all[n++] = r;
    for (std::string_view name : kOfNodes) all[n++] = {name, "certname", "certname"};
    return all;
}

constexpr auto kOnlyNodes = with_nodes({{"nodes", "certname", "certname"}});
constexpr auto kNodesEnvironments = with_nodes({{"environments", "environment", "name"}});
constexpr auto kNodesEnvironmentsProducers =
    with_nodes({{"environments", "environment", "name"}, {"producers", "producer", "name"}});
constexpr auto kOfFacts = with_nodes(
    {{"environments", "environment", "name"}, {"fact_contents", "certname,name", "certname,name"}});
constexpr auto kOfFactContents = with_nodes(
    {{"environments", "environment", "name"}, {"facts", "certname,name", "certname,name"}});
constexpr auto kOfReports = with_nodes({{"environments", "environment", "name"},
                                        {"producers", "producer", "name"},
                                        {"events", "hash", "report"}});
constexpr auto kOfEvents =
    with_nodes({{"reports", "report", "hash"}, {"environments", "environment", "name"}});

// --- nodes

constexpr Join kNodeJoins[] = {
    {"cat", "LEFT JOIN catalogs cat ON cat.certname_id = c.id"},
    {"fs", "LEFT JOIN factsets fs ON fs.certname_id = c.id"},
    {"rp", "LEFT JOIN reports rp ON rp.id = c.latest_report_id"},
    {"ce", "LEFT JOIN environments ce ON ce.id = cat.environment_id", "cat"},
    {"fe", "LEFT JOIN environments fe ON fe.id = fs.environment_id", "fs"},
    {"re", "LEFT JOIN environments re ON re.id = rp.environment_id", "rp"},
};
// What PuppetDB shows of corrective changes without its commercial part: nothing.
constexpr std::string_view kNodeNames[] = {"latest_report_corrective_change",
                                           "deactivated",
                                           "expired",
                                           "report_environment",
                                           "certname",
                                           "facts_timestamp",
                                           "facts_environment",
                                           "cached_catalog_status",
                                           "latest_report_status",
                                           "latest_report_hash",
                                           "catalog_timestamp",
                                           "latest_report_noop_pending",
                                           "report_timestamp",
                                           "latest_report_noop",
                                           "catalog_environment",
                                           "latest_report_job_id"};
constexpr Field kNodeFields[] = {
    {"deactivated", T::Time, kNull, "c.deactivated"},
    {"latest_report_hash", T::Hash, kNull, "rp.hash", "rp"},
    {"facts_environment", T::Text, kNull, "fe.name", "fe"},
    {"cached_catalog_status", T::Text, kNull, "rp.cached_catalog_status", "rp"},
    {"report_environment", T::Text, kNull, "re.name", "re"},
    {"latest_report_corrective_change", T::Bool, kNull, "CAST(NULL AS INTEGER)"},
    {"catalog_environment", T::Text, kNull, "ce.name", "ce"},
    {"facts_timestamp", T::Time, kNull, "fs.timestamp", "fs"},
    {"latest_report_noop", T::Bool, kNull, "rp.noop", "rp"},
    {"expired", T::Time, kNull, "c.expired"},
    {"latest_report_noop_pending", T::Bool, kNull, "rp.noop_pending", "rp"},
    {"report_timestamp", T::Time, kNull, "rp.end_time", "rp"},
    {"certname", T::Text, kBoth, "c.certname"},
    {"catalog_timestamp", T::Time, kNull, "cat.timestamp", "cat"},
    {"latest_report_job_id", T::Text, kNull, "rp.job_id", "rp"},
    {"latest_report_status", T::Text, kNull, "rp.status", "rp"},
    // Only nodes_with_expiration() has these.
    {"expires_facts", T::Bool, kBoth, "coalesce(c.facts_expire, 1)"},
    {"expires_facts_updated", T::Time, kNull, "c.facts_expire_updated"},
};
constexpr std::size_t kPlainNodeFields = std::size(kNodeFields) - 2;

// --- facts

constexpr Join kFactJoins[] = {
    {"f", "JOIN facts f ON f.id = ff.fact_id"},
    {"c", "JOIN certnames c ON c.id = ff.certname_id"},
    {"fs", "JOIN factsets fs ON fs.certname_id = ff.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = fs.environment_id", "fs"},
};
constexpr Field kFactFields[] = {
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"name", T::Text, kBoth, "f.name", "f"},
    {"value", T::FactValue, kBoth, "f.value", "f"},
};

constexpr Join kFactContentJoins[] = {
    {.alias = "fl", .sql = "JOIN fact_leaves fl ON fl.fact_id = ff.fact_id", .always = true},
    {.alias = "fp", .sql = "JOIN fact_paths fp ON fp.id = fl.path_id", .always = true},
    {"c", "JOIN certnames c ON c.id = ff.certname_id"},
    {"fs", "JOIN factsets fs ON fs.certname_id = ff.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = fs.environment_id", "fs"},
};
constexpr Field kFactContentFields[] = {
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"path", T::FactPath, kBoth, "fp.path_array"},
    {"name", T::Text, kBoth, "fp.name"},
    {"value", T::FactValue, kBoth, "fl.value"},
};

// No EXISTS, which PostgreSQL would make a join with the leaves of all nodes.
constexpr std::string_view kPathInUse =
    "(SELECT 1 FROM fact_leaves ul JOIN factset_facts uf ON uf.fact_id = ul.fact_id"
    " WHERE ul.path_id = fp.id LIMIT 1) IS NOT NULL AND fp.type <> 'json'";
constexpr Field kFactPathFields[] = {
    {"type", T::Text, kBoth, "fp.type"},
    {"path", T::EncodedPath, kBoth, "fp.path_array"},
    {"name", T::Text, kBoth, "fp.name"},
    {"depth", T::Number, F::Query, "fp.depth"},
};
constexpr Relation kOfFactPaths[] = {{"facts", "name", "name"}, {"fact_contents", "path", "path"}};
constexpr Field kFactNameFields[] = {{"name", T::Text, kBoth, "fp.name"}};

constexpr Join kFactsetJoins[] = {
    {"c", "JOIN certnames c ON c.id = fs.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = fs.environment_id"},
    {"pr", "LEFT JOIN producers pr ON pr.id = fs.producer_id"},
};

std::string href(const Dialect& dialect, std::string_view path, std::string_view id,
                 std::string_view child) {
    std::string key = id.ends_with(".hash") ? dialect.hex(id) : std::string(id);
    return fmt::format("'/pdb/query/v4/{}/' || {} || '/{}'", path, key, child);
}

std::string factset_facts(const Dialect& d) {
    std::string rows =
        json_rows(d, {{"name", JsonSql::Text, "df.name"}, {"value", JsonSql::Json, "df.value"}},
                  "factset_facts dff JOIN facts df ON df.id = dff.fact_id WHERE dff.certname_id ="
                  " fs.certname_id");
    return json_object(d, {{"data", JsonSql::Json, rows},
                           {"href", JsonSql::Text, href(d, "factsets", "c.certname", "facts")}});
}
std::string factset_packages(const Dialect& d) {
    return fmt::format(
        "coalesce({}, '[]')",
        json_array_rows(d, {"dp.name", "dp.version", "dp.provider"},
                        "certname_packages dcp JOIN packages dp ON dp.id = dcp.package_id WHERE"
                        " dcp.certname_id = fs.certname_id"));
}
constexpr Field kFactsetFields[] = {
    {"timestamp", T::Time, kBoth, "fs.timestamp"},
    {"facts", T::Json, kBoth, {}, "c", factset_facts},
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"hash", T::Hash, kBoth, "fs.hash"},
    {"producer_timestamp", T::Time, kBoth, "fs.producer_timestamp"},
    {"producer", T::Text, kNull, "pr.name", "pr"},
    {"environment", T::Text, kNull, "env.name", "env"},
    // Only factsets_with_packages() has this.
    {"package_inventory", T::Json, F::Project, {}, {}, factset_packages},
};
constexpr std::size_t kPlainFactsetFields = std::size(kFactsetFields) - 1;

constexpr Join kInventoryJoins[] = {
    {"c", "JOIN certnames c ON c.id = fs.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = fs.environment_id"},
};
std::string all_facts(const Dialect& d) {
    if (d.postgresql()) {
        return "coalesce((SELECT jsonb_object_agg(df.name, df.value) FROM factset_facts dff JOIN"
               " facts df ON df.id = dff.fact_id WHERE dff.certname_id = fs.certname_id),"
               " '{}'::jsonb)";
    }
    return "(SELECT json_members(df.name, df.value) FROM factset_facts dff JOIN facts df ON df.id ="
           " dff.fact_id WHERE dff.certname_id = fs.certname_id)";
}
std::string trusted_facts(const Dialect&) {
    return "(SELECT df.value FROM factset_facts dff JOIN facts df ON df.id = dff.fact_id WHERE"
           " dff.certname_id = fs.certname_id AND df.name = 'trusted')";
}
constexpr Field kInventoryFields[] = {
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"timestamp", T::Time, kBoth, "fs.timestamp"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"facts", T::Facts, F::Both | F::Dotted, {}, {}, all_facts},
    {"trusted", T::Facts, F::Both | F::Dotted | F::Nullable, {}, {}, trusted_facts},
};

// --- catalogs

constexpr Join kCatalogJoins[] = {
    {"c", "JOIN certnames c ON c.id = cat.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = cat.environment_id"},
    {"pr", "LEFT JOIN producers pr ON pr.id = cat.producer_id"},
};
std::string catalog_resources(const Dialect& d) {
    std::string rows = json_rows(d,
                                 {{"resource", JsonSql::Hash, "dp.hash"},
                                  {"type", JsonSql::Text, "dr.type"},
                                  {"title", JsonSql::Text, "dr.title"},
                                  {"tags", JsonSql::Json, "dr.tags"},
                                  {"exported", JsonSql::Bool, "dr.exported"},
                                  {"file", JsonSql::Text, "dr.file"},
                                  {"line", JsonSql::Number, "dr.line"},
                                  {"parameters", JsonSql::Json, "dp.parameters"}},
                                 "catalog_resources dcr JOIN resources dr ON dr.id ="
                                 " dcr.resource_id JOIN parameters dp ON dp.id = dr.parameters_id"
                                 " WHERE dcr.certname_id = cat.certname_id");
    return json_object(d,
                       {{"data", JsonSql::Json, rows},
                        {"href", JsonSql::Text, href(d, "catalogs", "c.certname", "resources")}});
}
std::string relationship(std::string_view kind) {
    std::string out = fmt::format("CASE {}", kind);
    for (std::size_t i = 0; i < kEdgeKinds.size(); ++i) {
        out += fmt::format(" WHEN {} THEN '{}'", i, kEdgeKinds[i]);
    }
    return out + " END";
}
std::string catalog_edges(const Dialect& d) {
    // The catalog is named again inside: its edges are a table made from its own column.
    std::string rows = json_rows(
        d,
        {{"source_type", JsonSql::Text, "ds.type"},
         {"source_title", JsonSql::Text, "ds.title"},
         {"target_type", JsonSql::Text, "dt.type"},
         {"target_title", JsonSql::Text, "dt.title"},
         {"relationship", JsonSql::Text, relationship("de.kind")}},
        fmt::format("catalogs dcat {} JOIN resources ds ON ds.id = de.source JOIN resources dt ON"
                    " dt.id = de.target WHERE dcat.certname_id = cat.certname_id",
                    d.edges("dcat", "de")));
    return json_object(d, {{"data", JsonSql::Json, rows},
                           {"href", JsonSql::Text, href(d, "catalogs", "c.certname", "edges")}});
}
constexpr NestedColumn kCatalogResourceColumns[] = {
    {"resource", T::Hash, "dp.hash"},     {"type", T::Text, "dr.type"},
    {"title", T::Text, "dr.title"},       {"tags", T::Json, "dr.tags"},
    {"exported", T::Bool, "dr.exported"}, {"file", T::Text, "dr.file"},
    {"line", T::Number, "dr.line"},       {"parameters", T::Json, "dp.parameters"},
};
constexpr NestedRows kCatalogResources = {
    "cat.certname_id",
    [](const Dialect& d) { return href(d, "catalogs", "c.certname", "resources"); },
    kCatalogResourceColumns,
    [](const Dialect&) -> std::string {
        return "catalog_resources dcr JOIN resources dr ON dr.id = dcr.resource_id"
               " JOIN parameters dp ON dp.id = dr.parameters_id WHERE dcr.certname_id = ?";
    }};
constexpr NestedColumn kCatalogEdgeColumns[] = {
    {"source_type", T::Text, "ds.type"},
    {"source_title", T::Text, "ds.title"},
    {"target_type", T::Text, "dt.type"},
    {"target_title", T::Text, "dt.title"},
    {"relationship", T::Text, {}, [](const Dialect&) { return relationship("de.kind"); }},
};
constexpr NestedRows kCatalogEdges = {
    "cat.certname_id", [](const Dialect& d) { return href(d, "catalogs", "c.certname", "edges"); },
    kCatalogEdgeColumns,
    [](const Dialect& d) {
        std::string cross = d.postgresql() ? "" : "CROSS ";
        return fmt::format(
            "catalogs dcat {0}{1} {0}JOIN resources ds ON ds.id = de.source {0}JOIN resources dt"
            " ON dt.id = de.target WHERE dcat.certname_id = ?",
            cross, d.edges("dcat", "de"));
    }};
constexpr std::string_view kCatalogNames[] = {"code_id",
                                              "certname",
                                              "hash",
                                              "transaction_uuid",
                                              "job_id",
                                              "producer",
                                              "catalog_uuid",
                                              "environment",
                                              "edges",
                                              "version",
                                              "producer_timestamp",
                                              "resources"};
constexpr Field kCatalogFields[] = {
    {"catalog_uuid", T::Text, kNull, "cat.catalog_uuid"},
    {"producer", T::Text, kNull, "pr.name", "pr"},
    {"hash", T::Hash, kBoth, "cat.hash"},
    {"transaction_uuid", T::Text, kNull, "cat.transaction_uuid"},
    {"producer_timestamp", T::Time, kBoth, "cat.producer_timestamp"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"code_id", T::Text, kNull, "cat.code_id"},
    {"version", T::Text, kBoth, "cat.version"},
    {"resources", T::Json, F::Project, {}, "c", catalog_resources, &kCatalogResources},
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"edges", T::Json, F::Project, {}, "c", catalog_edges, &kCatalogEdges},
    {"job_id", T::Text, kNull, "cat.job_id"},
};

// SQLite would rather begin with a resource and look through all edges for it.
std::string end_of_edge(const Dialect& d, std::string_view alias, std::string_view end) {
    return fmt::format("{}JOIN resources {} ON {}.id = e.{}", d.postgresql() ? "" : "CROSS ", alias,
                       alias, end);
}
constexpr Join kEdgeJoins[] = {
    {"c", "JOIN certnames c ON c.id = cat.certname_id"},
    {.alias = "e",
     .always = true,
     .build =
         [](const Dialect& d) { return (d.postgresql() ? "" : "CROSS ") + d.edges("cat", "e"); }},
    {.alias = "s", .build = [](const Dialect& d) { return end_of_edge(d, "s", "source"); }},
    {.alias = "t", .build = [](const Dialect& d) { return end_of_edge(d, "t", "target"); }},
};
constexpr Field kEdgeFields[] = {
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"relationship", T::Text, kBoth, {}, {}, [](const Dialect&) { return relationship("e.kind"); }},
    {"source_title", T::Text, kBoth, "s.title", "s"},
    {"source_type", T::Text, kBoth, "s.type", "s"},
    {"target_title", T::Text, kBoth, "t.title", "t"},
    {"target_type", T::Text, kBoth, "t.type", "t"},
};

constexpr Join kResourceJoins[] = {
    {"r", "JOIN resources r ON r.id = cr.resource_id"},
    {"c", "JOIN certnames c ON c.id = cr.certname_id"},
    {"cat", "JOIN catalogs cat ON cat.certname_id = cr.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = cat.environment_id", "cat"},
    {"p", "JOIN parameters p ON p.id = r.parameters_id", "r"},
};
constexpr std::string_view kResourceNames[] = {"resource",    "certname", "tags",      "tag",
                                               "exported",    "line",     "title",     "type",
                                               "environment", "file",     "parameters"};
// Kept as text, which is what most questions want; compared as jsonb.
std::string tags_of_resource(const Dialect& d) { return d.as_jsonb("r.tags"); }
std::string parameters_of_resource(const Dialect& d) { return d.as_jsonb("p.parameters"); }
constexpr Field kResourceFields[] = {
    {"tags", T::TextArray, kBoth, {}, "r", tags_of_resource},
    {"file", T::Text, kNull, "r.file", "r"},
    {"type", T::Text, kBoth, "r.type", "r"},
    {"title", T::Text, kBoth, "r.title", "r"},
    {"line", T::Number, kNull, "r.line", "r"},
    {"resource", T::Hash, kBoth, "p.hash", "p"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"parameters", T::Parameters, F::Both | F::Dotted, {}, "p", parameters_of_resource},
    {"exported", T::Bool, kBoth, "r.exported", "r"},
    {"tag", T::TextArray, F::Query, {}, "r", tags_of_resource},
};

constexpr Join kResourceCountJoins[] = {
    {"c", "JOIN certnames c ON c.id = ct.certname_id"},
    {"cat", "JOIN catalogs cat ON cat.certname_id = ct.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = cat.environment_id", "cat"},
};
constexpr Field kResourceCountFields[] = {
    {"type", T::Text, kBoth, "ct.type"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"exported", T::Bool, kBoth, "ct.exported"},
};

constexpr Join kInputJoins[] = {{"c", "JOIN certnames c ON c.id = ci.certname_id"}};
std::string inputs(const Dialect& d) {
    return json_array_rows(d, {"dci.type", "dci.name"},
                           "catalog_input_contents dci WHERE dci.certname_id = ci.certname_id");
}
constexpr Field kInputFields[] = {
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"producer_timestamp", T::Time, kBoth, "ci.producer_timestamp"},
    {"catalog_uuid", T::Text, kNull, "ci.catalog_uuid"},
    {"inputs", T::Json, kBoth, {}, {}, inputs},
};
constexpr Join kInputContentJoins[] = {
    {"ci", "JOIN catalog_inputs ci ON ci.certname_id = cic.certname_id"},
    {"c", "JOIN certnames c ON c.id = cic.certname_id"},
};
constexpr Field kInputContentFields[] = {
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"producer_timestamp", T::Time, kBoth, "ci.producer_timestamp", "ci"},
    {"catalog_uuid", T::Text, kNull, "ci.catalog_uuid", "ci"},
    {"name", T::Text, kBoth, "cic.name"},
    {"type", T::Text, kBoth, "cic.type"},
};

// --- reports

constexpr Join kReportJoins[] = {
    {"c", "JOIN certnames c ON c.id = rp.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = rp.environment_id"},
    {"pr", "LEFT JOIN producers pr ON pr.id = rp.producer_id"},
};
std::string report_part(const Dialect& d, std::string_view column) {
    std::string data = fmt::format(
        "(SELECT drd.{} FROM report_data drd WHERE drd.report_id ="
        " rp.id)",
        column);
    return json_object(d, {{"data", JsonSql::Json, json_ordered(d, data)},
                           {"href", JsonSql::Text, href(d, "reports", "rp.hash", column)}});
}
std::string report_metrics(const Dialect& d) { return report_part(d, "metrics"); }
std::string report_logs(const Dialect& d) { return report_part(d, "logs"); }
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
    {"catalog_uuid", T::Text, kNull, "rp.catalog_uuid"},
    {"receive_time", T::Time, kBoth, "rp.receive_time"},
    {"producer", T::Text, kNull, "pr.name", "pr"},
    {"hash", T::Hash, kBoth, "rp.hash"},
    {"transaction_uuid", T::Text, kNull, "rp.transaction_uuid"},
    {"puppet_version", T::Text, kBoth, "rp.puppet_version"},
    {"noop", T::Bool, kNull, "rp.noop"},
    {"corrective_change", T::Bool, kNull, "CAST(NULL AS INTEGER)"},
    {"logs", T::Json, F::Project, {}, {}, report_logs},
    {"report_format", T::Number, kBoth, "rp.report_format"},
    {"start_time", T::Time, kBoth, "rp.start_time"},
    {"producer_timestamp", T::Time, kBoth, "rp.producer_timestamp"},
    {"type", T::Text, kBoth, "rp.report_type"},
    {"cached_catalog_status", T::Text, kNull, "rp.cached_catalog_status"},
    {"end_time", T::Time, kBoth, "rp.end_time"},
    {"resource_events", T::Json, F::Project, {}, {}, report_events},
    {"status", T::Text, kNull, "rp.status"},
    {"configuration_version", T::Text, kBoth, "rp.configuration_version"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"code_id", T::Text, kNull, "rp.code_id"},
    {"noop_pending", T::Bool, kNull, "rp.noop_pending"},
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"metrics", T::Json, F::Project, {}, {}, report_metrics},
    {"job_id", T::Text, kNull, "rp.job_id"},
    {"latest_report?", T::Bool, F::Query, "rp.id"},
};
constexpr Join kReportDataJoins[] = {{"d", "JOIN report_data d ON d.report_id = rp.id"}};
constexpr Field kReportLogFields[] = {
    {"logs", T::Json, F::Project, "d.logs", "d"},
    {"hash", T::Hash, F::Query, "rp.hash"},
    {"type", T::Text, F::Query, "rp.report_type"},
};
constexpr Field kReportMetricFields[] = {
    {"metrics", T::Json, F::Project, "d.metrics", "d"},
    {"hash", T::Hash, F::Query, "rp.hash"},
    {"type", T::Text, F::Query, "rp.report_type"},
};

constexpr Join kEventJoins[] = {
    {"rp", "JOIN reports rp ON rp.id = ev.report_id"},
    {"c", "JOIN certnames c ON c.id = ev.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = rp.environment_id", "rp"},
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
    {"report", T::Hash, kBoth, "rp.hash", "rp"},
    {"corrective_change", T::Bool, kNull, "CAST(NULL AS INTEGER)"},
    {"run_start_time", T::Time, kBoth, "rp.start_time", "rp"},
    {"property", T::Text, kNull, "ev.property"},
    {"name", T::Text, kNull, "ev.name"},
    {"file", T::Text, kNull, "ev.file"},
    {"old_value", T::JsonText, kNull, "ev.old_value"},
    {"containing_class", T::Text, kNull, "ev.containing_class"},
    {"line", T::Number, kNull, "ev.line"},
    {"resource_type", T::Text, kBoth, "ev.resource_type"},
    {"status", T::Text, kBoth, "ev.status"},
    {"configuration_version", T::Text, kBoth, "rp.configuration_version", "rp"},
    {"resource_title", T::Text, kBoth, "ev.resource_title"},
    {"environment", T::Text, kNull, "env.name", "env"},
    {"timestamp", T::Time, kBoth, "ev.timestamp"},
    {"run_end_time", T::Time, kBoth, "rp.end_time", "rp"},
    {"report_receive_time", T::Time, kBoth, "rp.receive_time", "rp"},
    {"containment_path", T::TextArray, kNull, "ev.containment_path"},
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"message", T::Text, kNull, "ev.message"},
    {"latest_report?", T::Bool, F::Query, "ev.report_id"},
};

// --- small ones

constexpr Field kNameField[] = {{"name", T::Text, kBoth, "n.name"}};
constexpr Relation kOfEnvironments[] = {
    {"inventory", "name", "environment"}, {"factsets", "name", "environment"},
    {"catalogs", "name", "environment"},  {"reports", "name", "environment"},
    {"facts", "name", "environment"},     {"fact_contents", "name", "environment"},
    {"events", "name", "environment"},    {"resources", "name", "environment"}};
constexpr Relation kOfProducers[] = {{"factsets", "name", "producer"},
                                     {"catalogs", "name", "producer"},
                                     {"reports", "name", "producer"}};
constexpr Field kPackageFields[] = {
    {"package_name", T::Text, kBoth, "p.name"},
    {"version", T::Text, kBoth, "p.version"},
    {"provider", T::Text, kBoth, "p.provider"},
};
constexpr Join kPackageInventoryJoins[] = {
    {"p", "JOIN packages p ON p.id = cp.package_id"},
    {"c", "JOIN certnames c ON c.id = cp.certname_id"},
};
constexpr Field kPackageInventoryFields[] = {
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {"package_name", T::Text, kBoth, "p.name", "p"},
    {"version", T::Text, kBoth, "p.version", "p"},
    {"provider", T::Text, kBoth, "p.provider", "p"},
};
// Names of nodes by their state, and of newest reports: PuppetDB's own expansions, which its users
// have learned to write.
constexpr Field kCertnameField[] = {{"certname", T::Text, kBoth, "c.certname"}};
constexpr std::string_view kInactive = "(c.deactivated IS NOT NULL OR c.expired IS NOT NULL)";
constexpr Join kLatestJoins[] = {
    {.alias = "rp", .sql = "JOIN reports rp ON rp.id = c.latest_report_id", .always = true}};
constexpr Field kLatestHashField[] = {{"latest_report_hash", T::Hash, kBoth, "rp.hash", "rp"}};
constexpr Field kLatestIdField[] = {{"latest_report_id", T::Number, kBoth, "c.latest_report_id"}};

const Entity kEntities[] = {
    {
        .name = "nodes",
        .shown = "nodes",
        .from = "certnames c",
        .joins = kNodeJoins,
        .fields = std::span(kNodeFields).first(kPlainNodeFields),
        .relations = kOnlyNodes,
        .node = "c.id",
        .key = "c.id",
        .listed = kNodeNames,
    },
    {
        .name = "facts",
        .shown = "facts",
        .from = "factset_facts ff",
        .joins = kFactJoins,
        .fields = kFactFields,
        .relations = kOfFacts,
        .node = "ff.certname_id",
    },
    {
        .name = "fact_contents",
        .shown = "fact_nodes",
        .from = "factset_facts ff",
        .joins = kFactContentJoins,
        .fields = kFactContentFields,
        .relations = kOfFactContents,
        .where = "fp.type <> 'json'",
        .node = "ff.certname_id",
    },
    {
        .name = "fact_paths",
        .shown = "fact_paths",
        .from = "fact_paths fp",
        .fields = kFactPathFields,
        .relations = kOfFactPaths,
        .where = kPathInUse,
    },
    {
        .name = "fact_names",
        .shown = "fact_names",
        .from = "fact_paths fp",
        .fields = kFactNameFields,
        .where = kPathInUse,
        .distinct = true,
        .single = true,
        .subquery = false,
    },
    {
        .name = "factsets",
        .shown = "factsets",
        .from = "factsets fs",
        .joins = kFactsetJoins,
        .fields = std::span(kFactsetFields).first(kPlainFactsetFields),
        .relations = kNodesEnvironmentsProducers,
        .node = "fs.certname_id",
    },
    {
        .name = "inventory",
        .shown = "inventory",
        .from = "factsets fs",
        .joins = kInventoryJoins,
        .fields = kInventoryFields,
        .relations = kNodesEnvironments,
        .node = "fs.certname_id",
        .key = "fs.certname_id",
    },
    {
        .name = "catalogs",
        .shown = "catalogs",
        .from = "catalogs cat",
        .joins = kCatalogJoins,
        .fields = kCatalogFields,
        .relations = kNodesEnvironmentsProducers,
        .node = "cat.certname_id",
        .key = "cat.certname_id",
        .listed = kCatalogNames,
    },
    {
        .name = "edges",
        .shown = "edges",
        .from = "catalogs cat",
        .joins = kEdgeJoins,
        .fields = kEdgeFields,
        .relations = kOnlyNodes,
        .node = "cat.certname_id",
    },
    {
        .name = "resources",
        .shown = "resources",
        .from = "catalog_resources cr",
        .joins = kResourceJoins,
        .fields = kResourceFields,
        .relations = kNodesEnvironments,
        .node = "cr.certname_id",
        .content_alias = "r",
        .content_first = "resources r CROSS JOIN catalog_resources cr ON cr.resource_id = r.id",
        .listed = kResourceNames,
    },
    {
        .name = "catalog_inputs",
        .shown = "catalog_inputs",
        .from = "catalog_inputs ci",
        .joins = kInputJoins,
        .fields = kInputFields,
        .relations = kOnlyNodes,
        .where = "EXISTS (SELECT 1 FROM catalog_input_contents xi WHERE xi.certname_id ="
                 " ci.certname_id)",
        .node = "ci.certname_id",
    },
    {
        .name = "catalog_input_contents",
        .shown = "catalog_input_contents",
        .from = "catalog_input_contents cic",
        .joins = kInputContentJoins,
        .fields = kInputContentFields,
        .relations = kOnlyNodes,
        .node = "cic.certname_id",
    },
    {
        .name = "reports",
        .shown = "reports",
        .from = "reports rp",
        .joins = kReportJoins,
        .fields = kReportFields,
        .relations = kOfReports,
        .node = "rp.certname_id",
        .key = "rp.id",
        .reports = true,
        .listed = kReportNames,
    },
    {
        .name = "report_logs",
        .shown = "logs",
        .from = "reports rp",
        .joins = kReportDataJoins,
        .fields = kReportLogFields,
        .reports = true,
        .single = true,
        .subquery = false,
    },
    {
        .name = "report_metrics",
        .shown = "metrics",
        .from = "reports rp",
        .joins = kReportDataJoins,
        .fields = kReportMetricFields,
        .reports = true,
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
    {
        .name = "environments",
        .shown = "environments",
        .from = "environments n",
        .fields = kNameField,
        .relations = kOfEnvironments,
    },
    {
        .name = "producers",
        .shown = "producers",
        .from = "producers n",
        .fields = kNameField,
        .relations = kOfProducers,
    },
    {
        .name = "packages",
        .shown = "packages",
        .from = "packages p",
        .fields = kPackageFields,
        .where =
            "(SELECT 1 FROM certname_packages ucp WHERE ucp.package_id = p.id LIMIT 1) IS NOT NULL",
    },
    {
        .name = "package_inventory",
        .shown = "package_inventory",
        .from = "certname_packages cp",
        .joins = kPackageInventoryJoins,
        .fields = kPackageInventoryFields,
        .relations = kOnlyNodes,
        .node = "cp.certname_id",
    },
    {
        .name = "not_active_nodes",
        .shown = "not_active_nodes",
        .from = "certnames c",
        .fields = kCertnameField,
        .where = kInactive,
        .node = "c.id",
        .top = false,
    },
    {
        .name = "inactive_nodes",
        .shown = "inactive_nodes",
        .from = "certnames c",
        .fields = kCertnameField,
        .where = kInactive,
        .node = "c.id",
        .top = false,
    },
    {
        .name = "latest_report",
        .shown = "latest_report",
        .from = "certnames c",
        .joins = kLatestJoins,
        .fields = kLatestHashField,
        .top = false,
    },
    {
        .name = "latest_report_id",
        .shown = "latest_report_id",
        .from = "certnames c",
        .fields = kLatestIdField,
        .top = false,
    },
};

}  // namespace

const Field* Entity::field(std::string_view wanted) const {
    auto it = std::find_if(fields.begin(), fields.end(),
                           [&](const Field& f) { return f.name == wanted; });
    return it == fields.end() ? nullptr : &*it;
}

const Join* Entity::join(std::string_view alias) const {
    auto it =
        std::find_if(joins.begin(), joins.end(), [&](const Join& j) { return j.alias == alias; });
    return it == joins.end() ? nullptr : &*it;
}

const Relation* Entity::relation(std::string_view other) const {
    auto it = std::find_if(relations.begin(), relations.end(),
                           [&](const Relation& r) { return r.entity == other; });
    return it == relations.end() ? nullptr : &*it;
}

std::vector<std::string_view> Entity::names(std::uint8_t flags) const {
    std::vector<std::string_view> out;
    auto add = [&](const Field& f) {
        if (f.flags & flags) out.push_back(f.name);
    };
    for (std::string_view name : listed) add(*field(name));
    for (const Field& f : fields) {
        if (std::find(listed.begin(), listed.end(), f.name) == listed.end()) add(f);
    }
    return out;
}

const Entity* find_entity(std::string_view name) {
    for (const Entity& e : kEntities) {
        if (e.name == name) return &e;
    }
    return nullptr;
}

const Entity& nodes_with_expiration() {
    static const Entity entity = [] {
        Entity e = *find_entity("nodes");
        e.fields = kNodeFields;
        return e;
    }();
    return entity;
}

const Entity& factsets_with_packages() {
    static const Entity entity = [] {
        Entity e = *find_entity("factsets");
        e.fields = kFactsetFields;
        return e;
    }();
    return entity;
}

const Entity& resource_counts() {
    static const Entity entity = {
        .name = "resources",
        .shown = "resources",
        .from = "catalog_types ct",
        .joins = kResourceCountJoins,
        .fields = kResourceCountFields,
        .relations = kNodesEnvironments,
        .node = "ct.certname_id",
        .content_alias = "cat",
        .content_first =
            "catalogs cat CROSS JOIN catalog_types ct ON ct.certname_id = cat.certname_id",
        .count = "CAST(coalesce(sum(ct.resources), 0) AS BIGINT)",
    };
    return entity;
}

std::string entity_name_of(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
}

}  // namespace bunraku::store
