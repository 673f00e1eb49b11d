// SPDX-License-Identifier: Apache-2.0
// Compiles projections, functions, grouping and order to a complete SELECT.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "store/query/compiler.h"
#include "store/query/conditions.h"

namespace bunraku::query {

using conditions::bad;

namespace {

/// Maximum length of column names in PostgreSQL.
constexpr std::size_t kLongestName = 63;
constexpr std::size_t kMaxColumns = 200;

/// Reports whether a FROM clause contains a table with this alias: "certnames c JOIN ..".
bool names_alias(std::string_view from, std::string_view alias) {
    for (std::size_t at = from.find(alias); at != std::string_view::npos;
         at = from.find(alias, at + 1)) {
        std::size_t end = at + alias.size();
        if (at > 0 && from[at - 1] == ' ' && (end == from.size() || from[end] == ' ')) return true;
    }
    return false;
}

/// Reports whether a projection can contain this field or function.
bool known_item(const Entity& entity, const Ast& item) {
    if (item.is_array()) {
        return item.size() >= 2 && item[0].is_text("function") && item[1].is_text() &&
               known_function(item[1].as_text());
    }
    if (!item.is_text()) return false;
    const std::string& name = item.as_text();
    const Field* f = entity.field(name);
    if (f && f->project()) return true;
    const std::size_t dot = name.find('.');
    f = dot == std::string::npos ? nullptr : entity.field(name.substr(0, dot));
    return f && f->dotted();
}

/// Returns the function to which a term of "group_by" refers. If functions with the same name are
/// projected, an exact match is preferred; otherwise only the name must match.
const Ast* called_function(const std::vector<Ast>& items, const Ast& term, std::string_view name) {
    const bool function = term.is_array() && term.size() >= 2 && term[0].is_text("function");
    const Ast* called = function ? &term : nullptr;
    for (const Ast& item : items) {
        const bool same =
            item.is_array() && (function ? item[1] == term[1] : item[1].is_text(name));
        if (!same) continue;
        called = &item;
        if (function && to_json(item) == to_json(term)) break;
    }
    return called;
}

/// Reports whether the condition selects only newest reports.
bool selects_newest(const Ast& c, int depth = 0) {
    if (!c.is_array() || c.size() == 0 || depth > kMaxQueryDepth) return false;
    if (lower_op(c) == "and") {
        return std::any_of(c.items().begin() + 1, c.items().end(),
                           [&](const Ast& term) { return selects_newest(term, depth + 1); });
    }
    return c.size() == 3 && c[0].is_text("=") && c[1].is_text("latest_report?") && c[2].is_bool() &&
           c[2].as_bool();
}

}  // namespace

bool QueryCompiler::Extract::aggregates() const {
    return std::ranges::any_of(items, [](const Ast& item) {
        return item.is_array() && item[1].is_text() && !item[1].is_text("to_string") &&
               !item[1].is_text("jsonb_typeof");
    });
}

OutputColumn::Kind shown_as(FieldType type) {
    switch (type) {
        case FieldType::Bool: return OutputColumn::Bool;
        case FieldType::Number: return OutputColumn::Number;
        case FieldType::Time: return OutputColumn::Time;
        case FieldType::Hash: return OutputColumn::Hash;
        case FieldType::Text: return OutputColumn::Text;
        default: return OutputColumn::Json;
    }
}

bool mentions_report_type(const Ast& c) {
    if (!c.is_array() || c.size() == 0) return false;
    std::string op = lower_op(c);
    if (op == "and" || op == "or" || op == "not") {
        return std::any_of(c.items().begin() + 1, c.items().end(), mentions_report_type);
    }
    if (op == "in") return c.size() == 3 && lower_op(c[2]) == "array" && c[1].is_text("type");
    if (op == "extract" || op == "subquery" || op == "from") return false;
    return c.size() > 1 && c[1].is_text("type");
}

// --- Select

QueryCompiler::Select QueryCompiler::select(const Entity& entity, const Ast& query) {
    return select_at(entity, query, 0);
}

QueryCompiler::Select QueryCompiler::select_at(const Entity& entity, const Ast& query, int depth) {
    Select out(entity);
    if (depth > kMaxQueryDepth) {
        bad(fmt::format("The query is nested more than {} levels deep", kMaxQueryDepth));
    }
    const Extract extract = read_extract(query);
    check_items(out, extract, depth);
    const Ast& condition_ast = extract.condition;
    if (!condition_ast.is_null() && !(condition_ast.is_array() && condition_ast.size() == 0)) {
        std::string op = lower_op(condition_ast);
        if (op == "extract" || op == "from" || op.starts_with("select_")) {
            bad(fmt::format("Unsupported subquery `{}`", condition_ast.op()));
        }
        out.where = condition(out.context, condition_ast, depth + 1);
        out.context.newest = dialect_.postgresql() && selects_newest(condition_ast);
    }
    agent_reports(out, condition_ast);
    out.context.all_facts = extract.grouping && !out.context.by_owner && !out.context.by_content;
    add_columns(out, extract);
    std::vector<std::string> groups;
    if (extract.grouping) groups = group_by(out, extract);
    if (extract.grouping || extract.aggregates()) check_grouped(out, extract, groups);
    return out;
}

/// Splits a query into projection, condition and grouping. A query that is no "extract" is a
/// condition.
QueryCompiler::Extract QueryCompiler::read_extract(const Ast& query) {
    Extract out;
    if (!query.is_array() || lower_op(query) != "extract") {
        out.condition = query;
        return out;
    }
    if (query.size() < 2) bad("extract requires at least one argument");
    if (query[1].is_array() && !(query[1].op() == "function")) {
        out.items = query[1].items();
    } else {
        out.items.push_back(query[1]);
    }
    std::size_t next = 2;
    if (next < query.size() && !is_group_by(query[next])) {
        out.condition = query[next];
        ++next;
    }
    if (next < query.size() && is_group_by(query[next])) {
        out.grouping = &query[next];
        ++next;
    }
    if (next < query.size()) {
        bad(fmt::format("{} is not a valid expression for \"extract\"", to_clojure(query[next])));
    }
    return out;
}

/// Reports all unknown names of the projection together.
void QueryCompiler::check_items(Select& select, const Extract& extract, int depth) {
    const Entity& entity = *select.context.entity;
    if (extract.items.size() > kMaxColumns) bad(fmt::format("More than {} columns", kMaxColumns));
    std::vector<std::string> unknown;
    for (const Ast& item : extract.items) {
        if (!known_item(entity, item)) {
            unknown.push_back(item.is_text() ? item.as_text() : to_clojure(item));
        }
    }
    if (unknown.empty()) return;
    std::vector<std::string_view> names(unknown.begin(), unknown.end());
    std::vector<std::string_view> known = entity.names(Field::Project);
    std::string message =
        fmt::format("Can't extract unknown '{}' {} {}. Acceptable fields are {}", entity.shown,
                    names.size() > 1 ? "fields" : "field", list_names(names), list_names(known));
    try {
        if (extract.condition.is_array() && extract.condition.size() > 0) {
            condition(select.context, extract.condition, depth + 1);
        }
    } catch (const QueryError& e) {
        if (e.field) message += "\n" + e.message;
    }
    throw QueryError{400, std::move(message), true};
}

void QueryCompiler::add_columns(Select& select, const Extract& extract) {
    if (extract.items.empty()) {
        for (const Field& f : select.context.entity->fields) {
            if (f.project()) add_column(select, Ast::text(std::string(f.name)));
        }
        return;
    }
    // Fields precede functions in a row.
    for (const Ast& item : extract.items) {
        if (item.is_text()) add_column(select, item);
    }
    for (const Ast& item : extract.items) {
        if (item.is_array()) add_function(select, item);
    }
}

/// Adds the GROUP BY terms. Returns each as JSON, in the form that it has in the projection.
std::vector<std::string> QueryCompiler::group_by(Select& select, const Extract& extract) {
    const Ast& grouping = *extract.grouping;
    if (grouping.size() == 1) bad("Received 'group_by' clause without an argument");
    std::vector<std::string> groups;
    for (std::size_t i = 1; i < grouping.size(); ++i) {
        const Ast& g = grouping[i];
        const bool function = g.is_array() && g.size() >= 2 && g[0].is_text("function");
        const std::string name = g.is_text() ? g.as_text() : to_clojure(function ? g[1] : g);
        const Field* f = field_or_base(*select.context.entity, name);
        const Ast* called = called_function(extract.items, g, name);
        if (function || (!f && called)) {
            OutputColumn::Kind kind{};
            bool aggregate = false;
            Sql sql = function_expression(select.context, *called, &kind, &aggregate);
            if (aggregate) bad("ERROR: aggregate functions are not allowed in GROUP BY");
            groups.push_back(to_json(*called));
            select.group_by.push_back(std::move(sql));
            continue;
        }
        if (!f || name == "latest_report?") {
            bad(fmt::format("{} is niether a valid column name nor function name",
                            to_json(Ast::text(name))));
        }
        group_by_field(select, *f, name);
        groups.push_back(to_json(Ast::text(name)));
    }
    return groups;
}

void QueryCompiler::group_by_field(Select& select, const Field& field, const std::string& name) {
    OutputColumn::Kind kind{};
    FieldType type{};
    Sql by = projection(select.context, name, &kind, &type);
    if (type == FieldType::FactValue && !dialect_.postgresql()) {
        // 0 and 0.0 are the same value.
        by.text = "json_sort_key(" + by.text + ")";
    }
    if (type == FieldType::Json && field.name == name && dialect_.postgresql()) {
        // PostgreSQL can compare the text of json, but not json itself.
        by.text = "(" + by.text + ")::text";
        for (std::size_t k = 0; k < select.columns.size(); ++k) {
            if (select.columns[k].name == name) select.expressions[k] = by;
        }
    }
    select.group_by.push_back(std::move(by));
}

/// Throws an error if a column of the projection is neither grouped nor aggregated.
void QueryCompiler::check_grouped(const Select& select, const Extract& extract,
                                  const std::vector<std::string>& groups) {
    BUNRAKU_ASSERT(select.columns.size() == select.expressions.size() &&
                   select.columns.size() == select.types.size());
    for (const Ast& item : extract.items) {
        bool plain =
            item.is_text() || item[1].is_text("to_string") || item[1].is_text("jsonb_typeof");
        if (!plain) continue;
        if (std::find(groups.begin(), groups.end(), to_json(item)) == groups.end()) {
            bad(
                fmt::format("ERROR: column \"{}\" must appear in the GROUP BY clause or be used "
                            "in an aggregate function",
                            item.is_text() ? item.as_text() : item[1].as_text()));
        }
    }
    if (extract.items.empty()) bad("'group_by' requires a projection");
}

void QueryCompiler::agent_reports(Select& select, const Ast& condition_ast) {
    if (!adding_agent_filter_ || select.context.entity->agents.empty() ||
        mentions_report_type(condition_ast)) {
        return;
    }
    Sql agent(fmt::format("({})", select.context.entity->agents));
    if (!select.where) {
        select.where = std::move(agent);
        return;
    }
    Sql both("(");
    both << *select.where << " AND " << agent << ")";
    select.where = std::move(both);
}

Sql QueryCompiler::projection(SelectContext& context, std::string_view name,
                              OutputColumn::Kind* kind, FieldType* type) {
    if (const Field* f = context.entity->field(name)) {
        *kind = shown_as(f->type);
        *type = f->type;
        return Sql(column(context, *f));
    }
    std::vector<FieldPart> path = parse_field(name);
    const Field& f = *context.entity->field(path[0].name);
    path.erase(path.begin());
    BUNRAKU_ASSERT(!path.empty());
    for (const FieldPart& p : path) {
        if (p.kind == FieldPart::Match) bad("match() cannot be used in a projection");
    }
    *kind = OutputColumn::Json;
    *type = FieldType::Json;
    if (f.type == FieldType::Facts) {
        // Reads only this fact and not all facts of the node.
        std::vector<Step> rest = steps_of(path);
        std::string fact = "trusted";
        if (f.name == "facts") {
            BUNRAKU_ASSERT(!rest.empty());
            fact = std::get<std::string>(rest[0]);
            rest.erase(rest.begin());
        }
        if (context.all_facts) {
            auto& names = context.joined_facts;
            auto at = std::find(names.begin(), names.end(), fact);
            std::string alias = fmt::format("fj{}", at - names.begin());
            if (at == names.end()) {
                names.push_back(fact);
                context.fact_joins << " LEFT JOIN (SELECT xf.certname_id, x.value FROM facts x JOIN"
                                      " factset_facts xf ON xf.fact_id = x.id WHERE x.name = ";
                context.fact_joins.bind(fact)
                    << ") " << alias << " ON " << alias << ".certname_id = fs.certname_id";
            }
            return json_steps(alias + ".value", rest);
        }
        Sql out("(SELECT ");
        out << json_steps("df.value", rest)
            << " FROM factset_facts dff JOIN facts df ON df.id = dff.fact_id WHERE"
               " dff.certname_id = fs.certname_id AND df.name = ";
        return out.bind(fact) << ")";
    }
    return json_steps(column(context, f), steps_of(path));
}

void QueryCompiler::add_column(Select& select, const Ast& item) {
    const std::string& name = item.as_text();
    if (name.size() > kLongestName) {
        bad(fmt::format("Projected field name '{}' exceeds current maximum length of 63 characters",
                        name.size()));
    }
    for (const OutputColumn& c : select.columns) {
        if (c.name == name) return;
    }
    OutputColumn::Kind kind{};
    FieldType type{};
    select.expressions.push_back(projection(select.context, name, &kind, &type));
    const Field* f = select.context.entity->field(name);
    if (f && f->build && (type == FieldType::Json || type == FieldType::Facts))
        select.expensive = true;
    select.columns.push_back({name, kind});
    select.types.push_back(type);
}

// --- Order

void QueryCompiler::order(Select& select, const std::vector<OrderTerm>& terms) {
    const Entity& e = *select.context.entity;
    std::vector<std::string> done;
    for (const OrderTerm& term : terms) {
        std::size_t projected = select.columns.size();
        for (std::size_t i = 0; i < select.columns.size(); ++i) {
            if (select.columns[i].name == term.field) projected = i;
        }
        const Field* f = e.field(term.field);
        // The order may use projected functions and dotted names. A field must also be one that can
        // be queried.
        if (f ? !f->query() : projected == select.columns.size()) {
            std::string known;
            for (std::string_view k : e.names(Field::Query)) {
                if (!known.empty()) known += "', '";
                known += k;
            }
            bad(fmt::format(
                "Unrecognized column '{}' specified in :order_by; Supported columns are "
                "'{}'",
                term.field, known));
        }
        if (std::find(done.begin(), done.end(), term.field) != done.end()) continue;
        done.push_back(term.field);
        bool nullable = true;
        Sql sql;
        if (f && f->query()) {
            sql = Sql(column(select.context, *f));
            nullable = f->nullable() || f->type == FieldType::FactValue;
            bool pg = dialect_.postgresql();
            bool json = f->type == FieldType::FactValue || f->type == FieldType::Facts ||
                        f->type == FieldType::Parameters || f->type == FieldType::TextArray;
            if (json && !pg) {
                sql = Sql("json_sort_key(" + sql.text + ")");
                if (f->type == FieldType::FactValue) nullable = false;
            } else if (f->type == FieldType::FactPath || f->type == FieldType::EncodedPath) {
                sql = Sql("fp.path");
            } else if (f->type == FieldType::Json) {
                sql = Sql(pg ? "(" + sql.text + ")::text" : sql.text);
            }
            bool grouped = !select.group_by.empty();
            if (grouped && projected == select.columns.size()) {
                bad(fmt::format(
                    "ERROR: column \"{}\" must appear in the GROUP BY clause or be used "
                    "in an aggregate function",
                    term.field));
            }
        } else {
            sql = Sql(fmt::format("{}", projected + 1));
        }
        select.order_by << (select.order_by.text.empty() ? "" : ", ") << sql
                        << (term.descending ? " DESC" : "");
        // Uses PostgreSQL's order of nulls. For columns without nulls, this is omitted so that an
        // index can provide the order.
        if (nullable && !dialect_.postgresql()) {
            select.order_by << (term.descending ? " NULLS FIRST" : " NULLS LAST");
        }
    }
}

// --- Statement

Sql QueryCompiler::render(const Select& select, Paging paging, const Sql* from) {
    if (common_.empty()) return body(select, paging, from);
    Sql out;
    for (std::size_t i = 0; i < common_.size(); ++i)
        out << fmt::format("{}c{} AS {}", i == 0 ? "WITH " : ", ", i,
                           dialect_.postgresql() ? "MATERIALIZED " : "")
            << common_[i];
    return out << " " << body(select, paging, from);
}

Sql QueryCompiler::subquery(const Select& select) {
    constexpr int kDeep = 10;
    Sql out("(");
    out << body(select, Paging::Page, nullptr) << ")";
    if (depth_of(out.text) <= kDeep) return out;
    common_.push_back(std::move(out));
    BUNRAKU_ASSERT(!common_.empty());
    return fmt::format("(SELECT * FROM c{})", common_.size() - 1);
}

Sql QueryCompiler::body(const Select& select, Paging paging, const Sql* from) {
    const Entity& e = *select.context.entity;
    Sql out(e.distinct ? "SELECT DISTINCT " : "SELECT ");
    for (std::size_t i = 0; i < select.expressions.size(); ++i) {
        if (i > 0) out << ", ";
        out << select.expressions[i];
    }
    const SelectContext& c = select.context;
    BUNRAKU_ASSERT(c.joined.size() == e.joins.size());
    bool content_first =
        !e.content_first.empty() && !dialect_.postgresql() && c.by_content && !c.by_owner;
    // Catalogs are large rows; this order reads each one only once.
    for (std::size_t i = 0; i < e.joins.size() && !e.count.empty(); ++i) {
        if (e.joins[i].alias == e.content_alias && c.joined[i] && !dialect_.postgresql()) {
            content_first = true;
        }
    }
    if (from) content_first = false;
    out << " FROM ";
    if (from) {
        out << *from;
    } else {
        out << (content_first ? e.content_first : e.from);
    }
    for (std::size_t i = 0; i < e.joins.size(); ++i) {
        const Join& j = e.joins[i];
        if (!j.always && !select.context.joined[i]) continue;
        if (content_first && j.alias == e.content_alias) continue;
        if (from && names_alias(from->text, j.alias)) continue;
        const bool newest = c.newest && !j.newest.empty();
        out << " " << (j.build ? j.build(dialect_) : std::string(newest ? j.newest : j.sql));
    }
    out << c.fact_joins;
    if (!select.from_extra.text.empty()) out << " " << select.from_extra;
    if (!e.where.empty() || select.where) {
        out << " WHERE " << e.where;
        if (!e.where.empty() && select.where) out << " AND ";
        if (select.where) out << *select.where;
    }
    for (std::size_t i = 0; i < select.group_by.size(); ++i) {
        out << (i == 0 ? " GROUP BY " : ", ");
        // Groups by column number if the same expression is selected, so that its values are bound
        // only once.
        std::size_t at = select.expressions.size();
        for (std::size_t k = 0; k < select.expressions.size(); ++k) {
            if (select.expressions[k].text == select.group_by[i].text &&
                select.expressions[k].values == select.group_by[i].values) {
                at = k;
            }
        }
        if (at < select.expressions.size()) {
            out << fmt::format("{}", at + 1);
        } else {
            out << select.group_by[i];
        }
    }
    if (paging == Paging::AllRows) return out;
    if (!select.order_by.text.empty()) out << " ORDER BY " << select.order_by;
    if (select.limit) {
        out << " LIMIT ";
        out.bind(*select.limit);
    } else if (select.offset && !dialect_.postgresql()) {
        out << " LIMIT -1";
    }
    if (select.offset) {
        out << " OFFSET ";
        out.bind(*select.offset);
    }
    return out;
}

}  // namespace bunraku::query
