// Time zones by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bunraku::types {

/// Seconds east of UTC of "UTC", "+02:00", "PST", "gmt-3", "Pacific Standard Time".. as Ruby's
/// Date reads them; nullopt: unknown.
std::optional<int> zone_offset(std::string_view zone);
/// How much of the start of `text` Ruby's %z takes as a zone; 0: none.
std::size_t zone_length(std::string_view text);
}  // namespace bunraku::types
