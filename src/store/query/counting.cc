#include "store/query/counting.h"

#include <algorithm>

namespace bunraku::query {

namespace {

struct ReferenceRules {
    bool (*field)(const Ast&);
    bool subqueries, nodes;  ///< whether they may be spoken of
};

bool speaks(const Ast& c, const ReferenceRules& of, int depth) {
    if (c.is_null() || (c.is_array() && c.size() == 0)) return true;
    if (!c.is_array() || depth > kMaxQueryDepth) return false;
    std::string op = lower_op(c);
    if (op == "and" || op == "or" || op == "not") {
        return c.size() > 1 && std::all_of(c.items().begin() + 1, c.items().end(),
                                           [&](const Ast& t) { return speaks(t, of, depth + 1); });
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
    if (query[1].is_array() && query[1].op() != "function") return query[1].items();
    return {query[1]};
}

/// ["extract", [count and what is counted by], condition, ["group_by", ..]]
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
        } else if (!speaks_only_of(query[i], field, subqueries)) {
            return false;
        }
    }
    return counts &&
           std::all_of(options.order_by.begin(), options.order_by.end(), [&](const OrderTerm& t) {
               return t.field == "count" || field(Ast::text(t.field));
           });
}

bool counted_of_reports(const Ast& name) {
    return name.is_text("status") || name.is_text("environment") || name.is_text("type") ||
           name.is_text("certname");
}

bool counted_of_resources(const Ast& name) {
    return name.is_text("type") || name.is_text("certname") || name.is_text("environment") ||
           name.is_text("exported");
}

bool of_newest_events(const Ast& name) {
    for (std::string_view known :
         {"certname", "status", "resource_type", "resource_title", "containing_class",
          "environment", "timestamp", "latest_report?"}) {
        if (name.is_text(known)) return true;
    }
    return false;
}

bool of_a_kind(const Ast& name) {
    return name.is_text("type") || name.is_text("title") || name.is_text("exported") ||
           name.is_text("environment");
}

bool says(const std::vector<Ast>& terms, std::string_view field, const Ast& value) {
    return std::any_of(terms.begin(), terms.end(), [&](const Ast& t) {
        return t.is_array() && t.size() == 3 && t[0].is_text("=") && t[1].is_text(field) &&
               t[2] == value;
    });
}

bool of_the_node(const Ast& field) {
    return field.is_text("certname") || field.is_text("environment");
}

bool of_a_place(const Ast& field) { return field.is_text("file") || field.is_text("line"); }

Ast all_of(std::vector<Ast> terms) {
    terms.insert(terms.begin(), Ast::text("and"));
    return Ast::array(std::move(terms));
}

/// A count over what catalogs have, taken apart: which catalogs, and which of what they have.
struct CatalogCount {
    std::vector<Ast> named;  ///< what it counts by, and orders by
    std::vector<Ast> of_catalogs, of_counted;
    Ast grouping;

    /// The query of the catalogs.
    Ast catalogs(const Ast& query) const {
        Ast out = Ast::array({query[0], Ast::array({Ast::text("function"), Ast::text("count")})});
        if (!of_catalogs.empty()) out.items().push_back(all_of(of_catalogs));
        return out;
    }
    /// The query of what is counted.
    Ast counted(const Ast& query) const {
        Ast out = Ast::array({query[0], query[1]});
        if (!of_counted.empty()) out.items().push_back(all_of(of_counted));
        if (!grouping.is_null()) out.items().push_back(grouping);
        return out;
    }
};

/// Nullopt: it is none, or speaks of something that is neither of the catalog (`of_the_catalog`)
/// nor of what is counted.
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
            if (speaks(term, {of_the_catalog, false, true}, 0)) {
                out.of_catalogs.push_back(std::move(term));
            } else if (speaks(term, {of_the_counted, false, false}, 0)) {
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

/// A row for each kind of each set.
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

/// A row for each place that the lists name.
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

/// A row for each name of each set.
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

bool speaks_only_of(const Ast& condition, bool (*field)(const Ast&), bool subqueries) {
    return speaks(condition, {field, subqueries, true}, 0);
}

bool only_counts_reports(const Ast& query, const QueryOptions& options) {
    return only_counts(query, options, counted_of_reports, false);
}

bool only_counts_resources(const Ast& query, const QueryOptions& options) {
    return only_counts(query, options, counted_of_resources, true);
}

bool speaks_of_newest_events(const Ast& query) {
    Ast condition = query;
    if (query.is_array() && lower_op(query) == "extract") {
        if (query.size() < 3) return false;
        for (const Ast& item : extracted(query)) {
            if (!is_count(item) && !of_newest_events(item)) return false;
        }
        condition = query[2];
    }
    std::vector<Ast> terms;
    conjoined(condition, terms);
    return says(terms, "latest_report?", Ast::boolean(true)) &&
           speaks_only_of(condition, of_newest_events, false);
}

std::optional<QueryCompiler::Select> select_kind_counts(QueryCompiler& compiler, const Ast& query,
                                                        const QueryOptions& options) {
    auto certname = [](const Ast& field) { return field.is_text("certname"); };
    auto parts = take_apart(query, options, certname, of_a_kind);
    if (!parts) return {};
    auto spoken_of = [&](std::string_view field) {
        auto is = [&](const Ast& name) { return name.is_text(field); };
        return std::any_of(parts->named.begin(), parts->named.end(), is);
    };
    // Only classes are kept with their titles.
    bool titles = spoken_of("title"), environments = spoken_of("environment");
    for (const Ast& term : parts->of_counted) {
        auto untitled = [](const Ast& f) { return of_a_kind(f) && !f.is_text("title"); };
        auto nowhere = [](const Ast& f) { return of_a_kind(f) && !f.is_text("environment"); };
        titles = titles || !speaks(term, {untitled, false, false}, 0);
        environments = environments || !speaks(term, {nowhere, false, false}, 0);
    }
    if (titles && !says(parts->of_counted, "type", Ast::text("Class"))) return {};

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
    out.from_extra << "JOIN (" << compiler.render(sets, false)
                   << ") counted ON counted.id = km.kind_set_id";
    return out;
}

std::optional<PlaceCounts> select_place_counts(QueryCompiler& compiler, const Ast& query,
                                               const QueryOptions& options) {
    auto parts = take_apart(query, options, of_the_node, of_a_place);
    if (!parts || (parts->named.empty() && parts->of_counted.empty())) return {};
    const Ast catalogs = parts->catalogs(query), places = parts->counted(query);
    QueryCompiler::Select lists = compiler.select(*find_entity("catalogs"), catalogs);
    lists.expressions = {Sql("cp.places")};
    lists.from_extra << "JOIN catalog_places cp ON cp.certname_id = cat.certname_id";
    PlaceCounts out{compiler.select(place_counts(), places), compiler.render(lists, false)};
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
        } else if (i == 2 && speaks_only_of(query[i], of_the_node, false)) {
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
    out.from_extra << "JOIN (" << compiler.render(sets, false)
                   << ") counted ON counted.id = fm.name_set_id";
    return out;
}

}  // namespace bunraku::query
