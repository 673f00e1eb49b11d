// From a query to the statement that answers it, by the way that suits the question.
#include "query/compile.h"

#include <algorithm>
#include <fmt/format.h>

#include "query/compiler.h"
#include "query/conditions.h"
#include "query/counting.h"

namespace bunraku::query {

using conditions::bad;

namespace {

// --- questions that only count resources

bool counted_field(const Ast& name) {
    return name.is_text("type") || name.is_text("certname") || name.is_text("environment") ||
           name.is_text("exported");
}

/// ["extract", [count and what is counted by], condition, ["group_by", ..]]
bool only_counts(const Ast& query, const QueryOptions& options) {
    if (!query.is_array() || lower_op(query) != "extract" || query.size() < 2) return false;
    std::vector<Ast> items = {query[1]};
    if (query[1].is_array() && query[1].op() != "function") items = query[1].items();
    bool counts = false;
    for (const Ast& item : items) {
        if (is_count(item)) {
            counts = true;
        } else if (!counted_field(item)) {
            return false;
        }
    }
    for (std::size_t i = 2; i < query.size(); ++i) {
        if (is_group_by(query[i])) {
            if (!std::all_of(query[i].items().begin() + 1, query[i].items().end(), counted_field)) {
                return false;
            }
        } else if (!speaks_only_of(query[i], counted_field, true)) {
            return false;
        }
    }
    return counts &&
           std::all_of(options.order_by.begin(), options.order_by.end(), [](const OrderTerm& t) {
               return t.field == "count" || counted_field(Ast::text(t.field));
           });
}

/// How many rows `query` has, without making them; nullopt: it groups or counts itself.
std::optional<Sql> total_of(const Entity& entity, const Ast& query, Backend backend) {
    if (entity.distinct) return {};
    Ast counted =
        Ast::array({Ast::text("extract"), Ast::array({Ast::text("function"), Ast::text("count")})});
    if (lower_op(query) == "extract") {
        bool plain = query.size() <= 3 && query[1].is_array() && query[1].op() != "function";
        plain = plain && std::all_of(query[1].items().begin(), query[1].items().end(),
                                     [](const Ast& item) { return item.is_text(); });
        if (!plain || (query.size() == 3 && is_group_by(query[2]))) return {};
        if (query.size() == 3) counted.items().push_back(query[2]);
    } else if (!query.is_null()) {
        counted.items().push_back(query);
    }
    bool resources = entity.name == "resources" && only_counts(counted, {});
    QueryCompiler compiler(backend);
    if (entity.name == "facts") {
        if (auto facts = select_fact_counts(compiler, counted, {})) {
            return compiler.render(*facts, false);
        }
    }
    return compiler.render(compiler.select(resources ? resource_counts() : entity, counted), false);
}

/// Takes columns that hold many rows out of the statement.
std::vector<NestedQuery> nest(const Dialect& dialect, QueryCompiler::Select& select) {
    std::vector<NestedQuery> out;
    for (std::size_t i = 0; i < select.columns.size(); ++i) {
        const Field* f = select.context.entity->field(select.columns[i].name);
        if (!f || !f->nested) continue;
        const NestedRows& rows = *f->nested;
        NestedQuery& q = out.emplace_back();
        q.sql = "SELECT ";
        for (const NestedColumn& c : rows.columns) {
            if (!q.columns.empty()) q.sql += ", ";
            q.sql += c.build ? c.build(dialect) : std::string(c.sql);
            q.columns.push_back({std::string(c.name), shown_as(c.type)});
        }
        q.sql += " FROM " + rows.from(dialect);
        select.expressions[i] = Sql(fmt::format("({} || ' ' || {})", rows.key, rows.href(dialect)));
        select.columns[i].kind = OutputColumn::Nested;
        select.columns[i].nested = out.size() - 1;
    }
    return out;
}

/// Leaves the rows of the page to be made, found by a query of their keys alone.
void only_the_page(QueryCompiler& compiler, QueryCompiler::Select& select) {
    QueryCompiler::Select keys = select;
    std::string key(select.context.entity->key);
    keys.expressions = {Sql(key)};
    Sql where("(" + key + " IN (");
    where << compiler.render(keys, true) << "))";
    select.where = std::move(where);
    select.limit.reset();
    select.offset.reset();
}

/// What is only shown need not be jsonb.
void as_it_is_kept(Sql& expression) {
    constexpr std::string_view kCast = "::jsonb";
    std::string& text = expression.text;
    if (!expression.values.empty() || !text.ends_with(kCast)) return;
    std::string_view name(text.data(), text.size() - kCast.size());
    bool column = std::all_of(name.begin(), name.end(), [](char c) {
        return c == '.' || c == '_' || (c >= 'a' && c <= 'z');
    });
    if (column) text.resize(name.size());
}

/// Exported, or of one node, or one type and title: such rows are few.
bool names_few(const Ast& query, int depth = 0) {
    if (!query.is_array() || query.size() < 2 || depth > kMaxQueryDepth) return false;
    auto is = [](const Ast& term, std::string_view field) {
        return term.is_array() && term.size() == 3 && term[0].is_text("=") &&
               term[1].is_text(field);
    };
    if (is(query, "certname") ||
        (is(query, "exported") && query[2].is_bool() && query[2].as_bool()))
        return true;
    if (lower_op(query) != "and") return false;
    const auto& terms = query.items();
    auto any = [&](std::string_view field) {
        return std::any_of(terms.begin(), terms.end(),
                           [&](const Ast& term) { return is(term, field); });
    };
    return (any("type") && any("title")) ||
           std::any_of(terms.begin(), terms.end(),
                       [&](const Ast& term) { return names_few(term, depth + 1); });
}

/// Whole rows of few resources, on PostgreSQL. Making their texts is most of the work there, and
/// they are the same for everybody who has them, so only who that is is asked.
/// `whole` is the select of such a query.
void only_who_has_it(const QueryCompiler::Select& whole, const Ast& query,
                     const QueryOptions& options, CompiledQuery& out) {
    if (options.explain || !names_few(query)) return;
    Ast narrow = Ast::array({Ast::text("extract"),
                             Ast::array({Ast::text("certname"), Ast::text("environment")}), query});
    ContentQuery content;
    QueryCompiler compiler(Backend::Postgresql);
    const Entity& entity = *whole.context.entity;
    QueryCompiler::Select select = compiler.select(entity, narrow);
    select.expressions.clear();
    content.sql = "SELECT r.id";
    for (std::size_t i = 0; i < whole.columns.size(); ++i) {
        std::string_view need = entity.field(whole.columns[i].name)->need;
        bool shared = need == "r" || need == "p";
        content.of_content.push_back(shared);
        const Sql& expression = whole.expressions[i];
        if (shared) {
            content.sql += ", " + expression.text;
        } else {
            select.expressions.push_back(expression);
        }
    }
    content.sql +=
        " FROM resources r JOIN parameters p ON p.id = r.parameters_id"
        " WHERE r.id = ANY (?::bigint[])";
    select.expressions.insert(select.expressions.begin(), Sql("cr.resource_id"));
    compiler.order(select, options.order_by);
    select.limit = std::min(options.limit.value_or(INT64_MAX), ContentQuery::kMostRows + 1);
    select.offset = options.offset;
    content.rows = compiler.render(select, true);
    out.content = std::move(content);
}

}  // namespace

CompiledQuery compile_query(std::string_view name, const Ast& query, const QueryOptions& options,
                            Backend backend) {
    std::string entity_name = entity_name_of(name);
    if (entity_name == "event_counts" || entity_name == "aggregate_event_counts") {
        return compile_event_counts(query, options, backend, entity_name[0] == 'a');
    }
    const Entity* entity = find_entity(entity_name);
    if (!entity || !entity->top) bad(fmt::format("Invalid entity '{}' in query", entity_name));
    if (options.include_facts_expiration && entity_name == "nodes") {
        entity = &nodes_with_expiration();
    }
    if (options.include_package_inventory && entity_name == "factsets") {
        entity = &factsets_with_packages();
    }
    if (entity_name == "resources" && only_counts(query, options)) entity = &resource_counts();
    QueryCompiler compiler(backend);
    std::optional<QueryCompiler::Select> counts;
    if (entity_name == "facts") counts = select_fact_counts(compiler, query, options);
    if (counts) entity = counts->context.entity;
    QueryCompiler::Select select = counts ? *counts : compiler.select(*entity, query);
    std::vector<bool> joined = select.context.joined;
    compiler.order(select, options.order_by);
    select.limit = options.limit;
    select.offset = options.offset;
    if (options.distinct && entity_name == "events") {
        only_newest_events(compiler, select, *options.distinct, query);
        joined = select.context.joined;
    }
    bool by_fields =
        std::all_of(options.order_by.begin(), options.order_by.end(), [&](const OrderTerm& t) {
            const Field* f = entity->field(t.field);
            return f && f->query();
        });
    std::vector<NestedQuery> nested;
    if (select.group_by.empty() && by_fields) nested = nest(compiler.dialect(), select);
    QueryCompiler::Select unpaged = select;
    if (select.group_by.empty() && !entity->distinct) {
        for (Sql& e : select.expressions) as_it_is_kept(e);
    }
    // PostgreSQL makes dear columns after sorting by itself.
    // So many joins are dear too.
    if (entity_name == "nodes" && select.columns.size() > 4) select.dear = true;
    if (backend == Backend::Sqlite && select.dear && select.limit && !entity->key.empty() &&
        by_fields && !options.order_by.empty() && select.group_by.empty()) {
        only_the_page(compiler, select);
    }
    CompiledQuery out;
    out.any_values = compiler.exported_asked() || !nested.empty();
    out.columns = select.columns;
    out.nested = std::move(nested);
    out.single = entity->single;
    out.bare = entity->single && entity->reports;
    out.explain = options.explain;
    out.sql = compiler.render(select, true);
    if (options.explain) {
        Sql explained(backend == Backend::Postgresql
                          ? "EXPLAIN (VERBOSE,ANALYZE,BUFFERS,FORMAT JSON) "
                          : "EXPLAIN QUERY PLAN ");
        explained << out.sql;
        out.sql = std::move(explained);
    }
    if (backend == Backend::Postgresql && out.nested.empty() &&
        entity == find_entity("resources")) {
        only_who_has_it(select, query, options, out);
    }
    if (options.include_total) {
        auto total = options.distinct ? std::nullopt : total_of(*entity, query, backend);
        if (total) {
            out.count = std::move(*total);
            return out;
        }
        unpaged.context.joined = joined;
        out.count = Sql("SELECT count(*) FROM (");
        out.count << compiler.render(unpaged, false) << ") counted";
    }
    return out;
}

}  // namespace bunraku::query
