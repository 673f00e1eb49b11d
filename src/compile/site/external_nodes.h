// SPDX-License-Identifier: Apache-2.0
// Runs an external node classifier (node_terminus = exec).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compile/compiler/external_nodes.h"
#include "core/base/arena.h"
#include "core/sys/process.h"

namespace bunraku::site {

/// Runs `external_nodes` (split at spaces, without a shell) with the node's name as the last
/// argument, and parses the YAML that it prints. Returns nullopt if it prints nothing, which means
/// that the node does not exist. Throws base::PuppetError with Puppet's text: "Failed to find x via
/// exec: Execution of '/bin/enc x' returned 1: ...".
std::optional<compiler::Classification> ask_external_nodes(base::Arena& arena,
                                                           sys::Processes& processes,
                                                           std::string_view external_nodes,
                                                           const std::string& node);

}  // namespace bunraku::site
