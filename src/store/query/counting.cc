// SPDX-License-Identifier: Apache-2.0
#include "store/query/counting.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::query {

namespace {

struct ReferenceRules {
    bool (*field)(const Ast&);
    bool subqueries, nodes;  ///< whether conditions may contain subqueries, and conditions on nodes
};

bool refers_only(const Ast& c, const ReferenceRules& of, int depth) {
    if (c.is_null() || (c.is_array() && c.size() == 0)) return true;
    if (!c.is_array() || depth > kMaxQueryDepth) return false;
    std::string op = lower_op(c);
    if (op == "and" || op == "or" || op == "not") {
        return c.size() > 1 &&
               std::all_of(c.items().begin() + 1, c.items().end(),
                           [&](const Ast& t) { return refers_only(t, of, depth + 1); });
    }
    if (op == "subquery") return of.subqueries;
    if (c.size() != 3) return false;
    const Ast& left = c[1];
    if (left.is_text()) return of.field(left) || (of.nodes && left.is_text("node_state"));
    if (!left.is_array() || left.size() == 0) return false;
    if (left.op() == "fact" || left.op() == "node") return of.nodes;
    return op == "in" && std::all_of(left.items().begin(), left.items().end(), of.field);
}

std::vector<Ast> extracted(const Ast& query) {
    BUNRAKU_ASSERT(query.is_array() && query.size() >= 2);
    if (query[1].is_array() && query[1].op() != "function") return query[1].items();
    return {query[1]};
}

/// Reports whether a query has the form ["extract", [count and group fields], condition,
/// ["group_by", ..]].
bool only_counts(const Ast& query, const QueryOptions& options, bool (*field)(const Ast&),
                 bool subqueries) {
    if (!query.is_array() || lower_op(query) != "extract" || query.size() < 2) return false;
    bool counts = false;
    for (const Ast& item : extracted(query)) {
        if (is_count(item)) {
            counts = true;
        } else if (!field(item)) {
            return false;
        }
    }
    for (std::size_t i = 2; i < query.size(); ++i) {
        if (is_group_by(query[i])) {
            if (!std::all_of(query[i].items().begin() + 1, query[i].items().end(), field)) {
                return false;
            }
        } else if (!refers_only_to(query[i], field, subqueries)) {
            return false;
        }
    }
    return counts &&
           std::all_of(options.order_by.begin(), options.order_by.end(), [&](const OrderTerm& t) {
               return t.field == "count" || field(Ast::text(t.field));
           });
}

bool is_report_count_field(const Ast& name) {
    return name.is_text("status") || name.is_text("environment") || name.is_text("type") ||
           name.is_text("certname");
}

bool is_resource_count_field(const Ast& name) {
    return name.is_text("type") || name.is_text("certname") || name.is_text("environment") ||
           name.is_text("exported");
}

bool is_newest_event_field(const Ast& name) {
    for (std::string_view known :
         {"certname", "status", "resource_type", "resource_title", "containing_class",
          "environment", "timestamp", "latest_report?"}) {
        if (name.is_text(known)) return true;
    }
    return false;
}

bool is_kind_field(const Ast& name) {
    return name.is_text("type") || name.is_text("title") || name.is_text("exported") ||
           name.is_text("environment");
}

bool is_package_field(const Ast& name) {
    return name.is_text("package_name") || name.is_text("version") || name.is_text("provider");
}

bool has_equality(const std::vector<Ast>& terms, std::string_view field, const Ast& value) {
    return std::any_of(terms.begin(), terms.end(), [&](const Ast& t) {
        return t.is_array() && t.size() == 3 && t[0].is_text("=") && t[1].is_text(field) &&
               t[2] == value;
    });
}

bool is_node_field(const Ast& field) {
    return field.is_text("certname") || field.is_text("environment");
}

bool is_location_field(const Ast& field) { return field.is_text("file") || field.is_text("line"); }

Ast all_of(std::vector<Ast> terms) {
    terms.insert(terms.begin(), Ast::text("and"));
    return Ast::array(std::move(terms));
}

/// A count over the content of catalogs, split into conditions on the catalogs and conditions on
/// the content.
struct CatalogCount {
    std::vector<Ast> named;  ///< fields to group and order by
    std::vector<Ast> of_catalogs, of_counted;
    Ast grouping;

