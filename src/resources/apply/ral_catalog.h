// SPDX-License-Identifier: Apache-2.0
// The catalog during its application: initialised resources with their aliases and containment.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "resources/apply/resource.h"
#include "resources/catalog/catalog.h"

namespace bunraku::apply {

class RalCatalog {
public:
    explicit RalCatalog(Context& context) : context_(context) {}

    /// Creates every resource. Throws base::PuppetError at the first invalid resource.
    static std::unique_ptr<RalCatalog> from(Context& context, const catalog::Catalog& catalog);

    /// Adds default schedules and the default filebucket, and checks relationships.
    void finalize();

    /// Returns the resource with this title or alias. Ignores the case of the type.
    Resource* find(std::string_view type, std::string_view title) const;
    Resource* find(const Reference& reference) const {
        return find(reference.type, reference.title);
    }
    /// Returns the nearest parent folder of a path that is a resource, or an empty string.
    std::string managed_above(std::string_view path) const;
    /// Looks only for the exact title key, without title patterns.
    bool has_ref(const Resource& resource) const;

    /// Takes ownership of an initialised resource. Throws if it is a duplicate.
    Resource* add(std::unique_ptr<Resource> resource);
    /// Adds a resource directly before or after another one.
    Resource* insert_next_to(const Resource& other, std::unique_ptr<Resource> resource,
                             bool before);
    void add_edge(Resource& container, Resource& member);
    /// Keeps a resource for the run without adding it to the catalog (whits).
    Resource* take_ownership(std::unique_ptr<Resource> resource);

    const std::vector<Resource*>& resources() const { return resources_; }
    Context& context() const { return context_; }

    /// Reports whether a resource is about to be evaluated: all its dependencies have been
    /// evaluated without failure, and it is not skipped. Not set outside a run.
    std::function<bool(const Resource&)> due;

    std::string name, version, environment, code_id, catalog_uuid;
    bool version_is_number = true;
    std::vector<std::string> classes;

private:
    struct TextHash {
        using is_transparent = void;
        // Not noexcept, so that the table stores the hashes and need not recompute them.
        std::size_t operator()(std::string_view s) const {
            return std::hash<std::string_view>{}(s);
        }
    };
    template <class T, class Key = std::string_view>
    using Table = std::unordered_map<Key, T, TextHash, std::equal_to<>>;

    void enter(Resource* resource);
    Table<Resource*>& titles_of(std::string_view type, bool down_cased);
    void add_alias(Resource* resource, const std::vector<std::string>& key, bool from_parameter);

    Context& context_;
    std::vector<std::unique_ptr<Resource>> owned_;
    std::vector<Resource*> resources_;
    /// By capitalised type, then by title. Titles are text of the resource or of the arena.
    Table<Table<Resource*>, std::string> table_;
    std::string last_type_;
    bool last_down_cased_ = false;
    Table<Resource*>* last_titles_ = nullptr;  ///< the titles of `last_type_`
    /// The last result of `managed_above`; consecutive files are often in the same folder.
    struct NearestFolder {
        std::string folder, found;
        std::size_t resources = 0;  ///< number of resources at that time
    };
    mutable NearestFolder above_;
    std::shared_ptr<base::Arena> values_;
};

std::string lowered(std::string_view text);

}  // namespace bunraku::apply
