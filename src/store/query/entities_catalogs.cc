// SPDX-License-Identifier: Apache-2.0
// Catalogs, their resources and edges, and their inputs.
#include <fmt/format.h>

#include "store/query/entity_parts.h"

namespace bunraku::query {

namespace entities {

namespace {

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
    // The subquery selects the catalog again, because its edges are a table made from one of its
    // columns.
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

// CROSS JOIN keeps SQLite from starting with a resource and searching all edges for it.
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
// Stored as text, which is sufficient for most queries; compared as jsonb.
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

// Each parameter of each resource appears once, regardless of the number of nodes that have it.
std::string parameter_text(const Dialect& d) {
    return d.postgresql() ? "j.value::text" : "json_steps(pq.parameters, json_array(j.key))";
}
constexpr Join kParameterJoins[] = {
    {.alias = "j",
     .always = true,
     .build =
         [](const Dialect& d) {
             return std::string(
                 d.postgresql() ? "CROSS JOIN LATERAL json_each(pq.parameters) AS j (key, value)"
                                : "JOIN json_each(pq.parameters) AS j");
         }},
};
constexpr Field kParameterFields[] = {
    {"res_param_name", T::Text, kBoth, "j.key"},
    {"res_param_resource", T::Hash, kBoth, "pq.hash"},
    {"res_param_value", T::Text, kBoth, {}, {}, parameter_text},
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

const Entity kEntities[] = {
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
        .node_first = "certnames c CROSS JOIN catalog_resources cr ON cr.certname_id = c.id"
                      " CROSS JOIN resources r ON r.id = cr.resource_id",
        .content_fenced =
            "(SELECT r.* FROM resources r WHERE {} OFFSET 0) r CROSS JOIN LATERAL"
            " (SELECT l.certname_id, l.resource_id FROM catalog_resources l WHERE"
            " l.resource_id = r.id OFFSET 0) cr CROSS JOIN LATERAL (SELECT x.* FROM certnames x"
            " WHERE x.id = cr.certname_id OFFSET 0) c",
        .listed = kResourceNames,
    },
    {
        .name = "params",
        .shown = "resource_params",
        .from = "parameters pq",
        .joins = kParameterJoins,
        .fields = kParameterFields,
        .relations = {},
        .top = false,
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
};

}  // namespace

std::span<const Entity> of_catalogs() { return kEntities; }

}  // namespace entities

const Entity& resource_counts() {
    static const Entity entity = {
        .name = "resources",
        .shown = "resources",
        .from = "catalog_types ct",
        .joins = entities::kResourceCountJoins,
        .fields = entities::kResourceCountFields,
        .relations = entities::kNodesEnvironments,
        .node = "ct.certname_id",
        .content_alias = "cat",
        .content_first =
            "catalogs cat CROSS JOIN catalog_types ct ON ct.certname_id = cat.certname_id",
        .count = "CAST(coalesce(sum(ct.resources), 0) AS BIGINT)",
    };
    return entity;
}

}  // namespace bunraku::query
