// A connection to the server for commands that are no run: with the certificate that is there, none
// is asked for.
#pragma once

#include <memory>
#include <string>

#include "core/sys/system.h"
#include "services/agent/server_link.h"

namespace bunraku::agent {

/// Error::code where there is no certificate to come with.
inline constexpr int kNoCertificate = -101;

/// The server that the settings name, in the environment they name. Errors are Puppet's "No more
/// routes to puppet"; why was logged.
base::Result<std::unique_ptr<ServerLink>> open_link(const config::Settings& settings,
                                                    base::LogSink& log, sys::System& system,
                                                    const std::string& user_agent,
                                                    http::Network* network = nullptr);

}  // namespace bunraku::agent
