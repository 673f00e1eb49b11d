// SPDX-License-Identifier: Apache-2.0
#include "core/base/civil_time.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

#include "core/base/assert.h"

namespace bunraku::base {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_digits(std::string& out, std::int64_t n, std::size_t width) {
    char digits[20];
    std::size_t at = sizeof digits;
    for (auto u = static_cast<std::uint64_t>(n < 0 ? -n : n); u != 0; u /= 10) {
        digits[--at] = static_cast<char>('0' + u % 10);
    }
    if (n < 0) out += '-';
    const std::size_t taken = sizeof digits - at;
    if (taken < width) out.append(width - taken, '0');
    out.append(digits + at, sizeof digits - at);
}

}  // namespace

std::int64_t days_from_civil(std::int64_t year, int month, int day) {
    BUNRAKU_ASSERT(month >= 1 && month <= 12);
    year -= month <= 2;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const std::int64_t yoe = year - era * 400;
    const std::int64_t doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    const std::int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146'097 + doe - 719'468;
}

Civil civil_from_days(std::int64_t days) {
    days += 719'468;
    const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
    const std::int64_t doe = days - era * 146'097;
    const std::int64_t yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
    const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    const int mp = static_cast<int>((5 * doy + 2) / 153);
    Civil out;
    out.day = static_cast<int>(doy) - (153 * mp + 2) / 5 + 1;
    out.month = mp < 10 ? mp + 3 : mp - 9;
    out.year = yoe + era * 400 + (out.month <= 2);
    BUNRAKU_ASSERT(out.month >= 1 && out.month <= 12 && out.day >= 1 && out.day <= 31);
    BUNRAKU_ASSERT(days_from_civil(out.year, out.month, out.day) == days - 719'468);
    return out;
}

int weekday(std::int64_t days) {
    const auto w = static_cast<int>((days + 4) % 7);
    return w < 0 ? w + 7 : w;
}

int day_of_year(const Civil& date) {
    return static_cast<int>(days_from_civil(date.year, date.month, date.day) -
                            days_from_civil(date.year, 1, 1)) +
           1;
}

IsoWeek iso_week(const Civil& date) {
    const std::int64_t days = days_from_civil(date.year, date.month, date.day);
    // A week belongs to the year that contains its Thursday.
    const std::int64_t thursday = days - (weekday(days) + 6) % 7 + 3;
    const std::int64_t year = civil_from_days(thursday).year;
    return {year, static_cast<int>((thursday - days_from_civil(year, 1, 1)) / 7) + 1};
}

CivilTime civil_time(__int128 seconds, int nanosecond, int offset) {
    const __int128 local = seconds + offset;
    auto days = static_cast<std::int64_t>(local / 86'400);
    auto rest = static_cast<int>(local % 86'400);
    if (rest < 0) rest += 86'400, --days;
    BUNRAKU_ASSERT(rest >= 0 && rest < 86'400);
    return {civil_from_days(days), rest / 3600, rest / 60 % 60, rest % 60, nanosecond, offset};
}

namespace {

/// Returns the time `n` units after the epoch, where `parts` units make one second.
CivilTime civil_parts(std::int64_t n, std::int64_t parts, int offset) {
    const std::int64_t rest = (n % parts + parts) % parts;
    BUNRAKU_ASSERT(parts > 0 && kSecond % parts == 0);
    BUNRAKU_ASSERT(rest >= 0 && rest < parts);
    return civil_time(n / parts - (n % parts < 0 ? 1 : 0),
                      static_cast<int>(rest * (kSecond / parts)), offset);
}

}  // namespace

CivilTime civil_time_ns(std::int64_t ns, int offset) { return civil_parts(ns, kSecond, offset); }
CivilTime civil_time_ms(std::int64_t ms) { return civil_parts(ms, 1000, 0); }

int local_offset(std::int64_t seconds) {
    const std::time_t t = seconds;
    std::tm local{};
    return ::localtime_r(&t, &local) ? static_cast<int>(local.tm_gmtoff) : 0;
}

CivilTime local_time_ns(std::int64_t ns) {
    return civil_time_ns(ns, local_offset(ns / kSecond - (ns % kSecond < 0 ? 1 : 0)));
}

std::string iso_text(const CivilTime& time, int digits, std::string_view zone, char between) {
    std::string out;
    out.reserve(40);
    const auto part = [&](std::int64_t n, std::size_t width, char end) {
        append_digits(out, n, width);
        if (end != '\0') out += end;
    };
    part(time.year, 4, '-');
    part(time.month, 2, '-');
    part(time.day, 2, between);
    part(time.hour, 2, ':');
    part(time.minute, 2, ':');
    part(time.second, 2, '\0');
    if (digits > 0) {
        out += '.';
        part(time.nanosecond, 9, '\0');
        out.resize(out.size() - 9 + static_cast<std::size_t>(std::min(digits, 9)));
    }
    const std::size_t sign = zone.find('+');
    out += zone.substr(0, sign);
    if (sign == std::string_view::npos) return out;
    const int minutes = time.offset / 60;
    out += minutes < 0 ? '-' : '+';
    part(std::abs(minutes) / 60, 2, zone.find(':') == std::string_view::npos ? '\0' : ':');
    part(std::abs(minutes) % 60, 2, '\0');
    return out;
}

std::string rfc1123_text(const CivilTime& t) {
    return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                       kDays[weekday(t.days())].substr(0, 3), t.day,
                       kMonths[t.month - 1].substr(0, 3), t.year, t.hour, t.minute, t.second);
}

namespace {

/// Reads a time part by part. Each function reports whether its part is present.
class TimeReader {
public:
    explicit TimeReader(std::string_view text) : rest_(text) {}

    bool iso(unsigned latitude) {
        const bool any = (latitude & kAnyShape) != 0;
        if (!number(4, 4, &year_)) return false;
        if (!(any ? date()
                  : take('-') && number(2, 2, &time_.month) && take('-') &&
                        number(2, 2, &time_.day))) {
            return false;
        }
        bool clock_follows = take('T') || (any && take('t'));
        // A T without a time after it means midnight.
        clock_follows = clock_follows ? !any || !rest_.empty() : take(' ');
        if (!clock_follows && !any) return false;
        if (clock_follows && !clock(any)) return false;
        return zone(latitude) && exists(any ? 24 : 23);
    }

    bool rfc822() {
        if (const std::size_t comma = rest_.find(','); comma != std::string_view::npos) {
            rest_.remove_prefix(comma + 1);
        }
        blanks();
        if (!number(1, 2, &time_.day) || !take(' ')) return false;
        const auto month = std::ranges::find_if(
            kMonths, [&](std::string_view name) { return rest_.starts_with(name.substr(0, 3)); });
        if (month == std::end(kMonths)) return false;
        time_.month = static_cast<int>(month - kMonths) + 1;
        rest_.remove_prefix(3);
        return take(' ') && number(4, 4, &year_) && take(' ') && clock(true) &&
               zone(kZoneOptional | kBlankBeforeZone | kAnyShape) && exists(24);
    }

    CivilTime time() const {
        CivilTime out = time_;
        out.year = year_;
        return out;
    }

private:
    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void blanks() {
        while (take(' ')) {
        }
    }
    bool digit_follows() const { return !rest_.empty() && is_digit(rest_.front()); }
    bool number(std::size_t least, std::size_t most, int* out) {
        std::size_t n = 0;
        int v = 0;
        while (n < most && n < rest_.size() && is_digit(rest_[n])) v = v * 10 + (rest_[n++] - '0');
        if (n < least) return false;
        rest_.remove_prefix(n);
        *out = v;
        return true;
    }
    void set_date(std::int64_t days) {
        const Civil date = civil_from_days(days);
        year_ = static_cast<int>(date.year);
        time_.month = date.month;
        time_.day = date.day;
    }
    bool exists(int last_hour) const {
        const CivilTime t = time();
        if (t.month < 1 || t.month > 12 || t.day < 1 || t.hour > last_hour || t.minute > 59 ||
            t.second > 60) {
            return false;
        }
        return civil_from_days(t.days()).month == t.month;
    }

    /// Reads the part after the year: "-01-31", "0131", "-1", "-031", "-W05-6".
    bool date() {
        const bool extended = take('-');
        if (extended && take('W')) {
            // Monday of the week if no day is given.
            int week = 0, day = 1;
            if (!number(2, 2, &week) || week < 1 || week > 53) return false;
            if (take('-') && (!number(1, 1, &day) || day < 1 || day > 7)) return false;
            const std::int64_t fourth = days_from_civil(year_, 1, 4);
            set_date(fourth - (weekday(fourth) + 6) % 7 + (week - 1) * 7 + day - 1);
            return true;
        }
        const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        if (digits == 3) {
            int ordinal = 0;
            number(3, 3, &ordinal);
            if (ordinal < 1 || ordinal > 366) return false;
            set_date(days_from_civil(year_, 1, 1) + ordinal - 1);
            return true;
        }
        if (!number(1, 2, &time_.month)) return false;
        const bool day_follows = extended ? take('-') : digit_follows();
        return !day_follows || number(1, 2, &time_.day);
    }

    bool clock(bool any) {
        if (!number(2, 2, &time_.hour)) return false;
        const bool colon = take(':');
        if (!any && !colon) return false;
        if (any && !digit_follows()) return !colon;
        if (!number(2, 2, &time_.minute)) return false;
        const bool more = colon ? take(':') : digit_follows();
        if (more ? !number(2, 2, &time_.second) : !any) return false;
        if (!take('.') && !take(',')) return true;
        std::size_t n = 0;
        for (int scale = kSecond / 10; digit_follows(); ++n, scale /= 10) {
            time_.nanosecond += (rest_.front() - '0') * scale;
            rest_.remove_prefix(1);
        }
        return n > 0 && (any || n <= 9);
    }

    /// Reads "Z", "+01:00", "-0100" or "+01", which must end the text.
    bool zone(unsigned latitude) {
        const bool any = (latitude & kAnyShape) != 0;
        if ((latitude & kBlankBeforeZone) != 0) blanks();
        if (rest_.empty()) return (latitude & kZoneOptional) != 0;
        if (take('Z') || (any && take('z'))) return rest_.empty();
        if (any && (rest_ == "UTC" || rest_ == "GMT")) return true;
        const int sign = take('+') ? 1 : take('-') ? -1 : 0;
        int h = 0, m = 0;
        if (sign == 0 || !number(2, 2, &h)) return false;
        const bool colon = take(':');
        if ((colon || !any || !rest_.empty()) && !number(2, 2, &m)) return false;
        if (h > 23 || m > 59 || !rest_.empty()) return false;
        time_.offset = sign * (h * 60 + m) * 60;
        return true;
    }

    std::string_view rest_;
    int year_ = 0;
    CivilTime time_;
};

}  // namespace

std::optional<CivilTime> parse_iso_time(std::string_view text, unsigned latitude) {
    TimeReader reader(text);
    if (!reader.iso(latitude)) return std::nullopt;
    return reader.time();
}

std::optional<CivilTime> parse_rfc822_time(std::string_view text) {
    TimeReader reader(text);
    if (!reader.rfc822()) return std::nullopt;
    return reader.time();
}

}  // namespace bunraku::base
