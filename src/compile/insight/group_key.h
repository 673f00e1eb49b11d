// SPDX-License-Identifier: Apache-2.0
// The key by which changes of several nodes form one group.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/insight/changes.h"
#include "compile/insight/node_identity.h"

namespace bunraku::insight {

/// Returns the removed and added lines ("-old", "+new") between two multi-line texts. Returns
/// nullopt for other values.
std::optional<std::vector<std::string>> changed_lines(const Change& change);

/// Returns a key that is equal for the same change on different nodes. For multi-line texts it
/// contains only the changed lines. Names and addresses of the node in `identity` are replaced;
/// `identity` may be null.
std::string group_key(const Change& change, const NodeIdentity* identity);

}  // namespace bunraku::insight