    /// Returns the query for the catalogs.
    Ast catalogs(const Ast& query) const {
        Ast out = Ast::array({query[0], Ast::array({Ast::text("function"), Ast::text("count")})});
        if (!of_catalogs.empty()) out.items().push_back(all_of(of_catalogs));
        return out;
    }
    /// Returns the query for the counted content.
    Ast counted(const Ast& query) const {
        Ast out = Ast::array({query[0], query[1]});
        if (!of_counted.empty()) out.items().push_back(all_of(of_counted));
        if (!grouping.is_null()) out.items().push_back(grouping);
        return out;
    }
};

/// Splits a count. Returns nullopt if the query is not such a count, or if it refers to anything
/// other than the catalog (`of_the_catalog`) and the counted content.
std::optional<CatalogCount> take_apart(const Ast& query, const QueryOptions& options,
                                       bool (*of_the_catalog)(const Ast&),
                                       bool (*of_the_counted)(const Ast&)) {
    if (!query.is_array() || lower_op(query) != "extract" || query.size() < 2) return {};
    CatalogCount out;
    out.named = extracted(query);
    if (std::none_of(out.named.begin(), out.named.end(), is_count)) return {};
    std::erase_if(out.named, is_count);
    for (std::size_t i = 2; i < query.size(); ++i) {
        if (is_group_by(query[i])) {
            out.named.insert(out.named.end(), query[i].items().begin() + 1, query[i].items().end());
            out.grouping = query[i];
            continue;
        }
        if (i != 2) return {};
        std::vector<Ast> terms;
        conjoined(query[i], terms);
        for (Ast& term : terms) {
            if (refers_only(term, {of_the_catalog, false, true}, 0)) {
                out.of_catalogs.push_back(std::move(term));
            } else if (refers_only(term, {of_the_counted, false, false}, 0)) {
                out.of_counted.push_back(std::move(term));
            } else {
                return {};
            }
        }
    }
    for (const OrderTerm& t : options.order_by) {
        if (t.field != "count") out.named.push_back(Ast::text(t.field));
    }
    if (!std::all_of(out.named.begin(), out.named.end(), of_the_counted)) return {};
    return out;
}

constexpr Field kNameFields[] = {
    {"name", FieldType::Text, Field::Both, "fm.name"},
};

constexpr Field kKindFields[] = {
    {"type", FieldType::Text, Field::Both, "km.type"},
    {"title", FieldType::Text, Field::Both, "km.title"},
    {"exported", FieldType::Bool, Field::Both, "km.exported"},
    {"environment", FieldType::Text, Field::Both | Field::Nullable, "counted.environment"},
};

/// An entity with one row for each kind of each set.
const Entity& kind_counts() {
    static const Entity entity = {
        .name = "resources",
        .shown = "resources",
        .from = "kind_set_members km",
        .fields = kKindFields,
        .count = "CAST(coalesce(sum(km.resources * counted.nodes), 0) AS BIGINT)",
    };
    return entity;
}

constexpr Field kPlaceFields[] = {
    {"file", FieldType::Text, Field::Both | Field::Nullable, "pl.file"},
    {"line", FieldType::Number, Field::Both | Field::Nullable, "pl.line"},
};

/// An entity with one row for each source location in the lists.
const Entity& place_counts() {
    static const Entity entity = {
        .name = "resources",
        .shown = "resources",
        .from = "places pl",
        .fields = kPlaceFields,
        .count = "CAST(coalesce(sum(listed.target), 0) AS BIGINT)",
    };
    return entity;
}

constexpr Field kPackageFields[] = {
    {"package_name", FieldType::Text, Field::Both, "p.name"},
    {"version", FieldType::Text, Field::Both, "p.version"},
    {"provider", FieldType::Text, Field::Both, "p.provider"},
};

/// An entity with one row for each package.
const Entity& package_counts() {
    static const Entity entity = {
        .name = "package_inventory",
        .shown = "package_inventory",
        .from = "packages p",
        .fields = kPackageFields,
        .count = "CAST(coalesce(sum(counted.nodes), 0) AS BIGINT)",
    };
    return entity;
}

/// An entity with one row for each name of each set.
const Entity& fact_name_counts() {
    static const Entity entity = {
        .name = "facts",
        .shown = "facts",
        .from = "fact_name_set_members fm",
        .fields = kNameFields,
        .count = "CAST(coalesce(sum(counted.nodes), 0) AS BIGINT)",
    };
    return entity;
}

}  // namespace

