// SPDX-License-Identifier: Apache-2.0
// The list of nodes: filtered, sorted and paged, with facts as columns.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "services/console/format.h"
#include "services/console/node_filter.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;
using store::NodeRow;

namespace {

constexpr std::size_t kRowsOfPage = 50;
constexpr std::size_t kMostColumns = 8;
constexpr std::size_t kStripRuns = 20;
constexpr std::string_view kDefaultColumns = "os.name,os.release.full";

using NodeSpan = std::span<const NodeRow* const>;
/// The texts of fact columns, by name of the node.
using FactCells = std::map<std::string, std::vector<std::string>, std::less<>>;

std::vector<std::string> columns_of(const Visit& visit) {
    const auto text = visit.request.query_value("columns");
    auto out = base::texts(base::words(text ? std::string_view(*text) : kDefaultColumns, ", "));
    if (out.size() > kMostColumns) out.resize(kMostColumns);
    return out;
}

/// Returns ["path","to","fact"] as JSON.
std::string path_json(std::string_view dotted) {
    std::string out;
    for (const auto part : base::split(dotted, '.'))
        out += (out.empty() ? "" : ",") + codec::json_string(part);
    return "[" + out + "]";
}

std::string cell_text(const value::Value& fact) {
    return fact.is_string() ? std::string(fact.as_string()) : value::to_json(fact);
}

/// Reads the facts of the columns for the nodes of a page. One query for each column, because
/// PostgreSQL scans all facts if a query has several paths.
Result<FactCells> fact_cells(Visit& visit, NodeSpan nodes,
                             const std::vector<std::string>& columns) {
    FactCells out;
    std::string names;
    for (const auto* node : nodes)
        names += (names.empty() ? "" : ",") + codec::json_string(node->certname);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto rows = BUNRAKU_TRY(visit.run(
            fmt::format(R"(["from","fact_contents",["extract",["certname","value"],["and",)"
                        R"(["in","certname",["array",[{}]]],["=","path",{}]]]])",
                        names, path_json(columns[i]))));
        for (const auto& row : rows) {
            const auto* fact = value::at(row, "value");
            if (!fact) continue;
            auto& cells = out[value::text_at(row, "certname")];
            cells.resize(columns.size());
            cells[i] = cell_text(*fact);
        }
    }
    return out;
}

/// Reads the states of the last runs of the nodes of a page, oldest first.
Result<std::vector<std::vector<State>>> last_runs(Visit& visit, NodeSpan nodes) {
    auto db = BUNRAKU_TRY(visit.console.store->reader());
    std::vector<std::vector<State>> out;
    for (const auto* node : nodes) {
        auto& states = out.emplace_back();
        if (node->run.id == 0) continue;
        auto runs = BUNRAKU_TRY(store::runs_of_node(*db, node->run.node, INT64_MAX, kStripRuns));
        keep_visible(visit, runs);
        for (auto it = runs.rbegin(); it != runs.rend(); ++it) states.push_back(state_of_run(*it));
    }
    return out;
}

void write_filter(Html& h, const Visit& visit, const NodeFilter& filter,
                  const StateCounts& counts) {
    {
        const auto form = h.in("form", {{"class", "head"}});
        if (visit.viewer.sees_all()) {
            h.leaf("label", {{"class", "vh"}, {"for", "filter"}}, "Filter in PQL");
            h.empty("input",
                    {{"id", "filter"},
                     {"name", "filter"},
                     {"class", "mono"},
                     {"size", 64},
                     {"value", filter.pql},
                     {"spellcheck", "false"},
                     {"autocomplete", "off"},
                     {"data-complete", "nodes"},
                     {"placeholder", "PQL, such as facts { name = 'role' and value = 'web' }"}});
        }
        h.leaf("label", {{"class", "vh"}, {"for", "columns"}}, "Facts as columns");
        h.empty("input", {{"id", "columns"},
                          {"name", "columns"},
                          {"class", "mono"},
                          {"size", 28},
                          {"value", fmt::format("{}", fmt::join(columns_of(visit), ","))},
                          {"spellcheck", "false"}});
        const std::pair<std::string_view, std::string_view> hidden[] = {
            {"environment", filter.environment},
            {"state", filter.state},
            {"code", filter.code},
            {"fact", filter.fact},
            {"value", filter.value},
            {"missing", filter.missing ? "true" : ""},
            {"order",
             filter.order == "state" ? std::string_view() : std::string_view(filter.order)}};
        for (const auto& [name, value] : hidden)
            if (!value.empty())
                h.empty("input", {{"type", "hidden"}, {"name", name}, {"value", value}});
        h.leaf("button", {{"class", "pri"}}, "Show");
    }
    const auto chips =
        h.in("nav", {{"class", "chips head"}, {"aria-label", "States"}, {"data-part", "states"}});
    auto of_state = filter;
    of_state.state.clear();
    chip(h, "all", of_state.url(), filter.state.empty());
    for (const auto& text : kStateTexts) {
        if (counts[text.state] == 0 && filter.state != text.id) continue;
        of_state.state = text.id;
        chip(h, text.label, of_state.url(), filter.state == text.id, counts[text.state]);
    }
}

