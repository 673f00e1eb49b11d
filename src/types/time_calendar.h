// Days and dates of the proleptic Gregorian calendar, and time zones by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bunraku::types {

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

/// Seconds east of UTC of "UTC", "+02:00", "PST", "gmt-3", "Pacific Standard Time".. as Ruby's
/// Date reads them; nullopt: unknown.
std::optional<int> zone_offset(std::string_view zone);
/// How much of the start of `text` Ruby's %z takes as a zone; 0: none.
std::size_t zone_length(std::string_view text);
/// Of the machine, at a time.
int local_offset(std::int64_t seconds);

inline constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                               "May",       "June",     "July",     "August",
                                               "September", "October",  "November", "December"};
inline constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                             "Thursday", "Friday", "Saturday"};

}  // namespace bunraku::types
