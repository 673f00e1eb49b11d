// Whether a schedule lets a resource be applied now.
#pragma once

#include <cstdint>

#include "resources/apply/resource.h"

namespace bunraku::apply {

/// `previous`: when the resource was looked at last, 0 for never; both in seconds.
bool schedule_matches(const Resource& schedule, std::int64_t previous, std::int64_t now);

}  // namespace bunraku::apply
