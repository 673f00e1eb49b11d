#include "query/time_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "base/text.h"

namespace bunraku::query {

namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kRoman = {"I",   "II",   "III", "IV", "V",  "VI",
                                                     "VII", "VIII", "IX",  "X",  "XI", "XII"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Scan {
    std::string_view rest;
    bool take(char c) {
        if (rest.empty() || rest.front() != c) return false;
        rest.remove_prefix(1);
        return true;
    }
    bool number(std::size_t least, std::size_t most, int* out) {
        std::size_t n = 0;
        int v = 0;
        while (n < most && n < rest.size() && is_digit(rest[n])) v = v * 10 + (rest[n++] - '0');
        if (n < least) return false;
        rest.remove_prefix(n);
        *out = v;
        return true;
    }
};

std::optional<std::int64_t> moment(int y, int mo, int d, int h, int mi, int s, std::int64_t ms,
                                   std::int64_t offset_minutes) {
    year_month_day date{year(y), month(static_cast<unsigned>(mo)), day(static_cast<unsigned>(d))};
    if (!date.ok() || h > 24 || mi > 59 || s > 60) return std::nullopt;
    std::int64_t days = sys_days(date).time_since_epoch().count();
    return (((days * 24 + h) * 60 + mi - offset_minutes) * 60 + s) * 1000 + ms;
}

/// "Z", "+01:00", "-0100", "+01"; nothing is UTC.
bool zone(Scan& scan, std::int64_t* minutes) {
    *minutes = 0;
    while (scan.take(' ')) {
    }
    if (scan.rest.empty()) return true;
    if (scan.take('Z') || scan.take('z')) return scan.rest.empty();
    if (scan.rest == "UTC" || scan.rest == "GMT") {
        scan.rest = {};
        return true;
    }
    int sign = scan.take('+') ? 1 : scan.take('-') ? -1 : 0;
    int h = 0, m = 0;
    if (sign == 0 || !scan.number(2, 2, &h)) return false;
    bool colon = scan.take(':');
    if ((colon || !scan.rest.empty()) && !scan.number(2, 2, &m)) return false;
    if (h > 23 || m > 59 || !scan.rest.empty()) return false;
    *minutes = sign * (h * 60 + m);
    return true;
}

bool clock_time(Scan& scan, int* h, int* mi, int* s, std::int64_t* ms) {
    if (!scan.number(2, 2, h)) return false;
    bool colon = scan.take(':');
    if (scan.rest.empty() || !is_digit(scan.rest.front())) return !colon;
    if (!scan.number(2, 2, mi)) return false;
    bool more = colon ? scan.take(':') : !scan.rest.empty() && is_digit(scan.rest.front());
    if (more && !scan.number(2, 2, s)) return false;
    if (scan.take('.') || scan.take(',')) {
        std::int64_t scale = 100;
        std::size_t n = 0;
        while (!scan.rest.empty() && is_digit(scan.rest.front())) {
            *ms += (scan.rest.front() - '0') * scale;
            scale /= 10;
            scan.rest.remove_prefix(1);
            ++n;
        }
        if (n == 0) return false;
    }
    return true;
}

std::optional<std::int64_t> rfc822(std::string_view text) {
    std::size_t comma = text.find(',');
    Scan scan{comma == std::string_view::npos ? text : text.substr(comma + 1)};
    while (scan.take(' ')) {
    }
    int d = 0, y = 0, h = 0, mi = 0, s = 0, mo = 0;
    std::int64_t ms = 0, offset = 0;
    if (!scan.number(1, 2, &d) || !scan.take(' ')) return std::nullopt;
    for (std::size_t i = 0; i < kMonths.size(); ++i) {
        if (scan.rest.starts_with(kMonths[i].substr(0, 3))) mo = static_cast<int>(i) + 1;
    }
    if (mo == 0) return std::nullopt;
    scan.rest.remove_prefix(3);
    if (!scan.take(' ') || !scan.number(4, 4, &y) || !scan.take(' ') ||
        !clock_time(scan, &h, &mi, &s, &ms) || !zone(scan, &offset)) {
        return std::nullopt;
    }
    return moment(y, mo, d, h, mi, s, ms, offset);
}

/// A year alone, with a sign perhaps, of another length than those that dates have.
std::optional<std::int64_t> lone_year(std::string_view text) {
    Scan scan{text};
    bool before = scan.take('-');
    bool sign = before || scan.take('+');
    std::size_t digits = scan.rest.size();
    constexpr std::size_t kMost = 9, kOrdinal = 7, kDate = 8;
    if (digits > kMost || (!sign && (digits == kOrdinal || digits == kDate))) return std::nullopt;
    int y = 0;
    if (!scan.number(1, kMost, &y) || !scan.rest.empty()) return std::nullopt;
    // Farther away nothing changes in any comparison.
    constexpr int kFarthest = 32'000;
    y = std::min(y, kFarthest);
    return moment(before ? -y : y, 1, 1, 0, 0, 0, 0, 0);
}

std::optional<std::int64_t> iso(std::string_view text) {
    if (auto t = lone_year(text)) return t;
    Scan scan{text};
    int y = 0, mo = 1, d = 1, h = 0, mi = 0, s = 0;
    std::int64_t ms = 0, offset = 0;
    if (!scan.number(4, 4, &y)) return std::nullopt;
    bool extended = scan.take('-');
    if (extended && scan.take('W')) {
        // A week date: Monday of the week where no day is said.
        int week = 0, day_of_week = 1;
        if (!scan.number(2, 2, &week) || week < 1 || week > 53) return std::nullopt;
        if (scan.take('-') &&
            (!scan.number(1, 1, &day_of_week) || day_of_week < 1 || day_of_week > 7)) {
            return std::nullopt;
        }
        sys_days fourth{year(y) / January / 4};
        sys_days monday =
            fourth -
            std::chrono::days(static_cast<int>(std::chrono::weekday{fourth}.iso_encoding()) - 1);
        auto days = monday + std::chrono::days((week - 1) * 7 + day_of_week - 1);
        year_month_day date{days};
        y = static_cast<int>(date.year());
        mo = static_cast<int>(static_cast<unsigned>(date.month()));
        d = static_cast<int>(static_cast<unsigned>(date.day()));
    } else {
        std::size_t digits = 0;
        while (digits < scan.rest.size() && is_digit(scan.rest[digits])) ++digits;
        if (digits == 3) {
            int ordinal = 0;
            scan.number(3, 3, &ordinal);
            if (ordinal < 1 || ordinal > 366) return std::nullopt;
            year_month_day date{sys_days(year(y) / January / 1) + std::chrono::days(ordinal - 1)};
            mo = static_cast<int>(static_cast<unsigned>(date.month()));
            d = static_cast<int>(static_cast<unsigned>(date.day()));
        } else {
            if (!scan.number(1, 2, &mo)) return std::nullopt;
            bool day_follows =
                extended ? scan.take('-') : !scan.rest.empty() && is_digit(scan.rest.front());
            if (day_follows && !scan.number(1, 2, &d)) return std::nullopt;
        }
    }
    bool clock = scan.take('T') || scan.take('t');
    // Nothing behind the T is midnight.
    clock = clock ? !scan.rest.empty() : scan.take(' ');
    if (clock) {
        if (!clock_time(scan, &h, &mi, &s, &ms)) return std::nullopt;
    }
    if (!zone(scan, &offset)) return std::nullopt;
    return moment(y, mo, d, h, mi, s, ms, offset);
}

}  // namespace

std::optional<std::int64_t> parse_query_time(std::string_view text) {
    if (text.size() > 64) return std::nullopt;
    if (auto t = iso(text)) return t;
    return rfc822(text);
}

// --- to_char

namespace {

struct Calendar {
    int y, mo, d, h, mi, s, ms, weekday, yday, iso_year, iso_week;
    std::int64_t days;
};

Calendar calendar(std::int64_t milliseconds) {
    sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds(milliseconds)};
    auto day = floor<days>(at);
    year_month_day date{day};
    hh_mm_ss<std::chrono::milliseconds> time{at - day};
    Calendar c{};
    c.days = day.time_since_epoch().count();
    c.y = static_cast<int>(date.year());
    c.mo = static_cast<int>(static_cast<unsigned>(date.month()));
    c.d = static_cast<int>(static_cast<unsigned>(date.day()));
    c.h = static_cast<int>(time.hours().count());
    c.mi = static_cast<int>(time.minutes().count());
    c.s = static_cast<int>(time.seconds().count());
    c.ms = static_cast<int>(time.subseconds().count());
    c.weekday = static_cast<int>(weekday{day}.c_encoding());
    c.yday = static_cast<int>((day - sys_days(date.year() / January / 1)).count()) + 1;
    auto thursday = day + std::chrono::days(4 - static_cast<int>(weekday{day}.iso_encoding()));
    year_month_day of_thursday{thursday};
    c.iso_year = static_cast<int>(of_thursday.year());
    c.iso_week =
        static_cast<int>((thursday - sys_days(of_thursday.year() / January / 1)).count()) / 7 + 1;
    return c;
}

std::string ordinal(std::int64_t n, bool capitals) {
    std::int64_t last = n % 100;
    std::string_view end = "th";
    if (last < 11 || last > 13) {
        if (n % 10 == 1) end = "st";
        if (n % 10 == 2) end = "nd";
        if (n % 10 == 3) end = "rd";
    }
    return capitals ? base::upper(end) : std::string(end);
}

/// A pattern: its text, and the value as a number with its width, or as text padded to a width.
struct Piece {
    std::string_view pattern;
    enum Kind { Number, Text } kind;
    std::int64_t number = 0;
    int width = 0;
    std::string text;
};

}  // namespace