/// Returns a column that sorts by `order`, or by its reverse if it is sorted that way already.
Column sortable(std::string_view title, const NodeFilter& filter, std::string_view order,
                std::vector<std::string>& urls) {
    Column out{title};
    auto by = filter;
    const bool down = order == "-last";
    const std::string bare(down ? order.substr(1) : order);
    const bool descending = filter.order == "-" + bare;
    const bool ascending = filter.order == bare;
    by.order = ascending && order != "state" ? "-" + bare : descending ? bare : std::string(order);
    urls.push_back(by.url().text());
    out.href = urls.back();
    if (ascending || descending) out.sort = ascending ? "ascending" : "descending";
    return out;
}

void write_node_row(Html& h, const Visit& visit, const Fleet& fleet, const NodeRow& node,
                    const std::vector<State>& runs, const std::vector<std::string>* facts,
                    std::size_t columns) {
    const auto row = h.in("tr");
    {
        const auto td = h.in("td");
        state_word(h, state_of(node.run, visit.now_ms));
    }
    {
        const auto td = h.in("td");
        node_link(h, node.certname);
    }
    cell(h, fleet.environment(node.run));
    for (std::size_t i = 0; i < columns; ++i) {
        if (facts && !(*facts)[i].empty()) {
            cell(h, (*facts)[i]);
        } else {
            h.leaf("td", {{"class", "m"}}, "no fact");
        }
    }
    {
        const auto td = h.in("td", {{"class", "mono wide"}});
        h.foreign(short_code(node.run.code), 40);
    }
    {
        const auto td = h.in("td", {{"class", "nw"}});
        if (runs.empty()) {
            h.leaf("span", {{"class", "m"}}, "no run");
        } else {
            run_strip(h, runs);
        }
    }
    const auto td = h.in("td", {{"class", "r nw"}});
    if (node.run.id == 0) {
        h.leaf("span", {{"class", "m"}}, "no run");
    } else {
        const auto link =
            h.in("a", {{"class", "n"}, {"href", Url({"runs", node.run.hash_text()})}});
        time_ago(h, node.run.end, visit.now_ms);
    }
}

Result<void> write_nodes(Html& h, Visit& visit, const Fleet& fleet, NodeSpan shown,
                         const NodeFilter& filter) {
    const auto facts = columns_of(visit);
    const auto cells = BUNRAKU_TRY(fact_cells(visit, shown, facts));
    const auto runs = BUNRAKU_TRY(last_runs(visit, shown));
    std::vector<std::string> urls;
    urls.reserve(3);  // columns refer to the texts
    std::vector<Column> columns{sortable("Status", filter, "state", urls),
                                sortable("Name", filter, "name", urls),
                                {"Environment"}};
    for (const auto& fact : facts) columns.push_back({fact});
    columns.push_back({.title = "Code", .wide_only = true});
    columns.push_back({"Last 20 runs"});
    auto last = sortable("Last run", filter, "-last", urls);
    last.right = true;
    columns.push_back(last);
    const auto panel =
        h.in("section", {{"class", "panel stick"}, {"data-part", "nodes"}, {"data-rows", true}});
    const auto table = open_table(h, columns, "Nodes");
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const auto known = cells.find(shown[i]->certname);
        write_node_row(h, visit, fleet, *shown[i], runs[i],
                       known == cells.end() ? nullptr : &known->second, facts.size());
    }
    return {};
}

