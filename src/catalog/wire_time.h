// Times of the wire formats: ISO 8601 with milliseconds and a time zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bunraku::catalog {

/// "2023-11-14T22:13:20.125Z" for milliseconds since the epoch.
std::string format_wire_time(std::int64_t milliseconds);
/// Date and time with seconds, an optional fraction, and "Z" or an offset ("+01:00", "+0100"); the
/// day must exist.
std::optional<std::int64_t> parse_wire_time(std::string_view text);

}  // namespace bunraku::catalog
