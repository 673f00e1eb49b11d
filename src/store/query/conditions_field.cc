// SPDX-License-Identifier: Apache-2.0
// Compiles comparisons of fields with values, by the type of the field.
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/codec/hex.h"
#include "store/query/are_regex.h"
#include "store/query/compiler.h"
#include "store/query/conditions.h"
#include "store/query/time_text.h"
namespace bunraku::query {

using namespace conditions;

namespace {

constexpr std::size_t kMostDigits = 128;

BoundValue number_value(const Ast& value) {
    if (value.is_int()) return value.as_int();
    return value.as_real();
}

}  // namespace

Sql QueryCompiler::matches(std::string_view expression, std::string pattern) const {
    // Validates the pattern here, because SQLite's function would report an error only when it
    // evaluates a row.
    if (!dialect_.postgresql()) AreRegex::cached(pattern);
    Sql out(dialect_.matches(expression, "?"));
    out.values.emplace_back(std::move(pattern));
    return out;
}

Sql QueryCompiler::time_value(const Ast& value) const {
    std::optional<std::int64_t> t;
    if (value.is_text()) t = parse_query_time(value.as_text());
    if (value.is_int() && std::llabs(value.as_int()) < (1ll << 48)) t = value.as_int();
    if (!t) bad(fmt::format("'{}' is not a valid timestamp value", as_text(value)));
    Sql out;
    out.bind(*t);
    return out;
}

namespace {

bool is_path(const Field& field) {
    return field.type == FieldType::FactPath || field.type == FieldType::EncodedPath;
}

/// Throws an error if the field has no such operator, or the operator does not accept the value.
void check_comparison(const Field& field, std::string_view op, const Ast& value) {
    const bool of_facts = field.type == FieldType::Facts;
    if (is_order(op) && field.type != FieldType::Number && field.type != FieldType::Time &&
        field.type != FieldType::FactValue) {
        bad(fmt::format("Query operators >,>=,<,<= are not allowed on field {}", field.name));
    }
    if (op == "~" && !value.is_text()) bad("Invalid ~ clause");
    const bool json =
        field.type == FieldType::JsonText || of_facts || field.type == FieldType::FactValue;
    const bool path = is_path(field);
    if ((value.is_null() && !of_facts && field.type != FieldType::Time) ||
        (value.is_map() && path)) {
        bad(fmt::format("Invalid {} clause", op));
    }
    if ((value.is_array() || value.is_map()) && !path && !(json && op == "=")) {
        bad(fmt::format("Invalid {} clause", op));
    }
}

[[noreturn]] void bad_argument(std::string_view op, const Ast& value) {
    bad(fmt::format("Argument \"{}\" and operator \"{}\" have incompatible types.", as_text(value),
                    op));
}

}  // namespace

Sql QueryCompiler::compare_field(SelectContext& context, std::string_view op, const Ast& left,
                                 const Ast& value) {
    const Field* plain = left.is_text() ? context.entity->field(left.as_text()) : nullptr;
    if (op == "~>" && (!plain || !is_path(*plain))) {
        bad(fmt::format("Query operator ~> is not allowed on field {}", as_text(left)));
    }
    Located at = locate(context, left);
    const Field& field = *at.field;
    (field.need == "r" || field.need == "p" ? context.by_content : context.by_owner) = true;
    const bool of_facts = field.type == FieldType::Facts;
    const bool ordered = field.type == FieldType::Bool || field.type == FieldType::Number ||
                         field.type == FieldType::Time;
    if (value.is_null() && (op == "~" || op == "~>") && !of_facts && !ordered) {
        // A match with null as pattern is neither true nor false.
        return dialect_.postgresql() ? "(NULL::boolean)" : "(NULL)";
    }
    // PuppetDB reads `trusted` as `facts.trusted`.
    if (!at.path.empty() || (field.name == "trusted" && of_facts)) {
        if (!of_facts && value.is_map() && op != "=") {
            bad(fmt::format("Invalid {} clause", op));
        }
        return compare_dotted(context, op, at, value);
    }
    if (op == "~>") return compare_path(context, op, field, value);
    if (field.name == "latest_report?") {
        if (op != "=") {
            bad(fmt::format("Query operators >,>=,<,<= are not allowed on field {}", field.name));
        }
        return latest_report(context, value);
    }
    check_comparison(field, op, value);
    return compare_column(context, op, field, value);
}

/// Compares the column of the field with a value that the operator accepts.
Sql QueryCompiler::compare_column(SelectContext& context, std::string_view op, const Field& field,
                                  const Ast& value) {
    switch (field.type) {
        case FieldType::Text: return compare_text(context, op, field, value);
        case FieldType::Bool: return compare_bool(context, op, field, value);
        case FieldType::Number: return compare_number(context, op, field, value);
        case FieldType::Time: {
            if (op == "~") bad_argument(op, value);
            Sql out("(");
            return out << column(context, field) << " " << op << " " << time_value(value) << ")";
        }
        case FieldType::Hash: return compare_hash(context, op, field, value);
        case FieldType::TextArray: return compare_text_array(context, op, field, value);
        case FieldType::JsonText: return compare_json_text(context, op, field, value);
        case FieldType::FactValue: {
            std::string sql = column(context, field);
            if (is_order(op) && !value.is_number()) bad_argument(op, value);
            return fact_value(sql.substr(0, sql.find('.')), op, value);
        }
        case FieldType::FactPath:
        case FieldType::EncodedPath: return compare_path(context, op, field, value);
        case FieldType::Facts:
        case FieldType::Parameters: return compare_container(context, op, field, value);
        case FieldType::Json:
            if (field.name != "inputs" || is_order(op)) break;
            return compare_inputs(op, value);
    }
    bad_argument(op, value);
}

/// A missing value does not match, and unlike for most operators, "not" makes that true.
Sql QueryCompiler::false_if_missing(SelectContext& context, const Field& field, Sql match) {
    if (!context.negated || !field.nullable()) return match;
    Sql both("(");
    return both << match << " AND " << column(context, field) << " IS NOT NULL)";
}

Sql QueryCompiler::compare_text(SelectContext& context, std::string_view op, const Field& field,
                                const Ast& value) {
    std::string sql = column(context, field);
    if (op == "~") return false_if_missing(context, field, matches(sql, value.as_text()));
    Sql out("(");
    // The indexes of tags and parameters are faster, but SQLite has no statistics that show it.
    if (context.selective && field.name == "type" && !dialect_.postgresql()) out << "+";
    out << sql << " = ";
    return out.bind(as_text(value)) << ")";
}

Sql QueryCompiler::compare_bool(SelectContext& context, std::string_view op, const Field& field,
                                const Ast& value) {
    std::optional<bool> wanted;
    if (value.is_bool()) wanted = value.as_bool();
    if (value.is_text("true")) wanted = true;
    if (value.is_text("false")) wanted = false;
    if (op == "~" || !wanted) bad_argument(op, value);
    Sql out("(");
    // A literal and not a bound value, because SQLite matches partial indexes only with literals.
    return out << column(context, field) << (*wanted ? " = 1)" : " = 0)");
}

Sql QueryCompiler::compare_number(SelectContext& context, std::string_view op, const Field& field,
                                  const Ast& value) {
    if (op == "=" && value.is_text()) {
        bad(fmt::format("Argument \"{}\" is incompatible with numeric field \"{}\".",
                        value.as_text(), field.name));
    }
    if (op == "~" || !value.is_number()) bad_argument(op, value);
    Sql out("(");
    out << column(context, field) << " " << op << " ";
    return out.bind(number_value(value)) << ")";
}

Sql QueryCompiler::compare_hash(SelectContext& context, std::string_view op, const Field& field,
                                const Ast& value) {
    std::string sql = column(context, field);
    if (op == "~") {
        return false_if_missing(context, field, matches(dialect_.hex(sql), value.as_text()));
    }
    auto bytes = value.is_text() && value.as_text().size() <= kMostDigits
                     ? codec::from_hex(value.as_text())
                     : std::nullopt;
    Sql out("(");
    // An invalid hash never matches. The result is unknown if the column is null, and false
    // otherwise.
    out << sql << " = ";
    return out.bind(Blob{bytes.value_or(std::string("-"))}) << ")";
}

Sql QueryCompiler::compare_text_array(SelectContext& context, std::string_view op,
                                      const Field& field, const Ast& value) {
    std::string text = as_text(value);
    if (field.name == "tag") text = base::lower(text);
    if (field.need == "r") return compare_tags(context, op, std::move(text));
    std::string sql = column(context, field);
    Sql out("(");
    out << (op == "~" ? dialect_.array_matches(sql, "?") : dialect_.array_has(sql, "?"));
    out.values.emplace_back(std::move(text));
    return out << ")";
}

Sql QueryCompiler::compare_json_text(SelectContext& context, std::string_view op,
                                     const Field& field, const Ast& value) {
    std::string sql = column(context, field);
    if (op == "~") {
        return false_if_missing(
            context, field,
            matches(dialect_.compact_json_text(sql), quoted_pattern(value.as_text())));
    }
    Sql out("(");
    // A JSON null is a value here, and differs from every other value.
    if (dialect_.postgresql()) {
        out << sql << " = ";
        return false_if_missing(context, field, out.bind(canonical(value)) << "::jsonb)");
    }
    out << "jsonb_cmp(" << sql << ", ";
    return false_if_missing(context, field, out.bind(canonical(value)) << ") = 0)");
}

/// Reports whether an array or map contains the value.
Sql QueryCompiler::compare_container(SelectContext& context, std::string_view op,
                                     const Field& field, const Ast& value) {
    if (op != "=") bad_argument(op, value);
    std::string sql = column(context, field);
    Sql out("(");
    if (dialect_.postgresql()) {
        out << sql << " @> ";
        return out.bind(canonical(value)) << "::jsonb)";
    }
    out << "jsonb_contains(" << sql << ", ";
    return out.bind(canonical(value)) << "))";
}

/// Matches types and names of the catalog inputs separately, even from different pairs.
Sql QueryCompiler::compare_inputs(std::string_view op, const Ast& value) {
    Sql out(
        "(EXISTS (SELECT 1 FROM catalog_input_contents xi WHERE xi.certname_id ="
        " ci.certname_id AND (");
    for (std::string_view part : {"xi.type", "xi.name"}) {
        if (part == "xi.name") out << " OR ";
        if (op == "~") {
            out << matches(part, value.as_text());
        } else {
            out << part << " = ";
            out.bind(as_text(value));
        }
    }
    return out << ")))";
}

Sql QueryCompiler::compare_tags(SelectContext& context, std::string_view op, std::string text) {
    need(context, "r");
    Sql out("(");
    if (context.exported && op == "=") {
        out << "r.id IN (SELECT xt.resource_id FROM exported_tags xt WHERE xt.tag = ";
        return out.bind(std::move(text)) << "))";
    }
    // Many resources share the same set of tags.
    bool each = context.few || context.negated;
    const bool listed = context.listed && !each && dialect_.postgresql();
    if (each) {
        out << "EXISTS (SELECT 1 FROM tag_set_members xt WHERE xt.tag_set_id = r.tag_set_id AND ";
    } else {
        out << "r.tag_set_id " << (listed ? "= ANY (ARRAY" : "IN ")
            << "(SELECT xt.tag_set_id FROM tag_set_members xt WHERE ";
    }
    if (op == "~") {
        out << matches("xt.tag", std::move(text));
    } else {
        out << "xt.tag = ";
        out.bind(std::move(text));
    }
    return out << (listed ? ")))" : "))");
}

Sql QueryCompiler::latest_report(SelectContext& context, const Ast& value) {
    need(context, "c");
    const Field& field = *context.entity->field("latest_report?");
    Sql out;
    bool wanted = !(value.is_bool() && !value.as_bool());
    out << (wanted ? "(" : "(NOT (") << "c.latest_report_id IS NOT NULL AND " << field.sql
        << " = c.latest_report_id" << (wanted ? ")" : "))");
    return out;
}

std::optional<Sql> QueryCompiler::node_state(SelectContext& context, const Ast& value) {
    std::string state = base::lower(as_text(value));
    if (state == "any") return {};
    if (context.entity->node.empty() && (state == "active" || state == "inactive")) {
        bad(fmt::format("'node_state' is not a queryable object for {}", context.entity->shown));
    }
    need(context, "c");
    if (state == "active") return Sql("(c.deactivated IS NULL AND c.expired IS NULL)");
    if (state == "inactive") return Sql("(c.deactivated IS NOT NULL OR c.expired IS NOT NULL)");
    bad(fmt::format("No matching clause: {}", state));
}

}  // namespace bunraku::query
