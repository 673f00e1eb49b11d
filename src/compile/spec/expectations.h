// SPDX-License-Identifier: Apache-2.0
// Tests of a catalog, written in Puppet. The class `expect` of a manifest is checked against the
// catalog that the rest of the manifest compiles to (docs/design/0204).
#pragma once

#include <set>
#include <string>

#include "compile/site/session.h"
#include "resources/catalog/catalog.h"

namespace bunraku::spec {

/// The result of a file's expectations.
struct Expected {
    std::string problem;               ///< failed expectations, one per line; empty if all hold
    std::set<std::string> resources;   ///< tested resources, such as "file[/etc/ntp.conf]"
    std::set<std::string> parameters;  ///< tested class parameters, such as "class[ntp] servers"
};

/// Returns the key of a resource in Expected. It does not depend on the spelling of the type and of
/// class names.
std::string resource_key(std::string_view type, std::string_view title);

/// Evaluates the class `expect` of `file` with the node's facts. `catalog` is the catalog of the
/// file; null if the compile failed with `error`. Throws base::PuppetError if the class itself has
/// an error.
Expected check_expectations(site::Session& session, const std::string& file,
                            const catalog::Catalog* catalog, const std::string& error);

}  // namespace bunraku::spec
