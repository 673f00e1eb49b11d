// SPDX-License-Identifier: Apache-2.0
// The actions of the command `node` that do not use the store.
#pragma once

#include <string>
#include <vector>

#include "compile/site/site.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"

namespace bunraku::agent {

/// `node find`: returns the classes, environment and parameters of a node from `terminus` (plain,
/// exec, yaml, json, rest) in `format` ("", json, yaml). Returns an empty text if the node is not
/// found. Throws on errors.
std::string find_node(const config::Settings& settings, const site::Options& options,
                      const std::string& node, const std::string& terminus,
                      const std::string& format, base::LogSink& log);

/// `node clean`: revokes and removes the certificates, and deletes the cached facts, node objects
/// and reports. `program` is the name of the program for messages. Returns the exit code. Throws on
/// errors.
int clean_nodes(const config::Settings& settings, const std::string& program,
                const std::vector<std::string>& nodes, base::LogSink& log);

}  // namespace bunraku::agent
