// Asking an external node classifier (node_terminus = exec).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compile/compiler/external_nodes.h"
#include "core/base/arena.h"
#include "core/sys/process.h"

namespace bunraku::site {

/// Runs `external_nodes` (split at blanks, no shell) with the node's name behind and reads the YAML
/// it prints. nullopt: it printed nothing, there is no such node. Throws base::PuppetError with
/// Puppet's text: "Failed to find x via exec: Execution of '/bin/enc x' returned 1: ...".
std::optional<compiler::Classification> ask_external_nodes(base::Arena& arena,
                                                           sys::Processes& processes,
                                                           std::string_view external_nodes,
                                                           const std::string& node);

}  // namespace bunraku::site