void write_pager(Html& h, const NodeFilter& filter, std::span<const NodeRow* const> all,
                 std::size_t first, std::size_t last) {
    const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
    h.leaf("span", fmt::format("{} to {} of {}", number_text(static_cast<std::int64_t>(first + 1)),
                               number_text(static_cast<std::int64_t>(last)),
                               number_text(static_cast<std::int64_t>(all.size()))));
    const auto page_link = [&](std::string_view after, std::string_view rel,
                               std::string_view text) {
        const auto url = filter.url().with("after", after);
        h.leaf("a", {{"href", url}, {"rel", rel}}, text);
    };
    if (first > 0) {
        page_link(first > kRowsOfPage ? all[first - kRowsOfPage - 1]->certname : std::string_view(),
                  "prev", "Previous page");
    }
    if (last < all.size()) page_link(all[last - 1]->certname, "next", "Next page");
}

}  // namespace

Result<Response> nodes_page(Visit& visit) {
    const auto fleet = BUNRAKU_TRY(visit.fleet());
    const auto filter = BUNRAKU_TRY(NodeFilter::of(visit));
    const auto nodes = BUNRAKU_TRY(filtered_nodes(visit, *fleet, filter));
    auto any_state = filter;
    any_state.state.clear();
    StateCounts counts;
    if (filter.state.empty()) {
        for (const auto* node : nodes) counts.add(state_of(node->run, visit.now_ms));
    } else {
        for (const auto* node : BUNRAKU_TRY(filtered_nodes(visit, *fleet, any_state)))
            counts.add(state_of(node->run, visit.now_ms));
    }
    const auto after =
        std::ranges::find(nodes, visit.query("after"),
                          [](const NodeRow* node) -> std::string_view { return node->certname; });
    const auto first =
        after == nodes.end() ? std::size_t{0} : static_cast<std::size_t>(after - nodes.begin()) + 1;
    const auto last = std::min(first + kRowsOfPage, nodes.size());
    Html heading;
    {
        const auto head = heading.in("div", {{"class", "head"}});
        heading.leaf("h1", "Nodes");
        const auto total = heading.in("span", {{"class", "m"}, {"data-part", "total"}});
        heading.text(count_text(static_cast<std::int64_t>(nodes.size()), "node", "nodes"));
        if (!filter.is_plain()) {
            heading.text(" of ");
            count_link(heading, fleet->count(visit.viewer, visit.now_ms).total, Url({"nodes"}));
        }
    }
    Head head{.title = "Nodes", .nav = "nodes"};
    head.heading = heading.take();
    Html h;
    write_filter(h, visit, filter, counts);
    if (!filter.fact.empty()) {
        const auto line = h.in("p", {{"class", "head"}});
        constexpr auto kClass = FleetWatch::kClassGrouping;
        if (filter.fact.starts_with(kClass)) {
            h.text("Class below ").leaf("code", filter.fact.substr(kClass.size()));
        } else {
            h.text("Fact ").leaf("code", filter.fact);
        }
        if (filter.missing) {
            h.text(" is missing");
        } else {
            h.text(" is ").foreign(filter.value, 200);
        }
    }
    if (fleet->nodes.empty()) {
        write_no_nodes(h, visit);
        return visit.page(std::move(head), std::move(h));
    }
    if (nodes.empty() || first >= nodes.size()) {
        Html help;
        {
            const auto link = help.in("p");
            help.link(Url({"nodes"}), "Show all nodes");
        }
        {
            const auto panel = h.in("section", {{"class", "panel"}});
            empty_state(h, "No node matches", "No active node fulfils all conditions of this list.",
                        help.take());
        }
        return visit.page(std::move(head), std::move(h));
    }
    const auto shown = std::span(nodes).subspan(first, last - first);
    BUNRAKU_TRY_VOID(write_nodes(h, visit, *fleet, shown, filter));
    write_pager(h, filter, nodes, first, last);
    return visit.page(std::move(head), std::move(h));
}

}  // namespace bunraku::console
