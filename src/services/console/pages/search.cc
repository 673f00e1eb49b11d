// SPDX-License-Identifier: Apache-2.0
// Searches nodes, fact names and resources by one text.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;
using store::NodeRow;

namespace {

constexpr std::size_t kMostFound = 50;

/// Returns the nodes whose name contains the text, names that begin with it first.
std::vector<const NodeRow*> nodes_named(const Visit& visit, const Fleet& fleet,
                                        std::string_view text) {
    const auto wanted = base::lower(text);
    std::vector<const NodeRow*> out;
    for (const NodeRow& node : fleet.nodes)
        if (node.certname.find(wanted) != std::string::npos &&
            visit.viewer.sees(fleet.environment(node.run)))
            out.push_back(&node);
    std::ranges::stable_partition(
        out, [&](const NodeRow* node) { return node->certname.starts_with(wanted); });
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

/// Returns a PQL query for a resource that is written as in manifests, such as File[/etc/motd].
std::string resource_query(std::string_view text) {
    const auto open = text.find('[');
    if (open == std::string_view::npos || open == 0 || !text.ends_with(']')) return {};
    return fmt::format(R"(["from","resources",["and",["=","type",{}],["=","title",{}]]])",
                       codec::json_string(text.substr(0, open)),
                       codec::json_string(text.substr(open + 1, text.size() - open - 2)));
}

void write_queries(Html& h, std::string_view text) {
    const auto panel = open_panel(h, "Look further");
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    const auto query = [&](std::string_view title, std::string_view ast) {
        const auto item = h.in("li");
        h.link(Url({"query"}).with("q", ast), title);
    };
    if (const auto resource = resource_query(text); !resource.empty())
        query("Nodes with this resource", resource);
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
        if (visit.viewer.sees_all()) write_queries(h, text);
    }
    return visit.page({.title = fmt::format("Search: {}", text)}, std::move(h));
}

}  // namespace bunraku::console
