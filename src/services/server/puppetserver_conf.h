// SPDX-License-Identifier: Apache-2.0
// Reads puppetserver's own files (conf.d/webserver.conf, conf.d/puppetserver.conf).
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "net/http/server.h"

namespace bunraku::server {

/// Returns the listeners in webserver.conf (ssl-host, ssl-port, host and port), with the defaults
/// of puppetserver's web server. Empty if the file does not exist or contains none of them.
base::Result<std::vector<http::Listener>> webserver_listeners(const config::Settings& settings);

/// Returns a number below `jruby-puppet` in puppetserver.conf. Empty if it is not set.
std::string jruby_setting(const config::Settings& settings, const std::string& name);

/// Logs a line for each part of the configuration that this server ignores: settings of puppet.conf
/// that are unknown or have no effect, and entries of puppetserver's files.
void report_unhonoured(const config::Settings& settings, base::LogSink& log);

}  // namespace bunraku::server
