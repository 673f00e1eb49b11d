// SPDX-License-Identifier: Apache-2.0
// Facts, their leaves and paths, factsets, and the inventory.
#include <fmt/format.h>

#include "store/query/entity_parts.h"

namespace bunraku::query {

namespace entities {

namespace {

constexpr auto kOfFacts = with_nodes(
    {{"environments", "environment", "name"}, {"fact_contents", "certname,name", "certname,name"}});
constexpr auto kOfFactContents = with_nodes(
    {{"environments", "environment", "name"}, {"facts", "certname,name", "certname,name"}});

constexpr Join kFactJoins[] = {
    {"f", "JOIN facts f ON f.id = ff.fact_id"},
    {"c", "JOIN certnames c ON c.id = ff.certname_id"},
    {"fs", "JOIN factsets fs ON fs.certname_id = ff.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = fs.environment_id", "fs"},
};
constexpr std::string_view kEnvironmentOfNode =
    "(SELECT le.name FROM factsets ls JOIN environments le ON le.id = ls.environment_id WHERE"
    " ls.certname_id = ff.certname_id)";
constexpr Field kFactFields[] = {
    {"certname", T::Text, kBoth, "c.certname", "c"},
    {.name = "environment",
     .type = T::Text,
     .flags = kNull,
     .sql = "env.name",
     .need = "env",
     .late = kEnvironmentOfNode},
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
    {.name = "environment",
     .type = T::Text,
     .flags = kNull,
     .sql = "env.name",
     .need = "env",
     .late = kEnvironmentOfNode},
    {"path", T::FactPath, kBoth, "fp.path_array"},
    {"name", T::Text, kBoth, "fp.name"},
    {"value", T::FactValue, kBoth, "fl.value"},
};

// EXISTS is not used, because PostgreSQL would turn it into a join with the leaves of all nodes.
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

/// Returns the facts of a node for FROM, with the alias df. PostgreSQL looks up the ids of an array
/// together. It may join all facts of the fleet with those of each node.
std::string_view facts_of_node(const Dialect& d) {
    if (d.postgresql()) {
        return "facts df WHERE df.id = ANY (ARRAY(SELECT dff.fact_id FROM factset_facts dff WHERE"
               " dff.certname_id = fs.certname_id))";
    }
    return "factset_facts dff JOIN facts df ON df.id = dff.fact_id WHERE dff.certname_id ="
           " fs.certname_id";
}
std::string factset_facts(const Dialect& d) {
    std::string rows =
        json_rows(d, {{"name", JsonSql::Text, "df.name"}, {"value", JsonSql::Json, "df.value"}},
                  facts_of_node(d));
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
    // Only factsets_with_packages() has this field.
    {"package_inventory", T::Json, F::Project, {}, {}, factset_packages},
};
constexpr std::size_t kPlainFactsetFields = std::size(kFactsetFields) - 1;

constexpr Join kInventoryJoins[] = {
    {"c", "JOIN certnames c ON c.id = fs.certname_id"},
    {"env", "LEFT JOIN environments env ON env.id = fs.environment_id"},
};
std::string all_facts(const Dialect& d) {
    if (d.postgresql()) {
        return fmt::format(
            "coalesce((SELECT jsonb_object_agg(df.name, df.value) FROM {}), '{{}}'::jsonb)",
            facts_of_node(d));
    }
    return fmt::format("(SELECT json_members(df.name, df.value) FROM {})", facts_of_node(d));
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

const Entity kEntities[] = {
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
        .node_first = "certnames c CROSS JOIN factset_facts ff ON ff.certname_id = c.id"
                      " CROSS JOIN fact_leaves fl ON fl.fact_id = ff.fact_id"
                      " CROSS JOIN fact_paths fp ON fp.id = fl.path_id",
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
};

}  // namespace

std::span<const Entity> of_facts() { return kEntities; }

}  // namespace entities

const Entity& factsets_with_packages() {
    static const Entity entity = [] {
        Entity e = *find_entity("factsets");
        e.fields = entities::kFactsetFields;
        return e;
    }();
    return entity;
}

}  // namespace bunraku::query
