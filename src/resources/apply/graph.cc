// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/graph.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "resources/apply/component.h"

namespace bunraku::apply {

int RelationshipGraph::add_vertex(Resource& resource) {
    if (resource.vertex >= 0) {
        BUNRAKU_ASSERT(static_cast<std::size_t>(resource.vertex) < nodes_.size());
        BUNRAKU_ASSERT(at(resource.vertex) == &resource);
        return resource.vertex;
    }
    resource.vertex = static_cast<int>(nodes_.size());
    nodes_.push_back({.resource = &resource, .priority = {++count_, {}}});
    ++live_;
    BUNRAKU_ASSERT(live_ <= nodes_.size() && count_ <= nodes_.size());
    return resource.vertex;
}

int RelationshipGraph::vertex_for(Resource& r) { return add_vertex(r); }

int RelationshipGraph::add_contained(Resource& container, Resource& resource) {
    BUNRAKU_ASSERT(&container != &resource && resource.vertex < 0);
    int c = vertex_for(container);
    Key& last = nodes_[static_cast<std::size_t>(c)].last_contained;
    if (last.first == 0) {
        last = nodes_[static_cast<std::size_t>(c)].priority;
        last.below.push_back(0);
    }
    BUNRAKU_ASSERT(!last.below.empty());
    ++last.below.back();
    BUNRAKU_ASSERT(last > nodes_[static_cast<std::size_t>(c)].priority);
    Key priority = last;
    if (resource.vertex < 0) {
        resource.vertex = static_cast<int>(nodes_.size());
        nodes_.push_back({.resource = &resource});
        ++live_;
    }
    nodes_[static_cast<std::size_t>(resource.vertex)].priority = std::move(priority);
    return resource.vertex;
}

void RelationshipGraph::link(int from, int to, EdgeLabel label) {
    BUNRAKU_ASSERT(from >= 0 && static_cast<std::size_t>(from) < nodes_.size() && to >= 0 &&
                   static_cast<std::size_t>(to) < nodes_.size());
    BUNRAKU_ASSERT(at(from) && at(to));
    int id = static_cast<int>(edges_.size());
    edges_.push_back({from, to, label});
    auto [it, fresh] = pairs_.try_emplace(pair(from, to), id);
    if (fresh) {
        nodes_[static_cast<std::size_t>(from)].out.push_back(id);
        nodes_[static_cast<std::size_t>(to)].in.push_back(id);
    } else {
        int last = it->second;
        BUNRAKU_ASSERT(edges_[static_cast<std::size_t>(last)].source == from &&
                       edges_[static_cast<std::size_t>(last)].target == to);
        while (edges_[static_cast<std::size_t>(last)].next_same >= 0) {
            last = edges_[static_cast<std::size_t>(last)].next_same;
        }
        BUNRAKU_ASSERT(last < id);
        edges_[static_cast<std::size_t>(last)].next_same = id;
    }
    BUNRAKU_ASSERT(pairs_.size() <= edges_.size());
}

void RelationshipGraph::add_edge(Resource& from, Resource& to, EdgeLabel label) {
    int a = vertex_for(from);
    int b = vertex_for(to);
    link(a, b, label);
}

void RelationshipGraph::add_relationship(Resource& from, Resource& to, EdgeLabel label) {
    add_edge(from, to, label);
    ready_.erase(nodes_[static_cast<std::size_t>(to.vertex)].priority);
}

bool RelationshipGraph::has_edge(const Resource& from, const Resource& to) const {
    return from.vertex >= 0 && to.vertex >= 0 && pairs_.contains(pair(from.vertex, to.vertex));
}

void RelationshipGraph::remove_edges(const Resource& from, const Resource& to) {
    auto it = pairs_.find(pair(from.vertex, to.vertex));
    if (it == pairs_.end()) return;
    BUNRAKU_ASSERT(from.vertex >= 0 && to.vertex >= 0);
    [[maybe_unused]] const std::size_t out =
        std::erase(nodes_[static_cast<std::size_t>(from.vertex)].out, it->second);
    [[maybe_unused]] const std::size_t in =
        std::erase(nodes_[static_cast<std::size_t>(to.vertex)].in, it->second);
    BUNRAKU_ASSERT(out == 1 && in == 1);
    pairs_.erase(it);
}

std::vector<Resource*> RelationshipGraph::direct_dependencies(const Resource& r) const {
    std::vector<Resource*> out;
    each_dependency(r, [&](Resource* dependency) { out.push_back(dependency); });
    return out;
}

bool RelationshipGraph::due(const Resource& r) const {
    const auto done = [&](int v) { return nodes_[static_cast<std::size_t>(v)].done; };
    if (r.vertex < 0 || done(r.vertex)) return false;
    return std::ranges::all_of(nodes_[static_cast<std::size_t>(r.vertex)].in, [&](int edge) {
        return done(edges_[static_cast<std::size_t>(edge)].source);
    });
}

std::vector<Resource*> RelationshipGraph::direct_dependents(const Resource& r) const {
    std::vector<Resource*> out;
    if (r.vertex < 0) return out;
    const Node& n = nodes_[static_cast<std::size_t>(r.vertex)];
    out.reserve(n.out.size());
    for (int e : n.out) out.push_back(at(edges_[static_cast<std::size_t>(e)].target));
    return out;
}

std::vector<RelationshipGraph::Edge> RelationshipGraph::edges_from(const Resource& r) const {
    std::vector<Edge> out;
    if (r.vertex < 0) return out;
    for (int e : nodes_[static_cast<std::size_t>(r.vertex)].out) {
        for (int i = e; i >= 0; i = edges_[static_cast<std::size_t>(i)].next_same) {
            out.push_back(edges_[static_cast<std::size_t>(i)]);
        }
    }
    return out;
}

std::vector<RelationshipGraph::Edge> RelationshipGraph::edges_to(const Resource& r) const {
    std::vector<Edge> out;
    if (r.vertex < 0) return out;
    for (int e : nodes_[static_cast<std::size_t>(r.vertex)].in) {
        for (int i = e; i >= 0; i = edges_[static_cast<std::size_t>(i)].next_same) {
            out.push_back(edges_[static_cast<std::size_t>(i)]);
        }
    }
    return out;
}

std::vector<Resource*> RelationshipGraph::vertices() const {
    std::vector<Resource*> out;
    out.reserve(live_);
    for (const Node& n : nodes_) {
        if (n.resource) out.push_back(n.resource);
    }
    BUNRAKU_ASSERT(out.size() == live_);
    return out;
}

void RelationshipGraph::populate(RalCatalog& catalog) {
    BUNRAKU_ASSERT(nodes_.empty() && edges_.empty() && ready_.empty());
    nodes_.reserve(catalog.resources().size() + 16);
    edges_.reserve(catalog.resources().size() * 2 + 16);
    pairs_.reserve(catalog.resources().size() * 3 + 16);
    for (Resource* r : catalog.resources()) add_vertex(*r);
    BUNRAKU_ASSERT(live_ == catalog.resources().size() && live_ == nodes_.size());
    build_manual(catalog);
    build_automatic(catalog);
    BUNRAKU_ASSERT(live_ == nodes_.size());
    write("relationships");
    replace_containers(catalog);
    write("expanded_relationships");
}

void RelationshipGraph::build_manual(RalCatalog& catalog) {
    struct Kind {
        Relation kind;
        std::string_view name;
        bool incoming, refresh;
    };
    constexpr Kind kKinds[] = {{Relation::Require, "require", true, false},
                               {Relation::Subscribe, "subscribe", true, true},
                               {Relation::Before, "before", false, false},
                               {Relation::Notify, "notify", false, true}};
    bool debug = context_.enabled(Level::Debug);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        Resource& r = *nodes_[i].resource;
        for (const Kind& k : kKinds) {
            for (const Reference& ref : r.relations(k.kind)) {
                Resource* other = catalog.find(ref);
                if (!other) {
                    r.fail(fmt::format("Could not retrieve dependency '{}' of {}", ref.text(),
                                       r.ref()));
                }
                if (debug) {
                    base::Diagnostic d;
                    d.level = Level::Debug;
                    d.message = fmt::format("{} to {}", k.name, other->ref());
                    d.source = r.path() + "/" + std::string(k.name);
                    d.tags = r.tags();
                    d.tags.emplace_back(k.name);
                    d.where.file = r.file();
                    d.where.line = r.line();
                    context_.log.log(d);
                }
                BUNRAKU_ASSERT(other->vertex >= 0);
                Resource& from = k.incoming ? *other : r;
                Resource& to = k.incoming ? r : *other;
                add_edge(from, to, {k.refresh, EdgeReason::Parameter, k.kind});
            }
        }
    }
}

