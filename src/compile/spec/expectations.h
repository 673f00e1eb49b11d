// What people expect of a catalog, written in Puppet: the class `expect` of a manifest says it, and
// is held against what the rest of that manifest compiles to (docs/design/0204).
#pragma once

#include <set>
#include <string>

#include "compile/site/session.h"
#include "resources/catalog/catalog.h"

namespace bunraku::spec {

/// What became of a file's expectations.
struct Expected {
    std::string problem;               ///< what does not hold, a line each; empty: all does
    std::set<std::string> resources;   ///< that were spoken of: "file[/etc/ntp.conf]"
    std::set<std::string> parameters;  ///< of classes: "class[ntp] servers"
};

/// A resource as Expected has it: of whatever spelling of its type, and of a class's name.
std::string resource_key(std::string_view type, std::string_view title);

/// Evaluates the class `expect` of `file` with the node's facts. `catalog` is what the file
/// compiled to; null where it did not, for the reason `error`. Throws base::PuppetError where the
/// class itself is in error.
Expected check_expectations(site::Session& session, const std::string& file,
                            const catalog::Catalog* catalog, const std::string& error);

}  // namespace bunraku::spec
