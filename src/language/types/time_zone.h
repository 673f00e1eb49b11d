// SPDX-License-Identifier: Apache-2.0
// Time zones by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bunraku::types {

/// Returns the seconds east of UTC for "UTC", "+02:00", "PST", "gmt-3", "Pacific Standard Time" and
/// so on, as Ruby's Date reads them. Returns nullopt if the zone is unknown.
std::optional<int> zone_offset(std::string_view zone);
/// Returns the length of the zone at the start of `text` that Ruby's %z accepts, or 0 if there is
/// none.
std::size_t zone_length(std::string_view text);
}  // namespace bunraku::types
