// SPDX-License-Identifier: Apache-2.0
// Explains why no releases fit together: a minimal set of unsatisfiable requirements, the modules
// that have them, and possible remedies.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "modules/module/resolve.h"

namespace bunraku::module {

namespace {

/// Maximum number of steps for each attempt at a resolution.
constexpr std::uint64_t kStepsEach = 20000;
constexpr std::size_t kMostDemands = 400;

std::string who_requires(const Candidate::Constraint& c) {
    constexpr std::string_view kBehind = " constraint";
    if (!c.source.ends_with(kBehind)) return {};
    return c.source.substr(0, c.source.size() - kBehind.size());
}

/// Returns the newest versions and the number of the others.
std::string versions_text(const std::vector<Candidate*>& releases) {
    constexpr std::size_t kShown = 5;
    std::vector<const Candidate*> sorted(releases.begin(), releases.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->version > b->version; });
    std::string out;
    for (std::size_t i = 0; i < sorted.size() && i < kShown; ++i) {
        out += (i ? ", " : "") + sorted[i]->version.to_string();
    }
    if (sorted.size() > kShown) out += fmt::format(" and {} older", sorted.size() - kShown);
    return out;
}

}  // namespace

bool Graph::solvable(std::vector<Candidate::Constraint> demands, Candidate::Edge asked) {
    std::swap(demands, root_.constraints);
    steps_ = 0;
    most_steps_ = kStepsEach;
    Considered solution;
    const bool out = walk({std::move(asked)}, {}, &solution);
    std::swap(demands, root_.constraints);
    return out;
}

/// Returns the chain of requirements from `from` to `module`, using the newest release of each
/// module. Empty if there is none.
std::vector<std::string> Graph::chain(const Candidate& from, const std::string& module) const {
    std::vector<std::pair<const Candidate*, std::vector<std::string>>> todo{{&from, {}}};
    std::set<std::string> seen{from.name};
    for (std::size_t i = 0; i < todo.size() && i < kMostDemands; ++i) {
        const Candidate& c = *todo[i].first;
        for (const Candidate::Edge& e : c.dependencies) {
            std::vector<std::string> lines = todo[i].second;
            for (const Candidate::Constraint& d : c.constraints) {
                if (d.module == e.module) {
                    lines.push_back(fmt::format("{} {} wants {} {}", c.name, c.version.to_string(),
                                                e.module, d.text));
                }
            }
            if (e.module == module) return lines;
            if (!e.releases.empty() && seen.insert(e.module).second) {
                todo.emplace_back(e.releases.back(), std::move(lines));
            }
        }
    }
    return {};
}

/// Collects the requirements, direct or indirect, that no release satisfies.
void Graph::explain_missing(const Candidate& from, std::set<std::string>& seen,
                            std::vector<std::string>& lines) const {
    if (!seen.insert(from.name).second || lines.size() > 20) return;
    for (const Candidate::Edge& e : from.dependencies) {
        if (!e.releases.empty()) {
            explain_missing(*e.releases.back(), seen, lines);
            continue;
        }
        std::string range;
        for (const Candidate::Constraint& d : from.constraints) {
            if (d.module == e.module) range = d.text;
        }
        const auto known = cache_.find(e.module);
        const bool any = known != cache_.end() && !known->second.empty();
        lines.push_back(fmt::format("{} {} wants {} {}, and there is {}", from.name,
                                    from.version.to_string(), e.module, range,
                                    any ? versions_text(known->second) : "no such module"));
    }
}

/// Adds the lines that are not there yet.
static void add_new(std::vector<std::string>& to, const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        if (std::find(to.begin(), to.end(), line) == to.end()) to.push_back(line);
}

/// Drops each requirement that is not needed for the conflict. The rest is a minimal unsatisfiable
/// set.
std::vector<Candidate::Constraint> Graph::needed_constraints(const Candidate::Edge& asked) {
    std::vector<Candidate::Constraint> needed = root_.constraints;
    for (std::size_t i = 1; i < needed.size();) {
        auto fewer = needed;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (solvable(fewer, asked)) {
            ++i;
        } else {
            needed = std::move(fewer);
        }
    }
    return needed;
}

