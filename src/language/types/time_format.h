// Timestamps and timespans as text: Puppet's parse and format directives, and time zones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/value/time.h"

namespace bunraku::types {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// All of these throw base::PuppetError with Puppet's texts.

/// `format` empty: the default formats. Several formats are tried in order.
value::Nanoseconds parse_timespan(std::string_view text,
                                  std::span<const std::string_view> formats = {});
/// strftime for a timespan: %D %H %M %S %L %N with flags - 0 _ ^ and widths.
std::string format_timespan(value::Nanoseconds nanoseconds, std::string_view format);
/// "0-01:00:00.0"
std::string timespan_text(value::Nanoseconds nanoseconds);
value::Nanoseconds timespan_from_fields(bool negative, std::int64_t days, std::int64_t hours,
                                        std::int64_t minutes, std::int64_t seconds,
                                        std::int64_t milliseconds, std::int64_t microseconds,
                                        std::int64_t nanoseconds);

/// `timezone` empty: the one in the text, or UTC.
value::Nanoseconds parse_timestamp(std::string_view text,
                                   std::span<const std::string_view> formats = {},
                                   std::string_view timezone = {});
/// Ruby's Time#strftime in the time zone (empty: UTC; "current": the machine's).
std::string format_timestamp(value::Nanoseconds nanoseconds, std::string_view format,
                             std::string_view timezone = {});
/// "2016-01-01T00:00:00.000000000 UTC"
std::string timestamp_text(value::Nanoseconds nanoseconds);
/// Seconds east of UTC; throws "Illegal timezone 'x'".
int utc_offset(std::string_view timezone);

/// Adds; throws where no value can hold the result.
value::Nanoseconds add_nanoseconds(value::Nanoseconds a, value::Nanoseconds b);
/// Seconds as nanoseconds, the fraction cut.
value::Nanoseconds seconds_to_nanoseconds(double seconds);

}  // namespace bunraku::types
