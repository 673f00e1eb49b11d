// SPDX-License-Identifier: Apache-2.0
// The catalog under construction: its resources, their names, and their containment
// (Puppet::Resource::Catalog).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/resource.h"
#include "compile/compiler/resource_types.h"
#include "language/types/type.h"

namespace bunraku::compiler {

class ResourceTable {
public:
    ResourceTable(base::Arena& arena, ResourceTypes& types);

    /// Allocates a resource without adding it to the catalog.
    Resource& allocate();
    /// Adds a resource. Throws if its title, name or alias is taken.
    void add(Resource& resource);
    /// Adds the edge from `container` to the `resource` that it contains.
    void add_edge(Resource& container, Resource& resource);

    /// Finds a resource by type and title, alias or another spelling of its name. Returns null if
    /// there is none.
    Resource* find(std::string_view type, std::string_view title);
    Resource* find(const types::Reference& reference) {
        return find(reference.type_name, reference.title);
    }
    /// Finds a resource by "Type[title]". Throws if the text is not a reference.
    Resource* find_reference(std::string_view reference);
    /// Finds another resource with the same name (not title) as `resource`, which is not in the
    /// catalog yet.
    Resource* find_by_name(const Resource& resource);

    /// Returns all resources in the order of insertion. Resource::position is an index into it.
    std::span<Resource* const> all() const { return all_; }
    /// Returns the resources of a capitalised type. The reference stays valid and shows later
    /// additions.
    const base::ArenaVector<Resource*>& of_type(std::string_view type);
    /// Returns further names of a resource. NUL separates the parts of a composite name.
    std::span<const std::string_view> aliases(const Resource& resource) const;

    /// Reports whether each resource has the right position and title, and whether each edge is
    /// recorded at both ends.
    bool consistent() const;

private:
    void alias(Resource& resource, std::string_view key, bool from_name);
    void create_aliases(Resource& resource);
    static std::string name_alias(const Resource& resource);
    base::ArenaVector<Resource*>& list_of(std::string_view type);

    struct Key {
        std::string_view type, title;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& k) const {
            // Titles differ more than types, so the length of the type is enough.
            return std::hash<std::string_view>()(k.title) + k.type.size();
        }
    };
    base::Arena& arena_;
    ResourceTypes& types_;
    base::ArenaVector<Resource*> all_;
    ArenaMap<std::string_view, base::ArenaVector<Resource*>> by_type_;
    ArenaMap<Key, Resource*, KeyHash> by_name_;
    ArenaMap<const Resource*, base::ArenaVector<std::string_view>> aliases_;
};

}  // namespace bunraku::compiler
