// SPDX-License-Identifier: Apache-2.0
// Reads catalogs from files.
#pragma once

#include <memory>
#include <string>

#include "resources/catalog/catalog.h"

namespace bunraku::catalog {

struct ReadCatalog {
    std::shared_ptr<catalog::Catalog> catalog;
    bool wire = false;  ///< true if the catalog is in PuppetDB's wire format
};

/// Parses a catalog in the format for agents, of the catalog APIs, or of PuppetDB (the command or
/// its payload). `path` is used in messages. Throws on errors.
ReadCatalog read_catalog(std::string text, const std::string& path);

}  // namespace bunraku::catalog
