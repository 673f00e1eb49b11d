// What puppetserver's own files (conf.d/webserver.conf, conf.d/puppetserver.conf) say.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "net/http/server.h"

namespace bunraku::server {

/// Returns the listeners that webserver.conf names by ssl-host, ssl-port, host and port, with the
/// defaults of puppetserver's web server; none if there is no such file, or it names none of them.
base::Result<std::vector<http::Listener>> webserver_listeners(const config::Settings& settings);

/// Returns the value of a number that puppetserver.conf gives below `jruby-puppet`; empty: none.
std::string jruby_setting(const config::Settings& settings, const std::string& name);

/// Logs a line for each thing in the configuration that this server does not honour: settings of
/// puppet.conf without effect or that nobody knows, and entries of puppetserver's files.
void report_unhonoured(const config::Settings& settings, base::LogSink& log);

}  // namespace bunraku::server