void RelationshipGraph::build_automatic(RalCatalog& catalog) {
    bool debug = context_.enabled(Level::Debug);
    std::vector<AutoRelation> wanted;
    constexpr std::string_view kNames[] = {"require", "subscribe", "before", "notify"};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        Resource& r = *nodes_[i].resource;
        wanted.clear();
        r.collect_auto_relations(wanted);
        if (wanted.empty()) continue;
        for (Relation kind :
             {Relation::Require, Relation::Subscribe, Relation::Before, Relation::Notify}) {
            bool incoming = kind == Relation::Require || kind == Relation::Subscribe;
            for (const AutoRelation& a : wanted) {
                if (a.kind != kind) continue;
                Resource* other = catalog.find(a.type, a.title);
                // Classes and defines are not types, so an automatic relation to one has no effect.
                if (!other || other->is_component()) continue;
                BUNRAKU_ASSERT(other->vertex >= 0);
                Resource& from = incoming ? *other : r;
                Resource& to = incoming ? r : *other;
                // For before and notify, Puppet tests the two directions in the opposite order.
                const Resource& first_a = incoming ? from : to;
                const Resource& first_b = incoming ? to : from;
                if (has_edge(first_a, first_b)) continue;
                if (has_edge(first_b, first_a)) {
                    if (debug) {
                        r.debug(
                            fmt::format("Skipping automatic relationship with {}", other->ref()));
                    }
                    continue;
                }
                if (debug) {
                    r.debug(fmt::format("Adding auto{} relationship with {}",
                                        kNames[static_cast<int>(kind)], other->ref()));
                }
                add_edge(from, to,
                         {kind == Relation::Subscribe || kind == Relation::Notify,
                          EdgeReason::Automatic, kind});
            }
        }
    }
}

