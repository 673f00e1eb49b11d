// SPDX-License-Identifier: Apache-2.0
// The status of services at the level `debug`, with the names that puppetserver's collectors
// (puppet_metrics_collector, Telegraf) and dashboards read.
#pragma once

#include <string>
#include <string_view>

#include "core/base/counters.h"
#include "services/server/compile_slots.h"

namespace bunraku::server {

/// Names of the histograms of compile durations and of the waiting times before compiles. Both are
/// recorded in microseconds.
inline constexpr std::string_view kCompileTime = "bunraku_catalog_compile_seconds";
inline constexpr std::string_view kCompileWait = "bunraku_compile_wait_seconds";

/// Returns puppetserver's name of a route, such as "puppet-v3-catalog-/*/". Empty if puppetserver
/// does not count the route separately.
std::string puppetserver_route(std::string_view pattern);

/// Describes this process as if it were a JVM.
std::string jvm_metrics();
/// Returns request counts by route.
std::string route_metrics(const base::Counters& counters);
/// Returns statistics of the compile slots, which correspond to puppetserver's JRuby instances.
std::string pool_metrics(const CompileSlots::Figures& figures, const base::Counters& counters);
/// Returns statistics of compiles.
std::string profiler_metrics(const base::Counters& counters);

}  // namespace bunraku::server
