// SPDX-License-Identifier: Apache-2.0
// Settings that Puppet does not have. Most of them are PuppetDB's.
#pragma once

#include <string>
#include <string_view>

#include "core/config/settings.h"

namespace bunraku::config {

/// Returns the text of "node_ttl" or "node-ttl", or an empty text if neither is set.
std::string aliased_setting(const Settings& settings, std::string_view name);

}  // namespace bunraku::config
