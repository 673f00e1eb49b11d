// SPDX-License-Identifier: Apache-2.0
// Containment, relationships and paths in a catalog.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine/catalog_view.h"

namespace bunraku::console {

/// A catalog with the edges of each resource. Resources are positions in `view.resources`.
class CatalogGraph {
public:
    explicit CatalogGraph(store::CatalogView view);

    const store::CatalogView& view() const { return view_; }
    const store::CatalogView::Entry& operator[](std::size_t resource) const {
        return view_.resources[resource];
    }
    std::size_t size() const { return view_.resources.size(); }
    /// Finds "File[/etc/motd]". Types compare without case.
    std::optional<std::size_t> find(std::string_view reference) const;

    /// Returns the resources without a container.
    const std::vector<std::uint32_t>& roots() const { return roots_; }
    const std::vector<std::uint32_t>& children(std::size_t resource) const {
        return children_[resource];
    }
    /// Returns the number of resources in a container, at all depths.
    std::size_t count(std::size_t resource) const { return counts_[resource]; }
    /// Returns the containers of a resource, the outermost first.
    std::vector<std::uint32_t> containers(std::size_t resource) const;

    /// A relationship of a resource with another one.
    struct Link {
        std::uint32_t other = 0;
        catalog::Relationship kind = catalog::Relationship::Before;
    };
    /// Returns the resources that are managed before this one because of a relationship.
    const std::vector<Link>& before(std::size_t resource) const { return before_[resource]; }
    const std::vector<Link>& after(std::size_t resource) const { return after_[resource]; }

    /// A step of a path: the resource, and how the previous one led to it.
    struct Step {
        enum class How : std::uint8_t { Start, Contains, ContainedIn, Before, Notifies } how;
        std::uint32_t resource = 0;
    };
    /// Returns a shortest reason for which `to` is managed after `from`, or an empty path if there
    /// is none. A relationship of a container applies to everything in it.
    std::vector<Step> path(std::size_t from, std::size_t to) const;

private:
    store::CatalogView view_;
    std::vector<std::uint32_t> roots_;
    std::vector<std::vector<std::uint32_t>> children_;
    std::vector<std::uint32_t> parent_;  ///< kNone for roots
    std::vector<std::size_t> counts_;
    std::vector<std::vector<Link>> before_, after_;

    static constexpr std::uint32_t kNone = UINT32_MAX;
};

}  // namespace bunraku::console
