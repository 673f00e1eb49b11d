// SPDX-License-Identifier: Apache-2.0
// Containment as nested boxes. A page has a limited number of boxes, whatever the catalog's size.
#pragma once

#include <cstddef>
#include <optional>

#include "services/console/catalog_graph.h"
#include "services/console/html.h"
#include "services/console/url.h"

namespace bunraku::console {

/// The selection that the boxes show.
struct BoxView {
    Url here;                           ///< the address of the catalog
    std::optional<std::size_t> within;  ///< shows only what is in this container
    std::optional<std::size_t> chosen;  ///< the resource that the page explains; highlighted
    /// Page of the outermost level, from 1; 0 means the one with the chosen resource.
    std::size_t page = 0;
};

/// Writes the boxes. Opens the containers of the chosen resource, and all others level by level up
/// to a limit. The remaining containers link to separate pages.
void catalog_boxes(Html& h, const CatalogGraph& graph, const BoxView& view);

/// Returns the address of a catalog with this resource chosen.
Url resource_url(const Url& catalog, const CatalogGraph& graph, std::size_t resource);
/// Writes a resource as a link, with a note if it is exported.
void resource_link(Html& h, const Url& catalog, const CatalogGraph& graph, std::size_t resource);

}  // namespace bunraku::console
