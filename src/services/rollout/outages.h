// SPDX-License-Identifier: Apache-2.0
// Periods in which a server could not reach the store. The events of a rollout record them, so that
// the silence of a node can be measured across restarts.
#pragma once

#include <cstdint>
#include <vector>

#include "services/rollout/judge.h"
#include "store/engine/rollouts.h"

namespace bunraku::rollout {

/// Shorter outages, in milliseconds, are not recorded. Servers are seen every 30 seconds.
inline constexpr std::int64_t kLeastOutage = 5LL * 60 * 1000;

/// Returns the outages that the events of a rollout record.
base::Result<std::vector<Outage>> read_outages(store::Database& db, std::int64_t rollout);

/// Adds an event with an outage.
base::Result<void> add_outage(store::Writer& writer, const store::RolloutRow& row,
                              const Outage& outage);

}  // namespace bunraku::rollout
