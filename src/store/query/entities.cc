// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "store/query/entity_parts.h"
#include "store/query/schema.h"

namespace bunraku::query {

namespace entities {

std::string href(const Dialect& dialect, std::string_view path, std::string_view id,
                 std::string_view child) {
    std::string key = id.ends_with(".hash") ? dialect.hex(id) : std::string(id);
    return fmt::format("'/pdb/query/v4/{}/' || {} || '/{}'", path, key, child);
}

}  // namespace entities

const Field* Entity::field(std::string_view wanted) const {
    auto it = std::find_if(fields.begin(), fields.end(),
                           [&](const Field& f) { return f.name == wanted; });
    return it == fields.end() ? nullptr : &*it;
}

const Join* Entity::join(std::string_view alias) const {
    auto it =
        std::find_if(joins.begin(), joins.end(), [&](const Join& j) { return j.alias == alias; });
    return it == joins.end() ? nullptr : &*it;
}

const Relation* Entity::relation(std::string_view other) const {
    auto it = std::find_if(relations.begin(), relations.end(),
                           [&](const Relation& r) { return r.entity == other; });
    return it == relations.end() ? nullptr : &*it;
}

std::vector<std::string_view> Entity::names(std::uint8_t flags) const {
    std::vector<std::string_view> out;
    auto add = [&](const Field& f) {
        if (f.flags & flags) out.push_back(f.name);
    };
    for (std::string_view listed_name : listed) add(*field(listed_name));
    for (const Field& f : fields) {
        if (std::find(listed.begin(), listed.end(), f.name) == listed.end()) add(f);
    }
    return out;
}

const Entity* find_entity(std::string_view name) {
    for (auto all :
         {entities::of_nodes, entities::of_facts, entities::of_catalogs, entities::of_reports}) {
        for (const Entity& e : all()) {
            if (e.name == name) return &e;
        }
    }
    return nullptr;
}

std::vector<const Entity*> all_entities() {
    std::vector<const Entity*> out;
    for (auto all :
         {entities::of_nodes, entities::of_facts, entities::of_catalogs, entities::of_reports})
        for (const Entity& e : all())
            if (e.top) out.push_back(&e);
    std::ranges::sort(out, {}, [](const Entity* e) { return e->name; });
    return out;
}

std::string entity_name_of(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
}

}  // namespace bunraku::query
