// SPDX-License-Identifier: Apache-2.0
// The status of the server: /status/v1, /pdb/meta/v1, /metrics, and retired routes.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/base/counters.h"
#include "net/http/router.h"
#include "services/server/role.h"

namespace bunraku::server {

/// The version of PuppetDB whose API the store implements. Clients read it to find out what they
/// may send.
inline constexpr std::string_view kPuppetdbVersion = "8.8.1";

/// Adds the status routes. `services` is called for every response. All arguments must outlive the
/// router.
void mount_status(http::Router& router, std::function<std::vector<ServiceStatus>()> services);
void mount_meta(http::Router& router);
void mount_metrics(http::Router& router, const base::Counters& counters);

/// Adds /metrics/v2, which exposes the counters in Jolokia's format for PuppetDB's dashboards.
void mount_jolokia(http::Router& router, const base::Counters& counters, http::Access access);

}  // namespace bunraku::server
