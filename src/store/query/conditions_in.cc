// SPDX-License-Identifier: Apache-2.0
// The operator "in": lists, subqueries, and relations between entities.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "store/query/compiler.h"
#include "store/query/conditions.h"
#include "store/query/time_text.h"

namespace bunraku::query {

using namespace conditions;

Sql QueryCompiler::membership(SelectContext& context, const Ast& query, int depth) {
    if (query.size() != 3) bad("in requires exactly two arguments");
    const Ast& left = query[1];
    const Ast& right = query[2];
    std::string kind = lower_op(right);
    if (kind == "array") {
        if (right.size() != 2 || !right[1].is_array()) {
            bad("Operator array requires a vector argument");
        }
        return in_array(context, left, right[1]);
    }
    std::vector<std::string> fields;
    const std::vector<Ast> one = {left};
    for (const Ast& name : left.is_array() ? left.items() : one) {
        if (!name.is_text()) bad(fmt::format("{} is not a field", to_clojure(name)));
        const Field* f = context.entity->field(name.as_text());
        if (!f || !f->query()) {
            std::vector<std::string_view> known;
            for (const Field& k : context.entity->fields) {
                if (k.query()) known.push_back(k.name);
            }
            std::sort(known.begin(), known.end());
            throw QueryError{
                400,
                fmt::format("Can't match on unknown '{}' field {} for 'in'. Acceptable fields are "
                            "{}",
                            context.entity->shown, list_names({name.as_text()}), list_names(known)),
                true};
        }
        fields.push_back(name.as_text());
    }
    if (fields.empty()) bad("in requires at least one field");
    Select inner = inner_select(right, depth + 1);
    return in_select(context, fields, inner);
}

Sql QueryCompiler::fact_in_array(SelectContext& context, const Ast& left, const Ast& values) {
    if (left.op() != "fact" || left.size() != 2) {
        bad(fmt::format("'{}' is not a queryable object for {}", to_clojure(left),
                        context.entity->shown));
    }
    if (context.entity->node.empty()) {
        bad(fmt::format("'fact' is not a queryable object for {}", context.entity->shown));
    }
    for (const Ast& v : values.items()) {
        bool same = v.kind() == values[0].kind();
        if (!same) bad("All values in array must be the same type.");
    }
    Sql out("(");
    out << context.entity->node
        << " IN (SELECT xf.certname_id FROM facts x JOIN factset_facts xf ON xf.fact_id = x.id"
           " WHERE x.name = ";
    out.bind(as_text(left[1])) << " AND " << fact_value_in("x", values.items())
                               << set_subquery_end(context);
    return out;
}

Ast QueryCompiler::stored_times(const Ast& values) const {
    Ast out = Ast::array();
    for (const Ast& v : values.items()) {
        // An invalid time matches nothing; the result is unknown, not false.
        if (!v.is_text() || !parse_query_time(v.as_text())) {
            out.items().push_back(Ast());
            continue;
        }
        Sql t = time_value(v);
        out.items().push_back(Ast::integer(std::get<std::int64_t>(t.values[0])));
    }
    return out;
}

Sql QueryCompiler::in_array(SelectContext& context, const Ast& left, const Ast& values) {
    bool pg = dialect_.postgresql();
    if (values.size() > static_cast<std::size_t>(kMaxTerms) * 5) {
        bad(fmt::format("The query has more than {} terms", kMaxTerms * 5));
    }
    if (left.is_array()) return fact_in_array(context, left, values);
    if (left.is_text("node_state") && !context.entity->field("node_state")) {
        bad(fmt::format("'node_state' is not a queryable object for {}", context.entity->shown));
    }
    Located at = locate(context, left);
    if (!at.path.empty()) {
        if (at.field->type == FieldType::Facts) return dotted_facts(context, "in", at, values);
        return dotted_parameters(context, "in", at, values);
    }
    const Field& field = *at.field;
    std::string elements =
        pg ? "(SELECT jsonb_array_elements_text(?::jsonb))" : "(SELECT value FROM json_each(?))";
    Sql out("(");
    switch (field.type) {
        case FieldType::TextArray:
        case FieldType::Json: bad("Operator in...array is not supported on array types");
        case FieldType::FactValue: {
            std::string sql = column(context, field);
            return fact_value_in(sql.substr(0, sql.find('.')), values.items());
        }
        case FieldType::FactPath:
        case FieldType::EncodedPath: {
            Ast paths = Ast::array();
            for (const Ast& v : values.items()) {
                if (!v.is_array() || v.size() == 0) bad("Invalid in clause");
                paths.items().push_back(Ast::text(encode_path(v)));
            }
            bool contents = field.type == FieldType::FactPath;
            if (contents) out << "fl.path_id IN (SELECT xp.id FROM fact_paths xp WHERE xp";
            out << (contents ? ".path IN " : "fp.path IN ") << elements;
            out.values.emplace_back(to_json(paths));
            return out << (contents ? "))" : ")");
        }
        case FieldType::Text: {
            Ast texts = Ast::array();
            for (const Ast& v : values.items()) texts.items().push_back(Ast::text(as_text(v)));
            out << column(context, field) << " IN " << elements << ")";
            out.values.emplace_back(to_json(texts));
            return out;
        }
        case FieldType::Time: {
            out << column(context, field) << " IN "
                << (pg ? "(SELECT CAST(jsonb_array_elements_text(?::jsonb) AS BIGINT))" : elements)
                << ")";
            out.values.emplace_back(to_json(stored_times(values)));
            return out;
        }
        default: {
            if (field.name == "latest_report?") bad("Invalid in clause");
            std::vector<Sql> terms;
            for (const Ast& v : values.items()) {
                count_term();
                terms.push_back(compare_field(context, "=", left, v));
            }
            if (terms.empty()) return "FALSE";
            return join_balanced(std::move(terms), "OR");
        }
    }
}

std::string QueryCompiler::comparable(std::string_view column, FieldType from, FieldType to) const {
    if (from == FieldType::FactValue) {
        std::string_view alias = column.substr(0, column.find('.'));
        if (to == FieldType::FactValue) return fmt::format("{}.match", alias);
        if (to == FieldType::Number) return fmt::format("{}.number", alias);
        return plain_json(column).text;
    }
    if (from == FieldType::FactPath || from == FieldType::EncodedPath) return "fp.path";
    if (from == to) return std::string(column);
    if (from == FieldType::Hash) return dialect_.hex(column);
    if (from == FieldType::Time) return dialect_.time_text(column);
    if (to == FieldType::Text || to == FieldType::FactValue) {
        return fmt::format("CAST({} AS TEXT)", column);
    }
    return std::string(column);
}

Sql QueryCompiler::in_select(SelectContext& context, const std::vector<std::string>& fields,
                             Select& inner) {
    if (inner.columns.size() > fields.size()) {
        // Like PuppetDB, ignores surplus columns of the subquery.
        inner.columns.resize(fields.size());
        inner.expressions.resize(fields.size());
        inner.types.resize(fields.size());
    }
    if (inner.columns.size() != fields.size()) {
        bad(fmt::format("The subquery of 'in' has {} columns, {} are needed", inner.columns.size(),
                        fields.size()));
    }
    BUNRAKU_ASSERT(inner.expressions.size() == fields.size() &&
                   inner.types.size() == fields.size());
    // Nodes are compared by id, which every table contains.
    if (fields.size() == 1 && fields[0] == "certname" && !context.entity->node.empty() &&
        !inner.context.entity->node.empty() && inner.columns[0].name == "certname" &&
        inner.group_by.empty()) {
        inner.expressions[0] = Sql(inner.context.entity->node);
        Sql out("(");
        return out << context.entity->node << " IN " << subquery(inner) << ")";
    }
    std::string left, null;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const Field& f = *context.entity->field(fields[i]);
        FieldType other = inner.types[i];
        if (i > 0) left += ", ";
        if (f.type == FieldType::FactValue) {
            std::string sql = column(context, f);
            null = sql.substr(0, sql.find('.')) + ".match = 'null'";
        }
        left += comparable(column(context, f), f.type, other);
        inner.expressions[i].text = comparable(inner.expressions[i].text, other, f.type);
    }
    Sql out("(");
    // A JSON null is a value that is never in the result of a subquery.
    bool null_is_false = context.negated && !null.empty();
    if (null_is_false) out << "CASE WHEN " << null << " THEN FALSE ELSE ";
    out << (fields.size() > 1 ? "(" + left + ")" : left);
    return out << " IN " << subquery(inner) << (null_is_false ? " END)" : ")");
}

