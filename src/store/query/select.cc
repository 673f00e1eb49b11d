// Projections, functions, grouping, order: from a query to a whole SELECT.
#include <algorithm>
#include <fmt/format.h>

#include "store/query/compiler.h"

namespace bunraku::store {

namespace {

[[noreturn]] void bad(std::string message) { throw QueryError{400, std::move(message)}; }

constexpr std::string_view kFunctions[] = {"sum",   "avg",       "min",         "max",
                                           "count", "to_string", "jsonb_typeof"};
/// PostgreSQL's names of columns are not longer.
constexpr std::size_t kLongestName = 63;
constexpr std::size_t kMaxColumns = 200;

bool known_function(std::string_view name) {
    return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions);
}

bool is_group_by(const Ast& a) { return a.is_array() && lower_op(a) == "group_by"; }
bool is_paging(const Ast& a) {
    std::string op = lower_op(a);
    return op == "limit" || op == "offset" || op == "order_by";
}

}  // namespace

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

// --- ["from", entity, ..]

FromQuery parse_from(const Ast& ast, QueryOptions& options) {
    if (!ast.is_array() || lower_op(ast) != "from" || ast.size() < 2 || !ast[1].is_text()) {
        bad("Your initial query must be of the form: [\"from\",<entity>,(<optional-query>)]. Check "
            "your query and try again.");
    }
    FromQuery out;
    out.entity = entity_name_of(ast[1].as_text());
    std::size_t next = 2;
    if (next < ast.size() && !is_paging(ast[next])) {
        if (!ast[next].is_array() && !ast[next].is_null()) {
            bad("Your `from` query accepts an optional query only as a second argument. Check your "
                "query and try again.");
        }
        if (ast[next].size() > 0) out.query = ast[next];
        ++next;
    }
    bool limit = false, offset = false, order = false;
    for (; next < ast.size(); ++next) {
        const Ast& clause = ast[next];
        std::string op = lower_op(clause);
        if (!is_paging(clause)) {
            bad("Your `from` query accepts an optional query only as a second argument. Check your "
                "query and try again.");
        }
        bool& seen = op == "limit" ? limit : op == "offset" ? offset : order;
        if (seen) bad(fmt::format("Multiple '{}' clauses are not permitted", op));
        seen = true;
        if (clause.size() < 2 || clause[1].is_null()) {
            bad(fmt::format("Received '{}' clause without an argument", op));
        }
        const Ast& value = clause[1];
        if (op == "order_by") {
            std::vector<OrderTerm> terms;
            const std::vector<Ast> one = {value};
            for (const Ast& t : value.is_array() ? value.items() : one) {
                if (t.is_text()) {
                    terms.push_back({t.as_text(), false});
                    continue;
                }
                bool ok = t.is_array() && (t.size() == 1 || t.size() == 2) && t[0].is_text() &&
                          (t.size() == 1 || t[1].is_text("asc") || t[1].is_text("desc"));
                if (!ok) bad(fmt::format("Illegal value '{}' in order_by", to_clojure(t)));
                terms.push_back({t[0].as_text(), t.size() == 2 && t[1].is_text("desc")});
            }
            if (options.order_by.empty()) options.order_by = std::move(terms);
            continue;
        }
        if (!value.is_int() || value.as_int() < (op == "limit" ? 1 : 0)) {
            bad(op == "limit"
                    ? fmt::format("Illegal value '{}' for :limit; expected a positive non-zero "
                                  "integer.",
                                  to_clojure(value))
                    : fmt::format("Illegal value '{}' for :offset; expected a non-negative "
                                  "integer.",
                                  to_clojure(value)));
        }
        std::optional<std::int64_t>& place = op == "limit" ? options.limit : options.offset;
        if (!place) place = value.as_int();
    }
    return out;
}

// --- what endpoints add

