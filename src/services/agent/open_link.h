// SPDX-License-Identifier: Apache-2.0
// A connection to the server for commands other than a run. It uses the existing certificate and
// does not request one.
#pragma once

#include <memory>
#include <string>

#include "core/sys/system.h"
#include "services/agent/server_link.h"

namespace bunraku::agent {

/// Error::code if the agent has no certificate.
inline constexpr int kNoCertificate = -101;

/// Connects to the server in the settings, with the environment in the settings. Logs the cause of
/// a failure and returns Puppet's error "No more routes to puppet".
base::Result<std::unique_ptr<ServerLink>> open_link(const config::Settings& settings,
                                                    base::LogSink& log, sys::System& system,
                                                    const std::string& user_agent,
                                                    http::Network* network = nullptr);

}  // namespace bunraku::agent
