// The catalog under construction: who is in it, under which names, and who contains whom
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

    /// A resource that is in no catalog yet.
    Resource& allocate();
    /// Throws where its title, name or alias is taken.
    void add(Resource& resource);
    /// `container` contains `resource`.
    void add_edge(Resource& container, Resource& resource);

    /// By type and title, aliases and other spellings of the name included; null: not there.
    Resource* find(std::string_view type, std::string_view title);
    Resource* find(const types::Reference& reference) {
        return find(reference.type_name, reference.title);
    }
    /// By "Type[title]"; throws where the text is no reference.
    Resource* find_reference(std::string_view reference);
    /// Another resource with the same name (not title) as this one, which is not in the catalog
    /// yet.
    Resource* find_by_name(const Resource& resource);

    /// All of them, in the order in which they came; a resource knows its position.
    std::span<Resource* const> all() const { return all_; }
    /// Of a capitalised type. What is added later is seen through the reference.
    const base::ArenaVector<Resource*>& of_type(std::string_view type);
    /// Further names of a resource; the parts of a composite one are joined by NUL.
    std::span<const std::string_view> aliases(const Resource& resource) const;

    /// Every resource stands where it says, under its own title, and edges have two ends.
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
            // Titles tell more than types: a type's length is enough.
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
