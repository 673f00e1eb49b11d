// SPDX-License-Identifier: Apache-2.0
#include "services/console/catalog_boxes.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <set>
#include <span>

#include "services/console/format.h"
#include "services/console/parts.h"

namespace bunraku::console {

namespace {

constexpr std::size_t kMostBoxes = 160;
/// Rows of the outermost level on one page, and of every other container.
constexpr std::size_t kRowsOfPage = 60;
constexpr std::size_t kRowsOfBox = 30;
constexpr std::size_t kMostDepth = 30;

/// Decides which containers are open.
std::set<std::uint32_t> open_containers(const CatalogGraph& graph, const BoxView& view,
                                        std::span<const std::uint32_t> top) {
    std::set<std::uint32_t> out;
    std::size_t boxes = top.size();
    const auto open = [&](std::uint32_t container) {
        if (graph.children(container).empty() || !out.insert(container).second) return;
        boxes += std::min(kRowsOfBox, graph.children(container).size());
    };
    if (view.chosen)
        for (const auto container : graph.containers(*view.chosen)) open(container);
    std::deque<std::uint32_t> queue(top.begin(), top.end());
    while (!queue.empty()) {
        const auto next = queue.front();
        queue.pop_front();
        const auto& children = graph.children(next);
        if (!out.contains(next) && boxes + std::min(kRowsOfBox, children.size()) > kMostBoxes)
            continue;
        open(next);
        const auto shown = static_cast<std::ptrdiff_t>(std::min(kRowsOfBox, children.size()));
        queue.insert(queue.end(), children.begin(), children.begin() + shown);
    }
    return out;
}

/// Returns the page of the outermost level that has the chosen resource or its container.
std::size_t page_of_chosen(const CatalogGraph& graph, const BoxView& view,
                           std::span<const std::uint32_t> all) {
    if (!view.chosen) return 1;
    auto path = graph.containers(*view.chosen);
    path.push_back(static_cast<std::uint32_t>(*view.chosen));
    const auto it = std::ranges::find_first_of(all, path);
    return it == all.end() ? 1 : static_cast<std::size_t>(it - all.begin()) / kRowsOfPage + 1;
}

class BoxWriter {
public:
    BoxWriter(Html& h, const CatalogGraph& graph, const BoxView& view,
              const std::set<std::uint32_t>& open)
        : h_(h), graph_(graph), view_(view), open_(open) {}

    void write(std::uint32_t resource, std::size_t depth) {
        const bool chosen = view_.chosen == resource;
        const auto box = h_.in("div", {{"class", "box"}, {"aria-current", "true", chosen}});
        const bool is_open = open_.contains(resource) && depth < kMostDepth;
        {
            const auto row = h_.in("div", {{"class", "row"}});
            resource_link(h_, view_.here, graph_, resource);
            if (const auto count = graph_.count(resource); count > 0) {
                const auto name = graph_[resource].reference();
                h_.leaf("a",
                        {{"class", "c n"},
                         {"href", within_url(resource)},
                         {"aria-label", fmt::format("{} in {}",
                                                    count_text(static_cast<std::int64_t>(count),
                                                               "resource", "resources"),
                                                    name)}},
                        number_text(static_cast<std::int64_t>(count)));
            }
        }
        if (!is_open) return;
        const auto details = h_.in("details", {{"open", true}});
        {
            const auto summary = h_.in("summary");
            const auto text = h_.in("span", {{"class", "vh"}});
            h_.text("What ").foreign(graph_[resource].reference(), 200).text(" contains");
        }
        const auto inside = h_.in("div", {{"class", "kids"}});
        write_children(resource, depth + 1);
    }

private:
    Url within_url(std::uint32_t resource) const {
        return Url(view_.here).with("in", graph_[resource].reference());
    }
    /// Shows the first children, and the one on the way to the chosen resource.
    void write_children(std::uint32_t container, std::size_t depth) {
        const auto& children = graph_.children(container);
        std::size_t shown = 0;
        for (std::size_t i = 0; i < children.size(); ++i) {
            if (i >= kRowsOfBox && !leads_to_chosen(children[i])) continue;
            ++shown;
            write(children[i], depth);
        }
        if (shown == children.size()) return;
        const auto more = h_.in("p", {{"class", "more"}});
        h_.link(within_url(container),
                fmt::format("{} more",
                            number_text(static_cast<std::int64_t>(children.size() - shown))));
    }
    bool leads_to_chosen(std::uint32_t resource) const {
        if (!view_.chosen) return false;
        const auto containers = graph_.containers(*view_.chosen);
        return *view_.chosen == resource ||
               std::ranges::find(containers, resource) != containers.end();
    }

    Html& h_;
    const CatalogGraph& graph_;
    const BoxView& view_;
    const std::set<std::uint32_t>& open_;
};

}  // namespace

Url resource_url(const Url& catalog, const CatalogGraph& graph, std::size_t resource) {
    return Url(catalog).with("resource", graph[resource].reference());
}

void resource_link(Html& h, const Url& catalog, const CatalogGraph& graph, std::size_t resource) {
    {
        const auto link =
            h.in("a", {{"class", "res"}, {"href", resource_url(catalog, graph, resource)}});
        resource_name(h, graph[resource].type, graph[resource].title);
    }
    if (graph[resource].exported) h.text(" ").leaf("span", {{"class", "m sm"}}, "exported");
}

void catalog_boxes(Html& h, const CatalogGraph& graph, const BoxView& view) {
    const auto& all = view.within ? graph.children(*view.within) : graph.roots();
    const auto pages = std::max<std::size_t>(1, (all.size() + kRowsOfPage - 1) / kRowsOfPage);
    const auto page = view.page > 0 ? std::min(view.page, pages) : page_of_chosen(graph, view, all);
    const auto first = (page - 1) * kRowsOfPage;
    const auto top = std::span(all).subspan(first, std::min(kRowsOfPage, all.size() - first));
    const auto open = open_containers(graph, view, top);
    BoxWriter writer(h, graph, view, open);
    for (const auto resource : top) writer.write(resource, 0);
    if (pages == 1) return;
    const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
    h.leaf("span", fmt::format("Page {} of {}", page, pages));
    const auto page_url = [&](std::size_t number) {
        Url url = view.here;
        if (view.within) url.with("in", graph[*view.within].reference());
        if (view.chosen) url.with("resource", graph[*view.chosen].reference());
        return url.with("page", std::to_string(number)).text();
    };
    if (page > 1) h.leaf("a", {{"href", page_url(page - 1)}, {"rel", "prev"}}, "Previous page");
    if (page < pages) h.leaf("a", {{"href", page_url(page + 1)}, {"rel", "next"}}, "Next page");
}

}  // namespace bunraku::console