QueryCompiler::Select QueryCompiler::inner_select(const Ast& query, int depth) {
    if (depth > kMaxQueryDepth) {
        bad(fmt::format("The query is nested more than {} levels deep", kMaxQueryDepth));
    }
    auto entity_of = [](std::string_view name) -> const Entity* {
        const Entity* e = find_entity(name);
        return e && e->subquery ? e : nullptr;
    };
    std::string op = lower_op(query);
    if (op == "from") {
        QueryOptions options;
        FromQuery from = parse_from(query, options);
        const Entity* e = entity_of(from.entity);
        if (!e) bad(fmt::format("Invalid entity '{}' in query", from.entity));
        Select select = select_at(*e, from.query, depth);
        order(select, options.order_by);
        select.limit = options.limit;
        select.offset = options.offset;
        return select;
    }
    if (op != "extract" || query.size() < 3 || !query[2].is_array()) {
        bad(
            fmt::format("The subquery argument of 'in' must be an 'extract', a 'from' or an "
                        "'array', not '{}'",
                        query.op()));
    }
    const Ast& select = query[2];
    std::string name(select.op());
    const Entity* e = name.starts_with("select_") ? entity_of(name.substr(7)) : nullptr;
    if (!e) {
        std::string other = entity_name_of(name);
        if (other != name && other.starts_with("select_") && entity_of(other.substr(7))) {
            bad(fmt::format("Unsupported subquery `{}` - did you mean `{}`?", name, other));
        }
        bad(fmt::format("Unsupported subquery `{}`", name));
    }
    if (select.size() > 2) bad(fmt::format("{} takes one condition", name));
    Ast inside = Ast::array({Ast::text("extract"), query[1]});
    if (select.size() == 2) inside.items().push_back(select[1]);
    return select_at(*e, inside, depth);
}

