// SPDX-License-Identifier: Apache-2.0
// Converts timestamps and timespans to and from text with Puppet's format directives and time
// zones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/value/time.h"

namespace bunraku::types {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// All of these functions throw base::PuppetError with Puppet's texts.

/// An empty `format` means the default formats. Several formats are tried in order.
value::Nanoseconds parse_timespan(std::string_view text,
                                  std::span<const std::string_view> formats = {});
/// Formats a timespan with strftime directives: %D %H %M %S %L %N with the flags - 0 _ ^ and
/// widths.
std::string format_timespan(value::Nanoseconds nanoseconds, std::string_view format);
/// "0-01:00:00.0"
std::string timespan_text(value::Nanoseconds nanoseconds);
value::Nanoseconds timespan_from_fields(bool negative, std::int64_t days, std::int64_t hours,
                                        std::int64_t minutes, std::int64_t seconds,
                                        std::int64_t milliseconds, std::int64_t microseconds,
                                        std::int64_t nanoseconds);

/// If `timezone` is empty, the time zone in the text applies, or UTC if the text has none.
value::Nanoseconds parse_timestamp(std::string_view text,
                                   std::span<const std::string_view> formats = {},
                                   std::string_view timezone = {});
/// Formats like Ruby's Time#strftime in the given time zone. An empty zone means UTC; "current"
/// means the machine's zone.
std::string format_timestamp(value::Nanoseconds nanoseconds, std::string_view format,
                             std::string_view timezone = {});
/// "2016-01-01T00:00:00.000000000 UTC"
std::string timestamp_text(value::Nanoseconds nanoseconds);
/// Returns the offset in seconds east of UTC. Throws "Illegal timezone 'x'".
int utc_offset(std::string_view timezone);

/// Adds two values. Throws if the result is out of range.
value::Nanoseconds add_nanoseconds(value::Nanoseconds a, value::Nanoseconds b);
/// Converts seconds to nanoseconds and truncates the fraction.
value::Nanoseconds seconds_to_nanoseconds(double seconds);

}  // namespace bunraku::types
