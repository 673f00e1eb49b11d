// Pluginsync: the plugins of an environment's modules are brought to the machine before facts are
// gathered (Puppet 8.11, configurer/plugin_handler.rb).
#pragma once

#include "core/config/settings.h"
#include "core/sys/system.h"
#include "resources/apply/context.h"

namespace bunraku::agent {

/// Makes `plugindest` and `pluginfactdest` what the mounts of `settings` hold, with the engine that
/// applies catalogs: what is there no more is removed. Throws base::PuppetError "Failed to retrieve
/// plugin: ..", or logs it where the setting ignore_plugin_errors is true. Gives the paths that
/// changed.
std::vector<std::string> synchronize_plugins(const config::Settings& settings, sys::System& system,
                                             base::LogSink& log, apply::ContentSource& content,
                                             const std::string& environment,
                                             const std::function<apply::StopRequest()>& stop);

}  // namespace bunraku::agent