Sql QueryCompiler::implicit_subquery(SelectContext& context, const Ast& query, int depth) {
    if (query.size() < 2 || query.size() > 3 || !query[1].is_text()) {
        bad("subquery requires an entity and a condition");
    }
    std::string name = entity_name_of(query[1].as_text());
    const Relation* relation = context.entity->relation(name);
    const Entity* e = find_entity(name);
    if (!relation && e && e->subquery && query.size() == 3) {
        // Errors inside the subquery are reported first.
        select_at(*e, query[2], depth + 1);
    }
    if (!relation || !e) {
        bad(fmt::format("No implicit relationship for entity '{}'", query[1].as_text()));
    }
    auto split = [](std::string_view list) {
        std::vector<std::string> out;
        while (!list.empty()) {
            std::size_t comma = list.find(',');
            out.emplace_back(list.substr(0, comma));
            list = comma == std::string_view::npos ? "" : list.substr(comma + 1);
        }
        return out;
    };
    Ast columns = Ast::array();
    for (const std::string& c : split(relation->foreign)) columns.items().push_back(Ast::text(c));
    Ast inside = Ast::array({Ast::text("extract"), std::move(columns)});
    if (query.size() == 3) inside.items().push_back(query[2]);
    Select inner = select_at(*e, inside, depth + 1);
    return in_select(context, split(relation->local), inner);
}

}  // namespace bunraku::query
