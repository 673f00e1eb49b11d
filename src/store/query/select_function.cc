// SPDX-License-Identifier: Apache-2.0
// Compiles the functions of projections, conditions and groups.
#include <algorithm>
#include <fmt/format.h>

#include "store/query/compiler.h"
#include "store/query/conditions.h"

namespace bunraku::query {

using conditions::bad;

namespace {

constexpr std::string_view kFunctions[] = {"sum",   "avg",       "min",         "max",
                                           "count", "to_string", "jsonb_typeof"};

}  // namespace

bool known_function(std::string_view name) {
    return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions);
}

const Field* field_or_base(const Entity& entity, std::string_view name) {
    if (const Field* f = entity.field(name)) return f;
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return nullptr;
    const Field* f = entity.field(name.substr(0, dot));
    return f && f->dotted() ? f : nullptr;
}

/// Throws an error unless the call has a known name, the right number of arguments, and a field
/// that can be queried.
void QueryCompiler::check_function_field(const SelectContext& context, const Ast& call) {
    const std::string& name = call[1].as_text();
    const std::size_t arguments = call.size() - 2;
    if (arguments != (name == "to_string" ? 2u : 1u)) {
        bad(fmt::format("wrong number of arguments ({}) provided for function {}", arguments,
                        name));
    }
    const Field* f =
        call[2].is_text() ? field_or_base(*context.entity, call[2].as_text()) : nullptr;
    if (!f || !f->query() || call[2].is_text("latest_report?")) {
        bad(fmt::format("field {} is not a valid queryable field", to_clojure(call[2])));
    }
}

Sql QueryCompiler::function_expression(SelectContext& context, const Ast& call,
                                       OutputColumn::Kind* kind, bool* aggregate) {
    if (call.size() < 2 || !call[1].is_text() || !known_function(call[1].as_text())) {
        bad(fmt::format("{} is not a valid function",
                        call.size() > 1 ? to_clojure(call[1]) : "nil"));
    }
    const std::string& name = call[1].as_text();
    *aggregate = name != "to_string" && name != "jsonb_typeof";
    if (name == "count" && call.size() == 2) {
        *kind = OutputColumn::Number;
        const Entity& e = *context.entity;
        return e.count.empty() ? Sql("count(*)") : Sql(e.count);
    }
    check_function_field(context, call);
    Argument of{.field = &call[2]};
    of.sql = projection(context, call[2].as_text(), kind, &of.type);
    of.json = of.type == FieldType::FactValue || !context.entity->field(call[2].as_text());
    if (name == "count") {
        *kind = OutputColumn::Number;
        return count_expression(of);
    }
    if (name == "jsonb_typeof") {
        *kind = OutputColumn::Text;
        return json_type_expression(of);
    }
    if (name == "to_string") {
        *kind = OutputColumn::Text;
        return to_string_expression(of, call[3]);
    }
    return aggregate_expression(of, name, kind);
}

Sql QueryCompiler::numeric_expression(const Argument& of) const {
    const bool pg = dialect_.postgresql();
    if (of.type == FieldType::FactValue) {
        std::string alias = of.sql.text.substr(0, of.sql.text.find('.'));
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
    out << of.sql << ") = 'number' THEN (";
    out << of.sql << (pg ? " #>> '{}')::numeric END" : ") + 0 END");
    return out;
}

Sql QueryCompiler::count_expression(const Argument& of) {
    Sql out;
    if (of.type == FieldType::FactValue) {
        // A JSON null is not counted.
        out << "count(CASE WHEN " << of.sql.text.substr(0, of.sql.text.find('.'))
            << ".match <> 'null' THEN 1 END)";
    } else {
        out << "count(" << of.sql << ")";
    }
    return out;
}

Sql QueryCompiler::json_type_expression(const Argument& of) {
    if (!of.json && of.type != FieldType::Facts && of.type != FieldType::Parameters &&
        of.type != FieldType::JsonText) {
        bad(fmt::format("field {} must be a JSON type", to_clojure(*of.field)));
    }
    Sql out;
    return out << "jsonb_typeof(" << of.sql << ")";
}

Sql QueryCompiler::to_string_expression(const Argument& of, const Ast& format) const {
    if (!format.is_text()) bad("The format of to_string must be a string");
    const bool time = of.type == FieldType::Time;
    if (!time && !of.json && of.type != FieldType::Number) {
        bad(fmt::format("field {} must be a numeric type or a timestamp", to_clojure(*of.field)));
    }
    Sql out;
    if (dialect_.postgresql()) {
        out << "to_char(";
        if (time) {
            out << "to_timestamp(" << of.sql << " / 1000.0)";  // Sessions use UTC.
        } else if (of.json) {
            out << numeric_expression(of);
        } else {
            out << of.sql;
        }
        out << ", ";
        return out.bind(format.as_text()) << ")";
    }
    out << (time ? "time_to_char(" : "number_to_char(")
        << (of.json ? numeric_expression(of) : of.sql) << ", ";
    return out.bind(format.as_text()) << ")";
}

/// Compiles sum, avg, min and max.
Sql QueryCompiler::aggregate_expression(const Argument& of, const std::string& name,
                                        OutputColumn::Kind* kind) const {
    Sql out;
    const bool sums = name == "sum" || name == "avg";
    if (of.json) {
        *kind = OutputColumn::Number;
        out << name << "(" << numeric_expression(of) << ")";
        return out;
    }
    const bool fits = of.type == FieldType::Number ||
                      (!sums && (of.type == FieldType::Time || of.type == FieldType::Text ||
                                 of.type == FieldType::Hash));
    if (!fits) bad(fmt::format("field {} must be a numeric type", to_clojure(*of.field)));
    if (of.type == FieldType::Hash && dialect_.postgresql()) {
        // PostgreSQL has no min or max of bytes, but has them for their hexadecimal digits.
        *kind = OutputColumn::Text;
        out << name << "(" << dialect_.hex(of.sql.text) << ")";
        return out;
    }
    out << name << "(" << of.sql << ")";
    if (sums) *kind = OutputColumn::Number;
    return out;
}

void QueryCompiler::add_function(Select& select, const Ast& call) {
    OutputColumn::Kind kind{};
    bool aggregate = false;
    Sql sql = function_expression(select.context, call, &kind, &aggregate);
    std::string name = call[1].as_text();
    // A second column with the same name gets a number, as in database drivers.
    int same = 0;
    for (const OutputColumn& c : select.columns) {
        if (c.name == name || c.name.starts_with(name + "_")) ++same;
    }
    if (same > 0) name += fmt::format("_{}", same + 1);
    select.columns.push_back({std::move(name), kind});
    select.expressions.push_back(std::move(sql));
    select.types.push_back(kind == OutputColumn::Number ? FieldType::Number : FieldType::Text);
}

}  // namespace bunraku::query
