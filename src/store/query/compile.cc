// SPDX-License-Identifier: Apache-2.0
// Compiles a query to SQL, with the strategy that suits it.
#include "store/query/compile.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "store/query/compiler.h"
#include "store/query/conditions.h"
#include "store/query/counting.h"

namespace bunraku::query {

using conditions::bad;

namespace {

constexpr std::int64_t kLargestPage = 1000;  ///< rows of a page that gets a plan of its own

/// Returns another table that can answer a counting query. Returns nullptr if there is none.
const Entity* counted_entity(std::string_view entity, const Ast& query,
                             const QueryOptions& options) {
    if (entity == "resources" && only_counts_resources(query, options)) return &resource_counts();
    if (entity == "reports" && only_counts_reports(query, options)) return &report_counts();
    if (entity == "events" && !options.distinct && query.is_array() &&
        lower_op(query) == "extract" && refers_only_to_newest_events(query)) {
        return &newest_events();
    }
    return nullptr;
}

/// Compiles counts that are sums over the distinct sets. Returns nullopt if `query` is not such a
/// count.
std::optional<QueryCompiler::Select> select_counts(QueryCompiler& compiler, std::string_view entity,
                                                   const Ast& query, const QueryOptions& options) {
    if (entity == "facts") return select_fact_counts(compiler, query, options);
    if (entity == "resources") return select_kind_counts(compiler, query, options);
    if (entity == "package_inventory") return select_package_counts(compiler, query, options);
    return {};
}

/// Returns a query for the number of rows of `query` without computing them. Returns nullopt if
/// `query` groups or counts itself.
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
    QueryCompiler compiler(backend);
    if (auto sums = select_counts(compiler, entity.name, counted, {})) {
        return compiler.render(*sums, QueryCompiler::Paging::AllRows);
    }
    const Entity* other = counted_entity(entity.name, counted, {});
    return compiler.render(compiler.select(other ? *other : entity, counted),
                           QueryCompiler::Paging::AllRows);
}

/// Moves columns that contain many rows from the statement to separate queries.
std::vector<NestedQuery> nest(const Dialect& dialect, QueryCompiler::Select& select) {
    std::vector<NestedQuery> out;
    BUNRAKU_ASSERT(select.columns.size() == select.expressions.size());
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

/// Restricts the select to the rows of the page, which a subquery on their keys finds.
void restrict_to_page(QueryCompiler& compiler, QueryCompiler::Select& select) {
    QueryCompiler::Select keys = select;
    std::string key(select.context.entity->key);
    BUNRAKU_ASSERT(!key.empty() && select.limit);
    keys.expressions = {Sql(key)};
    // PostgreSQL reads the keys of an array by index. It may join IN (SELECT ..) with the whole
    // table.
    const bool pg = compiler.dialect().postgresql();
    Sql where("(" + key + (pg ? " = ANY (ARRAY(" : " IN ("));
    where << compiler.render(keys, QueryCompiler::Paging::Page) << (pg ? ")))" : "))");
    select.where = std::move(where);
    select.limit.reset();
    select.offset.reset();
}

/// Returns the condition of a query without its projection.
Ast condition_of(const Ast& query) {
    if (!query.is_array() || lower_op(query) != "extract") return query;
    return query.size() > 2 && !is_group_by(query[2]) ? query[2] : Ast();
}

/// Replaces columns that only the rows of the page need with subqueries, on PostgreSQL. Otherwise
/// it joins their tables with all matching rows before sorting.
void project_late(QueryCompiler::Select& select, const Ast& query, const QueryOptions& options) {
    const Entity& entity = *select.context.entity;
    const auto late = [](const Field& f) { return !f.late.empty(); };
    if (std::none_of(entity.fields.begin(), entity.fields.end(), late)) return;
    // Functions may need the tables of their fields.
    if (std::any_of(select.columns.begin(), select.columns.end(),
                    [&](const OutputColumn& c) { return !entity.field(c.name); })) {
        return;
    }
    QueryCompiler probing(Backend::Postgresql);
    QueryCompiler::Select rows = probing.select(
        entity, Ast::array({Ast::text("extract"), Ast::text("certname"), condition_of(query)}));
    probing.order(rows, options.order_by);
    const std::vector<bool>& needed = rows.context.joined;
    BUNRAKU_ASSERT(needed.size() == entity.joins.size());
    const auto index_of = [&](std::string_view alias) {
        return static_cast<std::size_t>(entity.join(alias) - entity.joins.data());
    };
    for (std::size_t i = 0; i < select.columns.size(); ++i) {
        const Field& f = *entity.field(select.columns[i].name);
        if (!late(f) || needed[index_of(f.need)]) continue;
        for (std::string_view alias = f.need; !alias.empty();) {
            const std::size_t at = index_of(alias);
            select.context.joined[at] = needed[at];
            alias = entity.joins[at].need;
        }
        select.expressions[i] = Sql(f.late);
    }
}

/// Removes the cast to jsonb from a column that is only returned.
void remove_jsonb_cast(Sql& expression) {
    constexpr std::string_view kCast = "::jsonb";
    std::string& text = expression.text;
    if (!expression.values.empty() || !text.ends_with(kCast)) return;
    std::string_view name(text.data(), text.size() - kCast.size());
    bool column = std::all_of(name.begin(), name.end(), [](char c) {
        return c == '.' || c == '_' || (c >= 'a' && c <= 'z');
    });
    if (column) text.resize(name.size());
}

/// Reports whether the query matches only a few rows: those of one node, of one type and title, or
/// exported ones.
bool matches_few_rows(const Ast& query, int depth = 0) {
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
                       [&](const Ast& term) { return matches_few_rows(term, depth + 1); });
}

/// Adds a query for whole rows of few resources, on PostgreSQL. Formatting the resources is most of
/// the work, and many nodes share them. So the query reads only the nodes and resource ids, and the
/// texts are cached. `whole` is the select of such a query.
void add_content_query(const QueryCompiler::Select& whole, const Ast& query,
                       const QueryOptions& options, CompiledQuery& out) {
    if (options.explain || !matches_few_rows(query)) return;
    Ast narrow = Ast::array({Ast::text("extract"),
                             Ast::array({Ast::text("certname"), Ast::text("environment")}), query});
    BUNRAKU_ASSERT(whole.columns.size() == whole.expressions.size());
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
    BUNRAKU_ASSERT(content.of_content.size() == whole.columns.size());
    compiler.order(select, options.order_by);
    select.limit = std::min(options.limit.value_or(INT64_MAX), ContentQuery::kMostRows + 1);
    select.offset = options.offset;
    content.rows = compiler.render(select, QueryCompiler::Paging::Page);
    out.content = std::move(content);
}

/// Returns those terms of a conjunction that refer only to the table `alias`. Returns nullopt if
/// there are none.
std::optional<Sql> conditions_on(const Entity& entity, std::string_view alias, const Ast& query,
                                 Backend backend) {
    std::vector<Ast> terms;
    conjoined(condition_of(query), terms);
    std::vector<Sql> out;
    QueryCompiler compiler(backend);
    for (const Ast& term : terms) {
        SelectContext context(entity);
        BUNRAKU_ASSERT(context.joined.size() == entity.joins.size());
        context.listed = true;
        auto sql = compiler.condition(context, term, 1);
        bool only = sql.has_value();
        for (std::size_t i = 0; i < entity.joins.size(); ++i) {
            only = only && context.joined[i] == (entity.joins[i].alias == alias);
        }
        if (only && context.by_content && !context.by_owner) out.push_back(std::move(*sql));
    }
    if (out.empty()) return {};
    return join_balanced(std::move(out), "AND");
}

/// Returns an alternative plan for a page ordered by node. `select` is the complete select.
std::optional<AlternativePlan> alternative(QueryCompiler& compiler,
                                           const QueryCompiler::Select& select, const Ast& query,
                                           const QueryOptions& options, Backend backend) {
    const Entity& entity = *select.context.entity;
    bool page = options.limit && *options.limit <= kLargestPage && !options.order_by.empty() &&
                options.order_by[0].field == "certname" && select.group_by.empty() &&
                !options.explain;
    if (!page || entity.node_first.empty() || !select.where || matches_few_rows(query)) return {};
    QueryCompiler probing(backend);
    QueryCompiler::Select rows = probing.select(
        entity, Ast::array({Ast::text("extract"), Ast::text("certname"), condition_of(query)}));
    rows.expressions = {Sql("1")};
    rows.limit = AlternativePlan::kMany;
    AlternativePlan out;
    Sql from;
    if (backend == Backend::Sqlite) {
        out.if_many = true;
        from << entity.node_first;
        out.probe = probing.render(rows, QueryCompiler::Paging::Page);
    } else {
        if (entity.content_fenced.empty()) return {};
        auto content = conditions_on(entity, entity.content_alias, query, backend);
        if (!content) return {};
        std::string_view fenced = entity.content_fenced;
        std::size_t at = fenced.find("{}");
        BUNRAKU_ASSERT(at != std::string_view::npos);
        from << fenced.substr(0, at) << *content << fenced.substr(at + 2);
        out.probe = probing.render(rows, QueryCompiler::Paging::Page, &from);
    }
    Sql counted("SELECT count(*) FROM (");
    counted << out.probe << ") counted";
    out.probe = std::move(counted);
    out.sql = compiler.render(select, QueryCompiler::Paging::Page, &from);
    return out;
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
    if (const Entity* other = counted_entity(entity_name, query, options)) entity = other;
    QueryCompiler compiler(backend);
    std::optional<QueryCompiler::Select> counts =
        select_counts(compiler, entity_name, query, options);
    std::optional<Sql> lists;
    if (!counts && entity_name == "resources") {
        if (auto places = select_place_counts(compiler, query, options)) {
            counts = std::move(places->select);
            lists = std::move(places->lists);
        }
    }
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
        for (Sql& e : select.expressions) remove_jsonb_cast(e);
    }
    const bool page = options.limit && *options.limit <= kLargestPage && by_fields &&
                      !options.order_by.empty() && select.group_by.empty();
    if (page && backend == Backend::Postgresql && !entity->distinct && !options.distinct) {
        project_late(select, query, options);
    }
    // PostgreSQL computes expensive columns after sorting, but not the many joins of nodes. For
    // long pages it joins whole tables faster than rows.
    const bool many_joins = entity_name == "nodes" && select.columns.size() > 4;
    const bool late =
        backend == Backend::Sqlite ? select.expensive || many_joins : many_joins && page;
    if (late && select.limit && !entity->key.empty() && by_fields && !options.order_by.empty() &&
        select.group_by.empty()) {
        restrict_to_page(compiler, select);
    }
    BUNRAKU_ASSERT(select.columns.size() == select.expressions.size());
    CompiledQuery out;
    out.lists = std::move(lists);
    out.any_values = compiler.exported_asked() || !nested.empty();
    out.columns = select.columns;
    out.nested = std::move(nested);
    out.single = entity->single;
    out.bare = entity->single && !entity->agents.empty();
    out.explain = options.explain;
    out.sql = compiler.render(select, QueryCompiler::Paging::Page);
    bool aggregates = std::any_of(
        select.columns.begin(), select.columns.end(),
        [&](const OutputColumn& c) { return !entity->field(c.name.substr(0, c.name.find('.'))); });
    if (out.nested.empty() && !aggregates) {
        out.alternative = alternative(compiler, select, query, options, backend);
    }
    if (options.explain) {
        Sql explained(backend == Backend::Postgresql
                          ? "EXPLAIN (VERBOSE,ANALYZE,BUFFERS,FORMAT JSON) "
                          : "EXPLAIN QUERY PLAN ");
        explained << out.sql;
        out.sql = std::move(explained);
    }
    if (backend == Backend::Postgresql && out.nested.empty() &&
        entity == find_entity("resources")) {
        add_content_query(select, query, options, out);
    }
    if (options.include_total) {
        auto total = options.distinct ? std::nullopt : total_of(*entity, query, backend);
        if (total) {
            out.count = std::move(*total);
            return out;
        }
        unpaged.context.joined = joined;
        out.count = Sql("SELECT count(*) FROM (");
        out.count << compiler.render(unpaged, QueryCompiler::Paging::AllRows) << ") counted";
    }
    return out;
}

}  // namespace bunraku::query
