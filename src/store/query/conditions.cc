// Conditions: and, or, not, and everything that compares.
#include <algorithm>
#include <fmt/format.h>

#include "store/catalog_rows.h"
#include "store/json_cursor.h"
#include "store/query/are_regex.h"
#include "store/query/compiler.h"
#include "store/query/time_text.h"

namespace bunraku::store {

namespace {

/// More conditions than anyone writes, fewer than hurt.
constexpr int kMaxTerms = 20'000;

[[noreturn]] void bad(std::string message) { throw QueryError{400, std::move(message)}; }

bool is_order(std::string_view op) { return op == ">" || op == "<" || op == ">=" || op == "<="; }
bool is_comparison(std::string_view op) {
    return op == "=" || op == "~" || op == "~>" || is_order(op);
}

std::string lower(std::string_view s) {
    std::string out(s);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    return out;
}

/// JSON as the store keeps it.
std::string canonical(const Ast& value) {
    std::string json = to_json(value, true), out;
    try {
        JsonCursor(json).canonical(out);
    } catch (const JsonError& e) {
        bad(e.message);
    }
    return out;
}

/// What a text column is compared with.
std::string as_text(const Ast& value) { return value.is_text() ? value.as_text() : to_json(value); }

std::optional<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0 || text.size() > 128) return {};
    std::string out;
    int high = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) return {};
        if (i % 2 == 0) {
            high = digit;
        } else {
            out += static_cast<char>(high * 16 + digit);
        }
    }
    return out;
}

bool all_digits(std::string_view s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

BoundValue number_value(const Ast& value) {
    if (value.is_int()) return value.as_int();
    return value.as_real();
}

/// A pattern that meets the JSON text of a string, quotes and all (see compare_parameter).
std::string quoted_pattern(const std::string& pattern) { return "\"" + pattern + "\""; }

}  // namespace

std::string lower_op(const Ast& query) { return lower(query.op()); }

std::string list_names(const std::vector<std::string_view>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) {
            bool last = i + 1 == names.size();
            out += names.size() > 2 ? (last ? ", and " : ", ") : " and ";
        }
        out += fmt::format("'{}'", names[i]);
    }
    return out;
}

Sql join_balanced(std::vector<Sql> terms, std::string_view word) {
    if (terms.empty()) return "TRUE";
    // SQLite bounds the depth of expressions, and a chain of a thousand is a thousand deep.
    while (terms.size() > 1) {
        std::vector<Sql> next;
        constexpr std::size_t kWidth = 32;
        for (std::size_t i = 0; i < terms.size(); i += kWidth) {
            if (i + 1 == terms.size()) {
                next.push_back(std::move(terms[i]));
                continue;
            }
            Sql group("(");
            for (std::size_t k = i; k < std::min(i + kWidth, terms.size()); ++k) {
                if (k > i) group << " " << word << " ";
                group << terms[k];
            }
            group << ")";
            next.push_back(std::move(group));
        }
        terms = std::move(next);
    }
    return std::move(terms[0]);
}

void QueryCompiler::count_term() {
    if (++terms_ > kMaxTerms) bad(fmt::format("The query has more than {} terms", kMaxTerms));
}

void QueryCompiler::need(SelectContext& context, std::string_view alias) {
    if (alias.empty()) return;
    const auto& joins = context.entity->joins;
    for (std::size_t i = 0; i < joins.size(); ++i) {
        if (joins[i].alias != alias || context.joined[i]) continue;
        context.joined[i] = true;
        need(context, joins[i].need);
        return;
    }
}

std::string QueryCompiler::column(SelectContext& context, const Field& field) {
    need(context, field.need);
    return field.build ? field.build(dialect_) : std::string(field.sql);
}

