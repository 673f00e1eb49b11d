#include "catalog/diff.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "catalog/index.h"
#include "catalog/parameters.h"

namespace bunraku::catalog {

namespace {

struct Shown {
    std::string json;
    bool sensitive;
};

std::map<std::string, Shown, std::less<>> shown_as_json(const Resource& r, const Naming& naming) {
    std::map<std::string, Shown, std::less<>> out;
    for (const ShownParameter& p : shown_parameters(r, naming)) {
        Shown shown{{}, p.sensitive};
        if (p.value) {
            append_json_parameter(shown.json, p.name, *p.value, ValueForm::Rich, true);
        } else {
            append_json_string(shown.json, p.text);
        }
        out.insert_or_assign(std::string(p.name), std::move(shown));
    }
    return out;
}

/// What is in `a` and not in `b`, in the order of `a`.
std::vector<std::string> missing(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
    std::vector<std::string> sorted = b, out;
    std::sort(sorted.begin(), sorted.end());
    for (const std::string& item : a) {
        if (!std::binary_search(sorted.begin(), sorted.end(), item)) out.push_back(item);
    }
    return out;
}

std::vector<std::string> containers(const Catalog& catalog) {
    std::vector<std::string> out(catalog.resources.size());
    for (const Edge& e : catalog.edges) {
        if (e.source < out.size() && e.target < out.size() && out[e.target].empty()) {
            out[e.target] = catalog.resources[e.source].ref.to_string();
        }
    }
    return out;
}

void compare_parameters(const Resource& a, const Resource& b, const Naming& naming,
                        std::vector<ParameterChange>& out) {
    auto before = shown_as_json(a, naming), after = shown_as_json(b, naming);
    for (auto& [name, old] : before) {
        auto found = after.find(name);
        if (found == after.end()) {
            out.push_back({name, std::move(old.json), std::nullopt, old.sensitive});
        } else if (found->second.json != old.json || found->second.sensitive != old.sensitive) {
            out.push_back({name, std::move(old.json), std::move(found->second.json),
                           old.sensitive || found->second.sensitive});
        }
    }
    for (auto& [name, now] : after) {
        if (!before.contains(name)) {
            out.push_back({name, std::nullopt, std::move(now.json), now.sensitive});
        }
    }
    std::sort(out.begin(), out.end(),
              [](const ParameterChange& x, const ParameterChange& y) { return x.name < y.name; });
}

}  // namespace

CatalogDiff diff(const Catalog& before, const Catalog& after, const DiffOptions& options) {
    const Naming& naming = options.naming ? *options.naming : plain_naming();
    CatalogDiff out;
    Index old_index(before), new_index(after);
    std::vector<std::string> old_containers = containers(before),
                             new_containers = containers(after);
    for (const Resource& r : before.resources) {
        if (!new_index.by_title(r.ref.type, r.ref.title)) out.removed.push_back(r.ref);
    }
    for (std::size_t i = 0; i < after.resources.size(); ++i) {
        const Resource& now = after.resources[i];
        auto at = old_index.by_title(now.ref.type, now.ref.title);
        if (!at) {
            out.added.push_back(now.ref);
            continue;
        }
        const Resource& old = before.resources[*at];
        ResourceChange change{.ref = now.ref};
        compare_parameters(old, now, naming, change.parameters);
        if (options.tags) {
            change.tags_added = missing(now.tags, old.tags);
            change.tags_removed = missing(old.tags, now.tags);
        }
        if (old.exported != now.exported) change.exported = {old.exported, now.exported};
        if (old_containers[*at] != new_containers[i]) {
            change.container = {old_containers[*at], new_containers[i]};
        }
        if (options.places && (old.file != now.file || old.line != now.line)) {
            change.place = {fmt::format("{}:{}", old.file, old.line),
                            fmt::format("{}:{}", now.file, now.line)};
        }
        if (!change.parameters.empty() || !change.tags_added.empty() ||
            !change.tags_removed.empty() || change.exported || change.container || change.place) {
            out.changed.push_back(std::move(change));
        }
    }
    out.classes_added = missing(after.classes, before.classes);
    out.classes_removed = missing(before.classes, after.classes);
    return out;
}

}  // namespace bunraku::catalog
