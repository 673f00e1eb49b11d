// SPDX-License-Identifier: Apache-2.0
// Compiles each node with its stored facts and compares the result with its stored catalog
// (`migrate check`).
#pragma once

#include <string>
#include <vector>

#include "compile/site/site.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"

namespace bunraku::migration {

/// The result for one node.
struct NodeOutcome {
    enum class State : unsigned char { Same, Different, Failed, Unknown } state = State::Same;
    std::string node, text;
    std::string alike;  ///< text without the node's own name and addresses
};

/// Compares the catalogs of the nodes of `facts_from` (see site::fleet_facts), or only of `nodes`
/// if it is not empty. Throws base::PuppetError if the facts cannot be read.
std::vector<NodeOutcome> compare_stored_catalogs(const config::Settings& settings,
                                                 site::Options options, std::string facts_from,
                                                 std::vector<std::string> nodes,
                                                 base::LogSink& log);

}  // namespace bunraku::migration
