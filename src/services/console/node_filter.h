// SPDX-License-Identifier: Apache-2.0
// The nodes that a list shows: filter and order from the address.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/console/visit.h"

namespace bunraku::console {

/// Filter and order of the list of nodes, as in the address.
struct NodeFilter {
    std::string environment, state, code;
    std::string fact, value;      ///< nodes whose fact has this value
    bool missing = false;         ///< nodes without the fact
    std::string pql;              ///< a condition on nodes; may be empty
    std::string columns;          ///< facts, separated by commas; may be empty
    bool default_columns = true;  ///< the address does not name columns
    std::string order;            ///< "state", "name", "-name", "last" or "-last"

    /// The parameters that an address may have, for the table of pages.
    static constexpr std::string_view kParameters =
        "environment state code fact value missing filter order columns after";
    /// Fails with a message for the visitor.
    static base::Result<NodeFilter> of(const Visit& visit);
    /// Returns the address of the list with this filter.
    Url url() const;
    bool is_plain() const {
        return environment.empty() && state.empty() && code.empty() && fact.empty() && pql.empty();
    }
};

/// Returns the nodes in the order of the filter. Only those that the viewer may see.
base::Result<std::vector<const store::NodeRow*>> filtered_nodes(Visit& visit, const Fleet& fleet,
                                                                const NodeFilter& filter);

}  // namespace bunraku::console
