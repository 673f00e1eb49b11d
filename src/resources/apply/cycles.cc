// SPDX-License-Identifier: Apache-2.0
// Detects and reports dependency cycles, and writes graphs to disk.
#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <set>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "resources/apply/component.h"
#include "resources/apply/dot.h"
#include "resources/apply/graph.h"

namespace bunraku::apply {
namespace {

bool by_ref(const Resource* a, const Resource* b) { return a->ref() < b->ref(); }

bool by_refs(const std::vector<Resource*>& a, const std::vector<Resource*>& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), by_ref);
}

/// Returns the class or define that a whit represents, and other resources unchanged.
const Resource& declared(const Resource& r) {
    const auto* whit = r.is_whit() ? static_cast<const Whit*>(&r) : nullptr;
    return whit && whit->container() ? *whit->container() : r;
}

std::string with_place(std::string text, const Resource& r) {
    const std::string place = base::format_location({std::string(r.file()), r.line(), 0});
    return place.empty() ? text : text + " " + place;
}

}  // namespace

// Finds Tarjan's strongly connected components without recursion, because graphs may be deep.
std::vector<std::vector<Resource*>> RelationshipGraph::find_cycles() const {
    struct Frame {
        int vertex;
        std::size_t edge;
    };
    const std::size_t n = nodes_.size();
    std::vector<int> index(n, -1), low(n, 0);
    std::vector<bool> on_stack(n, false);
    std::vector<int> stack;
    std::vector<std::vector<Resource*>> found;
    int counter = 0;
    std::vector<Frame> frames;
    for (std::size_t start = 0; start < n; ++start) {
        if (!nodes_[start].resource || index[start] >= 0) continue;
        frames.push_back({static_cast<int>(start), 0});
        while (!frames.empty()) {
            auto [v, at_edge] = frames.back();
            auto u = static_cast<std::size_t>(v);
            BUNRAKU_ASSERT((at_edge == 0) == (index[u] < 0));
            if (at_edge == 0) {
                index[u] = low[u] = counter++;
                stack.push_back(v);
                on_stack[u] = true;
            }
            bool deeper = false;
            while (frames.back().edge < nodes_[u].out.size()) {
                int e = nodes_[u].out[frames.back().edge++];
                auto t = static_cast<std::size_t>(edges_[static_cast<std::size_t>(e)].target);
                if (index[t] < 0) {
                    frames.push_back({static_cast<int>(t), 0});
                    deeper = true;
                    break;
                }
                if (on_stack[t]) low[u] = std::min(low[u], index[t]);
            }
            if (deeper) continue;
            BUNRAKU_ASSERT(low[u] <= index[u] && on_stack[u]);
            if (low[u] == index[u]) {
                std::vector<Resource*> component;
                int w = -1;
                do {
                    BUNRAKU_ASSERT(!stack.empty());
                    w = stack.back();
                    stack.pop_back();
                    on_stack[static_cast<std::size_t>(w)] = false;
                    component.push_back(at(w));
                } while (w != v);
                if (component.size() > 1 || pairs_.contains(pair(v, v))) {
                    std::sort(component.begin(), component.end(), by_ref);
                    found.push_back(std::move(component));
                }
            }
            frames.pop_back();
            if (!frames.empty()) {
                auto p = static_cast<std::size_t>(frames.back().vertex);
                low[p] = std::min(low[p], low[u]);
            }
        }
        BUNRAKU_ASSERT(stack.empty() && counter <= static_cast<int>(n));
    }
    std::sort(found.begin(), found.end(), by_refs);
    BUNRAKU_ASSERT(std::ranges::none_of(found, [](const auto& c) { return c.empty(); }));
    return found;
}

// Searches breadth first, so that the shortest cycle is shown.
std::vector<std::vector<Resource*>> RelationshipGraph::paths_in_cycle(
    const std::vector<Resource*>& cycle, std::size_t max_paths) const {
    BUNRAKU_ASSERT(!cycle.empty() && max_paths > 0);
    std::set<const Resource*> members(cycle.begin(), cycle.end());
    std::vector<std::vector<Resource*>> found;
    std::deque<std::pair<Resource*, std::vector<Resource*>>> queue;
    queue.push_back({cycle.front(), {}});
    std::size_t steps = 0;
    while (!queue.empty() && ++steps < 200000) {
        auto [vertex, path] = std::move(queue.front());
        queue.pop_front();
        bool seen = std::find(path.begin(), path.end(), vertex) != path.end();
        path.push_back(vertex);
        if (seen) {
            BUNRAKU_ASSERT(path.size() <= members.size() + 1);
            found.push_back(std::move(path));
            BUNRAKU_ASSERT(found.size() <= max_paths);
            if (found.size() >= max_paths) break;
            continue;
        }
        for (Resource* to : direct_dependents(*vertex)) {
            if (members.contains(to)) queue.push_back({to, path});
        }
    }
    std::sort(found.begin(), found.end(), by_refs);
    return found;
}

