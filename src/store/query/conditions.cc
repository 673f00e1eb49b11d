// SPDX-License-Identifier: Apache-2.0
// Compiles conditions: and, or, not, and the choice of a comparison.
#include "store/query/conditions.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/json_cursor.h"
#include "store/query/compiler.h"

namespace bunraku::query {

namespace conditions {

void bad(std::string message) { throw QueryError{400, std::move(message)}; }

bool is_order(std::string_view op) { return op == ">" || op == "<" || op == ">=" || op == "<="; }

std::string canonical(const Ast& value) {
    std::string json = to_json(value, true), out;
    try {
        codec::JsonCursor(json).canonical(out);
    } catch (const codec::JsonError& e) {
        bad(e.message);
    }
    return out;
}

std::string as_text(const Ast& value) { return value.is_text() ? value.as_text() : to_json(value); }

bool all_digits(std::string_view s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string quoted_pattern(const std::string& pattern) { return "\"" + pattern + "\""; }

}  // namespace conditions

using namespace conditions;

namespace {

/// depth of parentheses above which the stack of SQLite's parser matters
constexpr int kDeep = 10;

/// Counts one level of "and", "or" or "not" in a context during its lifetime. The limit for both
/// backends is that of the backend that accepts fewer levels.
class ConditionLevel {
public:
    explicit ConditionLevel(SelectContext& context) : context_(context) {
        if (++context_.levels <= kMaxLevels + kOwnLevels) return;
        --context_.levels;
        bad(
            fmt::format("The query is nested too deeply: at most {} levels of 'and', 'or' and "
                        "'not' are allowed, where equal ones in a row count once",
                        kMaxLevels));
    }
    ~ConditionLevel() { --context_.levels; }
    ConditionLevel(const ConditionLevel&) = delete;
    ConditionLevel& operator=(const ConditionLevel&) = delete;

private:
    /// The stack of SQLite's parser has a hundred entries. 60 levels fit in a statement, and 75 do
    /// not.
    static constexpr int kMaxLevels = 60;
    /// The compiler itself adds the condition on the state of nodes.
    static constexpr int kOwnLevels = 1;
    SelectContext& context_;
};

bool is_comparison(std::string_view op) {
    return op == "=" || op == "~" || op == "~>" || is_order(op);
}

}  // namespace

std::string lower_op(const Ast& query) { return base::lower(query.op()); }

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

int depth_of(std::string_view sql) {
    int depth = 0, deepest = 0;
    for (const char c : sql) {
        if (c == '(') deepest = std::max(deepest, ++depth);
        if (c == ')') --depth;
    }
    return deepest;
}

namespace {

/// Moves the deepest terms to the front if some are deep. After an operator each level takes three
/// entries of the parser's stack, at the front only one.
void deepest_first(std::vector<Sql>& terms) {
    std::vector<std::pair<int, Sql>> by_depth;
    bool deep = false;
    for (Sql& term : terms) {
        by_depth.emplace_back(depth_of(term.text), std::move(term));
        deep |= by_depth.back().first > kDeep;
    }
    BUNRAKU_ASSERT(by_depth.size() == terms.size());
    if (deep) {
        std::ranges::stable_sort(by_depth, std::greater<>(),
                                 [](const auto& entry) { return entry.first; });
    }
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = std::move(by_depth[i].second);
}

}  // namespace

Sql join_balanced(std::vector<Sql> terms, std::string_view word) {
    if (terms.empty()) return "TRUE";
    deepest_first(terms);
    // SQLite limits the depth of expressions, and a chain of a thousand terms has a depth of a
    // thousand.
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
    BUNRAKU_ASSERT(terms.size() == 1);
    return std::move(terms[0]);
}

void QueryCompiler::count_term() {
    if (++terms_ > kMaxTerms) bad(fmt::format("The query has more than {} terms", kMaxTerms));
}

void QueryCompiler::need(SelectContext& context, std::string_view alias) {
    if (alias.empty()) return;
    const auto& joins = context.entity->joins;
    BUNRAKU_ASSERT(context.joined.size() == joins.size());
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
            BUNRAKU_ASSERT(!at.path.empty());
            return at;
        }
    }
    std::vector<std::string_view> known = e.names(Field::Query);
    std::sort(known.begin(), known.end());
    if (known.empty()) {
        bad(fmt::format("'{}' is not a queryable object for {}. Entity {} has no queryable objects",
                        text, e.shown, e.shown));
    }
    throw QueryError{
        400,
        fmt::format("'{}' is not a queryable object for {}. Known queryable objects are {}", text,
                    e.shown, list_names(known)),
        true};
}

