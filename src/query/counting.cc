#include "query/counting.h"

#include <algorithm>

namespace bunraku::query {

namespace {

bool speaks(const Ast& c, bool (*field)(const Ast&), bool subqueries, int depth) {
    if (c.is_null() || (c.is_array() && c.size() == 0)) return true;
    if (!c.is_array() || depth > kMaxQueryDepth) return false;
    std::string op = lower_op(c);
    if (op == "and" || op == "or" || op == "not") {
        return c.size() > 1 &&
               std::all_of(c.items().begin() + 1, c.items().end(),
                           [&](const Ast& t) { return speaks(t, field, subqueries, depth + 1); });
    }
    if (op == "subquery") return subqueries;
    if (c.size() != 3) return false;
    const Ast& left = c[1];
    if (left.is_text()) return field(left) || left.is_text("node_state");
    if (!left.is_array() || left.size() == 0) return false;
    if (left.op() == "fact" || left.op() == "node") return true;
    return op == "in" && std::all_of(left.items().begin(), left.items().end(), field);
}

bool of_the_node(const Ast& field) {
    return field.is_text("certname") || field.is_text("environment");
}

constexpr Field kNameFields[] = {
    {"name", FieldType::Text, Field::Both, "fm.name"},
};

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

bool is_count(const Ast& item) {
    return item.is_array() && item.size() == 2 && item[0].is_text("function") &&
           item[1].is_text("count");
}

bool speaks_only_of(const Ast& condition, bool (*field)(const Ast&), bool subqueries) {
    return speaks(condition, field, subqueries, 0);
}

std::optional<QueryCompiler::Select> select_fact_counts(QueryCompiler& compiler, const Ast& query,
                                                        const QueryOptions& options) {
    if (!query.is_array() || lower_op(query) != "extract" || query.size() < 2) return {};
    std::vector<Ast> items = {query[1]};
    if (query[1].is_array() && query[1].op() != "function") items = query[1].items();
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
