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
    std::string environment;  ///< of the last run; without a run, of the catalog or the facts
    /// Facts and catalog may be of another environment than the last run. Empty if there are none.
    std::string facts_environment, catalog_environment;
    /// Whether the viewer may see them. Packages are sent together with facts.
    bool sees_facts = true, sees_catalog = true;
    bool active = true;  ///< false if the node is deactivated or has expired
};

/// Returns the node in the placeholder {node}. Fails with kNotFound if it is unknown, or if the
/// viewer may not see its environment; the two cases look the same.
base::Result<NodeView> node_of(Visit& visit);

/// Writes that the viewer may not see a part of the node, such as "facts".
void write_hidden(Html& h, std::string_view what);

/// Returns title and tabs of a page of the node. `tab` is the current one, such as "Facts".
Head node_head(const Visit& visit, const NodeView& node, std::string_view tab);

}  // namespace bunraku::console