Ast add_criteria(Ast condition, Ast query) {
    auto both = [&](Ast inner) {
        if (inner.is_null()) return std::move(condition);
        return Ast::array({Ast::text("and"), std::move(inner), std::move(condition)});
    };
    if (!query.is_array()) return query.is_null() ? std::move(condition) : both(std::move(query));
    std::string op = lower_op(query);
    if (op == "extract" && query.size() >= 2) {
        if (query.size() == 2) {
            query.items().push_back(std::move(condition));
        } else if (is_group_by(query[2])) {
            query.items().insert(query.items().begin() + 2, std::move(condition));
        } else {
            query[2] = both(std::move(query[2]));
        }
        return query;
    }
    if (op == "from" && query.size() >= 2) {
        if (query.size() == 2 || is_paging(query[2])) {
            query.items().insert(query.items().begin() + 2, std::move(condition));
        } else {
            query[2] = add_criteria(std::move(condition), std::move(query[2]));
        }
        return query;
    }
    return both(std::move(query));
}

namespace {

bool mentions_state(const Ast& a, int depth) {
    if (!a.is_array() || a.size() == 0 || depth > kMaxQueryDepth) return false;
    if (a.size() == 3 && a[0].is_text("=") &&
        (a[1].is_text("node_state") || (a[1].is_array() && a[1].size() == 2 &&
                                        a[1][0].is_text("node") && a[1][1].is_text("active")))) {
        return true;
    }
    return std::any_of(a.items().begin() + 1, a.items().end(),
                       [&](const Ast& item) { return mentions_state(item, depth + 1); });
}

}  // namespace

Ast restrict_to_active(Ast query) {
    if (mentions_state(query, 0)) return query;
    return add_criteria(Ast::array({Ast::text("="), Ast::text("node_state"), Ast::text("active")}),
                        std::move(query));
}

Ast root_query(Ast from) {
    if (!from.is_array() || lower_op(from) != "from" || from.size() < 2 || !from[1].is_text()) {
        return from;
    }
    std::string name = entity_name_of(from[1].as_text());
    const Entity* e = find_entity(name);
    bool counts = name == "event_counts" || name == "aggregate_event_counts";
    if (!counts && (!e || e->node.empty())) return from;
    return restrict_to_active(std::move(from));
}

// --- select

QueryCompiler::Select QueryCompiler::select(const Entity& entity, const Ast& query) {
    return select_at(entity, query, 0);
}

