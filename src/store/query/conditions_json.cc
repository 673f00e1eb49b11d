// Conditions on facts, their paths, and parameters: what is JSON inside.
#include <algorithm>
#include <fmt/format.h>

#include "store/query/are_regex.h"
#include "store/query/compiler.h"
#include "store/query/conditions.h"
#include "store/query/search_keys.h"

namespace bunraku::query {

using namespace conditions;

namespace {

bool is_scalar(const Ast& value) { return value.is_text() || value.is_number() || value.is_bool(); }

}  // namespace

// --- facts

std::string QueryCompiler::plain_json(std::string_view json) const {
    return dialect_.postgresql() ? fmt::format("({} #>> '{{}}')", json)
                                 : fmt::format("json_plain({})", json);
}

Sql QueryCompiler::fact_value(std::string_view alias, std::string_view op, const Ast& value) {
    Sql out("(");
    if (op == "~") {
        if (!value.is_text()) bad("Invalid ~ clause");
        return matches(plain_json(fmt::format("{}.value", alias)), value.as_text());
    }
    if (value.is_number()) {
        out << alias << ".number IS NOT NULL AND " << alias << ".number " << op << " ";
        out.bind(value.as_real());
        // Doubles tell apart what is below 2^53 only.
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
    // Numbers are equal by value, everything else by its text.
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

std::string_view QueryCompiler::at_once(SelectContext& context) const {
    // PostgreSQL believes that few rows come out of every condition: it would look through the
    // facts of each node that is left, or compare each node with all of the set. The first set may
    // lead to the nodes; the others are hashed.
    if (!dialect_.postgresql() || context.few) return "))";
    if (context.led) return ") IS TRUE)";
    context.led = true;
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
                            << (is_order(op) ? fact_order("x", op, value)
                                             : fact_value("x", op, value))
                            << at_once(context);
    return out;
}

namespace {

/// Where a path may be stored: components that are digits may be names or indexes.
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
    return out;
}

/// {"b": {"c": value}} for a path behind its first name.
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
    if (at.field->type == FieldType::Facts) {
        if (op != "~" || value.is_text()) return dotted_facts(context, op, at, value);
        return dotted_facts(context, op, at, Ast::text(to_json(value)));
    }
    if (op == "~" && !value.is_text()) {
        return dotted_parameters(context, op, at, Ast::text(to_json(value)));
    }
    return dotted_parameters(context, op, at, value);
}

Sql QueryCompiler::dotted_facts(SelectContext& context, std::string_view op, const Located& at,
                                const Ast& value) {
    std::vector<FieldPart> path = at.path;
    if (at.field->name == "trusted") {
        path.insert(path.begin(), FieldPart{FieldPart::Name, "trusted", 0});
    }
    std::string_view node = context.entity->node;
    bool pattern = std::any_of(path.begin(), path.end(),
                               [](const FieldPart& p) { return p.kind == FieldPart::Match; });
    bool membership = op == "in";
    bool null = op == "null?";
    auto test = [&](std::string_view alias) {
        if (membership) return fact_value_in(alias, value.items());
        if (null) {
            Sql s("(");
            return s << alias << (value.as_bool() ? ".match = 'null')" : ".match <> 'null')");
        }
        return is_order(op) ? fact_order(alias, op, value) : fact_value(alias, op, value);
    };
    auto leaves = [&](const Sql& where) {
        Sql s("(");
        s << node
          << " IN (SELECT xf.certname_id FROM fact_paths xp JOIN fact_leaves xl ON xl.path_id ="
             " xp.id JOIN factset_facts xf ON xf.fact_id = xl.fact_id WHERE "
          << where << at_once(context);
        return s;
    };
    if (pattern) {
        // Every component is taken for a pattern then, as PuppetDB does.
        std::string regex;
        for (const FieldPart& part : path) {
            if (!regex.empty()) regex += "#~";
            regex += part.name;
            if (part.kind == FieldPart::Index) regex += fmt::format("#~{}", part.index);
        }
        Sql where = matches("xp.path", std::move(regex));
        where << " AND " << test("xl");
        return leaves(where);
    }
    std::vector<std::string> paths = encoded_paths(path);
    auto path_is = [&](std::string_view more) {
        std::vector<Sql> terms;
        for (const std::string& p : paths) {
            Sql s("(xp.path = ");
            s.bind(p) << ")";
            terms.push_back(std::move(s));
            if (more.empty()) continue;
            Sql under("(xp.path > ");
            under.bind(p + "#~") << " AND xp.path < ";
            under.bind(p + "#\x7f") << ")";
            terms.push_back(std::move(under));
        }
        return join_balanced(std::move(terms), "OR");
    };
    bool top_level = path.size() == 1 && path[0].kind == FieldPart::Name;
    auto top = [&](const Sql& where) {
        Sql s("(");
        s << node
          << " IN (SELECT xf.certname_id FROM facts x JOIN factset_facts xf ON xf.fact_id = x.id"
             " WHERE x.name = ";
        s.bind(path[0].name);
        if (!where.text.empty()) s << " AND " << where;
        return s << at_once(context);
    };
    // Whatever is there and no null: a scalar, or something with leaves below it.
    auto no_null = [&] {
        Sql where = path_is("below");
        return where << " AND (xl.match <> 'null' OR NOT " << path_is("") << ")";
    };
    Sql found;
    bool indexed = std::any_of(path.begin(), path.end(),
                               [](const FieldPart& p) { return p.kind == FieldPart::Index; });
    if ((value.is_array() || value.is_map()) && !membership) {
        // "Contains": every element is among those that are there.
        if (op != "=" || indexed) bad(fmt::format("Invalid {} clause", op));
        Sql where;
        where << (dialect_.postgresql() ? "x.value @> " : "jsonb_contains(x.value, ");
        where.bind(canonical(nested(path, value))) << (dialect_.postgresql() ? "::jsonb" : ")");
        return top(where);
    }
    if (top_level) {
        found = top(test("x"));
    } else if (null && !value.as_bool()) {
        found = leaves(no_null());
    } else {
        Sql where = path_is("");
        where << " AND " << test("xl");
        found = leaves(where);
        // Hashes and arrays are more than any other value.
        if (op == ">" || op == ">=") {
            Sql either("(");
            either << found << " OR " << leaves(path_is("below") << " AND NOT " << path_is(""))
                   << ")";
            found = std::move(either);
        }
    }
    if (!context.negated || (op == "=" && !indexed) || membership) return found;
    // As PuppetDB 7 has it: a node without the path is neither this nor its opposite, nor is one
    // with a null there that is asked for a pattern; one without the fact fails both this and its
    // opposite.
    Sql out("(CASE WHEN ");
    out << found << " THEN TRUE";
    if (!null) {
        out << " WHEN NOT " << top({}) << " THEN " << (context.directly_negated ? "TRUE" : "FALSE");
    }
    if (top_level && op == "~") {
        out << " WHEN NOT " << top("x.match <> 'null'") << " THEN NULL";
    } else if (top_level && null) {
        out << " WHEN NOT " << top({}) << " THEN NULL";
    } else if (!top_level) {
        out << " WHEN NOT " << leaves(op == "~" ? no_null() : path_is("below")) << " THEN NULL";
    }
    return out << " ELSE FALSE END)";
}

Sql QueryCompiler::fact_order(std::string_view alias, std::string_view op, const Ast& value) {
    // jsonb's order: [] < null < strings < numbers < booleans < arrays < hashes.
    static constexpr std::string_view kTypes[] = {"null", "string", "number", "boolean"};
    if (value.is_array() || value.is_map()) bad(fmt::format("Invalid {} clause", op));
    std::size_t own = value.is_null() ? 0 : value.is_text() ? 1 : value.is_number() ? 2 : 3;
    bool more = op == ">" || op == ">=";
    std::string others;
    for (std::size_t i = 0; i < 4; ++i) {
        if (more ? i > own : i < own) others += fmt::format("'{}', ", kTypes[i]);
    }
    others += more ? "'array', 'object'" : "''";
    Sql out("(");
    if (own == 0) {
        out << alias << (op.size() == 2 ? ".match = 'null'" : ".match = ''");
    } else if (own == 3) {
        out << "(" << alias << ".match IN ('false', 'true') AND " << alias << ".match " << op
            << " ";
        out.bind(to_json(value)) << ")";
    } else {
        out << fact_value(alias, op, value);
    }
    std::string type = fmt::format("jsonb_typeof({}.value)", alias);
    return out << " OR (" << type << " IN (" << others << ") AND " << alias << ".match <> '[]')"
               << (more ? ")" : fmt::format(" OR {}.match = '[]')", alias));
}

// --- parameters

Sql QueryCompiler::json_at(std::string_view json, const std::vector<FieldPart>& path) const {
    Ast steps = Ast::array();
    for (const FieldPart& part : path) {
        steps.items().push_back(Ast::text(part.name));
        if (part.kind == FieldPart::Index) {
            steps.items().push_back(dialect_.postgresql() ? Ast::text(fmt::format("{}", part.index))
                                                          : Ast::integer(part.index));
        }
    }
    Sql out;
    if (dialect_.postgresql()) {
        out << "(" << json << " #> ARRAY(SELECT jsonb_array_elements_text(";
        return out.bind(to_json(steps)) << "::jsonb)))";
    }
    out << "json_at(" << json << ", ";
    return out.bind(to_json(steps)) << ")";
}

Sql QueryCompiler::dotted_parameters(SelectContext& context, std::string_view op, const Located& at,
                                     const Ast& value) {
    if (op == "=" && at.path.size() == 1 && at.path[0].kind == FieldPart::Name &&
        is_scalar(value)) {
        return parameter_is(context, at.path[0].name, value);
    }
    need(context, "p");
    const std::string column = dialect_.as_jsonb("p.parameters");
    bool pg = dialect_.postgresql();
    Sql out("(");
    if (op == "null?") {
        out << "jsonb_typeof(" << json_at(column, at.path) << ") "
            << (value.as_bool() ? "= 'null')" : "<> 'null')");
        return out;
    }
    if (op == "in") {
        std::vector<Sql> terms;
        for (const Ast& v : value.items()) terms.push_back(dotted_parameters(context, "=", at, v));
        return join_balanced(std::move(terms), "OR");
    }
    bool plain = std::all_of(at.path.begin(), at.path.end(), [](const FieldPart& p) {
        return p.kind == FieldPart::Name && !all_digits(p.name);
    });
    if (op == "=" && plain) {
        // The whole path as an object that the parameters contain.
        std::vector<FieldPart> path = at.path;
        path.insert(path.begin(), FieldPart{});
        std::string part = canonical(nested(path, value));
        if (pg) {
            out << column << " @> ";
            return out.bind(part) << "::jsonb)";
        }
        out << "jsonb_contains(" << column << ", ";
        return out.bind(part) << "))";
    }
    std::vector<FieldPart> first = {FieldPart{FieldPart::Name, at.path[0].name, 0}};
    if (op == "~") {
        Sql text = json_at(column, at.path);
        Sql plain_text(dialect_.postgresql() ? "(" : "json_plain(");
        plain_text << text << (pg ? " #>> '{}')" : ")");
        out << plain_text << (pg ? " ~ " : " REGEXP ");
        out.bind(value.as_text());
    } else if (pg) {
        out << json_at(column, at.path) << " " << op << " ";
        out.bind(canonical(value)) << "::jsonb";
    } else {
        out << "jsonb_cmp(" << json_at(column, at.path) << ", ";
        out.bind(canonical(value)) << ") " << op << " 0";
    }
    // Unknown where a part below is missing; what has none of it fails both this and its opposite.
    if (!context.negated && op == "=") return out << ")";
    return out << (context.directly_negated ? " OR " : " AND ") << json_at(column, first)
               << (context.directly_negated ? " IS NULL)" : " IS NOT NULL)");
}

Sql QueryCompiler::parameter_is(SelectContext& context, const std::string& name, const Ast& value) {
    need(context, "r");
    Sql out("(");
    std::int64_t hash = parameter_hash(name, canonical(value));
    if (context.few && dialect_.postgresql()) {
        // Each row is looked at whatever plan is made. What is kept is canonical, so only numbers
        // have several texts; making jsonb of all parameters would take twice as long.
        need(context, "p");
        bool number = value.is_number();
        out << "coalesce((p.parameters -> ";
        out.bind(name) << (number ? "::text)::text::jsonb = " : "::text)::text = ");
        return out.bind(canonical(value)) << (number ? "::jsonb, FALSE))" : ", FALSE))");
    }
    if (context.few || context.negated) {
        // A set has a few values; a value may be in very many sets, which SQLite does not know.
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
    // Parameters are shared: each set is looked at once, however many resources have it.
    out << (context.few ? "EXISTS (SELECT 1 FROM parameters xq WHERE xq.id = r.parameters_id AND "
                        : "r.parameters_id IN (SELECT xq.id FROM parameters xq WHERE ");
    std::vector<FieldPart> path = {FieldPart{FieldPart::Name, name, 0}};
    if (op == "~") {
        // As PuppetDB has it: the name is a pattern too, and values are compared as JSON texts with
        // the pattern in quotes, so that a string must match whole, an array by an element.
        if (!value.is_text()) bad("Invalid ~ clause");
        if (pg) {
            out << "EXISTS (SELECT 1 FROM jsonb_each(xq.parameters::jsonb) AS j (name, value) "
                   "WHERE j.name"
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
    if (pg) {
        out << json_at(dialect_.as_jsonb("xq.parameters"), path) << " = ";
        return out.bind(canonical(value)) << "::jsonb))";
    }
    // Texts are canonical, so most sets are ruled out by a search for `"name":value`.
    if (!value.is_number()) {
        Ast key = Ast::text(name);
        out << "instr(xq.parameters, ";
        out.bind(canonical(key) + ":" + canonical(value)) << ") > 0 AND ";
    }
    out << "jsonb_cmp(" << json_at("xq.parameters", path) << ", ";
    return out.bind(canonical(value)) << ") = 0))";
}

// --- paths of facts

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
            // fact-paths: the whole component; fact-contents: anywhere in it.
            if (!contents) regex = fmt::format("^(?:{})$", regex);
            term << matches(element, std::move(regex)) << ")";
            terms.push_back(std::move(term));
        }
        test = join_balanced(std::move(terms), "AND");
    }
    if (!contents) return test;
    // Paths are few, leaves are many: first the ones, then the others by index.
    Sql out("(fl.path_id IN (SELECT xp.id FROM fact_paths xp WHERE ");
    return out << test << "))";
}

}  // namespace bunraku::query
