// `catalog why NODE`: why a server compiles a node's catalog, or gives it from its cache.
#pragma once

#include <string>

#include "core/config/settings.h"

namespace bunraku::cli {

/// Asks the server at `url` (empty: the settings server and serverport) with this machine's
/// certificate, and prints its last decision about the node, as text or JSON. Returns the exit
/// code. Throws base::PuppetError.
int explain_cache(const config::Settings& settings, const std::string& node, std::string url,
                  bool json);

}  // namespace bunraku::cli
