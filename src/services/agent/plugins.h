// SPDX-License-Identifier: Apache-2.0
// Pluginsync: copies the plugins of an environment's modules to the machine before facts are
// gathered (Puppet 8.11, configurer/plugin_handler.rb).
#pragma once

#include "core/config/settings.h"
#include "core/sys/system.h"
#include "resources/apply/context.h"

namespace bunraku::agent {

/// Makes `plugindest` and `pluginfactdest` equal to the server's mounts in `settings`, using the
/// engine that applies catalogs. Removes files that the server no longer has. Throws
/// base::PuppetError "Failed to retrieve plugin: ..", or logs it if the setting
/// ignore_plugin_errors is true. Returns the changed paths.
std::vector<std::string> synchronize_plugins(const config::Settings& settings, sys::System& system,
                                             base::LogSink& log, apply::ContentSource& content,
                                             const std::string& environment,
                                             const std::function<apply::StopRequest()>& stop);

}  // namespace bunraku::agent