QueryCompiler::Select QueryCompiler::select_at(const Entity& entity, const Ast& query, int depth) {
    Select out(entity);
    if (depth > kMaxQueryDepth) {
        bad(fmt::format("The query is nested more than {} levels deep", kMaxQueryDepth));
    }
    std::vector<Ast> items;
    Ast condition_ast;
    const Ast* grouping = nullptr;
    if (query.is_array() && lower_op(query) == "extract") {
        if (query.size() < 2) bad("extract requires at least one argument");
        if (query[1].is_array() && !(query[1].op() == "function")) {
            items = query[1].items();
        } else {
            items.push_back(query[1]);
        }
        std::size_t next = 2;
        if (next < query.size() && !is_group_by(query[next])) {
            condition_ast = query[next];
            ++next;
        }
        if (next < query.size() && is_group_by(query[next])) {
            grouping = &query[next];
            ++next;
        }
        if (next < query.size()) {
            bad(fmt::format("{} is not a valid expression for \"extract\"",
                            to_clojure(query[next])));
        }
    } else {
        condition_ast = query;
    }
    if (items.size() > kMaxColumns) bad(fmt::format("More than {} columns", kMaxColumns));

    // All unknown names are told at once.
    std::vector<std::string> unknown;
    for (const Ast& item : items) {
        if (item.is_array()) {
            bool ok = item.size() >= 2 && item[0].is_text("function") && item[1].is_text() &&
                      known_function(item[1].as_text());
            if (!ok) unknown.push_back(to_clojure(item));
            continue;
        }
        if (!item.is_text()) {
            unknown.push_back(to_clojure(item));
            continue;
        }
        const Field* f = entity.field(item.as_text());
        if (f && f->project()) continue;
        std::size_t dot = item.as_text().find('.');
        f = dot == std::string::npos ? nullptr : entity.field(item.as_text().substr(0, dot));
        if (!f || !f->dotted()) unknown.push_back(item.as_text());
    }
    if (!unknown.empty()) {
        std::vector<std::string_view> names(unknown.begin(), unknown.end());
        std::vector<std::string_view> known = entity.names(Field::Project);
        std::string message = fmt::format(
            "Can't extract unknown '{}' {} {}. Acceptable fields are {}", entity.shown,
            names.size() > 1 ? "fields" : "field", list_names(names), list_names(known));
        try {
            if (condition_ast.is_array() && condition_ast.size() > 0) {
                condition(out.context, condition_ast, depth + 1);
            }
        } catch (const QueryError& e) {
            if (e.field) message += "\n" + e.message;
        }
        throw QueryError{400, std::move(message), true};
    }

    if (!condition_ast.is_null() && !(condition_ast.is_array() && condition_ast.size() == 0)) {
        std::string op = lower_op(condition_ast);
        if (op == "extract" || op == "from" || op.starts_with("select_")) {
            bad(fmt::format("Unsupported subquery `{}`", condition_ast.op()));
        }
        out.where = condition(out.context, condition_ast, depth + 1);
    }
    agent_reports(out, condition_ast);
    out.context.all_facts = grouping && !out.context.by_owner && !out.context.by_content;

    if (items.empty()) {
        for (const Field& f : entity.fields) {
            if (f.project()) add_column(out, Ast::text(std::string(f.name)), depth);
        }
    } else {
        // Fields stand before functions.
        for (const Ast& item : items) {
            if (item.is_text()) add_column(out, item, depth);
        }
        for (const Ast& item : items) {
            if (item.is_array()) add_function(out, item);
        }
    }

    bool aggregates = false;
    for (const Ast& item : items) {
        if (item.is_array() && item[1].is_text() && !item[1].is_text("to_string") &&
            !item[1].is_text("jsonb_typeof")) {
            aggregates = true;
        }
    }
    std::vector<std::string> groups;
    if (grouping) {
        if (grouping->size() == 1) bad("Received 'group_by' clause without an argument");
        for (std::size_t i = 1; i < grouping->size(); ++i) {
            const Ast& g = (*grouping)[i];
            OutputColumn::Kind kind{};
            if (g.is_array() && g.size() >= 2 && g[0].is_text("function")) {
                bool aggregate = false;
                Sql sql = function_expression(out.context, g, &kind, &aggregate);
                if (aggregate) {
                    bad("ERROR: aggregate functions are not allowed in GROUP BY");
                }
                groups.push_back(to_json(g));
                out.group_by.push_back(std::move(sql));
                continue;
            }
            std::string name = g.is_text() ? g.as_text() : to_clojure(g);
            const Field* f = entity.field(name);
            std::size_t dot = name.find('.');
            if (!f && dot != std::string::npos) {
                f = entity.field(name.substr(0, dot));
                if (f && !f->dotted()) f = nullptr;
            }
            // A function may be named alone, for the one that is projected.
            const Ast* called = nullptr;
            for (const Ast& item : items) {
                if (item.is_array() && item[1].is_text(name)) called = &item;
            }
            if (!f && called) {
                bool aggregate = false;
                Sql sql = function_expression(out.context, *called, &kind, &aggregate);
                if (aggregate) bad("ERROR: aggregate functions are not allowed in GROUP BY");
                groups.push_back(to_json(*called));
                out.group_by.push_back(std::move(sql));
                continue;
            }
            if (!f || name == "latest_report?") {
                bad(fmt::format("{} is niether a valid column name nor function name",
                                to_json(Ast::text(name))));
            }
            FieldType type{};
            Sql by = projection(out.context, name, &kind, &type);
            if (type == FieldType::FactValue && !dialect_.postgresql()) {
                // 0 and 0.0 are one value.
                by.text = "json_sort_key(" + by.text + ")";
            }
            out.group_by.push_back(std::move(by));
            groups.push_back(to_json(Ast::text(name)));
        }
    }
    if (aggregates || grouping) {
        for (const Ast& item : items) {
            bool plain =
                item.is_text() || item[1].is_text("to_string") || item[1].is_text("jsonb_typeof");
            if (!plain) continue;
            if (std::find(groups.begin(), groups.end(), to_json(item)) == groups.end()) {
                bad(fmt::format(
                    "ERROR: column \"{}\" must appear in the GROUP BY clause or be used "
                    "in an aggregate function",
                    item.is_text() ? item.as_text() : item[1].as_text()));
            }
        }
        if (items.empty()) bad("'group_by' requires a projection");
    }
    return out;
}

