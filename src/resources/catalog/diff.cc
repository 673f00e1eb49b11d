// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/diff.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "resources/catalog/index.h"
#include "resources/catalog/parameters.h"
#include "resources/catalog/relations.h"

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
            codec::append_json_string(shown.json, p.text);
        }
        out.insert_or_assign(std::string(p.name), std::move(shown));
    }
    return out;
}

/// Returns the elements of `a` that are not in `b`, in the order of `a`.
std::vector<std::string> missing(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
    std::vector<std::string> sorted = b, out;
    std::sort(sorted.begin(), sorted.end());
    for (const std::string& item : a) {
        if (!std::binary_search(sorted.begin(), sorted.end(), item)) out.push_back(item);
    }
    BUNRAKU_ASSERT(out.size() <= a.size());
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

std::string json_of(const Value& v) {
    std::string out;
    append_json_value(out, v, ValueForm::Rich, true);
    return out;
}

bool is_plain_hash(const Value& v) {
    return v.is_hash() && !v.as_hash().empty() && !v.as_hash().find("__ptype");
}

std::string loose(const Value& v) {
    base::step();
    if (v.is_string()) return std::string(v.as_string());
    if (v.is_array()) {
        std::string out = "[";
        for (const Value& item : v.as_array()) out += loose(item) + ",";
        return out + "]";
    }
    return json_of(v);
}

/// Appends the differences between `a` and `b`. If both are hashes, it compares them key by key.
void compare_values(std::vector<std::string>& path, const Value& a, const Value& b, bool data_types,
                    std::vector<ValueChange>& out) {
    BUNRAKU_ASSERT(!path.empty() && path.size() <= 100);
    base::step();
    if (is_plain_hash(a) && is_plain_hash(b) && path.size() < 100) {
        const std::size_t depth = path.size();
        auto visit = [&](const Value& key, const Value* x, const Value* y) {
            BUNRAKU_ASSERT(x || y);
            path.push_back(value::to_text(key));
            if (x && y) {
                compare_values(path, *x, *y, data_types, out);
            } else {
                out.push_back({path, x ? std::optional(json_of(*x)) : std::nullopt,
                               y ? std::optional(json_of(*y)) : std::nullopt});
            }
            path.pop_back();
            BUNRAKU_ASSERT(path.size() == depth);
        };
        for (const auto& e : a.as_hash()) visit(e.key, &e.value, b.as_hash().find(e.key));
        for (const auto& e : b.as_hash()) {
            if (!a.as_hash().find(e.key)) visit(e.key, nullptr, &e.value);
        }
        return;
    }
    std::string x = json_of(a), y = json_of(b);
    if (x == y || (!data_types && loose(a) == loose(b))) return;
    out.push_back({path, std::move(x), std::move(y)});
}

void compare_parameters(const Resource& a, const Resource& b, const Naming& naming, bool data_types,
                        std::vector<ParameterChange>& out) {
    auto before = shown_as_json(a, naming), after = shown_as_json(b, naming);
    auto add = [&](const std::string& name, const Shown* old, const Shown* now) {
        BUNRAKU_ASSERT(old || now);
        ParameterChange change{.name = name};
        change.sensitive = (old && old->sensitive) || (now && now->sensitive);
        if (old) change.before = old->json;
        if (now) change.after = now->json;
        if (old && now && old->json != now->json) {
            base::Arena arena(4096);
            auto x = value::parse_json(arena, old->json), y = value::parse_json(arena, now->json);
            std::vector<std::string> path{name};
            if (x && y) compare_values(path, *x, *y, data_types, change.values);
            if (change.values.empty() && old->sensitive == now->sensitive) return;
        }
        if (change.values.empty()) change.values.push_back({{name}, change.before, change.after});
        BUNRAKU_ASSERT(!change.values.empty() && (change.before || change.after));
        BUNRAKU_ASSERT(change.before.has_value() == (old != nullptr) &&
                       change.after.has_value() == (now != nullptr));
        out.push_back(std::move(change));
    };
    for (const auto& [name, old] : before) {
        auto found = after.find(name);
        if (found == after.end()) {
            add(name, &old, nullptr);
        } else if (found->second.json != old.json || found->second.sensitive != old.sensitive) {
            add(name, &old, &found->second);
        }
    }
    for (const auto& [name, now] : after) {
        if (!before.contains(name)) add(name, nullptr, &now);
    }
    std::sort(out.begin(), out.end(),
              [](const ParameterChange& x, const ParameterChange& y) { return x.name < y.name; });
}

std::vector<std::string> relation_texts(const Catalog& catalog, const Naming& naming) {
    std::vector<std::string> out;
    auto all = relations(catalog, naming);
    if (!all) return out;
    for (const Relation& r : *all) {
        BUNRAKU_ASSERT(r.source < catalog.resources.size() && r.target < catalog.resources.size());
        if (r.kind == Relationship::Contains) continue;
        const bool signals =
            r.kind == Relationship::Notifies || r.kind == Relationship::SubscriptionOf;
        out.push_back(fmt::format("{} {} {}", catalog.resources[r.source].ref.to_string(),
                                  signals ? "notifies" : "before",
                                  catalog.resources[r.target].ref.to_string()));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace

CatalogDiff diff(const Catalog& before, const Catalog& after, const DiffOptions& options) {
    const Naming& naming = options.naming ? *options.naming : plain_naming();
    CatalogDiff out;
    Index old_index(before), new_index(after);
    std::vector<std::string> old_containers = containers(before),
                             new_containers = containers(after);
    auto left_out = [&](const Ref& ref) { return !options.classes && ref.type == "Class"; };
    for (const Resource& r : before.resources) {
        if (left_out(r.ref)) continue;
        if (!new_index.by_title(r.ref.type, r.ref.title)) out.removed.push_back(r.ref);
    }
    for (std::size_t i = 0; i < after.resources.size(); ++i) {
        const Resource& now = after.resources[i];
        if (left_out(now.ref)) continue;
        auto at = old_index.by_title(now.ref.type, now.ref.title);
        if (!at) {
            out.added.push_back(now.ref);
            continue;
        }
        BUNRAKU_ASSERT(*at < old_containers.size() && i < new_containers.size());
        const Resource& old = before.resources[*at];
        BUNRAKU_ASSERT(old.ref == now.ref);
        ResourceChange change{.ref = now.ref};
        compare_parameters(old, now, naming, options.data_types, change.parameters);
        if (options.tags) {
            change.tags_added = missing(now.tags, old.tags);
            change.tags_removed = missing(old.tags, now.tags);
        }
        if (old.exported != now.exported) change.exported = {old.exported, now.exported};
        if (options.containers && old_containers[*at] != new_containers[i]) {
            change.container = {old_containers[*at], new_containers[i]};
        }
        if (options.places && (old.file != now.file || old.line != now.line)) {
            change.location = {fmt::format("{}:{}", old.file, old.line),
                               fmt::format("{}:{}", now.file, now.line)};
        }
        if (!change.empty()) out.changed.push_back(std::move(change));
    }
    if (options.relations) {
        auto old = relation_texts(before, naming), now = relation_texts(after, naming);
        out.relations_added = missing(now, old);
        out.relations_removed = missing(old, now);
    }
    BUNRAKU_ASSERT(out.added.size() + out.changed.size() <= after.resources.size());
    BUNRAKU_ASSERT(out.removed.size() <= before.resources.size());
    if (!options.classes) return out;
    out.classes_added = missing(after.classes, before.classes);
    out.classes_removed = missing(before.classes, after.classes);
    return out;
}

}  // namespace bunraku::catalog
