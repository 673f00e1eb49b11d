// SPDX-License-Identifier: Apache-2.0
// The missing default of the setting `server` from OpenVox 9 on.
#pragma once

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"

namespace bunraku::agent {

/// Logs OpenVox 9's deprecation warning if `server` is not set, and fails if it then has no
/// default. `authority` is true for requests to the certificate authority, for which `ca_server`
/// suffices. Does nothing at older levels, or if `server_list` is set.
base::Result<void> check_server_setting(const config::Settings& settings, base::LogSink& log,
                                        bool authority);

}  // namespace bunraku::agent
