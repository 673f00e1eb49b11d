// SPDX-License-Identifier: Apache-2.0
// Nodes, and the entities that only have a name: environments, producers, packages.
#include "store/query/entity_parts.h"

namespace bunraku::query {

namespace entities {

namespace {

constexpr Join kNodeJoins[] = {
    {"cat", "LEFT JOIN catalogs cat ON cat.certname_id = c.id"},
    {"fs", "LEFT JOIN factsets fs ON fs.certname_id = c.id"},
    {"rp", "LEFT JOIN reports rp ON rp.id = c.latest_report_id"},
    {"ce", "LEFT JOIN environments ce ON ce.id = cat.environment_id", "cat"},
    {"fe", "LEFT JOIN environments fe ON fe.id = fs.environment_id", "fs"},
    {"rk", "LEFT JOIN report_kinds rk ON rk.id = rp.kind_id", "rp"},
    {"re", "LEFT JOIN environments re ON re.id = rk.environment_id", "rk"},
};
// PuppetDB without its commercial part returns no corrective changes here.
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
    {"cached_catalog_status", T::Text, kNull, "rk.cached_catalog_status", "rk"},
    {"report_environment", T::Text, kNull, "re.name", "re"},
    {"latest_report_corrective_change", T::Bool, kNull, "CAST(NULL AS INTEGER)"},
    {"catalog_environment", T::Text, kNull, "ce.name", "ce"},
    {"facts_timestamp", T::Time, kNull, "fs.timestamp", "fs"},
    {"latest_report_noop", T::Bool, kNull, "rk.noop", "rk"},
    {"expired", T::Time, kNull, "c.expired"},
    {"latest_report_noop_pending", T::Bool, kNull, "rk.noop_pending", "rk"},
    {"report_timestamp", T::Time, kNull, "rp.end_time", "rp"},
    {"certname", T::Text, kBoth, "c.certname"},
    {"catalog_timestamp", T::Time, kNull, "cat.timestamp", "cat"},
    {"latest_report_job_id", T::Text, kNull, "rk.job_id", "rk"},
    {"latest_report_status", T::Text, kNull, "rk.status", "rk"},
    // Only nodes_with_expiration() has these fields.
    {"expires_facts", T::Bool, kBoth, "coalesce(c.facts_expire, 1)"},
    {"expires_facts_updated", T::Time, kNull, "c.facts_expire_updated"},
};
constexpr std::size_t kPlainNodeFields = std::size(kNodeFields) - 2;

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
// Names of nodes by state, and of newest reports. PuppetDB uses these entities in its own
// expansions, and users have adopted them.
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

std::span<const Entity> of_nodes() { return kEntities; }

}  // namespace entities

const Entity& nodes_with_expiration() {
    static const Entity entity = [] {
        Entity e = *find_entity("nodes");
        e.fields = entities::kNodeFields;
        return e;
    }();
    return entity;
}

}  // namespace bunraku::query
