// SPDX-License-Identifier: Apache-2.0
#include "services/console/catalog_graph.h"

#include <algorithm>
#include <deque>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace bunraku::console {

using catalog::Relationship;

CatalogGraph::CatalogGraph(store::CatalogView view) : view_(std::move(view)) {
    const auto size = view_.resources.size();
    children_.resize(size);
    parent_.assign(size, kNone);
    before_.resize(size);
    after_.resize(size);
    for (const auto& relation : view_.relations) {
        BUNRAKU_ASSERT(relation.source < size && relation.target < size);
        if (relation.kind != Relationship::Contains) {
            after_[relation.source].push_back({relation.target, relation.kind});
            before_[relation.target].push_back({relation.source, relation.kind});
            continue;
        }
        // A store accepts catalogs of other programs, so containment may have cycles.
        bool cycle = relation.source == relation.target || parent_[relation.target] != kNone;
        for (auto at = relation.source; !cycle && parent_[at] != kNone; at = parent_[at])
            cycle = parent_[at] == relation.target;
        if (cycle) continue;
        parent_[relation.target] = relation.source;
        children_[relation.source].push_back(relation.target);
    }
    for (auto& of : children_) std::ranges::sort(of);
    for (std::uint32_t i = 0; i < size; ++i)
        if (parent_[i] == kNone) roots_.push_back(i);
    counts_.assign(size, 0);
    for (std::uint32_t i = 0; i < size; ++i)
        for (auto at = parent_[i]; at != kNone; at = parent_[at]) ++counts_[at];
}

std::optional<std::size_t> CatalogGraph::find(std::string_view reference) const {
    const auto open = reference.find('[');
    if (open == std::string_view::npos || !reference.ends_with(']')) return std::nullopt;
    const auto type = reference.substr(0, open);
    const auto title = reference.substr(open + 1, reference.size() - open - 2);
    const auto it = std::ranges::find_if(view_.resources, [&](const auto& entry) {
        return entry.title == title && base::same_ignoring_case(entry.type, type);
    });
    if (it == view_.resources.end()) return std::nullopt;
    return static_cast<std::size_t>(it - view_.resources.begin());
}

std::vector<std::uint32_t> CatalogGraph::containers(std::size_t resource) const {
    std::vector<std::uint32_t> out;
    for (auto at = parent_[resource]; at != kNone; at = parent_[at]) out.push_back(at);
    std::ranges::reverse(out);
    return out;
}

/// Searches breadth-first. A container has two points, its beginning and its end, as in Puppet's
/// own graph: everything in it is managed between them.
std::vector<CatalogGraph::Step> CatalogGraph::path(std::size_t from, std::size_t to) const {
    using How = Step::How;
    if (from == to) return {};
    // Point 2 * i is the beginning of a resource, and 2 * i + 1 its end.
    struct Reached {
        std::uint32_t by = kNone;
        How how = How::Start;
    };
    std::vector<Reached> reached(2 * size());
    const auto end_of = [](std::size_t i) { return static_cast<std::uint32_t>(2 * i + 1); };
    const auto begin_of = [](std::size_t i) { return static_cast<std::uint32_t>(2 * i); };
    std::deque<std::uint32_t> queue;
    const auto reach = [&](std::uint32_t point, std::uint32_t by, How how) {
        if (point == end_of(from) || reached[point].by != kNone) return;
        reached[point] = {by, how};
        queue.push_back(point);
    };
    queue.push_back(end_of(from));
    while (!queue.empty() && reached[begin_of(to)].by == kNone) {
        const auto point = queue.front();
        queue.pop_front();
        const auto i = point / 2;
        if (point == begin_of(i)) {
            for (const auto child : children_[i]) reach(begin_of(child), point, How::Contains);
            if (children_[i].empty()) reach(end_of(i), point, How::Start);
            continue;
        }
        for (const Link& link : after_[i]) {
            const bool notifies =
                link.kind == Relationship::Notifies || link.kind == Relationship::SubscriptionOf;
            reach(begin_of(link.other), point, notifies ? How::Notifies : How::Before);
        }
        if (parent_[i] != kNone) reach(end_of(parent_[i]), point, How::ContainedIn);
    }
    std::vector<Step> out;
    if (reached[begin_of(to)].by == kNone) return out;
    for (auto point = begin_of(to); point != end_of(from); point = reached[point].by)
        if (reached[point].how != How::Start) out.push_back({reached[point].how, point / 2});
    out.push_back({How::Start, static_cast<std::uint32_t>(from)});
    std::ranges::reverse(out);
    return out;
}

}  // namespace bunraku::console
