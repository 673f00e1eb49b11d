// SPDX-License-Identifier: Apache-2.0
// Checks schedules.
#pragma once

#include <cstdint>

#include "resources/apply/resource.h"

namespace bunraku::apply {

/// Reports whether the schedule permits applying a resource now. `previous` is the time when the
/// resource was last checked, or 0 for never. Both times are in seconds.
bool schedule_matches(const Resource& schedule, std::int64_t previous, std::int64_t now);

}  // namespace bunraku::apply