void RelationshipGraph::remove_vertex(Resource& r) {
    BUNRAKU_ASSERT(r.vertex >= 0 && at(r.vertex) == &r);
    Node& n = nodes_[static_cast<std::size_t>(r.vertex)];
    std::vector<int> all = n.out;
    all.insert(all.end(), n.in.begin(), n.in.end());
    for (int e : all) {
        const Edge& edge = edges_[static_cast<std::size_t>(e)];
        remove_edges(*at(edge.source), *at(edge.target));
    }
    BUNRAKU_ASSERT(n.out.empty() && n.in.empty() && live_ > 0);
    nodes_[static_cast<std::size_t>(r.vertex)].resource = nullptr;
    r.vertex = -1;
    --live_;
}

void RelationshipGraph::replace_containers(RalCatalog& catalog) {
    std::vector<Resource*> containers;
    for (Resource* r : catalog.resources()) {
        if (r->is_container() && r->vertex >= 0) containers.push_back(r);
    }
    std::unordered_map<Resource*, std::pair<Resource*, Resource*>> whits;
    for (Resource* c : containers) {
        auto make = [&](std::string_view prefix, bool completed) {
            auto w = std::make_unique<Whit>(context_, std::string(prefix) + c->ref(), c->ref(),
                                            completed, c);
            w->set_tags(c->tags());
            Resource* raw = catalog.take_ownership(std::move(w));
            raw->vertex = static_cast<int>(nodes_.size());
            nodes_.push_back({.resource = raw,
                              .priority = nodes_[static_cast<std::size_t>(c->vertex)].priority});
            ++live_;
            return raw;
        };
        Resource* admissible = make("admissible_", false);
        Resource* completed = make("completed_", true);
        BUNRAKU_ASSERT(admissible->vertex + 1 == completed->vertex);
        whits[c] = {admissible, completed};
    }
    auto admissible = [&](Resource* r) {
        auto it = whits.find(r);
        return it == whits.end() ? r : it->second.first;
    };
    auto completed = [&](Resource* r) {
        auto it = whits.find(r);
        return it == whits.end() ? r : it->second.second;
    };
    constexpr EdgeLabel kAll{true};
    for (Resource* c : containers) {
        if (c->children.empty()) add_edge(*admissible(c), *completed(c), {});
        for (Resource* member : c->children) {
            add_edge(*admissible(c), *admissible(member), kAll);
            add_edge(*completed(member), *completed(c), kAll);
        }
        for (const Edge& e : edges_to(*c)) {
            Resource* source = at(e.source);
            add_edge(*completed(source), *admissible(c), e.label);
            remove_edges(*source, *c);
        }
        for (const Edge& e : edges_from(*c)) {
            Resource* target = at(e.target);
            add_edge(*completed(c), *admissible(target), e.label);
            remove_edges(*c, *target);
        }
    }
    BUNRAKU_ASSERT(whits.size() == containers.size());
    for (Resource* c : containers) remove_vertex(*c);
    BUNRAKU_ASSERT(live_ + containers.size() == nodes_.size());
}