QueryCompiler::Located QueryCompiler::locate(SelectContext& context, const Ast& name) {
    const Entity& e = *context.entity;
    if (!name.is_text()) bad(fmt::format("{} is not a field", to_clojure(name)));
    const Field* field = e.field(name.as_text());
    if (field && field->query()) return {field, {}};
    std::string_view text = name.as_text();
    std::size_t dot = text.find('.');
    if (dot != std::string_view::npos) {
        field = e.field(text.substr(0, dot));
        if (field && field->dotted()) {
            Located at{field, parse_field(text)};
            at.path.erase(at.path.begin());
            return at;
        }
    }
    std::vector<std::string_view> known = e.names(Field::Query);
    std::sort(known.begin(), known.end());
    if (known.empty()) {
        bad(fmt::format("'{}' is not a queryable object for {}. Entity {} has no queryable objects",
                        text, e.shown, e.shown));
    }
    bad(fmt::format("'{}' is not a queryable object for {}. Known queryable objects are {}", text,
                    e.shown, list_names(known)));
}

// --- shape of conditions

std::optional<Sql> QueryCompiler::condition(SelectContext& context, const Ast& query, int depth) {
    count_term();
    if (depth > kMaxQueryDepth) {
        bad(fmt::format("The query is nested more than {} levels deep", kMaxQueryDepth));
    }
    if (!query.is_array()) {
        bad(fmt::format("{} is not well-formed: queries must be arrays", to_clojure(query)));
    }
    if (query.size() == 0) {
        bad("[] is not well-formed: queries must contain at least one operator");
    }
    std::string op = lower_op(query);
    if (op == "and" || op == "or") return junction(context, query, depth);
    if (op == "not") {
        if (query.size() != 2) {
            bad(fmt::format("'not' takes exactly one argument, but {} were supplied",
                            query.size() - 1));
        }
        bool negated = context.negated, exported = context.exported, selective = context.selective;
        context.negated = true;
        context.exported = context.selective = false;
        auto inner = condition(context, query[1], depth + 1);
        context.negated = negated;
        context.exported = exported;
        context.selective = selective;
        if (!inner) return {};
        Sql out("(NOT ");
        out << *inner << ")";
        return out;
    }
    if (is_comparison(op)) return binary(context, query, depth);
    if (op == "null?") return null_check(context, query);
    if (op == "in") return membership(context, query, depth);
    if (op == "subquery") return implicit_subquery(context, query, depth);
    if (op.empty()) {
        bad(fmt::format("{} is not well-formed: queries must contain at least one operator",
                        to_clojure(query)));
    }
    bad(fmt::format("{} is not well-formed: query operator '{}' is unknown", to_clojure(query),
                    query.op()));
}

std::optional<Sql> QueryCompiler::junction(SelectContext& context, const Ast& query, int depth) {
    std::string op = lower_op(query);
    if (query.size() == 1) {
        bad(fmt::format("'{}' takes at least one argument, but none were supplied", op));
    }
    bool exported = context.exported, selective = context.selective, any_state = false;
    bool narrow = false, titled = false;
    if (op == "and") {
        for (const Ast& term : query.items()) {
            if (!term.is_array() || term.size() != 3 || !term[0].is_text("=")) continue;
            if (term[1].is_text("exported") && term[2].is_bool() && term[2].as_bool()) {
                context.exported = true;
            }
            // A tag or a parameter names few of the exported; with a title the type leads to one.
            bool parameter = term[1].is_array() && term[1].op() == "parameter";
            if (term[1].is_text("tag") || parameter) narrow = true;
            if (term[1].is_text("title")) titled = true;
        }
        if (narrow && !titled) context.selective = true;
    } else if (query.size() == 3) {
        // ["or", active, not active] is the old way to ask for both.
        auto state = [](const Ast& term, bool wanted) {
            return term.is_array() && term.size() == 3 && term[0].is_text("=") &&
                   term[1].is_array() && term[1].size() == 2 && term[1][0].is_text("node") &&
                   term[1][1].is_text("active") && term[2].is_bool() && term[2].as_bool() == wanted;
        };
        any_state = (state(query[1], true) && state(query[2], false)) ||
                    (state(query[1], false) && state(query[2], true));
    }
    if (any_state) return {};
    std::vector<Sql> terms;
    for (std::size_t i = 1; i < query.size(); ++i) {
        if (auto term = condition(context, query[i], depth + 1)) terms.push_back(std::move(*term));
    }
    context.exported = exported;
    context.selective = selective;
    if (terms.empty()) return {};
    return join_balanced(std::move(terms), op == "and" ? "AND" : "OR");
}

