// SPDX-License-Identifier: Apache-2.0
#include "modules/module/resolve.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/base/assert.h"
#include "core/base/text_view.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;

/// Limits on the number of modules that a forge can make the resolver load.
constexpr std::size_t kMaxModules = 1000;
constexpr int kMaxDepth = 200;
constexpr std::uint64_t kMaxSteps = 2000000;

/// Orders by priority, name and version, the best last.
bool before(const Candidate* a, const Candidate* b) {
    if (a->priority != b->priority) return a->priority < b->priority;
    if (a->name != b->name) return a->name < b->name;
    return a->version < b->version;
}

bool holds(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

std::string_view short_name(base::TextView full BUNRAKU_LIFETIMEBOUND) {
    const std::size_t dash = full.find('-');
    return dash == std::string_view::npos ? std::string_view{} : full.substr(dash + 1);
}

}  // namespace

bool Candidate::satisfies(const Candidate& release) const {
    for (const Constraint& c : constraints) {
        if (c.module == release.name && !c.takes(release.version)) return false;
    }
    return true;
}

const Candidate::Edge* Candidate::edge(std::string_view module) const {
    for (const Edge& e : dependencies) {
        if (e.module == module) return &e;
    }
    return nullptr;
}

bool Candidate::satisfied() const {
    return std::none_of(dependencies.begin(), dependencies.end(),
                        [](const Edge& e) { return e.releases.empty(); });
}

Graph::Graph(std::string module, std::string range) {
    add_constraint("initialize", module, std::move(range));
    BUNRAKU_ASSERT(root_.dependencies.empty());
    root_.dependencies.push_back({std::move(module), {}});
}

void Graph::add_constraint(std::string source, std::string module, std::string range) {
    auto parsed = base::SemVerRange::parse(range);
    root_.constraints.push_back(
        {std::move(source), std::move(module), std::move(range), std::move(parsed)});
}

const std::vector<const Candidate*>& Graph::candidates() const {
    BUNRAKU_ASSERT(root_.dependencies.size() == 1);
    return root_.dependencies[0].releases;
}

Result<std::vector<Candidate*>*> Graph::fetch(const std::string& name,
                                              const std::vector<Source>& sources) {
    auto known = cache_.find(name);
    if (known != cache_.end()) return &known->second;
    if (cache_.size() >= kMaxModules) {
        return failure(
            fmt::format("{} depends on more than {} modules, counting what those depend "
                        "on: that is the limit",
                        root_.dependencies[0].module, kMaxModules));
    }
    BUNRAKU_ASSERT(cache_.size() < kMaxModules);
    std::vector<Candidate*> releases;
    for (const Source& source : sources) {
        for (Candidate& c : BUNRAKU_TRY(source(name))) {
            const bool there = std::any_of(releases.begin(), releases.end(),
                                           [&](Candidate* r) { return r->version == c.version; });
            if (there) continue;
            owned_.push_back(std::make_unique<Candidate>(std::move(c)));
            releases.push_back(owned_.back().get());
        }
    }
    return &(cache_[name] = std::move(releases));
}

Result<void> Graph::fetch_dependencies(Candidate& node, const std::vector<Source>& sources,
                                       int depth) {
    if (depth > kMaxDepth) {
        return failure(
            fmt::format("the dependencies of {} are nested more than {} levels deep: "
                        "that is the limit",
                        root_.dependencies[0].module, kMaxDepth));
    }
    for (Candidate::Edge& edge : node.dependencies) {
        const bool fresh = !cache_.contains(edge.module);
        std::vector<Candidate*>* releases = BUNRAKU_TRY(fetch(edge.module, sources));
        if (fresh) {
            for (Candidate* r : *releases) {
                BUNRAKU_TRY_VOID(fetch_dependencies(*r, sources, depth + 1));
            }
        }
        for (Candidate* r : *releases) {
            if (r->name == edge.module && node.satisfies(*r)) edge.releases.push_back(r);
        }
        std::stable_sort(edge.releases.begin(), edge.releases.end(), before);
    }
    return {};
}

