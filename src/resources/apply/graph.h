// SPDX-License-Identifier: Apache-2.0
// The relationship graph: the dependencies between resources, and the order in which ready
// resources are evaluated (manifest order).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "resources/apply/ral_catalog.h"

namespace bunraku::apply {

/// The events that an edge propagates: none, or every event as a refresh.
/// Why an edge exists; shown for each step of a cycle.
enum class EdgeReason : std::uint8_t { Containment, Parameter, Automatic };

struct EdgeLabel {
    bool refresh = false;
    EdgeReason reason = EdgeReason::Containment;
    Relation relation = Relation::Require;  ///< meaningless for a containment
};

class RelationshipGraph {
public:
    explicit RelationshipGraph(Context& context) : context_(context) {}

    /// Adds vertices and explicit and automatic relations. Replaces each container with its two
    /// whits.
    void populate(RalCatalog& catalog);

    struct Edge {
        int source, target;
        EdgeLabel label;
        int next_same = -1;  ///< the next edge between the same two vertices
    };
    int add_vertex(Resource& resource);
    /// Adds a vertex after everything that the container has generated so far, and before what
    /// follows the container.
    int add_contained(Resource& container, Resource& resource);
    void add_edge(Resource& from, Resource& to, EdgeLabel label);
    void add_relationship(Resource& from, Resource& to, EdgeLabel label);
    bool has_edge(const Resource& from, const Resource& to) const;
    void remove_edges(const Resource& from, const Resource& to);

    std::vector<Resource*> direct_dependencies(const Resource& r) const;
    /// Calls `f` with each direct dependency.
    void each_dependency(const Resource& r, auto&& f) const {
        if (r.vertex < 0) return;
        for (int e : nodes_[static_cast<std::size_t>(r.vertex)].in)
            f(at(edges_[static_cast<std::size_t>(e)].source));
    }
    /// Reports whether the resource is not done and everything that it depends on is done.
    bool due(const Resource& r) const;
    std::vector<Resource*> direct_dependents(const Resource& r) const;
    /// Returns the outgoing edges. Several edges between the same two vertices are adjacent.
    std::vector<Edge> edges_from(const Resource& r) const;
    std::vector<Edge> edges_to(const Resource& r) const;
    Resource* at(int vertex) const { return nodes_[static_cast<std::size_t>(vertex)].resource; }
    std::size_t size() const { return live_; }
    std::vector<Resource*> vertices() const;

    /// Returns the components with more than one vertex or with a self-edge, in Puppet's order.
    std::vector<std::vector<Resource*>> find_cycles() const;
    /// Logs the cycles and returns them.
    std::vector<std::vector<Resource*>> report_cycles();

    struct Walk {
        std::function<bool()> go_on;
        std::function<void(Resource&)> before, visit, never_suitable, cancelled;
    };
    void traverse(const Walk& walk);
    void clear_blockers();

    /// Writes `graphdir`/NAME.dot if --graph is set.
    void write(std::string_view name) const;

private:
    /// A position in the order. Almost all keys have just one number.
    struct Key {
        std::uint32_t first = 0;
        std::vector<std::uint32_t> below;
        auto operator<=>(const Key&) const = default;
    };
    struct Node {
        Resource* resource = nullptr;
        std::vector<int> out, in;  ///< the first edge of every pair, in order
        Key priority;
        Key last_contained;
        int blockers = -1;
        bool done = false;
    };
    static std::uint64_t pair(int a, int b) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 |
               static_cast<std::uint32_t>(b);
    }
    int vertex_for(Resource& r);
    void build_manual(RalCatalog& catalog);
    void build_automatic(RalCatalog& catalog);
    void replace_containers(RalCatalog& catalog);
    void remove_vertex(Resource& r);
    void link(int from, int to, EdgeLabel label);
    void enqueue(int v);
    void finish(int v);
    std::vector<std::vector<Resource*>> paths_in_cycle(const std::vector<Resource*>& cycle,
                                                       std::size_t max_paths) const;
    std::string write_cycles(const std::vector<std::vector<Resource*>>& cycles) const;
    /// Returns the sentence that says why `from` comes before `to`, with the place in the manifest.
    std::string reason_of(const Resource& from, const Resource& to) const;

    Context& context_;
    std::vector<Node> nodes_;
    std::vector<Edge> edges_;
    std::unordered_map<std::uint64_t, int> pairs_;  ///< the first edge between two vertices
    std::map<Key, int> ready_;
    std::uint32_t count_ = 0;
    std::size_t live_ = 0;
};

}  // namespace bunraku::apply
