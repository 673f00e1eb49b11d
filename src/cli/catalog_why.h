// SPDX-License-Identifier: Apache-2.0
// `catalog why NODE`: explains why a server compiles a node's catalog or returns it from its cache.
#pragma once

#include <string>

#include "core/config/settings.h"

namespace bunraku::cli {

/// Requests the last decision about the node from the server at `url` with this machine's
/// certificate, and prints it as text or JSON. If `url` is empty, the settings server and
/// serverport are used. Returns the exit code. Throws base::PuppetError.
int explain_cache(const config::Settings& settings, const std::string& node, std::string url,
                  bool json);

}  // namespace bunraku::cli