std::optional<Sql> QueryCompiler::binary(SelectContext& context, const Ast& query, int depth) {
    std::string op = lower_op(query);
    if (query.size() != 3) bad(fmt::format("{} requires exactly two arguments", op));
    const Ast& left = query[1];
    const Ast& value = query[2];
    if (op == "=" && value.is_null() && !left.is_array()) {
        return null_check(context, Ast::array({Ast::text("null?"), left, Ast::boolean(true)}));
    }
    if (left.is_array()) {
        std::string_view kind = left.op();
        if (kind == "node" && left.size() == 2 && left[1].is_text("active") && op == "=") {
            bool active = !(value.is_bool() && !value.as_bool());
            return node_state(context, Ast::text(active ? "active" : "inactive"));
        }
        if (kind == "fact" && left.size() == 2) return compare_fact(context, op, left[1], value);
        if (kind == "parameter" && left.size() == 2 && left[1].is_text()) {
            return compare_parameter(context, op, left[1].as_text(), value);
        }
        if (kind == "function") return compare_function(context, op, left, value);
        bad(fmt::format("'{}' is not a queryable object for {}", to_clojure(left),
                        context.entity->shown));
    }
    if (value.is_map() || value.is_null()) bad(fmt::format("Invalid {} clause", op));
    if (left.is_text("node_state") && op == "=" && !context.entity->node.empty()) {
        return node_state(context, value);
    }
    if (op == "=" && context.entity->reports && left.is_text("type") && value.is_text("any")) {
        return {};
    }
    (void)depth;
    return compare_field(context, op, left, value);
}

// --- fields

Sql QueryCompiler::matches(std::string_view expression, std::string pattern) const {
    // SQLite's function would tell only once a row is there to be looked at.
    if (!dialect_.postgresql()) AreRegex::cached(pattern);
    Sql out(dialect_.matches(expression, "?"));
    out.values.emplace_back(std::move(pattern));
    return out;
}

Sql QueryCompiler::time_value(const Ast& value) const {
    std::optional<std::int64_t> t;
    if (value.is_text()) t = parse_query_time(value.as_text());
    if (!t) bad(fmt::format("'{}' is not a valid timestamp value", as_text(value)));
    Sql out;
    out.bind(*t);
    return out;
}

