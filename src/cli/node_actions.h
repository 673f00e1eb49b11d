// What `node` does beside asking the store; inside this folder only.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace bunraku::cli {

/// `node find`: classes, environment and parameters of a node, as `terminus` knows them (plain,
/// exec, yaml, json, rest), printed as `format` ("", json, yaml). Throws.
void find_node(Invocation& invocation, const std::string& node, const std::string& terminus,
               const std::string& format, base::LogSink& log);

/// `node clean`: certificates are revoked and removed, kept facts, node objects and reports are
/// deleted. Gives the exit code; throws.
int clean_nodes(Invocation& invocation, const std::vector<std::string>& nodes, base::LogSink& log);

}  // namespace bunraku::cli