Result<void> Graph::query(const std::vector<Source>& sources) {
    return fetch_dependencies(root_, sources, 0);
}

Result<void> Graph::query_single(const std::vector<Source>& sources) {
    BUNRAKU_ASSERT(root_.dependencies.size() == 1);
    Candidate::Edge& edge = root_.dependencies[0];
    for (Candidate* r : *BUNRAKU_TRY(fetch(edge.module, sources))) {
        r->dependencies.clear();
        if (r->name == edge.module && root_.satisfies(*r)) edge.releases.push_back(r);
    }
    std::stable_sort(edge.releases.begin(), edge.releases.end(), before);
    return {};
}

bool Graph::unique(const Considered& solution) const {
    std::set<std::string_view> full, names;
    for (const Candidate* c : solution) {
        full.insert(c->name);
        for (const Candidate::Edge& e : c->dependencies) full.insert(e.module);
    }
    for (std::string_view name : full) {
        if (!names.insert(short_name(name)).second) return false;
    }
    return true;
}

bool Graph::walk(Open open, Considered considering, Considered* solution) {
    // Decides the module whose name sorts first. A decision that has been made already remains.
    for (;;) {
        if (++steps_ > most_steps_) return false;
        if (open.empty()) {
            *solution = std::move(considering);
            return true;
        }
        auto first = std::min_element(open.begin(), open.end(), [](const auto& a, const auto& b) {
            return a.module < b.module;
        });
        const Candidate::Edge edge = std::move(*first);
        open.erase(first);
        BUNRAKU_ASSERT(std::ranges::is_sorted(edge.releases, before));
        const bool decided =
            std::any_of(edge.releases.begin(), edge.releases.end(), [&](const Candidate* c) {
                return std::find(considering.begin(), considering.end(), c) != considering.end();
            });
        if (decided) continue;
        std::vector<const Candidate*> usable;
        bool stable = false;
        for (const Candidate* c : edge.releases) {
            if (!c->satisfied()) continue;
            usable.push_back(c);
            stable |= c->version.prerelease.empty();
        }
        if (stable) {
            std::erase_if(usable,
                          [](const Candidate* c) { return !c->version.prerelease.empty(); });
        }
        for (auto it = usable.rbegin(); it != usable.rend(); ++it) {
            const Candidate& dep = **it;
            if (!holds(seen_, edge.module)) seen_.push_back(edge.module);
            bool fits = root_.satisfies(dep);
            for (const Candidate* c : considering) fits = fits && c->satisfies(dep);
            if (!fits) continue;
            Considered next = considering;
            next.push_back(&dep);
            if (unique_names_ && !unique(next)) continue;
            if (!holds(satisfied_, edge.module)) satisfied_.push_back(edge.module);
            Open merged = open;
            for (const Candidate::Edge& e : dep.dependencies) {
                auto same = std::find_if(merged.begin(), merged.end(),
                                         [&](const auto& m) { return m.module == e.module; });
                if (same == merged.end()) {
                    merged.push_back(e);
                } else {
                    std::erase_if(same->releases, [&](const Candidate* c) {
                        return std::find(e.releases.begin(), e.releases.end(), c) ==
                               e.releases.end();
                    });
                }
            }
            if (walk(std::move(merged), std::move(next), solution)) return true;
            if (steps_ > most_steps_) return false;
        }
        return false;
    }
}

Graph::Resolution Graph::resolve() {
    Resolution out;
    seen_.clear();
    satisfied_.clear();
    steps_ = 0;
    most_steps_ = kMaxSteps;
    if (walk(root_.dependencies, {}, &out.releases)) {
        BUNRAKU_ASSERT(std::ranges::all_of(out.releases, [&](const Candidate* c) {
            return root_.satisfies(*c) && c->satisfied();
        }));
        return out;
    }
    out.releases.clear();
    for (const std::string& name : seen_) {
        if (!holds(satisfied_, name)) {
            out.unsatisfied = name;
            break;
        }
    }
    return out;
}

}  // namespace bunraku::module
