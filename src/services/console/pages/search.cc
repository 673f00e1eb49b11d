// SPDX-License-Identifier: Apache-2.0
// Searches nodes, resources, classes, keys and facts by one text.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "language/types/factory.h"
#include "services/console/code_job.h"
#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;
using store::NodeRow;

namespace {

constexpr std::size_t kMostFound = 50, kMostFactNames = 5000;

/// Returns the nodes whose name contains the text, names that begin with it first.
std::vector<const NodeRow*> nodes_named(const Visit& visit, const Fleet& fleet,
                                        std::string_view text) {
    const auto wanted = base::lower(text);
    // Names of nodes are in lower case, with few exceptions.
    const auto place = [&](const std::string& name) {
        const auto at = name.find(wanted);
        if (at != std::string::npos) return at;
        const bool upper = std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
        return upper ? base::lower(name).find(wanted) : at;
    };
    std::vector<const NodeRow*> out;
    for (const NodeRow& node : fleet.nodes)
        if (place(node.certname) != std::string::npos &&
            visit.viewer.sees(fleet.environment(node.run)))
            out.push_back(&node);
    std::ranges::stable_partition(out,
                                  [&](const NodeRow* node) { return place(node->certname) == 0; });
    return out;
}

void write_found_nodes(Html& h, const Visit& visit, const std::vector<const NodeRow*>& nodes) {
    const auto panel = open_panel(
        h, fmt::format("Nodes ({})", number_text(static_cast<std::int64_t>(nodes.size()))));
    if (nodes.empty())
        return empty_state(h, "No node", "No active node has this text in its name.");
    const auto list = h.in("ul", {{"class", "todo"}});
    for (std::size_t i = 0; i < std::min(kMostFound, nodes.size()); ++i) {
        const auto item = h.in("li");
        const auto state = state_of(nodes[i]->run, visit.now_ms);
        state_mark(h, state);
        {
            const auto name = h.in("span", {{"class", "t"}});
            node_link(h, nodes[i]->certname);
        }
        h.leaf("span", {{"class", "m"}}, text_of(state).label);
    }
    if (nodes.size() > kMostFound)
        h.leaf("li", {{"class", "m"}}, fmt::format("Only the first {} are shown.", kMostFound));
}

/// A resource that a text may mean.
struct ResourceName {
    std::string type, title;
};
/// Returns the resources that a text may mean: one that is written as in manifests, such as
/// File[/etc/motd], or a title of a common type.
std::vector<ResourceName> resources_named(std::string_view text) {
    const auto open = text.find('[');
    if (open != std::string_view::npos && open > 0 && text.ends_with(']'))
        return {{types::capitalize_segments(text.substr(0, open)),
                 std::string(text.substr(open + 1, text.size() - open - 2))}};
    const std::string title(text);
    if (text.starts_with('/')) return {{"File", title}, {"Exec", title}, {"Mount", title}};
    std::vector<ResourceName> out = {{"Class", types::capitalize_segments(text)}};
    for (const char* type : {"Package", "Service", "User", "Group", "Cron"})
        out.push_back({type, title});
    return out;
}

std::string resource_query(const ResourceName& name) {
    return fmt::format(
        R"(["from","resources",["extract",["certname","file","line"],["and",["=","type",{}],)"
        R"(["=","title",{}]]]])",
        codec::json_string(name.type), codec::json_string(name.title));
}

void write_resources(Html& h, Visit& visit, std::string_view text) {
    std::vector<std::pair<ResourceName, std::int64_t>> found;
    for (auto& name : resources_named(text)) {
        const auto rows = visit.ask(R"(["from","resources",["extract",[["function","count"]],)"
                                    R"(["and",["=","type",{}],["=","title",{}]]]])",
                                    name.type, name.title);
        if (!rows || rows->empty()) continue;
        const auto* count = value::at((*rows)[0], "count");
        if (count && count->is_integer() && count->as_integer() > 0)
            found.emplace_back(std::move(name), count->as_integer());
    }
    if (found.empty()) return;
    const auto panel = open_panel(h, "Resources");
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    for (const auto& [name, count] : found) {
        const auto item = h.in("li");
        {
            const auto link = h.in("a", {{"class", "t res"},
                                         {"href", Url({"query"}).with("q", resource_query(name))}});
            resource_name(h, name.type, name.title);
        }
        h.leaf("span", {{"class", "m"}}, count_text(count, "node", "nodes"));
    }
}

/// Lists classes, keys and other parts of the code that the page of an environment's code knows.
void write_code(Html& h, const Visit& visit, std::string_view text) {
    const auto wanted = base::lower(text);
    const auto panel = open_panel(h, "Classes and keys");
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    std::size_t found = 0;
    for (const auto& each : visit.console.jobs.done("code")) {
        const auto& job = dynamic_cast<const CodeJob&>(*each);
        const auto& environment = job.code().environment;
        if (!visit.viewer.sees(environment) || found > kMostFound) continue;
        for (const auto& item : job.usage().items) {
            if (base::lower(item.name).find(wanted) == std::string::npos) continue;
            if (++found > kMostFound) break;
            const auto entry = h.in("li");
            {
                const auto link = h.in("a", {{"class", "t"},
                                             {"href", Url({"code", item.kind})
                                                          .with("environment", environment)
                                                          .with("name", item.name)}});
                h.text(item.kind).text(" ").foreign(item.name, 200);
            }
            h.leaf("span", {{"class", "m"}},
                   fmt::format("{} in {}",
                               count_text(static_cast<std::int64_t>(item.nodes), "node", "nodes"),
                               environment));
        }
    }
    if (found > 0) return;
    const auto entry = h.in("li");
    h.link(Url({"code"}).with("find", text), "Search the code of an environment");
}

void write_facts(Html& h, Visit& visit, std::string_view text) {
    const auto wanted = base::lower(text);
    const auto names = visit.ask(R"(["from","fact_names",["limit",{}]])", kMostFactNames);
    if (!names) return;
    std::vector<std::string_view> found;
    for (const auto& name : *names)
        if (name.is_string() && base::lower(name.as_string()).find(wanted) != std::string::npos)
            found.push_back(name.as_string());
    if (found.empty()) return;
    const auto panel = open_panel(h, "Facts");
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    for (std::size_t i = 0; i < std::min(kMostFound, found.size()); ++i) {
        const auto item = h.in("li");
        const auto link = h.in("a", {{"class", "t mono"}, {"href", Url({}).with("by", found[i])}});
        h.foreign(found[i], 200);
    }
}

void write_queries(Html& h, std::string_view text) {
    const auto panel = open_panel(h, "Look further");
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    const auto query = [&](std::string_view title, std::string_view ast) {
        const auto item = h.in("li");
        h.link(Url({"query"}).with("q", ast), title);
    };
    const auto quoted = codec::json_string(text);
    query("Nodes with this class",
          fmt::format(R"(["from","resources",["extract",["certname","title"],["and",)"
                      R"(["=","type","Class"],["=","title",{}]]]])",
                      quoted));
    query("Nodes with this fact",
          fmt::format(R"(["from","facts",["extract",["certname","value"],["=","name",{}]]])",
                      quoted));
    query("Facts with this value",
          fmt::format(R"(["from","facts",["extract",["certname","name"],["=","value",{}]]])",
                      quoted));
}

}  // namespace

Result<Response> search_page(Visit& visit) {
    const auto fleet = BUNRAKU_TRY(visit.fleet());
    const auto text = base::trim(visit.query("q"));
    Html h;
    if (text.empty()) {
        {
            const auto panel = h.in("section", {{"class", "panel"}});
            empty_state(h, "Nothing to search",
                        "Write a name or a part of it into the field above.");
        }
        return visit.page({.title = "Search"}, std::move(h));
    }
    const auto nodes = nodes_named(visit, *fleet, text);
    if (nodes.size() == 1 && nodes[0]->certname == text)
        return visit.redirect(Url({"nodes", text}));
    {
        const auto columns = h.in("div", {{"class", "cols c84"}});
        {
            const auto left = h.in("div");
            write_found_nodes(h, visit, nodes);
        }
        const auto right = h.in("div");
        const bool all = visit.viewer.sees_all();
        if (all) write_resources(h, visit, text);
        write_code(h, visit, text);
        if (all) write_facts(h, visit, text);
        if (all) write_queries(h, text);
    }
    return visit.page({.title = fmt::format("Search: {}", text)}, std::move(h));
}

}  // namespace bunraku::console
