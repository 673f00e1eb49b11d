// SPDX-License-Identifier: Apache-2.0
// The setting `undeclared = remove`, and `rollback: remove` of rollouts: removes resources that
// this agent created and that its catalog declares no longer. docs/design/0402
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/sys/file_system.h"
#include "resources/catalog/catalog.h"

namespace bunraku::agent {

/// The settings `undeclared` and `undeclared_types`.
struct UndeclaredOptions {
    bool remove = false;
    std::vector<std::string> types;  ///< "File", "Service", ..

    /// Fails if a value is invalid.
    static base::Result<UndeclaredOptions> read(const config::Settings& settings);
};

/// Returns all types that can be removed.
std::vector<std::string> removable_types();

/// A resource that may be removed, as the server lists it.
struct Leftover {
    std::string type, title;
    std::string name;  ///< the path or name
    std::vector<std::pair<std::string, std::string>> parameters;
    std::string sha256;  ///< of a file's content

    std::string ref() const { return type + "[" + title + "]"; }
};

/// Reads the response of /bunraku/v1/nodes/NAME/undeclared or of .../removals. Returns the
/// resources of these types that the agent created and that can be removed.
base::Result<std::vector<Leftover>> read_leftovers(std::string_view json,
                                                   const std::vector<std::string>& types);

/// Returns why the resource must stay: the catalog mentions its name, a folder of the catalog
/// manages everything below it, or the file is not the one that was declared. Returns an empty text
/// if it may be removed, and if the file does not exist.
std::string reason_to_keep(const Leftover& leftover, const catalog::Catalog& catalog,
                           sys::FileSystem& files);

/// Adds resources to the catalog that remove the leftovers, with the tag `undeclared`. They are
/// applied after all others. A leftover may be listed twice. Logs what is kept and why.
void add_removals(catalog::Catalog& catalog, std::vector<Leftover> leftovers,
                  sys::FileSystem& files, base::LogSink& log);

}  // namespace bunraku::agent
