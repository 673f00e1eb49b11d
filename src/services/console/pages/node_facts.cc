// SPDX-License-Identifier: Apache-2.0
// The facts of a node as a tree with a search, and when they changed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/value/hash_access.h"
#include "services/console/event_parts.h"
#include "services/console/fact_tree.h"
#include "services/console/format.h"
#include "services/console/node_head.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "store/engine/fact_history.h"
#include "store/query/time_text.h"

namespace bunraku::console {

using base::Result;

namespace {

constexpr std::size_t kMostVersions = 20;
constexpr std::size_t kMostNames = 6;
constexpr std::size_t kMostChanges = 100;
constexpr std::size_t kMostValue = 500;

void write_search(Html& h, std::string_view find) {
    const auto form = h.in("form", {{"class", "head"}});
    h.leaf("label", {{"class", "vh"}, {"for", "find"}}, "Search facts");
    h.empty("input", {{"id", "find"},
                      {"name", "find"},
                      {"type", "search"},
                      {"size", 40},
                      {"value", find},
                      {"placeholder", "Search names and values, such as os.release"}});
    h.leaf("button", "Search");
}

void write_tree(Html& h, const Rows& facts, std::string_view find) {
    std::int64_t shown = 0;
    Html tree;
    {
        const auto list = tree.in("ul");
        for (const auto& fact : facts) {
            const auto name = value::text_at(fact, "name");
            const auto* value = value::at(fact, "value");
            if (!value || (!find.empty() && !fact_matches(name, *value, find))) continue;
            ++shown;
            fact_tree(tree, name, *value, find);
        }
    }
    Html beside;
    if (!find.empty())
        beside.text(
            fmt::format("{} of {}", shown, number_text(static_cast<std::int64_t>(facts.size()))));
    const auto panel = open_panel(
        h, count_text(static_cast<std::int64_t>(facts.size()), "fact", "facts"), beside.take());
    if (facts.empty()) return empty_state(h, "No facts", "This node has sent no facts.");
    if (shown == 0) {
        return empty_state(h, "No fact matches",
                           fmt::format("Neither a name nor a value contains \"{}\".", find));
    }
    const auto in = h.in("div", {{"class", "in tree"}});
    h.raw(tree.take());
}

/// Writes the value of a fact before or after a change, or a note that it had none.
void value_cell(Html& h, const store::PastFacts* facts, const std::string& name) {
    const bool known = facts && facts->facts.contains(name);
    const auto td = h.in("td", {{"class", known ? "mono val" : "m"}});
    if (known) {
        h.foreign(value_text(facts->facts.at(name)), kMostValue);
    } else {
        h.text("none");
    }
}

/// Shows the values before and after a change of facts.
Result<void> write_change(Html& h, Visit& visit, const NodeView& node) {
    const auto text = visit.query("at");
    if (text.empty()) return {};
    const auto time = query::parse_query_time(text);
    if (!time) return not_found(fmt::format("'{}' is not a time.", text));
    std::optional<store::PastFacts> before, after;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        after = BUNRAKU_TRY(store::facts_at(*db, node.row.certname, *time));
        if (after && !after->version.first)
            before =
                BUNRAKU_TRY(store::facts_at(*db, node.row.certname, after->version.valid_from - 1));
    }
    if (!after) return not_found(fmt::format("No facts of {} are known.", text));
    Html beside;
    beside.link(Url({"nodes", node.row.certname, "facts"}), "close");
    const auto panel = open_panel(
        h, fmt::format("Changes of {}", time_text(after->version.valid_from)), beside.take());
    if (after->version.first) {
        empty_state(h, "The first known facts", "No earlier facts are stored.");
        return {};
    }
    constexpr Column kColumns[] = {{"Fact"}, {"Before"}, {"After"}};
    const auto table = open_table(h, kColumns, "Changes");
    std::size_t shown = 0;
    for (const auto& name : after->version.changed) {
        if (++shown > kMostChanges) break;
        const auto row = h.in("tr");
        {
            const auto td = h.in("td", {{"class", "mono"}});
            h.foreign(name, 200);
        }
        value_cell(h, before ? &*before : nullptr, name);
        value_cell(h, &*after, name);
    }
    return {};
}

Result<void> write_fact_history(Html& h, Visit& visit, const NodeView& node) {
    std::vector<store::FactsVersion> versions;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        versions = BUNRAKU_TRY(store::facts_versions(*db, node.row.certname));
    }
    const auto panel = open_panel(h, "Changes");
    if (versions.size() < 2) {
        empty_state(h, "No change is known",
                    "Facts that differ in every run, such as uptime, do not count.");
        return {};
    }
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    std::size_t shown = 0;
    for (auto& version : versions) {
        if (version.first || ++shown > kMostVersions) break;
        const auto more = version.changed.size() > kMostNames ? version.changed.size() - kMostNames
                                                              : std::size_t{0};
        if (more > 0) version.changed.resize(kMostNames);
        const auto item = h.in("li");
        {
            const auto names = h.in("span", {{"class", "t mono"}});
            h.foreign(fmt::format("{}", fmt::join(version.changed, ", ")), 500);
            if (more > 0) h.text(fmt::format(" and {} more", more));
        }
        const auto when = h.in("a", {{"class", "n m"},
                                     {"href", Url({"nodes", node.row.certname, "facts"})
                                                  .with("at", exact_time(version.valid_from))}});
        time_ago(h, version.valid_from, visit.now_ms);
    }
    return {};
}

}  // namespace

Result<Response> node_facts_page(Visit& visit) {
    const auto node = BUNRAKU_TRY(node_of(visit));
    if (!node.sees_facts) {
        Html h;
        {
            const auto panel = open_panel(h, "Facts");
            write_hidden(h, "facts");
        }
        return visit.page(node_head(visit, node, "Facts"), std::move(h));
    }
    const auto facts = BUNRAKU_TRY(
        visit.ask(R"(["from","facts",["extract",["name","value"],["and",["=","certname",{}],)"
                  R"(["=","node_state","any"]]],["order_by",["name"]]])",
                  node.row.certname));
    Html h;
    write_search(h, visit.query("find"));
    {
        const auto columns = h.in("div", {{"class", "cols c84"}});
        {
            const auto left = h.in("div");
            BUNRAKU_TRY_VOID(write_change(h, visit, node));
            write_tree(h, facts, visit.query("find"));
        }
        const auto right = h.in("div");
        BUNRAKU_TRY_VOID(write_fact_history(h, visit, node));
    }
    return visit.page(node_head(visit, node, "Facts"), std::move(h));
}

}  // namespace bunraku::console
