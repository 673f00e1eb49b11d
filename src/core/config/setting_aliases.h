// Settings that Puppet does not have, most of them PuppetDB's.
#pragma once

#include <string>
#include <string_view>

#include "core/config/settings.h"

namespace bunraku::config {

/// The text of "node_ttl" or "node-ttl"; empty: nobody set it.
std::string aliased_setting(const Settings& settings, std::string_view name);

}  // namespace bunraku::config