std::string time_to_char(std::int64_t milliseconds, std::string_view format) {
    Calendar c = calendar(milliseconds);
    auto num = [](std::string_view p, std::int64_t n, int width) {
        return Piece{p, Piece::Number, n, width, {}};
    };
    auto text = [](std::string_view p, std::string t, int width = 0) {
        return Piece{p, Piece::Text, 0, width, std::move(t)};
    };
    std::string_view month = kMonths[static_cast<std::size_t>(c.mo - 1)];
    std::string_view day = kDays[static_cast<std::size_t>(c.weekday)];
    std::string_view roman = kRoman[static_cast<std::size_t>(c.mo - 1)];
    bool am = c.h < 12;
    int h12 = c.h % 12 == 0 ? 12 : c.h % 12;
    std::int64_t since_midnight = (c.h * 60 + c.mi) * 60 + c.s;
    int iso_day = c.weekday == 0 ? 7 : c.weekday;
    int iso_yday = (c.iso_week - 1) * 7 + iso_day;
    // Longer names before those that they begin with.
    const Piece pieces[] = {num("HH24", c.h, 2),
                            num("HH12", h12, 2),
                            num("HH", h12, 2),
                            num("hh24", c.h, 2),
                            num("hh12", h12, 2),
                            num("hh", h12, 2),
                            num("SSSSS", since_midnight, 0),
                            num("SSSS", since_midnight, 0),
                            num("sssss", since_midnight, 0),
                            num("ssss", since_midnight, 0),
                            num("SS", c.s, 2),
                            num("ss", c.s, 2),
                            num("MS", c.ms, 3),
                            num("ms", c.ms, 3),
                            num("US", c.ms * 1000, 6),
                            num("us", c.ms * 1000, 6),
                            num("FF1", c.ms / 100, 1),
                            num("FF2", c.ms / 10, 2),
                            num("FF3", c.ms, 3),
                            num("FF4", c.ms * 10, 4),
                            num("FF5", c.ms * 100, 5),
                            num("FF6", c.ms * 1000, 6),
                            text("A.M.", am ? "A.M." : "P.M."),
                            text("P.M.", am ? "A.M." : "P.M."),
                            text("a.m.", am ? "a.m." : "p.m."),
                            text("p.m.", am ? "a.m." : "p.m."),
                            text("AM", am ? "AM" : "PM"),
                            text("PM", am ? "AM" : "PM"),
                            text("am", am ? "am" : "pm"),
                            text("pm", am ? "am" : "pm"),
                            text("Y,YYY", fmt::format("{},{:03}", c.y / 1000, c.y % 1000)),
                            num("YYYY", c.y, 4),
                            num("yyyy", c.y, 4),
                            num("IYYY", c.iso_year, 4),
                            num("iyyy", c.iso_year, 4),
                            num("YYY", c.y % 1000, 3),
                            num("yyy", c.y % 1000, 3),
                            num("IYY", c.iso_year % 1000, 3),
                            num("YY", c.y % 100, 2),
                            num("yy", c.y % 100, 2),
                            num("IY", c.iso_year % 100, 2),
                            num("iy", c.iso_year % 100, 2),
                            text("B.C.", "A.D."),
                            text("A.D.", "A.D."),
                            text("b.c.", "a.d."),
                            text("a.d.", "a.d."),
                            text("BC", "AD"),
                            text("AD", "AD"),
                            text("bc", "ad"),
                            text("ad", "ad"),
                            text("MONTH", base::upper(month), 9),
                            text("Month", std::string(month), 9),
                            text("month", base::lower(month), 9),
                            text("MON", base::upper(month.substr(0, 3))),
                            text("Mon", std::string(month.substr(0, 3))),
                            text("mon", base::lower(month.substr(0, 3))),
                            num("MM", c.mo, 2),
                            num("mm", c.mo, 2),
                            num("MI", c.mi, 2),
                            num("mi", c.mi, 2),
                            text("DAY", base::upper(day), 9),
                            text("Day", std::string(day), 9),
                            text("day", base::lower(day), 9),
                            text("DY", base::upper(day.substr(0, 3))),
                            text("Dy", std::string(day.substr(0, 3))),
                            text("dy", base::lower(day.substr(0, 3))),
                            num("IDDD", iso_yday, 3),
                            num("DDD", c.yday, 3),
                            num("ddd", c.yday, 3),
                            num("DD", c.d, 2),
                            num("dd", c.d, 2),
                            num("ID", iso_day, 0),
                            num("id", iso_day, 0),
                            num("IW", c.iso_week, 2),
                            num("iw", c.iso_week, 2),
                            num("I", c.iso_year % 10, 1),
                            num("D", c.weekday + 1, 0),
                            num("d", c.weekday + 1, 0),
                            num("WW", (c.yday - 1) / 7 + 1, 2),
                            num("ww", (c.yday - 1) / 7 + 1, 2),
                            num("W", (c.d - 1) / 7 + 1, 0),
                            num("w", (c.d - 1) / 7 + 1, 0),
                            num("CC", (c.y + 99) / 100, 2),
                            num("cc", (c.y + 99) / 100, 2),
                            num("J", c.days + 2440588, 0),
                            num("j", c.days + 2440588, 0),
                            num("Q", (c.mo - 1) / 3 + 1, 0),
                            num("q", (c.mo - 1) / 3 + 1, 0),
                            text("RM", std::string(roman), 4),
                            text("rm", base::lower(roman), 4),
                            text("TZH", "+00"),
                            text("TZM", "00"),
                            text("TZ", "UTC"),
                            text("tz", "utc"),
                            text("OF", "+00"),
                            num("Y", c.y % 10, 1),
                            num("y", c.y % 10, 1)};
    std::string out;
    bool fill = true;          // FM before a pattern: no padding
    bool names_filled = true;  // TM before one: names of days and months are not padded
    for (std::size_t i = 0; i < format.size() && out.size() < (1 << 16);) {
        std::string_view rest = format.substr(i);
        if (rest.starts_with("FM") || rest.starts_with("fm")) {
            fill = false;
            i += 2;
            continue;
        }
        if (rest.starts_with("FX") || rest.starts_with("TM") || rest.starts_with("tm")) {
            if (rest[0] != 'F') names_filled = false;
            i += 2;
            continue;
        }
        if (rest[0] == '"') {
            ++i;
            while (i < format.size() && format[i] != '"') {
                if (format[i] == '\\' && i + 1 < format.size()) ++i;
                out += format[i++];
            }
            ++i;
            continue;
        }
        const Piece* found = nullptr;
        for (const Piece& p : pieces) {
            if (rest.starts_with(p.pattern)) {
                found = &p;
                break;
            }
        }
        if (!found) {
            if (rest[0] == '\\' && rest.size() > 1 && rest[1] == '"') ++i;
            out += format[i++];
            continue;
        }
        i += found->pattern.size();
        // Names take the suffixes too, and show nothing of them.
        std::string_view suffix =
            base::upper(format.substr(i, 2)) == "TH" ? format.substr(i, 2) : "";
        if (!suffix.empty() || base::upper(format.substr(i, 2)) == "SP") i += 2;
        if (found->kind == Piece::Number) {
            out += fill ? fmt::format("{:0{}}", found->number, found->width)
                        : fmt::format("{}", found->number);
            if (!suffix.empty()) out += ordinal(found->number, suffix[0] == 'T');
        } else {
            out += found->text;
            if (fill && names_filled && static_cast<int>(found->text.size()) < found->width) {
                out.append(static_cast<std::size_t>(found->width) - found->text.size(), ' ');
            }
        }
        fill = names_filled = true;
    }
    return out;
}

