// SPDX-License-Identifier: Apache-2.0
// Implements Ruby's Time#strftime.
#include <chrono>
#include <fmt/format.h>

#include "core/base/civil_time.h"
#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "language/types/time_format.h"
#include "language/types/time_zone.h"

namespace bunraku::types {

using base::kDays;
using base::kMonths;
using base::PuppetError;
using base::weekday;

namespace {

constexpr std::size_t kMaxWidth = 1024;

struct Moment : base::CivilTime {
    value::Nanoseconds epoch = 0;  ///< seconds since the epoch, which may exceed 64 bits
    bool utc = true;
};

Moment moment(value::Nanoseconds nanoseconds, int offset, bool utc) {
    value::Nanoseconds seconds = nanoseconds / kNsPerSecond;
    auto rest = static_cast<int>(nanoseconds % kNsPerSecond);
    if (rest < 0) rest += kNsPerSecond, --seconds;
    return {base::civil_time(seconds, rest, offset), seconds, utc};
}

struct Flags {
    char pad = '\0';  ///< '-', '0' or '_'; 0 means the directive's default
    bool upper = false, swap = false;
    int colons = 0;
    int width = -1;
};

void append_number(std::string& out, const Flags& f, value::Nanoseconds n, int width,
                   char pad = '0') {
    if (f.pad == '0') pad = '0';
    if (f.pad == '_') pad = ' ';
    if (f.width >= 0) width = f.width;
    if (f.pad == '-') width = 0;
    std::string digits = fmt::format("{}", n < 0 ? -n : n);
    const std::size_t sign = n < 0 ? 1 : 0;
    std::size_t blanks = 0;
    if (digits.size() + sign < static_cast<std::size_t>(width)) {
        blanks = static_cast<std::size_t>(width) - digits.size() - sign;
    }
    if (pad == ' ') out.append(blanks, ' ');
    if (n < 0) out += '-';
    if (pad == '0') out.append(blanks, '0');
    out += digits;
}

void append_text(std::string& out, const Flags& f, std::string text) {
    if (f.upper) text = base::upper(std::move(text));
    const auto width = static_cast<std::size_t>(f.width < 0 || f.pad == '-' ? 0 : f.width);
    if (text.size() < width) out.append(width - text.size(), f.pad == '0' ? '0' : ' ');
    out += text;
}

void append_zone(std::string& out, const Flags& f, const Moment& m) {
    const int offset = m.offset < 0 ? -m.offset : m.offset;
    const int h = offset / 3600, mi = offset / 60 % 60, s = offset % 60;
    std::string tail;
    switch (f.colons) {
        case 0: tail = fmt::format("{:02}", mi); break;
        case 1: tail = fmt::format(":{:02}", mi); break;
        case 2: tail = fmt::format(":{:02}:{:02}", mi, s); break;
        default:
            if (s != 0) {
                tail = fmt::format(":{:02}:{:02}", mi, s);
            } else if (mi != 0) {
                tail = fmt::format(":{:02}", mi);
            }
    }
    const char sign = m.offset < 0 ? '-' : '+';
    const int total = f.width < 0 ? 0 : f.width;
    int hour_width = total - static_cast<int>(tail.size()) - 1;
    if (f.pad == '-') {
        out += fmt::format("{}{}{}", sign, h, tail);
        return;
    }
    if (hour_width < 2) hour_width = 2;
    if (f.pad == '_') {
        const std::string hour = fmt::format("{}{}", sign, h);
        const auto wide = static_cast<std::size_t>(hour_width) + 1;
        if (hour.size() < wide) out.append(wide - hour.size(), ' ');
        out += hour;
    } else {
        out += sign;
        const std::string hour = std::to_string(h);
        out.append(static_cast<std::size_t>(hour_width) -
                       std::min<std::size_t>(hour.size(), static_cast<std::size_t>(hour_width)),
                   '0');
        out += hour;
    }
    out += tail;
}

std::string strftime(const Moment& m, std::string_view format, int depth = 0);

/// Appends the result of one directive. Returns false if it is not a directive; the text is then
/// printed unchanged.
bool append_directive(std::string& out, const Flags& f, char c, const Moment& m, int depth) {
    const auto composite = [&](std::string_view inner) {
        append_text(out, f, depth < 4 ? strftime(m, inner, depth + 1) : std::string());
        return true;
    };
    const auto name = [&](std::string_view full, std::size_t length) {
        Flags own = f;
        own.upper = own.upper || own.swap;
        append_text(out, own, std::string(full.substr(0, length)));
        return true;
    };
    const int twelve = m.hour % 12 == 0 ? 12 : m.hour % 12;
    switch (c) {
        case 'Y': append_number(out, f, m.year, m.year < 0 ? 5 : 4); return true;
        case 'C': {
            const std::int64_t y = m.year;
            append_number(out, f, y >= 0 ? y / 100 : -((99 - y) / 100), 2);
            return true;
        }
        case 'y': append_number(out, f, ((m.year % 100) + 100) % 100, 2); return true;
        case 'm': append_number(out, f, m.month, 2); return true;
        case 'B': return name(kMonths[m.month - 1], 20);
        case 'b':
        case 'h': return name(kMonths[m.month - 1], 3);
        case 'd': append_number(out, f, m.day, 2); return true;
        case 'e': append_number(out, f, m.day, 2, ' '); return true;
        case 'j': append_number(out, f, base::day_of_year(m), 3); return true;
        case 'H': append_number(out, f, m.hour, 2); return true;
        case 'k': append_number(out, f, m.hour, 2, ' '); return true;
        case 'I': append_number(out, f, twelve, 2); return true;
        case 'l': append_number(out, f, twelve, 2, ' '); return true;
        case 'P':
        case 'p': {
            std::string text = m.hour < 12 ? "AM" : "PM";
            if (c == 'P' || f.swap) text = base::lower(text);
            append_text(out, f, text);
            return true;
        }
        case 'M': append_number(out, f, m.minute, 2); return true;
        case 'S': append_number(out, f, m.second, 2); return true;
        case 'L':
        case 'N': {
            const auto digits = static_cast<std::size_t>(f.width > 0 ? f.width : c == 'L' ? 3 : 9);
            std::string text = fmt::format("{:09}", m.nanosecond);
            text.resize(digits, '0');
            out += text;
            return true;
        }
        case 'z': append_zone(out, f, m); return true;
        case 'Z': {
            std::string text = m.utc ? "UTC" : "";
            if (f.swap) text = base::lower(text);
            append_text(out, f, text);
            return true;
        }
        case 'A': return name(kDays[weekday(m.days())], 20);
        case 'a': return name(kDays[weekday(m.days())], 3);
        case 'u':
            append_number(out, f, weekday(m.days()) == 0 ? 7 : weekday(m.days()), 1);
            return true;
        case 'w': append_number(out, f, weekday(m.days()), 1); return true;
        case 'G':
            append_number(out, f, base::iso_week(m).year, base::iso_week(m).year < 0 ? 5 : 4);
            return true;
        case 'g':
            append_number(out, f, ((base::iso_week(m).year % 100) + 100) % 100, 2);
            return true;
        case 'V': append_number(out, f, base::iso_week(m).week, 2); return true;
        case 'U':
            append_number(out, f, (base::day_of_year(m) - 1 + 7 - weekday(m.days())) / 7, 2);
            return true;
        case 'W':
            append_number(out, f, (base::day_of_year(m) - 1 + 7 - (weekday(m.days()) + 6) % 7) / 7,
                          2);
            return true;
        case 's': append_number(out, f, m.epoch, 1); return true;
        case 'n': append_text(out, f, "\n"); return true;
        case 't': append_text(out, f, "\t"); return true;
        case '%': append_text(out, f, "%"); return true;
        case 'c': return composite("%a %b %e %T %Y");
        case 'D':
        case 'x': return composite("%m/%d/%y");
        case 'F': return composite("%Y-%m-%d");
        case 'T':
        case 'X': return composite("%H:%M:%S");
        case 'R': return composite("%H:%M");
        case 'r': return composite("%I:%M:%S %p");
        case 'v': {
            Flags own = f;
            append_text(out, own, base::upper(strftime(m, "%e-%b-%Y", depth + 1)));
            return true;
        }
        default: return false;
    }
}

std::string strftime(const Moment& m, std::string_view format, int depth) {
    std::string out;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') {
            out += format[i];
            continue;
        }
        const std::size_t start = i++;
        Flags f;
        bool more = true;
        while (more && i < format.size()) {
            switch (format[i]) {
                case '-':
                case '0':
                case '_': f.pad = format[i++]; break;
                case '^':
                    f.upper = true;
                    ++i;
                    break;
                case '#':
                    f.swap = true;
                    ++i;
                    break;
                case ':':
                    ++f.colons;
                    ++i;
                    break;
                default: more = false;
            }
        }
        while (i < format.size() && format[i] >= '0' && format[i] <= '9') {
            f.width = (f.width < 0 ? 0 : f.width) * 10 + (format[i++] - '0');
            if (f.width > static_cast<int>(kMaxWidth)) {
                throw PuppetError(fmt::format("Numerical result out of range - {}", format));
            }
        }
        // Colons may follow the width. E and O modify directives that have a locale-dependent form.
        while (i < format.size() && format[i] == ':') ++f.colons, ++i;
        if (i + 1 < format.size()) {
            const std::string_view takes = format[i] == 'E'   ? "cCxXyY"
                                           : format[i] == 'O' ? "deHkIlmMSuUVwWy"
                                                              : "";
            if (takes.find(format[i + 1]) != std::string_view::npos) ++i;
        }
        const bool valid_colons =
            f.colons == 0 || (i < format.size() && format[i] == 'z' && f.colons <= 3);
        if (i >= format.size() || !valid_colons || !append_directive(out, f, format[i], m, depth)) {
            i = std::min(i, format.size() - 1);
            out += format.substr(start, i - start + 1);
        }
    }
    return out;
}

}  // namespace

int utc_offset(std::string_view timezone) {
    if (base::same_ignoring_case(timezone, "current")) {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return base::local_offset(std::chrono::duration_cast<std::chrono::seconds>(now).count());
    }
    const std::size_t length = zone_length(timezone);
    const auto offset = length > 0 ? zone_offset(timezone.substr(0, length)) : std::nullopt;
    if (!offset) throw PuppetError(fmt::format("Illegal timezone '{}'", timezone));
    return *offset;
}

std::string format_timestamp(value::Nanoseconds nanoseconds, std::string_view format,
                             std::string_view timezone) {
    if (timezone.empty()) return strftime(moment(nanoseconds, 0, true), format);
    // Puppet uses whole minutes.
    const int offset = utc_offset(timezone) / 60 * 60;
    return strftime(moment(nanoseconds, offset, timezone == "-00:00"), format);
}

}  // namespace bunraku::types
