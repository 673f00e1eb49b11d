// SPDX-License-Identifier: Apache-2.0
// Times in the wire formats: ISO 8601 with milliseconds and a time zone.
#pragma once

#include "core/base/civil_time.h"

namespace bunraku::catalog {

/// Formats milliseconds since the epoch as "2023-11-14T22:13:20.125Z".
inline std::string format_wire_time(std::int64_t milliseconds) {
    return base::iso_text(base::civil_time_ms(milliseconds), 3);
}
/// Parses a date and time with seconds, an optional fraction, and "Z" or an offset ("+01:00",
/// "+0100"). The date must exist.
inline std::optional<std::int64_t> parse_wire_time(std::string_view text) {
    return base::parse_iso_time(text).transform(&base::CivilTime::milliseconds);
}

}  // namespace bunraku::catalog
