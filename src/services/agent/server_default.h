// SPDX-License-Identifier: Apache-2.0
// The missing default of the setting `server` from OpenVox 9 on.
#pragma once

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"

namespace bunraku::agent {

/// Fails at OpenVox 9's level if `server` is not set. Other users than root also get a deprecation
/// warning, and their requests to the certificate authority need only `ca_server` (`authority`).
/// Does nothing at older levels, or if `server_list` is set.
base::Result<void> check_server_setting(const config::Settings& settings, base::LogSink& log,
                                        bool authority);

}  // namespace bunraku::agent
