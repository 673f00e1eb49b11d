// SPDX-License-Identifier: Apache-2.0
// The newest catalog of a node: containment, one resource with its parameters and relationships,
// the path to another resource, and why a value is what it is.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "services/console/catalog_boxes.h"
#include "services/console/catalog_graph.h"
#include "services/console/errors.h"
#include "services/console/format.h"
#include "services/console/node_head.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "services/console/why_tree.h"

namespace bunraku::console {

using base::Result;
using catalog::Relationship;

namespace {

constexpr std::size_t kMostFound = 100;
constexpr std::size_t kMostTypes = 30;
constexpr std::size_t kMostExported = 50;
constexpr std::size_t kMostLinks = 40;
constexpr std::size_t kMostParameters = 200;
/// Bytes of a value, and of all values of a resource.
constexpr std::size_t kMostValue = 4000, kMostValues = 48'000, kShortValue = 100;

/// The catalog and the resources that the address names.
struct CatalogPage {
    const NodeView& node;
    const CatalogGraph& graph;
    Url here;
    std::optional<std::size_t> chosen, within, to;
};

Result<std::optional<std::size_t>> named_resource(const Visit& visit, const CatalogGraph& graph,
                                                  std::string_view parameter) {
    const auto text = visit.query(parameter);
    if (text.empty()) return std::optional<std::size_t>();
    const auto found = graph.find(text);
    if (!found) return not_found(fmt::format("The catalog has no resource {}.", text));
    return found;
}

void write_tools(Html& h, const Visit& visit, const CatalogPage& page) {
    const auto& view = page.graph.view();
    {
        const auto meta = h.in("div", {{"class", "meta"}});
        const auto exported =
            std::ranges::count_if(view.resources, [](const auto& entry) { return entry.exported; });
        h.leaf("span",
               count_text(static_cast<std::int64_t>(page.graph.size()), "resource", "resources"));
        if (exported > 0) h.leaf("span", fmt::format("{} exported", number_text(exported)));
        {
            const auto code = h.in("span");
            h.text("code ");
            const auto value = h.in("b", {{"class", "mono"}});
            h.foreign(short_code(view.code_id.empty() ? view.version : view.code_id), 60);
        }
        const auto made = h.in("span");
        h.text("compiled ");
        time_ago(h, view.time, visit.now_ms);
    }
    const auto form = h.in("form", {{"class", "head"}, {"action", page.here}});
    h.leaf("label", {{"class", "vh"}, {"for", "find"}}, "Find a resource");
    h.empty("input", {{"id", "find"},
                      {"name", "find"},
                      {"type", "search"},
                      {"size", 34},
                      {"value", visit.query("find")},
                      {"placeholder", "Find a resource, such as File[/etc"}});
    h.leaf("button", "Find");
}

void write_found(Html& h, const CatalogPage& page, std::string_view text) {
    const auto wanted = base::lower(text);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < page.graph.size(); ++i)
        if (base::lower(page.graph[i].reference()).find(wanted) != std::string::npos)
            found.push_back(i);
    Html beside;
    beside.link(page.here, "all resources");
    const auto panel =
        open_panel(h, fmt::format("{} found", number_text(static_cast<std::int64_t>(found.size()))),
                   beside.take());
    if (found.empty()) return empty_state(h, "No resource", "No type or title contains this text.");
    {
        const auto list = h.in("ul", {{"class", "todo no-mark"}});
        for (std::size_t i = 0; i < std::min(kMostFound, found.size()); ++i) {
            const auto item = h.in("li");
            const auto name = h.in("span", {{"class", "t"}});
            resource_link(h, page.here, page.graph, found[i]);
        }
    }
    if (found.size() > kMostFound)
        h.leaf("footer", fmt::format("Only the first {} are shown.", kMostFound));
}

void write_containment(Html& h, const Visit& visit, const CatalogPage& page) {
    Html beside;
    if (page.within) beside.link(page.here, "whole catalog");
    const auto panel = open_panel(h, "Containment", beside.take());
    const auto in = h.in("div", {{"class", "in"}});
    if (page.within) {
        const auto crumb = h.in("p", {{"class", "crumb"}});
        for (const auto container : page.graph.containers(*page.within)) {
            const auto& entry = page.graph[container];
            const auto link = h.in("a", {{"href", Url(page.here).with("in", entry.reference())}});
            resource_name(h, entry.type, entry.title);
            h.text(" / ");
        }
        const auto& entry = page.graph[*page.within];
        resource_name(h, entry.type, entry.title);
    }
    catalog_boxes(h, page.graph,
                  {.here = page.here,
                   .within = page.within,
                   .chosen = page.chosen,
                   .page = visit.number("page", 0, 100'000)});
}

/// Writes the catalog's types and exported resources, if no resource is chosen.
void write_summary(Html& h, const CatalogPage& page) {
    std::map<std::string_view, std::int64_t> types;
    std::vector<std::size_t> exported;
    for (std::size_t i = 0; i < page.graph.size(); ++i) {
        ++types[page.graph[i].type];
        if (page.graph[i].exported) exported.push_back(i);
    }
    std::vector<std::pair<std::string_view, std::int64_t>> sorted(types.begin(), types.end());
    std::ranges::stable_sort(sorted, std::ranges::greater{},
                             [](const auto& t) { return t.second; });
    {
        const auto panel =
            open_panel(h, count_text(static_cast<std::int64_t>(sorted.size()), "type", "types"));
        constexpr Column kColumns[] = {{"Type"}, {"Resources", true}};
        const auto table = open_table(h, kColumns, "Types");
        for (std::size_t i = 0; i < std::min(kMostTypes, sorted.size()); ++i) {
            const auto& [type, count] = sorted[i];
            const auto row = h.in("tr");
            cell(h, type);
            const auto td = h.in("td", {{"class", "r"}});
            count_link(h, count, Url(page.here).with("find", fmt::format("{}[", type)));
        }
    }
    if (exported.empty()) return;
    const auto panel = open_panel(
        h, fmt::format("Exported ({})", number_text(static_cast<std::int64_t>(exported.size()))));
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    for (std::size_t i = 0; i < std::min(kMostExported, exported.size()); ++i) {
        const auto item = h.in("li");
        const auto name = h.in("span", {{"class", "t"}});
        resource_link(h, page.here, page.graph, exported[i]);
    }
}

/// Writes a value as JSON, or a text with lines as a block. `left` is what may still be written.
void write_value(Html& h, const value::Value& value, std::size_t& left) {
    const auto text = value.is_string() ? std::string(value.as_string()) : value::to_json(value);
    const auto most = std::min(kMostValue, std::max(kShortValue, left));
    left -= std::min(left, text.size());
    if (text.find('\n') == std::string::npos) {
        h.foreign(text, most);
        return;
    }
    const auto pre = h.in("pre", {{"class", "diff"}, {"tabindex", "0"}});
    const auto code = h.in("code");
    h.foreign(text, most);
}

Result<void> write_parameters(Html& h, Visit& visit, const CatalogPage& page) {
    const auto& entry = page.graph[*page.chosen];
    const auto rows = BUNRAKU_TRY(
        visit.ask(R"(["from","resources",["extract",["parameters"],["and",["=","certname",{}],)"
                  R"(["=","type",{}],["=","title",{}],["=","node_state","any"]]]])",
                  page.node.row.certname, entry.type, entry.title));
    Html beside;
    if (!entry.file.empty()) {
        const auto place = beside.in("span", {{"class", "mono m"}});
        beside.foreign(entry.line > 0 ? fmt::format("{}:{}", entry.file, entry.line) : entry.file,
                       300);
    }
    const auto here = resource_url(page.here, page.graph, *page.chosen);
    {
        const auto panel = h.in("section", {{"class", "panel"}});
        {
            const auto header = h.in("header");
            {
                const auto title = h.in("h2", {{"class", "res"}});
                resource_name(h, entry.type, entry.title);
            }
            if (entry.exported) h.leaf("span", {{"class", "pill"}}, "exported");
            const auto push = h.in("span", {{"class", "push"}});
            h.raw(beside.take());
        }
        const auto* parameters = rows.empty() ? nullptr : value::at(rows[0], "parameters");
        if (!parameters || !parameters->is_hash() || parameters->as_hash().empty()) {
            empty_state(h, "No parameters", "The catalog sets nothing on this resource.");
        } else {
            constexpr Column kColumns[] = {{"Parameter"}, {"Value"}, {"Explanation"}};
            const auto table = open_table(h, kColumns, "Parameters");
            std::size_t left = kMostValues, shown = 0;
            for (const auto& [key, value] : parameters->as_hash()) {
                if (++shown > kMostParameters) break;
                const auto name = std::string(key.is_string() ? key.as_string() : "");
                const auto row = h.in("tr", {{"aria-current", "true", visit.query("why") == name}});
                {
                    const auto td = h.in("td", {{"class", "mono"}});
                    h.foreign(name, 200);
                }
                {
                    const auto td = h.in("td", {{"class", "mono val"}});
                    write_value(h, value, left);
                }
                const auto td = h.in("td", {{"class", "nw"}});
                h.leaf("a",
                       {{"href", Url(here).with("why", name).text() + "#why"},
                        {"aria-label", fmt::format("Why {} has this value", name)}},
                       "why");
            }
        }
        const auto footer = h.in("footer");
        h.leaf("a", {{"href", Url(here).with("why", "*").text() + "#why"}},
               "Why is this resource in the catalog?");
        h.leaf("span", "Sensitive parameters are not listed.");
    }
    return {};
}

void write_why(Html& h, const Visit& visit, const CatalogPage& page) {
    const auto why = visit.query("why");
    if (why.empty()) return;
    const auto& entry = page.graph[*page.chosen];
    const bool whole = why == "*";
    const auto panel = h.in("section", {{"class", "panel"}, {"id", "why"}});
    {
        const auto header = h.in("header");
        const auto heading = h.in("h2");
        if (whole) {
            h.text("Why this resource is in the catalog");
        } else {
            h.text("Why ").leaf("code", why).text(" is what it is");
        }
    }
    const auto made =
        visit.console.explanations.explain({.certname = page.node.row.certname,
                                            .environment = page.graph.view().environment,
                                            .reference = entry.reference(),
                                            .parameter = whole ? std::string() : std::string(why)});
    if (!made) {
        // The compile reads the database as well, and its message would quote the database's.
        if (!visit.console.store->health().database_up) {
            return empty_state(h, "No explanation",
                               "The database does not answer. Reload this page when it is back.");
        }
        return empty_state(h, "No explanation", shown_message(made.error()));
    }
    const auto& explanation = **made;
    if (!explanation.found) {
        const auto in = h.in("p", {{"class", "in"}});
        h.text(
            "With the present code and the node's last facts, the catalog does not have this. The "
            "explanation is that of the new catalog.");
    }
    if (!explanation.error.empty()) {
        const auto in = h.in("p", {{"class", "in failed"}});
        h.text("The compile failed, so the reasons may be incomplete: ");
        h.foreign(explanation.error, 1000);
    }
    {
        const auto in = h.in("div", {{"class", "in"}});
        why_tree(h, explanation.reasons);
    }
    h.leaf("footer",
           "Compiled again with the last facts and the present code. Sensitive values are not "
           "shown.");
}

void write_links(Html& h, const CatalogPage& page, std::string_view title,
                 const std::vector<CatalogGraph::Link>& links) {
    if (links.empty()) return;
    h.leaf("dt", title);
    const auto dd = h.in("dd");
    const auto list = h.in("ul");
    for (std::size_t i = 0; i < std::min(kMostLinks, links.size()); ++i) {
        const auto item = h.in("li");
        resource_link(h, page.here, page.graph, links[i].other);
        const bool notifies = links[i].kind == Relationship::Notifies ||
                              links[i].kind == Relationship::SubscriptionOf;
        if (notifies) h.text(" ").leaf("span", {{"class", "m sm"}}, "with refresh");
    }
    if (links.size() > kMostLinks)
        h.leaf("li", {{"class", "m"}}, fmt::format("{} more", links.size() - kMostLinks));
}

void write_path(Html& h, const CatalogPage& page) {
    using How = CatalogGraph::Step::How;
    auto steps = page.graph.path(*page.chosen, *page.to);
    const bool reverse = steps.empty();
    if (reverse) steps = page.graph.path(*page.to, *page.chosen);
    if (steps.empty()) {
        h.leaf("p", {{"class", "m"}},
               "No relationship orders these two resources; they may be managed in any order.");
        return;
    }
    if (reverse) h.leaf("p", "This resource is managed after the other one:");
    const auto list = h.in("ol", {{"class", "path"}});
    for (const auto& step : steps) {
        const auto item = h.in("li");
        const auto word = [&]() -> std::string_view {
            switch (step.how) {
                case How::Start: return {};
                case How::Contains: return "which contains ";
                case How::ContainedIn: return "is in ";
                case How::Before: return "is before ";
                case How::Notifies: return "notifies ";
            }
            return {};
        }();
        if (!word.empty()) h.leaf("span", {{"class", "m"}}, word);
        resource_link(h, page.here, page.graph, step.resource);
    }
}

void write_relations(Html& h, const Visit& visit, const CatalogPage& page) {
    const auto panel = open_panel(h, "Relationships");
    const auto in = h.in("div", {{"class", "in rel"}});
    const auto list = [&] {
        const auto dl = h.in("dl", {{"class", "kv"}});
        if (const auto containers = page.graph.containers(*page.chosen); !containers.empty()) {
            h.leaf("dt", "contained in");
            const auto dd = h.in("dd");
            const auto items = h.in("ul");
            for (const auto container : containers) {
                const auto item = h.in("li");
                resource_link(h, page.here, page.graph, container);
            }
        }
        write_links(h, page, "managed after", page.graph.before(*page.chosen));
        write_links(h, page, "managed before", page.graph.after(*page.chosen));
    };
    list();
    {
        const auto form = h.in("form", {{"class", "head"}, {"action", page.here}});
        h.empty("input", {{"type", "hidden"},
                          {"name", "resource"},
                          {"value", page.graph[*page.chosen].reference()}});
        h.leaf("label", {{"for", "to"}}, "Path to");
        h.empty("input", {{"id", "to"},
                          {"name", "to"},
                          {"size", 30},
                          {"value", visit.query("to")},
                          {"placeholder", "Service[nginx]"}});
        h.leaf("button", "Show");
    }
    if (page.to) write_path(h, page);
}

}  // namespace

Result<Response> node_catalog_page(Visit& visit) {
    const auto node = BUNRAKU_TRY(node_of(visit));
    std::optional<store::CatalogView> view;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        view = BUNRAKU_TRY(store::catalog_view(*db, node.row.run.node));
    }
    Html h;
    if (!view || !visit.viewer.sees(view->environment)) {
        {
            const auto panel = h.in("section", {{"class", "panel"}});
            empty_state(h, "No catalog", "The store has no catalog of this node.");
        }
        return visit.page(node_head(visit, node, "Catalog"), std::move(h));
    }
    const CatalogGraph graph(std::move(*view));
    const auto chosen = BUNRAKU_TRY(named_resource(visit, graph, "resource"));
    const auto within = BUNRAKU_TRY(named_resource(visit, graph, "in"));
    const auto to = BUNRAKU_TRY(named_resource(visit, graph, "to"));
    const CatalogPage page{node,   graph,  Url({"nodes", node.row.certname, "catalog"}),
                           chosen, within, to};
    write_tools(h, visit, page);
    {
        const auto columns = h.in("div", {{"class", "cols c48"}});
        {
            const auto left = h.in("div");
            if (const auto find = base::trim(visit.query("find")); !find.empty()) {
                write_found(h, page, find);
            } else {
                write_containment(h, visit, page);
            }
        }
        const auto right = h.in("div");
        if (page.chosen) {
            BUNRAKU_TRY_VOID(write_parameters(h, visit, page));
            write_why(h, visit, page);
            write_relations(h, visit, page);
        } else {
            write_summary(h, page);
        }
    }
    return visit.page(node_head(visit, node, "Catalog"), std::move(h));
}

}  // namespace bunraku::console