std::string RelationshipGraph::reason_of(const Resource& from, const Resource& to) const {
    const auto found = pairs_.find(pair(from.vertex, to.vertex));
    BUNRAKU_ASSERT(found != pairs_.end());
    const EdgeLabel& label = edges_[static_cast<std::size_t>(found->second)].label;
    const Resource& first = declared(from);
    const Resource& second = declared(to);
    if (label.reason == EdgeReason::Containment) {
        const bool start = from.is_whit() && !static_cast<const Whit&>(from).completed();
        const Resource& container = start ? first : second;
        const Resource& member = start ? second : first;
        if (&container == &member) return fmt::format("{} is empty", container.ref());
        return with_place(fmt::format("{} contains {}", container.ref(), member.ref()), member);
    }
    constexpr std::string_view kNames[] = {"require", "subscribe", "before", "notify"};
    const auto name = kNames[static_cast<int>(label.relation)];
    const bool incoming =
        label.relation == Relation::Require || label.relation == Relation::Subscribe;
    const Resource& owner = incoming ? second : first;
    const Resource& other = incoming ? first : second;
    if (label.reason == EdgeReason::Automatic) {
        return with_place(
            fmt::format("{} has an automatic `{}` for {}", owner.ref(), name, other.ref()), owner);
    }
    // The compiler stores an arrow as `before` or `notify` of its left operand.
    const std::string_view arrow = incoming ? "" : label.refresh ? " (or ~>)" : " (or ->)";
    return with_place(fmt::format("{} has {} => {}{}", owner.ref(), name, other.ref(), arrow),
                      owner);
}

std::vector<std::vector<Resource*>> RelationshipGraph::report_cycles() {
    auto cycles = find_cycles();
    if (cycles.empty()) return cycles;
    std::string message =
        fmt::format("Found {} dependency cycle{}:\n", cycles.size(), cycles.size() == 1 ? "" : "s");
    for (const auto& cycle : cycles) {
        std::string lines;
        for (const auto& path : paths_in_cycle(cycle, 1)) {
            if (!lines.empty()) lines += "\\n";
            lines += '(';
            for (std::size_t i = 0; i < path.size(); ++i) {
                if (i > 0) lines += " => ";
                lines += path[i]->to_s();
            }
            lines += ')';
        }
        // Puppet writes this newline as the two characters \ and n.
        message += lines + "\\n";
    }
    if (context_.options.graph) {
        message += fmt::format("Cycle graph written to {}.", write_cycles(cycles));
    } else {
        message +=
            "Try the '--graph' option and opening the resulting '.dot' file in OmniGraffle or "
            "GraphViz";
    }
    context_.message(Level::Err, message);
    for (const auto& cycle : cycles) {
        for (const auto& path : paths_in_cycle(cycle, 1)) {
            std::string text = "The reason of each step of the cycle:";
            for (std::size_t i = 0; i + 1 < path.size(); ++i)
                text += "\n  " + reason_of(*path[i], *path[i + 1]);
            context_.message(Level::Notice, text);
        }
    }
    return cycles;
}

std::string RelationshipGraph::write_cycles(
    const std::vector<std::vector<Resource*>>& cycles) const {
    std::string out = "digraph Resource_Cycles {\n  label = \"Resource Cycles\"\n";
    for (const auto& cycle : cycles) {
        for (const auto& path : paths_in_cycle(cycle, 10)) {
            for (std::size_t i = 0; i < path.size(); ++i) {
                if (i > 0) out += " -> ";
                out += '"' + dot_escaped(path[i]->to_s()) + '"';
            }
            out += '\n';
        }
    }
    out += "}\n";
    std::string file = sys::join(context_.options.graphdir, "cycles.dot");
    (void)context_.system.files.make_directories(context_.options.graphdir, 0755);
    if (auto r = context_.system.files.write(file, out, 0644); !r) {
        context_.message(Level::Err,
                         fmt::format("Could not write {}: {}", file, r.error().message));
    }
    return file;
}

void RelationshipGraph::write(std::string_view name) const {
    if (!context_.options.graph) return;
    std::vector<std::pair<const Resource*, const Resource*>> edges;
    for (const Resource* r : vertices()) {
        for (const Edge& e : edges_to(*r)) edges.emplace_back(at(e.source), at(e.target));
    }
    write_dot(context_, name, vertices(), edges);
}

}  // namespace bunraku::apply
