// The relationship graph: what must come before what, and in which order ready resources are
// taken (manifest order).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "resources/apply/ral_catalog.h"

namespace bunraku::apply {

/// What an edge carries: nothing, or every event as a refresh.
struct EdgeLabel {
    bool refresh = false;
};

class RelationshipGraph {
public:
    explicit RelationshipGraph(Context& context) : context_(context) {}

    /// Vertices, manual and automatic relations, containers replaced by their two whits.
    void populate(RalCatalog& catalog);

    struct Edge {
        int source, target;
        EdgeLabel label;
        int next_same = -1;  ///< another edge between the same two
    };
    int add_vertex(Resource& resource);
    /// Behind everything the container has generated so far, before what follows it.
    int add_contained(Resource& container, Resource& resource);
    void add_edge(Resource& from, Resource& to, EdgeLabel label);
    void add_relationship(Resource& from, Resource& to, EdgeLabel label);
    bool has_edge(const Resource& from, const Resource& to) const;
    void remove_edges(const Resource& from, const Resource& to);

    std::vector<Resource*> direct_dependencies(const Resource& r) const;
    /// Calls `f` with each of them.
    void each_dependency(const Resource& r, auto&& f) const {
        if (r.vertex < 0) return;
        for (int e : nodes_[static_cast<std::size_t>(r.vertex)].in)
            f(at(edges_[static_cast<std::size_t>(e)].source));
    }
    /// Whether everything that must come before it is done, and it is not itself.
    bool due(const Resource& r) const;
    std::vector<Resource*> direct_dependents(const Resource& r) const;
    /// Edges that leave it; several between the same two come one after the other.
    std::vector<Edge> edges_from(const Resource& r) const;
    std::vector<Edge> edges_to(const Resource& r) const;
    Resource* at(int vertex) const { return nodes_[static_cast<std::size_t>(vertex)].resource; }
    std::size_t size() const { return live_; }
    std::vector<Resource*> vertices() const;

    /// Components with more than one vertex, or with an edge to itself, sorted as Puppet does.
    std::vector<std::vector<Resource*>> find_cycles() const;
    /// Logs them; gives what it found.
    std::vector<std::vector<Resource*>> report_cycles();

    struct Walk {
        std::function<bool()> go_on;
        std::function<void(Resource&)> before, visit, never_suitable, cancelled;
    };
    void traverse(const Walk& walk);
    void clear_blockers();

    /// As `graphdir`/NAME.dot, where --graph asks for it.
    void write(std::string_view name) const;

private:
    /// A place in the order: nearly all have one number.
    struct Key {
        std::uint32_t first = 0;
        std::vector<std::uint32_t> below;
        auto operator<=>(const Key&) const = default;
    };
    struct Node {
        Resource* resource = nullptr;
        std::vector<int> out, in;  ///< first edge of every pair, in order
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

    Context& context_;
    std::vector<Node> nodes_;
    std::vector<Edge> edges_;
    std::unordered_map<std::uint64_t, int> pairs_;  ///< first edge between two vertices
    std::map<Key, int> ready_;
    std::uint32_t count_ = 0;
    std::size_t live_ = 0;
};

}  // namespace bunraku::apply