/// Explains a conflict with installed modules, and suggests other versions of these.
void Graph::explain_installed(const Candidate::Edge& asked, Explanation& out) {
    const auto needed = needed_constraints(asked);
    std::set<std::string> movable;
    for (std::size_t i = 1; i < needed.size(); ++i) {
        const Candidate::Constraint& c = needed[i];
        add_new(out.wants, chain(*asked.releases.back(), c.module));
        if (const std::string who = who_requires(c); !who.empty()) {
            add_new(out.wants,
                    {fmt::format("{}, which is installed, wants {} {}", who, c.module, c.text)});
        } else {
            add_new(out.wants,
                    {fmt::format("{} is installed, and stays within {}", c.module, c.text)});
            movable.insert(c.module);
        }
    }
    if (needed.size() == 1 && unique_names_)
        add_new(out.wants, {"two modules of one name would be needed"});
    for (const std::string& module : movable) {
        std::vector<Candidate::Constraint> without;
        for (const auto& c : root_.constraints)
            if (c.module != module || c.source != "installed") without.push_back(c);
        if (solvable(without, asked)) {
            out.remedies.push_back(fmt::format(
                "another major version of {}: `module install {} --version RANGE --force`", module,
                module));
        }
    }
}

/// Explains that the module's own dependencies conflict, by a minimal set of them.
void Graph::explain_dependencies(const Candidate::Edge& asked, Explanation& out) {
    const Candidate& newest = *asked.releases.back();
    const std::vector<Candidate::Constraint> alone{root_.constraints.front()};
    Candidate fewer = newest;
    for (std::size_t i = 0; i < fewer.dependencies.size();) {
        Candidate less = fewer;
        const std::string gone = less.dependencies[i].module;
        std::erase_if(less.dependencies, [&](const auto& e) { return e.module == gone; });
        std::erase_if(less.constraints, [&](const auto& c) { return c.module == gone; });
        if (solvable(alone, {asked.module, {&less}})) {
            ++i;
        } else {
            fewer = std::move(less);
        }
    }
    for (const Candidate::Edge& e : fewer.dependencies) {
        for (const Candidate::Constraint& d : newest.constraints) {
            if (d.module == e.module) {
                add_new(out.wants, {fmt::format("{} {} wants {} {}", newest.name,
                                                newest.version.to_string(), e.module, d.text)});
            }
        }
        if (e.releases.empty()) continue;
        const Candidate& first = *e.releases.back();
        for (const Candidate::Constraint& d : first.constraints) {
            add_new(out.wants, {fmt::format("{} {} wants {} {}", first.name,
                                            first.version.to_string(), d.module, d.text)});
        }
    }
}

/// Suggests another version of the requested module that fits the installed ones.
void Graph::suggest_version(const std::string& module, Explanation& out) {
    constexpr std::size_t kMostVersions = 50;
    const auto known = cache_.find(module);
    std::vector<const Candidate*> versions;
    if (known != cache_.end()) versions.assign(known->second.begin(), known->second.end());
    std::sort(versions.begin(), versions.end(),
              [](const auto* a, const auto* b) { return a->version > b->version; });
    const std::vector<Candidate::Constraint> any_version(root_.constraints.begin() + 1,
                                                         root_.constraints.end());
    for (std::size_t i = 0; i < versions.size() && i < kMostVersions; ++i) {
        if (!solvable(any_version, {module, {versions[i]}})) continue;
        out.remedies.push_back(fmt::format("{} {}, which fits: --version {}", module,
                                           versions[i]->version.to_string(),
                                           versions[i]->version.to_string()));
        return;
    }
}

Graph::Explanation Graph::explain() {
    Explanation out;
    const Candidate::Edge asked = root_.dependencies[0];
    if (asked.releases.empty() || root_.constraints.size() > kMostDemands) return out;
    if (solvable({root_.constraints.front()}, asked)) {
        explain_installed(asked, out);
    } else {
        std::set<std::string> seen;
        explain_missing(*asked.releases.back(), seen, out.wants);
        if (out.wants.empty()) explain_dependencies(asked, out);
    }
    suggest_version(asked.module, out);
    out.remedies.emplace_back("this module alone: --ignore-dependencies");
    return out;
}

}  // namespace bunraku::module