void conjoined(const Ast& condition, std::vector<Ast>& out, int depth) {
    if (condition.is_null() || (condition.is_array() && condition.size() == 0)) return;
    if (lower_op(condition) != "and" || depth > kMaxQueryDepth) {
        out.push_back(condition);
        return;
    }
    for (std::size_t i = 1; i < condition.size(); ++i) conjoined(condition[i], out, depth + 1);
}

bool is_count(const Ast& item) {
    return item.is_array() && item.size() == 2 && item[0].is_text("function") &&
           item[1].is_text("count");
}

bool refers_only_to(const Ast& condition, bool (*field)(const Ast&), bool subqueries) {
    return refers_only(condition, {field, subqueries, true}, 0);
}

bool only_counts_reports(const Ast& query, const QueryOptions& options) {
    return only_counts(query, options, is_report_count_field, false);
}

bool only_counts_resources(const Ast& query, const QueryOptions& options) {
    return only_counts(query, options, is_resource_count_field, true);
}

bool refers_only_to_newest_events(const Ast& query) {
    Ast condition = query;
    if (query.is_array() && lower_op(query) == "extract") {
        if (query.size() < 3) return false;
        for (const Ast& item : extracted(query)) {
            if (!is_count(item) && !is_newest_event_field(item)) return false;
        }
        condition = query[2];
    }
    std::vector<Ast> terms;
    conjoined(condition, terms);
    return has_equality(terms, "latest_report?", Ast::boolean(true)) &&
           refers_only_to(condition, is_newest_event_field, false);
}

std::optional<QueryCompiler::Select> select_kind_counts(QueryCompiler& compiler, const Ast& query,
                                                        const QueryOptions& options) {
    auto certname = [](const Ast& field) { return field.is_text("certname"); };
    auto parts = take_apart(query, options, certname, is_kind_field);
    if (!parts) return {};
    auto is_used = [&](std::string_view field) {
        auto is = [&](const Ast& name) { return name.is_text(field); };
        return std::any_of(parts->named.begin(), parts->named.end(), is);
    };
    // Only classes are stored with their titles.
    bool titles = is_used("title"), environments = is_used("environment");
    for (const Ast& term : parts->of_counted) {
        auto untitled = [](const Ast& f) { return is_kind_field(f) && !f.is_text("title"); };
        auto nowhere = [](const Ast& f) { return is_kind_field(f) && !f.is_text("environment"); };
        titles = titles || !refers_only(term, {untitled, false, false}, 0);
        environments = environments || !refers_only(term, {nowhere, false, false}, 0);
    }
    if (titles && !has_equality(parts->of_counted, "type", Ast::text("Class"))) return {};

    const Ast catalogs = parts->catalogs(query), kinds = parts->counted(query);
    const Entity& entity = *find_entity("catalogs");
    QueryCompiler::Select sets = compiler.select(entity, catalogs);
    sets.expressions = {Sql("cat.kind_set_id AS id"), Sql("count(*) AS nodes")};
    sets.group_by = {Sql("cat.kind_set_id")};
    if (environments) {
        std::string environment = compiler.column(sets.context, *entity.field("environment"));
        sets.expressions.emplace_back(environment + " AS environment");
        sets.group_by.emplace_back(environment);
    }
    QueryCompiler::Select out = compiler.select(kind_counts(), kinds);
    out.from_extra << "JOIN (" << compiler.render(sets, QueryCompiler::Paging::AllRows)
                   << ") counted ON counted.id = km.kind_set_id";
    return out;
}