Sql QueryCompiler::compare_field(SelectContext& context, std::string_view op, const Ast& left,
                                 const Ast& value) {
    Located at = locate(context, left);
    const Field& field = *at.field;
    if (!at.path.empty()) return compare_dotted(context, op, at, value);
    if (op == "~>") {
        if (field.type != FieldType::FactPath && field.type != FieldType::EncodedPath) {
            bad(fmt::format("Query operator ~> is not allowed on field {}", field.name));
        }
        return compare_path(context, op, field, value);
    }
    if (field.name == "latest_report?") {
        if (op != "=") {
            bad(fmt::format("Query operators >,>=,<,<= are not allowed on field {}", field.name));
        }
        return latest_report(context, value);
    }
    if (is_order(op) && field.type != FieldType::Number && field.type != FieldType::Time &&
        field.type != FieldType::FactValue) {
        bad(fmt::format("Query operators >,>=,<,<= are not allowed on field {}", field.name));
    }
    if (op == "~" && !value.is_text()) bad("Invalid ~ clause");
    if (value.is_array() && field.type != FieldType::FactPath &&
        field.type != FieldType::EncodedPath && !(field.type == FieldType::JsonText && op == "=")) {
        bad(fmt::format("Invalid {} clause", op));
    }
    auto refuse = [&]() {
        bad(fmt::format("Argument \"{}\" and operator \"{}\" have incompatible types.",
                        as_text(value), op));
    };
    Sql out("(");
    switch (field.type) {
        case FieldType::Text: {
            std::string sql = column(context, field);
            if (op == "~") return matches(sql, value.as_text());
            // The index of tags finds the rows faster; SQLite has no statistics to know it by.
            if (context.selective && context.exported && field.name == "type" &&
                !dialect_.postgresql()) {
                out << "+";
            }
            out << sql << " = ";
            return out.bind(as_text(value)) << ")";
        }
        case FieldType::Bool: {
            std::optional<bool> wanted;
            if (value.is_bool()) wanted = value.as_bool();
            if (value.is_text("true")) wanted = true;
            if (value.is_text("false")) wanted = false;
            if (op == "~" || !wanted) refuse();
            // Written out, not bound: partial indexes are found by it.
            out << column(context, field) << (*wanted ? " = 1)" : " = 0)");
            return out;
        }
        case FieldType::Number:
            if (op == "=" && value.is_text()) {
                bad(fmt::format("Argument \"{}\" is incompatible with numeric field \"{}\".",
                                value.as_text(), field.name));
            }
            if (op == "~" || !value.is_number()) refuse();
            out << column(context, field) << " " << op << " ";
            return out.bind(number_value(value)) << ")";
        case FieldType::Time:
            if (op == "~") refuse();
            out << column(context, field) << " " << op << " " << time_value(value) << ")";
            return out;
        case FieldType::Hash: {
            std::string sql = column(context, field);
            if (op == "~") return matches(dialect_.hex(sql), value.as_text());
            auto bytes = value.is_text() ? from_hex(value.as_text()) : std::nullopt;
            // No hash looks like that: unknown where the column is, false elsewhere.
            out << sql << " = ";
            return out.bind(Blob{bytes.value_or(std::string("-"))}) << ")";
        }
        case FieldType::TextArray: {
            std::string text = as_text(value);
            bool tag = field.name == "tag";
            if (tag) text = lower(text);
            if (tag && context.exported && op == "=") {
                need(context, "r");
                out << "r.id IN (SELECT xt.resource_id FROM exported_tags xt WHERE xt.tag = ";
                return out.bind(text) << "))";
            }
            std::string sql = column(context, field);
            out << (op == "~" ? dialect_.array_matches(sql, "?") : dialect_.array_has(sql, "?"));
            out.values.emplace_back(std::move(text));
            return out << ")";
        }
        case FieldType::JsonText: {
            std::string sql = column(context, field);
            if (op == "~") {
                return matches(dialect_.json_text(sql), quoted_pattern(value.as_text()));
            }
            if (dialect_.postgresql()) {
                out << sql << " = ";
                return out.bind(canonical(value)) << "::jsonb)";
            }
            out << "jsonb_cmp(" << sql << ", ";
            return out.bind(canonical(value)) << ") = 0)";
        }
        case FieldType::FactValue: {
            std::string sql = column(context, field);
            if (is_order(op) && !value.is_number()) refuse();
            return fact_value(sql.substr(0, sql.find('.')), op, value);
        }
        case FieldType::FactPath:
        case FieldType::EncodedPath: return compare_path(context, op, field, value);
        case FieldType::Facts:
        case FieldType::Parameters: {
            if (op != "=") refuse();
            std::string sql = column(context, field);
            if (dialect_.postgresql()) {
                out << sql << " @> ";
                return out.bind(canonical(value)) << "::jsonb)";
            }
            out << "jsonb_contains(" << sql << ", ";
            return out.bind(canonical(value)) << "))";
        }
        case FieldType::Json: break;
    }
    refuse();
    return out;
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
    if (context.entity->node.empty()) {
        bad(fmt::format("'node_state' is not a queryable object for {}", context.entity->shown));
    }
    std::string state = lower(as_text(value));
    if (state == "any") return {};
    need(context, "c");
    if (state == "active") return Sql("(c.deactivated IS NULL AND c.expired IS NULL)");
    if (state == "inactive") return Sql("(c.deactivated IS NOT NULL OR c.expired IS NOT NULL)");
    bad(fmt::format("No matching clause: {}", state));
}

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
    out.bind(as_text(name)) << " AND " << fact_value("x", op, value) << "))";
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
    if (op == "~" && !value.is_text()) bad("Invalid ~ clause");
    if (at.field->type == FieldType::Facts) return dotted_facts(context, op, at, value);
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
        return fact_value(alias, op, value);
    };
    auto leaves = [&](const Sql& where) {
        Sql s("(");
        s << node
          << " IN (SELECT xf.certname_id FROM fact_paths xp JOIN fact_leaves xl ON xl.path_id ="
             " xp.id JOIN factset_facts xf ON xf.fact_id = xl.fact_id WHERE "
          << where << "))";
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
        return s << "))";
    };
    Sql found;
    bool indexed = std::any_of(path.begin(), path.end(),
                               [](const FieldPart& p) { return p.kind == FieldPart::Index; });
    if (value.is_array() && !membership) {
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
        // Whatever is there and no null: a scalar, or something with leaves below it.
        std::vector<Sql> terms;
        Sql where = path_is("below");
        where << " AND (xl.match <> 'null' OR NOT " << path_is("") << ")";
        found = leaves(where);
    } else {
        Sql where = path_is("");
        where << " AND " << test("xl");
        found = leaves(where);
    }
    if (!context.negated || op == "=" || membership) return found;
    // A node with nothing at the path is neither this nor its opposite (as PuppetDB 7 has it).
    Sql out("(CASE WHEN ");
    out << found << " THEN TRUE WHEN NOT " << (top_level ? top({}) : leaves(path_is("below")))
        << " THEN NULL";
    return out << " ELSE FALSE END)";
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
    need(context, "p");
    constexpr std::string_view kColumn = "p.parameters";
    bool pg = dialect_.postgresql();
    Sql out("(");
    if (op == "null?") {
        out << "jsonb_typeof(" << json_at(kColumn, at.path) << ") "
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
            out << kColumn << " @> ";
            return out.bind(part) << "::jsonb)";
        }
        out << "jsonb_contains(" << kColumn << ", ";
        return out.bind(part) << "))";
    }
    std::vector<FieldPart> first = {FieldPart{FieldPart::Name, at.path[0].name, 0}};
    if (op == "~") {
        Sql text = json_at(kColumn, at.path);
        Sql plain_text(dialect_.postgresql() ? "(" : "json_plain(");
        plain_text << text << (pg ? " #>> '{}')" : ")");
        out << plain_text << (pg ? " ~ " : " REGEXP ");
        out.bind(value.as_text());
    } else if (pg) {
        out << json_at(kColumn, at.path) << " " << op << " ";
        out.bind(canonical(value)) << "::jsonb";
    } else {
        out << "jsonb_cmp(" << json_at(kColumn, at.path) << ", ";
        out.bind(canonical(value)) << ") " << op << " 0";
    }
    // Under a "not" what is missing stays unknown.
    if (op == "=" || context.negated) return out << ")";
    return out << " AND " << json_at(kColumn, first) << " IS NOT NULL)";
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
    // Parameters are shared: each set is looked at once, however many resources have it.
    out << "r.parameters_id IN (SELECT xq.id FROM parameters xq WHERE ";
    std::vector<FieldPart> path = {FieldPart{FieldPart::Name, name, 0}};
    if (op == "~") {
        // As PuppetDB has it: the name is a pattern too, and values are compared as JSON texts with
        // the pattern in quotes, so that a string must match whole, an array by an element.
        if (!value.is_text()) bad("Invalid ~ clause");
        if (pg) {
            out << "EXISTS (SELECT 1 FROM jsonb_each(xq.parameters) AS j (name, value) WHERE j.name"
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
        out << json_at("xq.parameters", path) << " = ";
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

namespace {

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

}  // namespace

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

// --- null?

Sql QueryCompiler::null_check(SelectContext& context, const Ast& query) {
    if (query.size() != 3) bad("null? requires exactly two arguments");
    if (!query[2].is_bool()) bad("Invalid null? clause");
    bool wanted = query[2].as_bool();
    Located at = locate(context, query[1]);
    if (!at.path.empty()) {
        if (at.field->type == FieldType::Facts) return dotted_facts(context, "null?", at, query[2]);
        return dotted_parameters(context, "null?", at, query[2]);
    }
    if (at.field->name == "latest_report?") {
        bad(fmt::format("Query operator null? is not allowed on field {}", at.field->name));
    }
    std::string sql = column(context, *at.field);
    Sql out("(");
    if (at.field->type == FieldType::FactValue) {
        return out << sql.substr(0, sql.find('.'))
                   << (wanted ? ".match = 'null')" : ".match <> 'null')");
    }
    return out << sql << (wanted ? " IS NULL)" : " IS NOT NULL)");
}

// --- in

Sql QueryCompiler::membership(SelectContext& context, const Ast& query, int depth) {
    if (query.size() != 3) bad("in requires exactly two arguments");
    const Ast& left = query[1];
    const Ast& right = query[2];
    std::string kind = lower_op(right);
    if (kind == "array") {
        if (right.size() != 2 || !right[1].is_array()) {
            bad("Operator 'array' requires a vector argument");
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
            bad(fmt::format(
                "Can't match on unknown '{}' field {} for 'in'. Acceptable fields are "
                "{}",
                context.entity->shown, list_names({name.as_text()}), list_names(known)));
        }
        fields.push_back(name.as_text());
    }
    if (fields.empty()) bad("in requires at least one field");
    Select inner = inner_select(right, depth + 1);
    return in_select(context, fields, inner);
}

Sql QueryCompiler::in_array(SelectContext& context, const Ast& left, const Ast& values) {
    bool pg = dialect_.postgresql();
    if (values.size() > static_cast<std::size_t>(kMaxTerms) * 5) {
        bad(fmt::format("The query has more than {} terms", kMaxTerms * 5));
    }
    if (left.is_array()) {
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
        out.bind(as_text(left[1])) << " AND " << fact_value_in("x", values.items()) << "))";
        return out;
    }
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
        case FieldType::TextArray: bad("Operator 'in'...'array' is not supported on array types");
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
            Ast times = Ast::array();
            for (const Ast& v : values.items()) {
                Sql t = time_value(v);
                times.items().push_back(Ast::integer(std::get<std::int64_t>(t.values[0])));
            }
            out << column(context, field) << " IN "
                << (pg ? "(SELECT CAST(jsonb_array_elements_text(?::jsonb) AS BIGINT))" : elements)
                << ")";
            out.values.emplace_back(to_json(times));
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
        return plain_json(column);
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
    if (inner.columns.size() != fields.size()) {
        bad(fmt::format("The subquery of 'in' has {} columns, {} are needed", inner.columns.size(),
                        fields.size()));
    }
    // Nodes are the same by their number, which every table has.
    if (fields.size() == 1 && fields[0] == "certname" && !context.entity->node.empty() &&
        !inner.context.entity->node.empty() && inner.columns[0].name == "certname" &&
        inner.group_by.empty()) {
        inner.expressions[0] = Sql(inner.context.entity->node);
        Sql out("(");
        return out << context.entity->node << " IN (" << render(inner, true) << "))";
    }
    std::string left;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const Field& f = *context.entity->field(fields[i]);
        FieldType other = inner.types[i];
        if (i > 0) left += ", ";
        left += comparable(column(context, f), f.type, other);
        inner.expressions[i].text = comparable(inner.expressions[i].text, other, f.type);
    }
    Sql out("(");
    out << (fields.size() > 1 ? "(" + left + ")" : left);
    return out << " IN (" << render(inner, true) << "))";
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

// --- functions in conditions

Sql QueryCompiler::compare_function(SelectContext& context, std::string_view op,
                                    const Ast& function, const Ast& value) {
    OutputColumn::Kind kind{};
    bool aggregate = false;
    Sql expression = function_expression(context, function, &kind, &aggregate);
    if (aggregate) {
        bad(fmt::format("The function {} cannot be used in a condition", to_clojure(function[1])));
    }
    if (op == "~") {
        if (!value.is_text()) bad("Invalid ~ clause");
        Sql out("(");
        out << expression << (dialect_.postgresql() ? " ~ " : " REGEXP ");
        return out.bind(value.as_text()) << ")";
    }
    if (op == "~>" || value.is_array()) bad(fmt::format("Invalid {} clause", op));
    Sql out("(");
    out << expression << " " << op << " ";
    return out.bind(as_text(value)) << ")";
}

}  // namespace bunraku::store