void QueryCompiler::agent_reports(Select& select, const Ast& condition_ast) {
    if (!adding_agent_filter_ || !select.context.entity->reports ||
        mentions_report_type(condition_ast)) {
        return;
    }
    Sql agent("(rp.report_type = 'agent')");
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
    for (const FieldPart& p : path) {
        if (p.kind == FieldPart::Match) bad("match() cannot be used in a projection");
    }
    *kind = OutputColumn::Json;
    *type = FieldType::Json;
    if (f.type == FieldType::Facts) {
        // Only the one fact is read, not all of them.
        std::vector<FieldPart> rest = path;
        std::string fact = "trusted";
        if (f.name == "facts") {
            fact = path[0].name;
            rest.erase(rest.begin());
            if (path[0].kind == FieldPart::Index) {
                rest.insert(rest.begin(),
                            FieldPart{FieldPart::Name, fmt::format("{}", path[0].index), 0});
            }
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
            std::string value = alias + ".value";
            return rest.empty() ? Sql(value) : json_at(value, rest);
        }
        Sql out("(SELECT ");
        if (rest.empty()) {
            out << "df.value";
        } else {
            out << json_at("df.value", rest);
        }
        out << " FROM factset_facts dff JOIN facts df ON df.id = dff.fact_id WHERE"
               " dff.certname_id = fs.certname_id AND df.name = ";
        return out.bind(fact) << ")";
    }
    return json_at(column(context, f), path);
}

void QueryCompiler::add_column(Select& select, const Ast& item, int depth) {
    (void)depth;
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
    if (f && f->build && (type == FieldType::Json || type == FieldType::Facts)) select.dear = true;
    select.columns.push_back({name, kind});
    select.types.push_back(type);
}

