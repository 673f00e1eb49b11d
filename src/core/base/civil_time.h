// The proleptic Gregorian calendar, and times as texts: one writer and one reader of ISO 8601, with
// the latitude that each place allows.
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
/// ISO 8601 week and the year it belongs to.
struct IsoWeek {
    std::int64_t year;
    int week;
};
IsoWeek iso_week(const Civil& date);

/// What a clock and a calendar show.
struct CivilTime : Civil {
    int hour = 0, minute = 0, second = 0, nanosecond = 0;
    int offset = 0;  ///< seconds east of UTC

    std::int64_t days() const { return days_from_civil(year, month, day); }
    /// Since the epoch.
    std::int64_t seconds() const {
        return days() * 86'400 + hour * 3600 + minute * 60 + second - offset;
    }
    std::int64_t milliseconds() const { return seconds() * 1000 + nanosecond / 1'000'000; }
};
CivilTime civil_time(std::int64_t seconds, int nanosecond = 0, int offset = 0);
/// The same for nanoseconds since the epoch (the years 1677 to 2262), and milliseconds.
CivilTime civil_time_ns(std::int64_t ns, int offset = 0);
CivilTime civil_time_ms(std::int64_t ms);
/// Of this machine, at a time.
int local_offset(std::int64_t seconds);
CivilTime local_time_ns(std::int64_t ns);

/// "2026-01-31T10:20:30.123456789+01:00": what stands between date and time, how many digits the
/// fraction has (0: none), and the zone as it looks for UTC ("Z", "+00:00", " +0000").
std::string iso_text(const CivilTime& time, int digits = 0, std::string_view zone = "Z",
                     char between = 'T');
/// "Tue, 15 Nov 1994 08:12:31 GMT" (RFC 9110's IMF-fixdate) for a time in UTC.
std::string rfc1123_text(const CivilTime& time);

/// What a reader takes beside "2026-01-31T10:20:30.5Z" and "2026-01-31 10:20:30+01:00".
enum TimeLatitude : unsigned {
    kStrictTime = 0,
    kZoneOptional = 1,  ///< without one it is UTC
    kBlankBeforeZone = 2,
    /// A date alone, without seconds or minutes, basic ("20260131T102030"), by week or by the day
    /// of the year, "UTC" and "GMT", small letters, hours alone as zone; 24 o'clock.
    kAnyShape = 4,
};
/// The date must exist; a second may be the 60th. A fraction is cut off behind its nanoseconds.
std::optional<CivilTime> parse_iso_time(std::string_view text, unsigned latitude = kStrictTime);
/// "Tue, 02 Jan 2001 03:04:05 +0000", with or without the day's name; without a zone it is UTC.
std::optional<CivilTime> parse_rfc822_time(std::string_view text);

inline constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                               "May",       "June",     "July",     "August",
                                               "September", "October",  "November", "December"};
inline constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                             "Thursday", "Friday", "Saturday"};

}  // namespace bunraku::base