// --- Structure of conditions

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
    if (op == "not") return negation(context, query, depth);
    if (is_comparison(op)) return binary(context, query, depth);
    if (op == "null?") return null_check(context, query);
    if (op == "in" || op == "subquery") {
        context.by_owner = true;
        return op == "in" ? membership(context, query, depth)
                          : implicit_subquery(context, query, depth);
    }
    if (op.empty()) {
        bad(fmt::format("{} is not well-formed: queries must contain at least one operator",
                        to_clojure(query)));
    }
    bad(fmt::format("{} is not well-formed: query operator '{}' is unknown", to_clojure(query),
                    query.op()));
}

/// Reduces several consecutive "not" to one or none, because SQLite's parser accepts at most
/// thirty.
std::optional<Sql> QueryCompiler::negation(SelectContext& context, const Ast& query, int depth) {
    const Ast* under = &query;
    bool odd = false;
    for (; lower_op(*under) == "not"; under = &(*under)[1], odd = !odd, ++depth) {
        if (under != &query) count_term();
        if (under->size() != 2) {
            bad(fmt::format("'not' takes exactly one argument, but {} were supplied",
                            under->size() - 1));
        }
    }
    const SelectContext before = context;
    context.negated = true;
    context.type = nullptr;
    context.exported = context.selective = false;
    std::optional<Sql> inner;
    {
        std::optional<ConditionLevel> level;
        if (odd) level.emplace(context);
        inner = condition(context, *under, depth);
    }
    context.negated = before.negated;
    context.exported = before.exported;
    context.selective = before.selective;
    context.type = before.type;
    if (!inner || !odd) return inner;
    // Parentheses around "NOT (..)" are not required and take a level of the parser's stack.
    const bool deep = depth_of(inner->text) > kDeep;
    Sql out(deep ? "NOT " : "(NOT ");
    out << *inner << (deep ? "" : ")");
    return out;
}

void QueryCompiler::collect_anchors(SelectContext& context, const Ast& query, Anchors& found,
                                    int depth) {
    for (const Ast& term : query.items()) {
        if (!term.is_array() || depth > kMaxQueryDepth) continue;
        if (lower_op(term) == "and") collect_anchors(context, term, found, depth + 1);
        if (term.size() != 3 || !term[0].is_text("=")) continue;
        if (term[1].is_text("exported") && term[2].is_bool() && term[2].as_bool()) {
            context.exported = true;
        }
        // Few exported resources have a given tag or parameter. A type together with a title
        // selects one.
        bool parameter = term[1].is_array() && term[1].op() == "parameter";
        bool dotted = term[1].is_text() && term[1].as_text().starts_with("parameters.");
        if (term[1].is_text("tag") || parameter || dotted) found.narrow = true;
        if (!term[2].is_text()) continue;
        if (term[1].is_text("title")) found.titled = true;
        if (term[1].is_text("certname") && !context.entity->node.empty()) context.few = true;
        if (term[1].is_text("type")) context.type = &term[2].as_text();
    }
}

namespace {

/// Reports whether the query is ["or", active, not active], the old form that selects both states.
bool asks_any_state(const Ast& query) {
    if (query.size() != 3) return false;
    auto state = [](const Ast& term, bool wanted) {
        return term.is_array() && term.size() == 3 && term[0].is_text("=") && term[1].is_array() &&
               term[1].size() == 2 && term[1][0].is_text("node") && term[1][1].is_text("active") &&
               term[2].is_bool() && term[2].as_bool() == wanted;
    };
    return (state(query[1], true) && state(query[2], false)) ||
           (state(query[1], false) && state(query[2], true));
}

/// Collects the terms of `query`, an "and" or an "or". Nested terms with the same operator are
/// flattened.
void flatten(const Ast& query, std::string_view op, std::vector<const Ast*>& out, int depth) {
    for (std::size_t i = 1; i < query.size(); ++i) {
        const Ast& term = query[i];
        const bool same = term.is_array() && term.size() > 1 && lower_op(term) == op &&
                          !(op == "or" && asks_any_state(term)) && depth < kMaxQueryDepth;
        if (same) {
            flatten(term, op, out, depth + 1);
        } else {
            out.push_back(&term);
        }
    }
}

}  // namespace