Sql QueryCompiler::function_expression(SelectContext& context, const Ast& call,
                                       OutputColumn::Kind* kind, bool* aggregate) {
    if (call.size() < 2 || !call[1].is_text() || !known_function(call[1].as_text())) {
        bad(fmt::format("{} is not a valid function",
                        call.size() > 1 ? to_clojure(call[1]) : "nil"));
    }
    const std::string& name = call[1].as_text();
    std::size_t arguments = call.size() - 2;
    auto wrong_count = [&] {
        bad(fmt::format("wrong number of arguments ({}) provided for function {}", arguments,
                        name));
    };
    bool pg = dialect_.postgresql();
    *aggregate = name != "to_string" && name != "jsonb_typeof";
    if (name == "count" && arguments == 0) {
        *kind = OutputColumn::Number;
        const Entity& e = *context.entity;
        return e.count.empty() ? Sql("count(*)") : Sql(e.count);
    }
    if (arguments != (name == "to_string" ? 2u : 1u)) wrong_count();
    if (!call[2].is_text())
        bad(fmt::format("field {} is not a valid queryable field", to_clojure(call[2])));
    const std::string& field_name = call[2].as_text();
    const Field* f = context.entity->field(field_name);
    bool dotted = false;
    if (!f) {
        std::size_t dot = field_name.find('.');
        if (dot != std::string::npos) f = context.entity->field(field_name.substr(0, dot));
        dotted = f && f->dotted();
        if (!dotted) f = nullptr;
    }
    if (!f || !f->query() || field_name == "latest_report?") {
        bad(fmt::format("field {} is not a valid queryable field", to_clojure(call[2])));
    }
    FieldType type{};
    Sql sql = projection(context, field_name, kind, &type);
    bool json = type == FieldType::FactValue || dotted;
    // The number in a JSON value; nothing where it is none.
    auto numeric = [&]() -> Sql {
        if (type == FieldType::FactValue) {
            std::string alias = sql.text.substr(0, sql.text.find('.'));
            if (!pg) {
                return Sql(
                    fmt::format("CASE WHEN {0}.number IS NOT NULL THEN {0}.value + 0 END", alias));
            }
            return Sql(
                fmt::format("CASE WHEN {0}.number IS NOT NULL THEN ({0}.value #>> "
                            "'{{}}')::numeric END",
                            alias));
        }
        Sql out("CASE WHEN jsonb_typeof(");
        out << sql << ") = 'number' THEN (";
        out << sql << (pg ? " #>> '{}')::numeric END" : ") + 0 END");
        return out;
    };
    Sql out;
    if (name == "count") {
        *kind = OutputColumn::Number;
        if (type == FieldType::FactValue) {
            // A null is nothing to count.
            out << "count(CASE WHEN " << sql.text.substr(0, sql.text.find('.'))
                << ".match <> 'null' THEN 1 END)";
        } else {
            out << "count(" << sql << ")";
        }
        return out;
    }
    if (name == "jsonb_typeof") {
        if (!json && type != FieldType::Facts && type != FieldType::Parameters &&
            type != FieldType::JsonText) {
            bad(fmt::format("field {} must be a JSON type", to_clojure(call[2])));
        }
        *kind = OutputColumn::Text;
        out << "jsonb_typeof(" << sql << ")";
        return out;
    }
    if (name == "to_string") {
        if (!call[3].is_text()) bad("The format of to_string must be a string");
        *kind = OutputColumn::Text;
        bool time = type == FieldType::Time;
        if (!time && !json && type != FieldType::Number) {
            bad(fmt::format("field {} must be a numeric type or a timestamp", to_clojure(call[2])));
        }
        if (pg) {
            out << "to_char(";
            if (time) {
                out << "to_timestamp(" << sql << " / 1000.0)";  // sessions are in UTC
            } else if (json) {
                out << numeric();
            } else {
                out << sql;
            }
            out << ", ";
            return out.bind(call[3].as_text()) << ")";
        }
        out << (time ? "time_to_char(" : "number_to_char(") << (json ? numeric() : sql) << ", ";
        return out.bind(call[3].as_text()) << ")";
    }
    // sum, avg, min, max
    bool sums = name == "sum" || name == "avg";
    if (json) {
        *kind = OutputColumn::Number;
        out << name << "(" << numeric() << ")";
        return out;
    }
    bool fits =
        type == FieldType::Number ||
        (!sums && (type == FieldType::Time || type == FieldType::Text || type == FieldType::Hash));
    if (!fits) {
        bad(fmt::format("field {} must be a numeric type", to_clojure(call[2])));
    }
    if (type == FieldType::Hash && pg) {
        // Bytes have no greatest one there; their digits do.
        *kind = OutputColumn::Text;
        out << name << "(" << dialect_.hex(sql.text) << ")";
        return out;
    }
    out << name << "(" << sql << ")";
    if (sums) *kind = OutputColumn::Number;
    return out;
}

void QueryCompiler::add_function(Select& select, const Ast& call) {
    OutputColumn::Kind kind{};
    bool aggregate = false;
    Sql sql = function_expression(select.context, call, &kind, &aggregate);
    std::string name = call[1].as_text();
    // The second of the same name gets a number, as database drivers do it.
    int same = 0;
    for (const OutputColumn& c : select.columns) {
        if (c.name == name || c.name.starts_with(name + "_")) ++same;
    }
    if (same > 0) name += fmt::format("_{}", same + 1);
    select.columns.push_back({std::move(name), kind});
    select.expressions.push_back(std::move(sql));
    select.types.push_back(kind == OutputColumn::Number ? FieldType::Number : FieldType::Text);
}

// --- order

void QueryCompiler::order(Select& select, const std::vector<OrderTerm>& terms) {
    const Entity& e = *select.context.entity;
    std::vector<std::string> done;
    for (const OrderTerm& term : terms) {
        std::size_t projected = select.columns.size();
        for (std::size_t i = 0; i < select.columns.size(); ++i) {
            if (select.columns[i].name == term.field) projected = i;
        }
        const Field* f = e.field(term.field);
        // A function or a dotted name may order where it is shown; a field must be one to ask by.
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
        // PostgreSQL's order of nulls; where there are none an index can be followed.
        if (nullable && !dialect_.postgresql()) {
            select.order_by << (term.descending ? " NULLS FIRST" : " NULLS LAST");
        }
    }
}

