// SPDX-License-Identifier: Apache-2.0
// The chart of runs over the last 24 hours.
#pragma once

#include <cstdint>
#include <span>

#include "services/console/html.h"
#include "store/engine/runs.h"

namespace bunraku::console {

/// Writes a bar for each half hour with the runs that failed, corrected or changed something, the
/// newest at the right. `slots` are sorted by time.
void activity_chart(Html& h, std::span<const store::RunCounts> slots, std::int64_t now_ms);

}  // namespace bunraku::console
