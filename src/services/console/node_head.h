// SPDX-License-Identifier: Apache-2.0
// Functions for the pages of one node: finding the node, its title and tabs.
#pragma once

#include <string_view>

#include "services/console/visit.h"

namespace bunraku::console {

/// The node of a page.
struct NodeView {
    store::NodeRow row;
    State state = State::Never;
    std::string environment;
    bool active = true;  ///< false if the node is deactivated or has expired
};

/// Returns the node in the placeholder {node}. Fails with kNotFound if it is unknown, or if the
/// viewer may not see its environment; the two cases look the same.
base::Result<NodeView> node_of(Visit& visit);

/// Returns title and tabs of a page of the node. `tab` is the current one, such as "Facts".
Head node_head(const Visit& visit, const NodeView& node, std::string_view tab);

}  // namespace bunraku::console