// --- the statement

Sql QueryCompiler::render(const Select& select, bool paged) {
    const Entity& e = *select.context.entity;
    Sql out(e.distinct ? "SELECT DISTINCT " : "SELECT ");
    for (std::size_t i = 0; i < select.expressions.size(); ++i) {
        if (i > 0) out << ", ";
        out << select.expressions[i];
    }
    const SelectContext& c = select.context;
    bool content_first =
        !e.content_first.empty() && !dialect_.postgresql() && c.by_content && !c.by_owner;
    // Catalogs are large rows: each is read once then.
    for (std::size_t i = 0; i < e.joins.size() && !e.count.empty(); ++i) {
        if (e.joins[i].alias == e.content_alias && c.joined[i] && !dialect_.postgresql()) {
            content_first = true;
        }
    }
    out << " FROM " << (content_first ? e.content_first : e.from);
    for (std::size_t i = 0; i < e.joins.size(); ++i) {
        const Join& j = e.joins[i];
        if (!j.always && !select.context.joined[i]) continue;
        if (content_first && j.alias == e.content_alias) continue;
        out << " " << (j.build ? j.build(dialect_) : std::string(j.sql));
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
        // By the place of the shown column where it is the same: its values are bound once.
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
    if (!paged) return out;
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

namespace {

// --- questions that only count resources

bool counted_field(const Ast& name) {
    return name.is_text("type") || name.is_text("certname") || name.is_text("environment") ||
           name.is_text("exported");
}

/// Whether a condition speaks only of what resource_counts() knows.
bool countable(const Ast& c, int depth) {
    if (c.is_null() || (c.is_array() && c.size() == 0)) return true;
    if (!c.is_array() || depth > kMaxQueryDepth) return false;
    std::string op = lower_op(c);
    if (op == "and" || op == "or" || op == "not") {
        return c.size() > 1 && std::all_of(c.items().begin() + 1, c.items().end(),
                                           [&](const Ast& t) { return countable(t, depth + 1); });
    }
    if (op == "subquery") return true;
    if (c.size() != 3) return false;
    const Ast& left = c[1];
    if (left.is_text()) return counted_field(left) || left.is_text("node_state");
    if (!left.is_array() || left.size() == 0) return false;
    if (left.op() == "fact" || left.op() == "node") return true;
    return op == "in" && std::all_of(left.items().begin(), left.items().end(), counted_field);
}

bool is_count(const Ast& item) {
    return item.is_array() && item.size() == 2 && item[0].is_text("function") &&
           item[1].is_text("count");
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
        } else if (!countable(query[i], 0)) {
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
void only_who_has_it(const Entity& entity, const Ast& query, const QueryOptions& options,
                     CompiledQuery& out) {
    if (options.explain || !names_few(query)) return;
    Ast narrow = Ast::array({Ast::text("extract"),
                             Ast::array({Ast::text("certname"), Ast::text("environment")}), query});
    ContentQuery content;
    QueryCompiler compiler(Backend::Postgresql);
    QueryCompiler::Select whole = compiler.select(entity, {});
    QueryCompiler::Select select = compiler.select(entity, narrow);
    select.expressions.clear();
    content.sql = "SELECT r.id";
    for (std::size_t i = 0; i < whole.columns.size(); ++i) {
        std::string_view need = entity.field(whole.columns[i].name)->need;
        bool shared = need == "r" || need == "p";
        content.of_content.push_back(shared);
        Sql expression = whole.expressions[i];
        as_it_is_kept(expression);
        if (shared) {
            content.sql += ", " + expression.text;
        } else {
            select.expressions.push_back(std::move(expression));
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
    QueryCompiler::Select select = compiler.select(*entity, query);
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
    if (backend == Backend::Postgresql && nested.empty() && entity == find_entity("resources")) {
        only_who_has_it(*entity, query, options, out);
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

}  // namespace bunraku::store
