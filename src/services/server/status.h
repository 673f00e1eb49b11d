// How the server is: /status/v1, /pdb/meta/v1, /metrics, and what was retired.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/base/counters.h"
#include "net/http/router.h"
#include "services/server/role.h"

namespace bunraku::server {

/// The version of PuppetDB whose API the store speaks; clients ask for it to know what they may
/// send.
inline constexpr std::string_view kPuppetdbVersion = "8.8.1";

/// `services` is asked for every answer. All must outlive the router.
void mount_status(http::Router& router, std::function<std::vector<ServiceStatus>()> services);
void mount_meta(http::Router& router);
void mount_metrics(http::Router& router, const base::Counters& counters);

/// Counters in the terms of Jolokia: /metrics/v2, as dashboards of PuppetDB read them.
void mount_jolokia(http::Router& router, const base::Counters& counters, http::Access access);

}  // namespace bunraku::server
