// SPDX-License-Identifier: Apache-2.0
// The proleptic Gregorian calendar, and one writer and one reader of ISO 8601 times. The caller
// chooses how strict the reader is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bunraku::base {

struct Civil {
    std::int64_t year = 1970;
    int month = 1, day = 1;
};

/// Days since 1970-01-01.
std::int64_t days_from_civil(std::int64_t year, int month, int day);
Civil civil_from_days(std::int64_t days);
/// 0 is Sunday.
int weekday(std::int64_t days);
/// 1 is the first of January.
int day_of_year(const Civil& date);
/// An ISO 8601 week and the year that it belongs to.
struct IsoWeek {
    std::int64_t year;
    int week;
};
IsoWeek iso_week(const Civil& date);

/// A date and a time of day.
struct CivilTime : Civil {
    int hour = 0, minute = 0, second = 0, nanosecond = 0;
    int offset = 0;  ///< seconds east of UTC

    std::int64_t days() const { return days_from_civil(year, month, day); }
    /// Returns the seconds since the epoch.
    std::int64_t seconds() const {
        return days() * 86'400 + hour * 3600 + minute * 60 + second - offset;
    }
    std::int64_t milliseconds() const { return seconds() * 1000 + nanosecond / 1'000'000; }
};
/// Returns the time for seconds since the epoch, which may exceed 64 bits.
CivilTime civil_time(__int128 seconds, int nanosecond = 0, int offset = 0);
/// Returns the time for nanoseconds since the epoch (the years 1677 to 2262), or milliseconds.
CivilTime civil_time_ns(std::int64_t ns, int offset = 0);
CivilTime civil_time_ms(std::int64_t ms);
/// Returns the offset of this machine's time zone at a given time.
int local_offset(std::int64_t seconds);
CivilTime local_time_ns(std::int64_t ns);

/// Formats as "2026-01-31T10:20:30.123456789+01:00". The parameters are the number of digits in the
/// fraction (0 means no fraction), the form of the zone as written for UTC ("Z", "+00:00", "
/// +0000"), and the character between date and time.
std::string iso_text(const CivilTime& time, int digits = 0, std::string_view zone = "Z",
                     char between = 'T');
/// Formats a UTC time as "Tue, 15 Nov 1994 08:12:31 GMT" (RFC 9110's IMF-fixdate).
std::string rfc1123_text(const CivilTime& time);

/// Forms that a reader accepts in addition to "2026-01-31T10:20:30.5Z" and "2026-01-31
/// 10:20:30+01:00".
enum TimeLatitude : unsigned {
    kStrictTime = 0,
    kZoneOptional = 1,  ///< a time without a zone is UTC
    kBlankBeforeZone = 2,
    /// A date alone, a time without seconds or minutes, the basic format ("20260131T102030"), a
    /// date by week or by day of the year, "UTC" and "GMT", lower-case letters, a zone of hours
    /// alone, and 24 o'clock.
    kAnyShape = 4,
};
/// Reads an ISO 8601 time. The date must exist; the second may be 60. Digits after the nanoseconds
/// are dropped.
std::optional<CivilTime> parse_iso_time(std::string_view text, unsigned latitude = kStrictTime);
/// Reads "Tue, 02 Jan 2001 03:04:05 +0000". The day's name is optional, and a time without a zone
/// is UTC.
std::optional<CivilTime> parse_rfc822_time(std::string_view text);

inline constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                               "May",       "June",     "July",     "August",
                                               "September", "October",  "November", "December"};
inline constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                             "Thursday", "Friday", "Saturday"};

}  // namespace bunraku::base