void RelationshipGraph::enqueue(int v) {
    BUNRAKU_ASSERT(v >= 0 && static_cast<std::size_t>(v) < nodes_.size() && at(v));
    ready_.insert_or_assign(nodes_[static_cast<std::size_t>(v)].priority, v);
}

void RelationshipGraph::clear_blockers() {
    for (Node& n : nodes_) n.blockers = -1;
}

void RelationshipGraph::finish(int v) {
    // This loop calls nothing that adds edges, so the list does not change.
    for (int e : nodes_[static_cast<std::size_t>(v)].out) {
        BUNRAKU_ASSERT(edges_[static_cast<std::size_t>(e)].source == v);
        int t = edges_[static_cast<std::size_t>(e)].target;
        Node& n = nodes_[static_cast<std::size_t>(t)];
        if (n.blockers < 0) {
            n.blockers = 0;
            for (int in : n.in) {
                int s = edges_[static_cast<std::size_t>(in)].source;
                if (!nodes_[static_cast<std::size_t>(s)].done) ++n.blockers;
            }
        }
        BUNRAKU_ASSERT(n.resource && n.blockers <= static_cast<int>(n.in.size()));
        if (n.blockers > 0) {
            --n.blockers;
        } else {
            n.resource->warning("appears to have a negative number of dependencies");
        }
        if (n.blockers <= 0) enqueue(t);
    }
    nodes_[static_cast<std::size_t>(v)].done = true;
}

void RelationshipGraph::traverse(const Walk& walk) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].resource) continue;
        nodes_[i].blockers = static_cast<int>(nodes_[i].in.size());
        if (nodes_[i].blockers == 0) enqueue(static_cast<int>(i));
    }
    auto next = [&] {
        BUNRAKU_ASSERT(!ready_.empty());
        int v = ready_.begin()->second;
        ready_.erase(ready_.begin());
        return v;
    };
    std::vector<int> deferred;
    bool progress = false;
    while (walk.go_on() && !ready_.empty()) {
        int v = next();
        Resource& r = *at(v);
        BUNRAKU_ASSERT(r.vertex == v && !r.is_container());
        if (r.suitable()) {
            progress = true;
            walk.before(r);
            walk.visit(r);
            finish(v);
        } else {
            deferred.push_back(v);
        }
        if (!ready_.empty() || deferred.empty()) continue;
        if (progress) {
            for (int d : deferred) enqueue(d);
        } else {
            for (int d : deferred) {
                walk.never_suitable(*at(d));
                finish(d);
            }
        }
        progress = false;
        BUNRAKU_ASSERT(!deferred.empty());
        deferred.clear();
    }
    if (!walk.go_on()) {
        while (!ready_.empty()) {
            int v = next();
            walk.cancelled(*at(v));
            finish(v);
        }
    }
}

}  // namespace bunraku::apply