namespace {

/// Roman numerals as RN shows them: 15 wide, or as many '#' where there is none.
std::string roman(double number, bool fill, bool small) {
    constexpr int kWidth = 15;
    double rounded = std::nearbyint(number);
    if (!(rounded >= 1 && rounded <= 3999)) return std::string(kWidth, '#');
    static constexpr std::pair<int, std::string_view> kSteps[] = {
        {1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
        {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
    std::string out;
    int left = static_cast<int>(rounded);
    for (const auto& [value, letters] : kSteps) {
        for (; left >= value; left -= value) out += letters;
    }
    if (small) out = base::lower(out);
    return fill ? fmt::format("{:>{}}", out, kWidth) : out;
}

}  // namespace

std::string number_to_char(double number, std::string_view format) {
    // The template: where digits, the point, separators and signs stand.
    struct Slot {
        char
            kind;  // '9', '0', '.', ',', 'S', 'M' (MI), 'P' (PL), 'G' (SG), 'R' (PR), 'T', 't', 'q'
        std::string text;
    };
    std::vector<Slot> slots;
    bool fill = true, point = false, sign_written = false, zero_seen = false, anchored = false;
    int before = 0, after = 0;
    bool percent_shift = false;
    int shift = 0;
    for (std::size_t i = 0; i < format.size() && slots.size() < 512;) {
        std::string up = base::upper(format.substr(i, 4));
        if (up.starts_with("FM")) {
            fill = false;
            i += 2;
        } else if (up[0] == '9' || up[0] == '0') {
            if (percent_shift) {
                ++shift;
            } else if (point) {
                ++after;
            } else {
                ++before;
            }
            if (up[0] == '0') zero_seen = true;
            slots.push_back({zero_seen && !point ? '0' : up[0], {}});
            ++i;
        } else if ((up[0] == '.' || up[0] == 'D') && !point) {
            point = true;
            slots.push_back({'.', {}});
            ++i;
        } else if (up[0] == ',' || up[0] == 'G') {
            slots.push_back({',', {}});
            ++i;
        } else if (up.starts_with("MI")) {
            sign_written = true;
            slots.push_back({'M', {}});
            i += 2;
        } else if (up.starts_with("PL")) {
            slots.push_back({'P', {}});
            i += 2;
        } else if (up.starts_with("SG")) {
            sign_written = true;
            slots.push_back({'G', {}});
            i += 2;
        } else if (up.starts_with("PR")) {
            sign_written = true;
            slots.push_back({'R', {}});
            i += 2;
        } else if (up.starts_with("TH")) {
            slots.push_back({format[i], {}});
            i += 2;
        } else if (up.starts_with("RN")) {
            return roman(number, fill, format[i] == 'r');
        } else if (up == "EEEE") {
            std::string text = fmt::format("{:+.{}e}", number, std::min(after, 20));
            if (text[0] == '+') text[0] = ' ';
            return text;
        } else if (up[0] == 'B') {
            ++i;
        } else if (up[0] == 'L') {
            slots.push_back({'q', " "});
            ++i;
        } else if (up[0] == 'S') {
            // Before the digits it goes to the first one that shows.
            sign_written = true;
            if (before == 0 && !point) {
                anchored = true;
            } else {
                slots.push_back({'S', {}});
            }
            ++i;
        } else if (up[0] == 'V') {
            percent_shift = true;
            ++i;
        } else if (format[i] == '"') {
            Slot quoted{'q', {}};
            ++i;
            while (i < format.size() && format[i] != '"') quoted.text += format[i++];
            ++i;
            slots.push_back(std::move(quoted));
        } else {
            slots.push_back({'q', std::string(1, format[i])});
            ++i;
        }
    }
    bool negative = number < 0;
    double magnitude = std::fabs(number) * std::pow(10, std::min(shift, 20));
    std::string digits = fmt::format("{:.{}f}", magnitude, std::min(after, 20));
    std::string whole = digits.substr(0, digits.find('.'));
    std::string fraction =
        digits.find('.') == std::string::npos ? "" : digits.substr(digits.find('.') + 1);
    if (negative &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c == '0' || c == '.'; })) {
        negative = false;
    }
    int places = before + shift;
    bool overflow = static_cast<int>(whole.size()) > places && !(places == 0 && whole == "0");
    bool bracket =
        std::any_of(slots.begin(), slots.end(), [](const Slot& s) { return s.kind == 'R'; });
    std::string out;
    int index = 0;  // of the digit places before the point
    int lead = places - static_cast<int>(whole.size());
    std::size_t fraction_at = 0;
    std::size_t last_needed = fraction.find_last_not_of('0');
    bool started = false, in_fraction = false;
    std::string number_text;
    // The sign stands right before the first digit, and has a place of its own.
    auto open_number = [&] {
        if (started) return;
        started = true;
        if (anchored) {
            number_text += negative ? '-' : '+';
        } else if (bracket) {
            number_text += negative ? "<" : fill ? " " : "";
        } else if (!sign_written) {
            number_text += negative ? "-" : fill ? " " : "";
        }
    };
    for (const Slot& slot : slots) {
        switch (slot.kind) {
            case '9':
            case '0':
                if (in_fraction) {
                    open_number();
                    char digit = overflow                        ? '#'
                                 : fraction_at < fraction.size() ? fraction[fraction_at]
                                                                 : '0';
                    bool needed = fill || slot.kind == '0' ||
                                  (last_needed != std::string::npos && fraction_at <= last_needed);
                    if (needed) number_text += digit;
                    ++fraction_at;
                } else {
                    if (overflow) {
                        open_number();
                        number_text += '#';
                    } else if (index < lead) {
                        if (slot.kind == '0') {
                            open_number();
                            number_text += '0';
                        } else if (fill) {
                            out += ' ';
                        }
                    } else {
                        char digit = whole[static_cast<std::size_t>(index - lead)];
                        bool only_zero = whole == "0" && after > 0 && slot.kind == '9' && !started;
                        if (only_zero) {
                            if (fill) out += ' ';
                        } else {
                            open_number();
                            number_text += digit;
                        }
                    }
                    ++index;
                }
                break;
            case '.':
                open_number();
                in_fraction = true;
                number_text += '.';
                break;
            case ',':
                if (started) {
                    number_text += ',';
                } else if (fill) {
                    out += ' ';
                }
                break;
            case 'S':
            case 'G': (started ? number_text : out) += negative ? '-' : '+'; break;
            case 'M': (started ? number_text : out) += negative ? "-" : fill ? " " : ""; break;
            case 'P': (started ? number_text : out) += negative ? (fill ? " " : "") : "+"; break;
            case 'T':
            case 't':
                if (!negative && !overflow) {
                    number_text += ordinal(std::llround(magnitude), slot.kind == 'T');
                }
                break;
            case 'R': number_text += negative ? ">" : fill ? " " : ""; break;
            default: (started ? number_text : out) += slot.text;
        }
    }
    return out + number_text;
}

}  // namespace bunraku::query
