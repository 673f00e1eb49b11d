// What a service says of itself at the level `debug`, under the names that puppetserver's
// collectors (puppet_metrics_collector, Telegraf) and dashboards read.
#pragma once

#include <string>
#include <string_view>

#include "core/base/counters.h"
#include "services/server/compile_slots.h"

namespace bunraku::server {

/// Microseconds that a compile took, and those it had waited for its turn.
inline constexpr std::string_view kCompileTime = "bunraku_catalog_compile_seconds";
inline constexpr std::string_view kCompileWait = "bunraku_compile_wait_seconds";

/// How puppetserver calls a route of ours: "puppet-v3-catalog-/*/"; empty: it is none of those
/// that it counts apart.
std::string puppetserver_route(std::string_view pattern);

/// Of this process, as if it were a JVM.
std::string jvm_metrics();
/// Requests by route.
std::string route_metrics(const base::Counters& counters);
/// What compiles is what puppetserver calls a JRuby.
std::string pool_metrics(const CompileSlots::Figures& figures, const base::Counters& counters);
/// Compiles.
std::string profiler_metrics(const base::Counters& counters);

}  // namespace bunraku::server
