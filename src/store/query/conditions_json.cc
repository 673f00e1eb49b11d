// SPDX-License-Identifier: Apache-2.0
// Conditions on JSON content: facts, their paths, and parameters.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "store/query/are_regex.h"
#include "store/query/compiler.h"
#include "store/query/conditions.h"
#include "store/query/search_keys.h"

namespace bunraku::query {

using namespace conditions;

namespace {

bool is_scalar(const Ast& value) { return value.is_text() || value.is_number() || value.is_bool(); }

}  // namespace

// --- Facts

Sql QueryCompiler::plain_json(const Sql& json) const {
    Sql out(dialect_.postgresql() ? "(" : "json_plain(");
    return out << json << (dialect_.postgresql() ? " #>> '{}')" : ")");
}

Sql QueryCompiler::plain_matches(const Sql& json, const Ast& pattern) const {
    Sql out("(");
    out << plain_json(json) << (dialect_.postgresql() ? " ~ " : " REGEXP ");
    if (pattern.is_text()) {
        // Validates the pattern here, because SQLite's function would report an error only when it
        // evaluates a row.
        if (!dialect_.postgresql()) AreRegex::cached(pattern.as_text());
        return out.bind(pattern.as_text()) << ")";
    }
    // A pattern of another type is used as its plain text.
    Sql text(dialect_.postgresql() ? "CAST(" : "");
    text.bind(canonical(pattern)) << (dialect_.postgresql() ? " AS jsonb)" : "");
    return out << plain_json(text) << ")";
}

Sql QueryCompiler::fact_value(std::string_view alias, std::string_view op, const Ast& value) {
    Sql out("(");
    if (op == "~") {
        if (!value.is_text()) bad("Invalid ~ clause");
        return plain_matches(fmt::format("{}.value", alias), value);
    }
    if (value.is_number()) {
        out << alias << ".number IS NOT NULL AND " << alias << ".number " << op << " ";
        out.bind(value.as_real());
        // Doubles are exact only up to 2^53.
        constexpr std::int64_t kExact = 1ll << 53;
        if (op == "=" && value.is_int() && (value.as_int() > kExact || value.as_int() < -kExact)) {
            out << " AND " << alias << ".match = ";
            out.bind(canonical(value));
        }
        return out << ")";
    }
    if (op == "=") {
        out << alias << ".match = ";
        return out.bind(match_of(canonical(value))) << ")";
    }
    if (!value.is_text()) {
        bad(fmt::format("Argument \"{}\" and operator \"{}\" have incompatible types.",
                        as_text(value), op));
    }
    std::string json = fmt::format("{}.value", alias);
    out << "jsonb_typeof(" << json << ") = 'string' AND " << plain_json(json) << " " << op << " ";
    return out.bind(value.as_text()) << ")";
}

Sql QueryCompiler::fact_value_in(std::string_view alias, const std::vector<Ast>& values) {
    // Numbers are compared by value, everything else by its text.
    Ast matches_list = Ast::array();
    std::vector<Sql> terms;
    for (const Ast& v : values) {
        if (v.is_number()) {
            terms.push_back(fact_value(alias, "=", v));
        } else {
            matches_list.items().push_back(Ast::text(match_of(canonical(v))));
        }
    }
    if (matches_list.size() > 0 || terms.empty()) {
        Sql in("(");
        in << alias << ".match IN ";
        in << (dialect_.postgresql() ? "(SELECT jsonb_array_elements_text("
                                     : "(SELECT value FROM json_each(");
        in.bind(to_json(matches_list));
        in << (dialect_.postgresql() ? "::jsonb)))" : ")))");
        terms.push_back(std::move(in));
    }
    return join_balanced(std::move(terms), "OR");
}

std::string_view QueryCompiler::set_subquery_end(SelectContext& context) const {
    // PostgreSQL estimates that every condition returns few rows. It would then scan the facts of
    // each remaining node, or compare each node with the whole set. The first set may drive the
    // query over nodes; the other sets are hashed.
    if (!dialect_.postgresql() || context.few) return "))";
    if (context.driving_set_chosen) return ") IS TRUE)";
    context.driving_set_chosen = true;
    return " OFFSET 0))";
}

Sql QueryCompiler::compare_fact(SelectContext& context, std::string_view op, const Ast& name,
                                const Ast& value) {
    if (context.entity->node.empty()) {
        bad(fmt::format("'fact' is not a queryable object for {}", context.entity->shown));
    }
    if (is_order(op) && !value.is_number()) {
        bad(fmt::format("Operator '{}' not allowed on value '{}'", op, as_text(value)));
    }
    if (op == "~>" || value.is_array() || value.is_map()) bad(fmt::format("Invalid {} clause", op));
    Sql out("(");
    out << context.entity->node
        << " IN (SELECT xf.certname_id FROM facts x JOIN factset_facts xf ON xf.fact_id = x.id"
           " WHERE x.name = ";
    out.bind(as_text(name)) << " AND "
                            << (is_order(op) ? compare_json("x.value", op, value)
                                             : fact_value("x", op, value))
                            << set_subquery_end(context);
    return out;
}

namespace {

/// Returns the forms in which a path may be stored: components of digits may be names or indexes.
std::vector<std::string> encoded_paths(const std::vector<FieldPart>& path) {
    std::vector<std::string> out = {""};
    auto append = [&](const std::vector<std::string>& forms) {
        std::vector<std::string> next;
        for (const std::string& begun : out) {
            for (const std::string& form : forms) {
                next.push_back(begun.empty() ? form : begun + "#~" + form);
            }
        }
        if (next.size() > 64) bad("AST field has too many numeric components");
        out = std::move(next);
    };
    for (const FieldPart& part : path) {
        bool ambiguous = part.kind == FieldPart::Name && all_digits(part.name) && &part != &path[0];
        if (ambiguous) {
            append({encode_path_name(part.name), part.name});
        } else {
            append({encode_path_name(part.name)});
        }
        if (part.kind == FieldPart::Index) append({fmt::format("{}", part.index)});
    }
    BUNRAKU_ASSERT(!out.empty() && out.size() <= 64);
    return out;
}

/// Returns {"b": {"c": value}} for the path after its first name.
Ast nested(const std::vector<FieldPart>& path, const Ast& value) {
    Ast out = value;
    for (std::size_t i = path.size(); i-- > 1;) {
        Ast map = Ast::map();
        map.put(path[i].name, std::move(out));
        out = std::move(map);
    }
    return out;
}

}  // namespace

Sql QueryCompiler::compare_dotted(SelectContext& context, std::string_view op, const Located& at,
                                  const Ast& value) {
    if (op == "~>")
        bad(fmt::format("Query operator ~> is not allowed on field {}", at.field->name));
    return at.field->type == FieldType::Facts ? dotted_facts(context, op, at, value)
                                              : dotted_parameters(context, op, at, value);
}

Sql QueryCompiler::nodes_with_leaves(SelectContext& context, const Sql& where) const {
    Sql s("(");
    return s << context.entity->node
             << " IN (SELECT xf.certname_id FROM fact_paths xp JOIN fact_leaves xl ON xl.path_id ="
                " xp.id JOIN factset_facts xf ON xf.fact_id = xl.fact_id WHERE "
             << where << set_subquery_end(context);
}

Sql QueryCompiler::nodes_with_fact(SelectContext& context, const std::string& name,
                                   const Sql& where) const {
    Sql s("(");
    s << context.entity->node
      << " IN (SELECT xf.certname_id FROM facts x JOIN factset_facts xf ON xf.fact_id = x.id"
         " WHERE x.name = ";
    s.bind(name);
    if (!where.text.empty()) s << " AND " << where;
    return s << set_subquery_end(context);
}

Sql QueryCompiler::dotted_facts(SelectContext& context, std::string_view op, const Located& at,
                                const Ast& value) {
    std::vector<FieldPart> path = at.path;
    if (at.field->name == "trusted") {
        path.insert(path.begin(), FieldPart{FieldPart::Name, "trusted", 0});
    }
    auto is = [](FieldPart::Kind kind) {
        return [kind](const FieldPart& p) { return p.kind == kind; };
    };
    if (std::any_of(path.begin(), path.end(), is(FieldPart::Match))) {
        return matched_facts(context, op, path, value);
    }
    if (op != "=" && op != "in") return structured_facts(context, op, path, value);
    if (op == "=" && (value.is_array() || value.is_map())) {
        // Containment: every element must be present.
        if (std::any_of(path.begin(), path.end(), is(FieldPart::Index))) bad("Invalid = clause");
        Sql where;
        where << (dialect_.postgresql() ? "x.value @> " : "jsonb_contains(x.value, ");
        where.bind(canonical(nested(path, value))) << (dialect_.postgresql() ? "::jsonb" : ")");
        return nodes_with_fact(context, path[0].name, where);
    }
    if (op == "=" && context.negated) {
        // Unlike containment, these two comparisons are unknown if the path does not exist.
        if (std::any_of(path.begin(), path.end(), is(FieldPart::Index)))
            return structured_facts(context, op, path, value);
        const std::vector<Step> steps = steps_of(path);
        if (std::any_of(path.begin(), path.end(),
                        [](const FieldPart& p) { return all_digits(p.name); })) {
            const Sql json = json_at_path("x.value", std::span(steps).subspan(1));
            Sql there("(");
            there << json << " IS NOT NULL)";
            Sql out("(CASE WHEN ");
            out << nodes_with_fact(context, path[0].name, compare_json(json, op, value));
            return out << " THEN TRUE WHEN NOT " << nodes_with_fact(context, path[0].name, there)
                       << " THEN NULL ELSE FALSE END)";
        }
    }
    auto test = [&](std::string_view alias) {
        return op == "in" ? fact_value_in(alias, value.items()) : fact_value(alias, op, value);
    };
    if (path.size() == 1 && path[0].kind == FieldPart::Name) {
        return nodes_with_fact(context, path[0].name, test("x"));
    }
    std::vector<Sql> paths;
    for (const std::string& p : encoded_paths(path)) {
        Sql s("(xp.path = ");
        s.bind(p) << ")";
        paths.push_back(std::move(s));
    }
    Sql where = join_balanced(std::move(paths), "OR");
    return nodes_with_leaves(context, where << " AND " << test("xl"));
}

Sql QueryCompiler::matched_facts(SelectContext& context, std::string_view op,
                                 const std::vector<FieldPart>& path, const Ast& value) {
    // In PuppetDB, all components are patterns once one of them is a pattern.
    std::string regex;
    for (const FieldPart& part : path) {
        if (!regex.empty()) regex += "#~";
        regex += part.name;
        if (part.kind == FieldPart::Index) regex += fmt::format("#~{}", part.index);
    }
    Sql where = matches("xp.path", std::move(regex));
    where << " AND ";
    if (op == "in") {
        where << fact_value_in("xl", value.items());
    } else if (op == "null?") {
        where << (value.as_bool() ? "xl.match = 'null'" : "xl.match <> 'null'");
    } else if (op == "~" || op == "=") {
        where << fact_value("xl", op, value);
    } else {
        where << compare_json("xl.value", op, value);
    }
    return nodes_with_leaves(context, where);
}

Sql QueryCompiler::structured_facts(SelectContext& context, std::string_view op,
                                    const std::vector<FieldPart>& path, const Ast& value) {
    if (is_order(op) && value.is_map()) bad(fmt::format("Invalid {} clause", op));
    BUNRAKU_ASSERT(!path.empty());
    const std::string& name = path[0].name;
    const std::vector<Step> steps = steps_of(path);
    const Sql json = json_steps("x.value", std::span(steps).subspan(1));
    const bool null = op == "null?";
    Sql test("(");
    if (null) {
        test << "jsonb_typeof(" << json << (value.as_bool() ? ") = 'null'" : ") <> 'null'");
    } else if (op == "~") {
        test << plain_matches(json, value);
    } else {
        test << compare_json(json, op, value);
    }
    Sql found = nodes_with_fact(context, name, test << ")");
    if (!context.negated) return found;
    // Follows PuppetDB 8.8. For a node without the fact, the condition is false, so its negation is
    // true. For a node with the fact but without the path, both are unknown; the same applies to a
    // null at the path that is compared with a pattern.
    Sql out("(CASE WHEN ");
    out << found << " THEN TRUE";
    if (!null) {
        out << " WHEN NOT " << nodes_with_fact(context, name, {}) << " THEN FALSE";
    }
    Sql known("(");
    known << (op == "~" ? plain_json(json) : json) << " IS NOT NULL)";
    return out << " WHEN NOT " << nodes_with_fact(context, name, known)
               << " THEN NULL ELSE FALSE END)";
}

Sql QueryCompiler::compare_json(const Sql& json, std::string_view op, const Ast& value) const {
    Sql out;
    if (dialect_.postgresql()) {
        out << json << " " << op << " ";
        return out.bind(canonical(value)) << "::jsonb";
    }
    out << "jsonb_cmp(" << json << ", ";
    return out.bind(canonical(value)) << ") " << op << " 0";
}

// --- Parameters

Sql QueryCompiler::json_steps(const Sql& json, std::span<const Step> steps) const {
    if (steps.empty()) return json;
    Sql out(dialect_.postgresql() ? "(" : "json_steps(");
    out << json;
    Ast path = Ast::array();
    for (const Step& step : steps) {
        const auto* name = std::get_if<std::string>(&step);
        if (!dialect_.postgresql()) {
            path.items().push_back(name ? Ast::text(*name)
                                        : Ast::integer(std::get<std::int64_t>(step)));
        } else if (name) {
            out << " -> ";
            out.bind(*name) << "::text";
        } else {
            out << fmt::format(" -> {}", std::get<std::int64_t>(step));
        }
    }
    if (dialect_.postgresql()) return out << ")";
    out << ", ";
    return out.bind(to_json(path)) << ")";
}

Sql QueryCompiler::json_at_path(const Sql& json, std::span<const Step> steps) const {
    Ast path = Ast::array();
    for (const Step& step : steps) {
        const auto* name = std::get_if<std::string>(&step);
        path.items().push_back(
            Ast::text(name ? *name : fmt::format("{}", std::get<std::int64_t>(step))));
    }
    Sql out;
    if (dialect_.postgresql()) {
        out << "(" << json << " #> ARRAY(SELECT jsonb_array_elements_text(";
        return out.bind(to_json(path)) << "::jsonb)))";
    }
    out << "json_at_path(" << json << ", ";
    return out.bind(to_json(path)) << ")";
}

Sql QueryCompiler::dotted_parameters(SelectContext& context, std::string_view op, const Located& at,
                                     const Ast& value) {
    if (op == "in") {
        std::vector<Sql> terms;
        for (const Ast& v : value.items()) terms.push_back(dotted_parameters(context, "=", at, v));
        return join_balanced(std::move(terms), "OR");
    }
    if (op == "=" && at.path.size() == 1 && at.path[0].kind == FieldPart::Name &&
        is_scalar(value)) {
        return parameter_is(context, at.path[0].name, value);
    }
    need(context, "p");
    const Sql column = dialect_.as_jsonb("p.parameters");
    BUNRAKU_ASSERT(!at.path.empty());
    const std::vector<Step> steps = steps_of(at.path);
    const Sql json = json_steps(column, steps);
    Sql out("(");
    if (op == "null?") {
        return out << "jsonb_typeof(" << json << (value.as_bool() ? ") = 'null')" : ") <> 'null')");
    }
    const bool named = std::all_of(at.path.begin(), at.path.end(),
                                   [](const FieldPart& p) { return p.kind == FieldPart::Name; });
    if (op == "=" && named) {
        if (std::any_of(at.path.begin(), at.path.end(),
                        [](const FieldPart& p) { return all_digits(p.name); })) {
            return out << compare_json(json_at_path(column, steps), op, value) << ")";
        }
        // The whole path as an object that the parameters must contain.
        std::vector<FieldPart> path = at.path;
        path.insert(path.begin(), FieldPart{});
        std::string part = canonical(nested(path, value));
        if (dialect_.postgresql()) {
            out << column << " @> ";
            return out.bind(part) << "::jsonb)";
        }
        out << "jsonb_contains(" << column << ", ";
        return out.bind(part) << "))";
    }
    out << (op == "~" ? plain_matches(json, value) : compare_json(json, op, value));
    // The result is unknown if a nested part is missing. If the whole parameter is missing, the
    // condition is false, so its negation is true (PuppetDB 8.8).
    return out << " AND " << json_steps(column, std::span(steps).first(1)) << " IS NOT NULL)";
}

Sql QueryCompiler::parameter_is(SelectContext& context, const std::string& name, const Ast& value) {
    need(context, "r");
    Sql out("(");
    std::int64_t hash = parameter_hash(name, canonical(value));
    if (context.few && dialect_.postgresql()) {
        // Every plan examines each row here. The stored JSON is canonical, so only numbers have
        // several texts. Converting all parameters to jsonb would take twice as long.
        need(context, "p");
        bool number = value.is_number();
        out << "coalesce((p.parameters -> ";
        out.bind(name) << (number ? "::text)::text::jsonb = " : "::text)::text = ");
        return out.bind(canonical(value)) << (number ? "::jsonb, FALSE))" : ", FALSE))");
    }
    if (context.few || context.negated) {
        // SQLite's planner does not know that a set has few values, whereas a value may be in very
        // many sets.
        out << "EXISTS (SELECT 1 FROM parameter_values xv WHERE xv.parameters_id ="
               " r.parameters_id AND "
            << (dialect_.postgresql() ? "" : "+") << "xv.value_hash = ";
        return out.bind(hash) << "))";
    }
    out << "r.parameters_id IN (SELECT xv.parameters_id FROM parameter_values xv WHERE"
           " xv.value_hash = ";
    out.bind(hash);
    if (context.type) {
        out << " AND xv.type_hash = ";
        out.bind(type_hash(*context.type));
    }
    return out << "))";
}

Sql QueryCompiler::compare_parameter(SelectContext& context, std::string_view op,
                                     const std::string& name, const Ast& value) {
    if (!context.entity->field("parameters") || (op != "=" && op != "~")) {
        bad(fmt::format("'{}' is not a queryable object for {}",
                        to_clojure(Ast::array({Ast::text("parameter"), Ast::text(name)})),
                        context.entity->shown));
    }
    need(context, "r");
    bool pg = dialect_.postgresql();
    Sql out("(");
    if (op == "=" && context.exported) {
        out << "r.id IN (SELECT xe.resource_id FROM exported_params xe WHERE xe.name = ";
        out.bind(name) << " AND xe.value = ";
        return out.bind(match_of(canonical(value))) << " AND xe.member = 0))";
    }
    if (op == "=" && is_scalar(value)) return parameter_is(context, name, value);
    // Resources share parameters, so each set is examined once, even if many resources have it.
    out << (context.few ? "EXISTS (SELECT 1 FROM parameters xq WHERE xq.id = r.parameters_id AND "
                        : "r.parameters_id IN (SELECT xq.id FROM parameters xq WHERE ");
    if (op == "~") {
        // Like PuppetDB, treats the name as a pattern too. Values are compared as JSON texts with
        // the pattern in quotes, so that it must match a whole string or an element of an array.
        if (!value.is_text()) bad("Invalid ~ clause");
        if (pg) {
            // The stored text, and not the text that jsonb writes.
            out << "EXISTS (SELECT 1 FROM json_each(xq.parameters) AS j (name, value) WHERE j.name"
                   " ~ ";
            out.bind(name) << " AND j.value::text ~ ";
            return out.bind(quoted_pattern(value.as_text())) << ")))";
        }
        AreRegex::cached(name);
        AreRegex::cached(quoted_pattern(value.as_text()));
        out << "json_any_member(xq.parameters, ";
        out.bind(name) << ", ";
        return out.bind(quoted_pattern(value.as_text())) << ")))";
    }
    const std::vector<Step> steps = {name};
    const Sql json = json_steps(dialect_.as_jsonb("xq.parameters"), steps);
    if (pg) return out << compare_json(json, "=", value) << "))";
    // Stored texts are canonical, so a search for `"name":value` rules out most sets.
    if (!value.is_number()) {
        Ast key = Ast::text(name);
        out << "instr(xq.parameters, ";
        out.bind(canonical(key) + ":" + canonical(value)) << ") > 0 AND ";
    }
    return out << compare_json(json, "=", value) << "))";
}

// --- Paths of facts

namespace conditions {

std::string encode_path(const Ast& path) {
    std::string out;
    for (const Ast& part : path.items()) {
        if (&part != &path[0]) out += "#~";
        if (part.is_text()) {
            out += encode_path_name(part.as_text());
        } else if (part.is_int()) {
            out += fmt::format("{}", part.as_int());
        } else {
            bad(fmt::format("Path array element wasn't string or integer in {}", to_clojure(path)));
        }
    }
    return out;
}

}  // namespace conditions

Sql QueryCompiler::compare_path([[maybe_unused]] SelectContext& context, std::string_view op,
                                const Field& field, const Ast& value) {
    bool contents = field.type == FieldType::FactPath;
    std::string_view alias = contents ? "xp" : "fp";
    Sql test;
    if (op == "~") {
        test = matches(fmt::format("{}.path", alias), value.as_text());
    } else if (!value.is_array() || value.size() == 0) {
        bad(fmt::format("Invalid {} clause", op));
    } else if (op == "=") {
        test = Sql("(");
        test << alias << ".path = ";
        test.bind(encode_path(value)) << ")";
    } else {
        std::vector<Sql> terms;
        Sql length("(");
        length << alias << ".depth = ";
        length.bind(static_cast<std::int64_t>(value.size()) - 1) << ")";
        terms.push_back(std::move(length));
        for (std::size_t i = 0; i < value.size(); ++i) {
            const Ast& part = value[i];
            if (!part.is_text() && !part.is_int()) {
                bad(fmt::format("Regex array element wasn't string or integer in {}",
                                to_clojure(value)));
            }
            count_term();
            std::string element = dialect_.postgresql()
                                      ? fmt::format("({}.path_array ->> {})", alias, i)
                                      : fmt::format("({}.path_array ->> '$[{}]')", alias, i);
            std::string kind =
                dialect_.postgresql()
                    ? fmt::format("jsonb_typeof({}.path_array -> {})", alias, i)
                    : fmt::format("jsonb_typeof({}.path_array -> '$[{}]')", alias, i);
            Sql term("(");
            if (part.is_int()) {
                term << kind << " = 'number' AND ";
            } else if (all_digits(part.as_text())) {
                term << kind << " = 'string' AND ";
            }
            std::string regex = part.is_int() ? fmt::format("{}", part.as_int()) : part.as_text();
            // In fact-paths the pattern must match the whole component, in fact-contents any part
            // of it.
            if (!contents) regex = fmt::format("^(?:{})$", regex);
            term << matches(element, std::move(regex)) << ")";
            terms.push_back(std::move(term));
        }
        test = join_balanced(std::move(terms), "AND");
    }
    if (!contents) return test;
    // There are few paths and many leaves, so the query finds the paths first and then the leaves
    // by index.
    Sql out("(fl.path_id IN (SELECT xp.id FROM fact_paths xp WHERE ");
    return out << test << "))";
}

}  // namespace bunraku::query
