// What makes changes of two nodes one change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/insight/changes.h"
#include "compile/insight/node_identity.h"

namespace bunraku::insight {

/// The removed and added lines ("-old", "+new") between two texts of several lines; nullopt if the
/// values are anything else.
std::optional<std::vector<std::string>> changed_lines(const Change& change);

/// What two changes have in common if they are the same change of two nodes: of texts of several
/// lines, only the changed lines. `identity` may be null; what belongs to the node alone is left
/// out otherwise.
std::string group_key(const Change& change, const NodeIdentity* identity);

}  // namespace bunraku::insight
