// Catalogs that others have written.
#pragma once

#include <memory>
#include <string>

#include "resources/catalog/catalog.h"

namespace bunraku::cli {

struct ReadCatalog {
    std::shared_ptr<catalog::Catalog> catalog;
    bool wire = false;  ///< a PuppetDB's form
};

/// A catalog as agents get it, as the catalog APIs answer it, or as a PuppetDB gets it (the command
/// or its payload). `path` is for messages. Throws.
ReadCatalog read_catalog(std::string text, const std::string& path);

}  // namespace bunraku::cli
