// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/bucket_dates.h"

#include <cctype>
#include <charconv>
#include <ctime>
#include <string>
#include <vector>

#include "core/base/text.h"

namespace bunraku::apply {

namespace {

std::optional<int> number(std::string_view text) {
    int n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
    return n;
}

/// Returns 1 for "Jan" or "january", and so on.
std::optional<int> month(std::string_view text) {
    static constexpr std::string_view kMonths[] = {"january",   "february", "march",    "april",
                                                   "may",       "june",     "july",     "august",
                                                   "september", "october",  "november", "december"};
    const std::string name = base::lower(text);
    if (name.size() < 3) return {};
    for (int i = 0; i < 12; ++i)
        if (kMonths[i] == name || kMonths[i].substr(0, 3) == name) return i + 1;
    return {};
}

struct Moment {
    std::optional<int> year, month, day, hour;
    int minute = 0, second = 0;
    std::optional<int> zone;  ///< seconds east of Greenwich

    bool take_date(std::string_view word) {
        const char by = word.find('/') != word.npos ? '/' : '-';
        const auto parts = base::split(word, by);
        if (parts.size() != 3) return false;
        const auto a = number(parts[0]), c = number(parts[2]);
        const auto b = number(parts[1]) ? number(parts[1]) : apply::month(parts[1]);
        if (!a || !b || !c) return false;
        const bool year_first = parts[0].size() > 2;
        year = year_first ? a : c;
        month = b;
        day = year_first ? c : a;
        return true;
    }
    bool take_zone(std::string_view word) {
        if (word == "Z" || word == "UTC" || word == "GMT") {
            zone = 0;
            return true;
        }
        if (word.empty() || (word[0] != '+' && word[0] != '-')) return false;
        std::string digits(word.substr(1));
        std::erase(digits, ':');
        const auto n = number(digits);
        if (!n || digits.size() != 4) return false;
        zone = (*n / 100 * 3600 + *n % 100 * 60) * (word[0] == '-' ? -1 : 1);
        return true;
    }
    bool take_time(std::string_view word) {
        const std::size_t zone_at = word.find_first_of("Z+-");
        if (zone_at != word.npos && !take_zone(word.substr(zone_at))) return false;
        const auto parts = base::split(word.substr(0, zone_at), ':');
        if (parts.size() < 2 || parts.size() > 3) return false;
        const auto h = number(parts[0]), m = number(parts[1]);
        // Ignore fractions of a second.
        const auto s =
            parts.size() > 2 ? number(parts[2].substr(0, parts[2].find('.'))) : std::optional(0);
        if (!h || !m || !s) return false;
        hour = h;
        minute = *m;
        second = *s;
        return true;
    }
    bool take(std::string_view word) {
        if (const auto t = word.find('T'); t != word.npos && t > 0 && word.find(':') != word.npos)
            return take_date(word.substr(0, t)) && take_time(word.substr(t + 1));
        if (word.find(':') != word.npos && word[0] != '+' && word[0] != '-') return take_time(word);
        if (take_zone(word) || take_date(word)) return true;
        if (const auto m = apply::month(word)) {
            month = m;
            return true;
        }
        if (const auto n = number(base::trim(word, ","))) {
            (*n > 31 || day ? year : day) = n;
            return true;
        }
        // The name of a weekday is redundant, so it is skipped.
        static constexpr std::string_view kDays[] = {"mon", "tue", "wed", "thu",
                                                     "fri", "sat", "sun"};
        for (const auto name : kDays)
            if (base::lower(word).starts_with(name)) return true;
        return false;
    }
    bool possible() const {
        return (!month || (*month >= 1 && *month <= 12)) && (!day || (*day >= 1 && *day <= 31)) &&
               (!hour || (*hour >= 0 && *hour <= 24)) && minute >= 0 && minute < 60 &&
               second >= 0 && second <= 60;
    }
};

}  // namespace

std::optional<std::int64_t> bucket_date(std::string_view text, std::int64_t now) {
    Moment moment;
    const auto words = base::words(text);
    if (words.empty()) return {};
    for (const auto word : words)
        if (!moment.take(word)) return {};
    if (!moment.day && !moment.month && !moment.year && !moment.hour) return {};
    if (!moment.possible()) return {};
    const std::time_t today = now;
    std::tm t{};
    ::localtime_r(&today, &t);
    const bool dated = moment.year || moment.month || moment.day;
    if (moment.year) t.tm_year = *moment.year - 1900;
    if (dated) t.tm_mon = moment.month ? *moment.month - 1 : (moment.year ? 0 : t.tm_mon);
    if (dated) t.tm_mday = moment.day.value_or(1);
    t.tm_hour = moment.hour.value_or(0);
    t.tm_min = moment.minute;
    t.tm_sec = moment.second;
    t.tm_isdst = -1;
    if (moment.zone) return ::timegm(&t) - *moment.zone;
    return ::mktime(&t);
}

}  // namespace bunraku::apply