std::optional<PlaceCounts> select_place_counts(QueryCompiler& compiler, const Ast& query,
                                               const QueryOptions& options) {
    auto parts = take_apart(query, options, is_node_field, is_location_field);
    if (!parts || (parts->named.empty() && parts->of_counted.empty())) return {};
    const Ast catalogs = parts->catalogs(query), places = parts->counted(query);
    QueryCompiler::Select lists = compiler.select(*find_entity("catalogs"), catalogs);
    lists.expressions = {Sql("cp.places")};
    lists.from_extra << "JOIN catalog_places cp ON cp.certname_id = cat.certname_id";
    PlaceCounts out{compiler.select(place_counts(), places),
                    compiler.render(lists, QueryCompiler::Paging::AllRows)};
    Sql& from = out.select.from_extra;
    if (compiler.dialect().postgresql()) {
        from << "JOIN unnest(";
        from.bind(Listed{Listed::Numbers}) << "::bigint[], ";
        from.bind(Listed{Listed::Counts}) << "::bigint[]) listed (source, target)";
    } else {
        from << "JOIN edges_of(";
        from.bind(Listed{Listed::Packed}) << ") listed";
    }
    from << " ON listed.source = pl.id";
    return out;
}

std::optional<QueryCompiler::Select> select_fact_counts(QueryCompiler& compiler, const Ast& query,
                                                        const QueryOptions& options) {
    if (!query.is_array() || lower_op(query) != "extract" || query.size() < 2) return {};
    std::vector<Ast> items = extracted(query);
    auto countable = [](const Ast& item) { return item.is_text("name") || is_count(item); };
    if (!std::all_of(items.begin(), items.end(), countable) ||
        std::none_of(items.begin(), items.end(), is_count)) {
        return {};
    }
    Ast names = Ast::array({query[0], query[1]});
    Ast nodes = Ast::array({query[0], Ast::array({Ast::text("function"), Ast::text("count")})});
    for (std::size_t i = 2; i < query.size(); ++i) {
        if (is_group_by(query[i])) {
            if (query[i].size() != 2 || !query[i][1].is_text("name")) return {};
            names.items().push_back(query[i]);
        } else if (i == 2 && refers_only_to(query[i], is_node_field, false)) {
            nodes.items().push_back(query[i]);
        } else {
            return {};
        }
    }
    bool ordered =
        std::all_of(options.order_by.begin(), options.order_by.end(),
                    [](const OrderTerm& t) { return t.field == "count" || t.field == "name"; });
    if (!ordered) return {};

    QueryCompiler::Select sets = compiler.select(*find_entity("factsets"), nodes);
    sets.expressions = {Sql("fs.name_set_id AS id"), Sql("count(*) AS nodes")};
    sets.group_by = {Sql("fs.name_set_id")};
    QueryCompiler::Select out = compiler.select(fact_name_counts(), names);
    out.from_extra << "JOIN (" << compiler.render(sets, QueryCompiler::Paging::AllRows)
                   << ") counted ON counted.id = fm.name_set_id";
    return out;
}

std::optional<QueryCompiler::Select> select_package_counts(QueryCompiler& compiler,
                                                           const Ast& query,
                                                           const QueryOptions& options) {
    auto certname = [](const Ast& field) { return field.is_text("certname"); };
    auto parts = take_apart(query, options, certname, is_package_field);
    // An index finds the few rows of a condition on packages.
    if (!parts || !parts->of_counted.empty()) return {};
    const Ast nodes = parts->catalogs(query), packages = parts->counted(query);
    QueryCompiler::Select sets = compiler.select(*find_entity("factsets"), nodes);
    sets.expressions = {Sql("min(fs.certname_id) AS node"), Sql("count(*) AS nodes")};
    // Nodes with the same digest have the same packages, so one of them is read.
    sets.group_by = {Sql("fs.package_digest"),
                     Sql("CASE WHEN fs.package_digest IS NULL THEN fs.certname_id END")};
    QueryCompiler::Select out = compiler.select(package_counts(), packages);
    out.from_extra << "JOIN (SELECT cp.package_id AS id, sum(sets.nodes) AS nodes FROM ("
                   << compiler.render(sets, QueryCompiler::Paging::AllRows)
                   << ") sets JOIN certname_packages cp ON cp.certname_id = sets.node"
                      " GROUP BY cp.package_id) counted ON counted.id = p.id";
    return out;
}

}  // namespace bunraku::query
