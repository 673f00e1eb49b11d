// SPDX-License-Identifier: Apache-2.0
// Parses ["from", entity, ..], and adds the conditions of endpoints to queries.
#include <algorithm>
#include <fmt/format.h>

#include "store/query/compiler.h"
#include "store/query/conditions.h"

namespace bunraku::query {

using conditions::bad;

namespace {

bool is_paging(const Ast& a) {
    std::string op = lower_op(a);
    return op == "limit" || op == "offset" || op == "order_by";
}

}  // namespace

bool is_group_by(const Ast& a) { return a.is_array() && lower_op(a) == "group_by"; }

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

}  // namespace bunraku::query
