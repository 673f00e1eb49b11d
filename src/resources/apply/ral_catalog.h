// The catalog as it is applied: resources made ready, with their aliases and containment.
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

    /// Makes every resource; throws base::PuppetError at the first one that is not valid.
    static std::unique_ptr<RalCatalog> from(Context& context, const catalog::Catalog& catalog);

    /// Adds default schedules and the default filebucket, checks relationships.
    void finalize();

    /// The resource of a reference, by title or alias. The type in any case.
    Resource* find(std::string_view type, std::string_view title) const;
    Resource* find(const Reference& reference) const {
        return find(reference.type, reference.title);
    }
    /// The nearest folder above a path that is a resource; empty: none is.
    std::string managed_above(std::string_view path) const;
    /// Only by the exact title key, without title patterns.
    bool has_ref(const Resource& resource) const;

    /// Takes over an initialised resource; throws where it is a duplicate.
    Resource* add(std::unique_ptr<Resource> resource);
    /// The same, placed behind (or before) another one.
    Resource* add_beside(const Resource& other, std::unique_ptr<Resource> resource, bool before);
    void add_edge(Resource& container, Resource& member);
    /// Kept for the run, but no resource of the catalog (whits).
    Resource* keep(std::unique_ptr<Resource> resource);

    const std::vector<Resource*>& resources() const { return resources_; }
    Context& context() const { return context_; }

    /// Whether the turn of a resource is about to come: nothing that it waits for is left or has
    /// failed, and it is not skipped. Unset outside of a run.
    std::function<bool(const Resource&)> due;

    std::string name, version, environment, code_id, catalog_uuid;
    bool version_is_number = true;
    std::vector<std::string> classes;

private:
    struct TextHash {
        using is_transparent = void;
        // Not noexcept: then the table keeps the hashes and need not make them again on its way.
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
    /// By capitalised type, then title: a text of the resource, or in the arena.
    Table<Table<Resource*>, std::string> table_;
    std::string last_type_;
    bool last_down_cased_ = false;
    Table<Resource*>* last_titles_ = nullptr;  ///< those of `last_type_`
    /// The last answer of `managed_above`: files come folder by folder.
    struct Above {
        std::string folder, found;
        std::size_t resources = 0;  ///< how many there were
    };
    mutable Above above_;
    std::shared_ptr<base::Arena> values_;
};

/// "foo::bar" -> "Foo::Bar".
std::string capitalized(std::string_view type_name);
std::string lowered(std::string_view text);

}  // namespace bunraku::apply