std::optional<Sql> QueryCompiler::junction(SelectContext& context, const Ast& query, int depth) {
    std::string op = lower_op(query);
    if (query.size() == 1) {
        bad(fmt::format("'{}' takes at least one argument, but none were supplied", op));
    }
    const ConditionLevel level(context);
    SelectContext before = context;
    if (op == "and") {
        Anchors found;
        collect_anchors(context, query, found, depth);
        if (found.titled && context.type) context.few = true;
        if (found.narrow && !context.few) context.selective = true;
    }
    if (op == "or" && asks_any_state(query)) return {};
    std::vector<const Ast*> asked;
    flatten(query, op, asked, depth);
    std::vector<Sql> terms;
    std::string unknown;
    constexpr std::size_t kReported = 1 << 16;
    for (const Ast* each : asked) {
        try {
            auto term = condition(context, *each, depth + 1);
            if (term) terms.push_back(std::move(*term));
        } catch (const QueryError& e) {
            if (!e.field || unknown.size() > kReported) throw;
            unknown += (unknown.empty() ? "" : "\n") + e.message;
        }
    }
    if (!unknown.empty()) throw QueryError{400, std::move(unknown), true};
    if (context.exported) exported_asked_ = true;
    context.exported = before.exported;
    context.selective = before.selective;
    context.few = before.few;
    context.type = before.type;
    if (terms.empty()) return {};
    return join_balanced(std::move(terms), op == "and" ? "AND" : "OR");
}

std::optional<Sql> QueryCompiler::binary(SelectContext& context, const Ast& query, int depth) {
    std::string op = lower_op(query);
    if (query.size() != 3) bad(fmt::format("{} requires exactly two arguments", op));
    const Ast& left = query[1];
    const Ast& value = query[2];
    // A null at a path of facts is a value: "= null" matches it, but not a missing path.
    const bool of_facts = left.is_text() && (left.as_text().starts_with("facts.") ||
                                             left.as_text().starts_with("trusted."));
    if (op == "=" && value.is_null() && !left.is_array() && !of_facts) {
        return null_check(context, Ast::array({Ast::text("null?"), left, Ast::boolean(true)}));
    }
    if (left.is_array()) {
        std::string_view kind = left.op();
        if (kind == "node" && left.size() == 2 && left[1].is_text("active") && op == "=") {
            bool active = !(value.is_bool() && !value.as_bool());
            return node_state(context, Ast::text(active ? "active" : "inactive"));
        }
        if (kind == "fact" && left.size() == 2) {
            context.by_owner = true;
            return compare_fact(context, op, left[1], value);
        }
        if (kind == "parameter" && left.size() == 2 && left[1].is_text()) {
            context.by_content = true;
            return compare_parameter(context, op, left[1].as_text(), value);
        }
        if (kind == "function") return compare_function(context, op, left, value);
        bad(fmt::format("'{}' is not a queryable object for {}", to_clojure(left),
                        context.entity->shown));
    }
    if (left.is_text("node_state") && op == "=") {
        return node_state(context, value);
    }
    if (op == "=" && left.is_text("type") && value.is_text("any") &&
        context.entity->field("type")) {
        return {};
    }
    (void)depth;
    return compare_field(context, op, left, value);
}

// --- Null checks

Sql QueryCompiler::null_check(SelectContext& context, const Ast& query) {
    if (query.size() != 3) bad("null? requires exactly two arguments");
    // Like PuppetDB, only tests whether the value is truthy in Clojure.
    bool wanted = !(query[2].is_null() || (query[2].is_bool() && !query[2].as_bool()));
    Located at = locate(context, query[1]);
    if (!at.path.empty()) {
        Ast asked = Ast::boolean(wanted);
        if (at.field->type == FieldType::Facts) return dotted_facts(context, "null?", at, asked);
        return dotted_parameters(context, "null?", at, asked);
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
    if (at.field->type == FieldType::Facts || at.field->type == FieldType::Parameters) {
        // A missing value is not a JSON null.
        return out << "jsonb_typeof(" << sql << (wanted ? ") = 'null')" : ") <> 'null')");
    }
    return out << sql << (wanted ? " IS NULL)" : " IS NOT NULL)");
}

// --- Functions in conditions

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

}  // namespace bunraku::query
