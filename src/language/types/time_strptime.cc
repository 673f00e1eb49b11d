// SPDX-License-Identifier: Apache-2.0
// Implements Ruby's DateTime._strptime to the extent that Puppet's timestamps use it.
#include <fmt/format.h>
#include <optional>
#include <string>

#include "core/base/assert.h"
#include "core/base/civil_time.h"
#include "core/base/diagnostic.h"
#include "language/types/time_format.h"
#include "language/types/time_zone.h"

namespace bunraku::types {

using base::PuppetError;

namespace {

constexpr std::string_view kWithoutZone[] = {"%FT%T.%N", "%FT%T", "%F %T.%N", "%F %T", "%F"};
constexpr std::string_view kDefaultFormats[] = {
    "%FT%T.%N %Z", "%FT%T %Z", "%F %T.%N %Z", "%F %T %Z", "%F %Z",
    "%FT%T.%N",    "%FT%T",    "%F %T.%N",    "%F %T",    "%F",
};

struct Parsed {
    std::optional<std::int64_t> year;
    int month = 1, day = 1, hour = 0, minute = 0, second = 0;
    std::int64_t nanosecond = 0;
    std::optional<std::string> zone;
    std::optional<bool> afternoon;
    std::optional<int> century;
    bool leftover = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// Reports whether a number follows in the format. A field before a number reads no more than its
/// width.
bool number_follows(std::string_view format) {
    if (format.empty()) return false;
    if (is_digit(format[0])) return true;
    if (format[0] != '%' || format.size() < 2) return false;
    std::size_t i = 1;
    if (format[i] == 'E' || format[i] == 'O') ++i;
    if (i >= format.size()) return false;
    return is_digit(format[i]) ||
           std::string_view("CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy").find(format[i]) !=
               std::string_view::npos;
}

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool read(std::string_view format, int depth = 0) {
        if (depth > 4) return false;
        for (std::size_t i = 0; i < format.size(); ++i) {
            const char c = format[i];
            if (is_blank(c)) {
                blanks();
            } else if (c != '%' || i + 1 >= format.size()) {
                if (!literal(c)) return false;
            } else {
                ++i;
                std::size_t at = i;
                if ((format[at] == 'E' || format[at] == 'O') && at + 1 < format.size()) ++at;
                while (format[at] == ':' && at + 1 < format.size()) ++at;
                if (at != i && format[i] == ':' && format[at] != 'z') at = i;
                bool known = true;
                if (!directive(format[at], format.substr(at + 1), depth, known)) return false;
                if (known) {
                    i = at;
                } else if (!literal('%') || !literal(format[i])) {
                    return false;
                }
            }
        }
        return true;
    }

    std::string_view rest() const { return text_; }
    Parsed parsed;

private:
    void blanks() {
        while (!text_.empty() && is_blank(text_[0])) text_.remove_prefix(1);
    }

    bool literal(char c) {
        if (text_.empty() || text_[0] != c) return false;
        text_.remove_prefix(1);
        return true;
    }

    /// Reads up to `width` digits. 0 means no limit.
    bool digits(std::size_t width, std::int64_t& out, std::size_t* count = nullptr) {
        std::size_t n = 0;
        out = 0;
        while (n < text_.size() && is_digit(text_[n]) && (width == 0 || n < width)) {
            if (n < 18) out = out * 10 + (text_[n] - '0');
            ++n;
        }
        BUNRAKU_ASSERT(out >= 0 && (width == 0 || n <= width));
        if (count) *count = n;
        text_.remove_prefix(n);
        return n > 0;
    }

    bool field(int& out, std::size_t width, int low, int high) {
        BUNRAKU_ASSERT(low <= high && width > 0);
        std::int64_t n = 0;
        if (!digits(width, n) || n < low || n > high) return false;
        out = static_cast<int>(n);
        return true;
    }

    /// Reads a field of two digits, or of a blank and one digit.
    bool padded(int& out, int low, int high) {
        if (!text_.empty() && text_[0] == ' ') {
            text_.remove_prefix(1);
            return field(out, 1, low, high);
        }
        return field(out, 2, low, high);
    }

    bool starts_with(std::string_view name) const {
        if (text_.size() < name.size()) return false;
        for (std::size_t i = 0; i < name.size(); ++i) {
            if (lower(text_[i]) != lower(name[i])) return false;
        }
        return true;
    }

    bool name(std::span<const std::string_view> names, int& index) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::size_t length = starts_with(names[i])                ? names[i].size()
                                       : starts_with(names[i].substr(0, 3)) ? 3
                                                                            : 0;
            if (length == 0) continue;
            text_.remove_prefix(length);
            index = static_cast<int>(i);
            return true;
        }
        return false;
    }

    bool fraction(std::size_t width) {
        bool negative = false;
        if (!text_.empty() && (text_[0] == '-' || text_[0] == '+')) {
            negative = text_[0] == '-';
            text_.remove_prefix(1);
        }
        std::size_t n = 0;
        std::int64_t ns = 0;
        while (n < text_.size() && is_digit(text_[n]) && (width == 0 || n < width)) {
            if (n < 9) ns = ns * 10 + (text_[n] - '0');
            ++n;
        }
        if (n == 0) return false;
        for (std::size_t k = n; k < 9; ++k) ns *= 10;
        text_.remove_prefix(n);
        BUNRAKU_ASSERT(ns >= 0 && ns < 1'000'000'000);
        parsed.nanosecond = negative ? -ns : ns;
        return true;
    }

    bool directive(char c, std::string_view following, int depth, bool& known) {
        const bool bounded = number_follows(following);
        int ignored = 0;
        std::int64_t number = 0;
        const auto sign = [this] {
            if (text_.empty() || (text_[0] != '-' && text_[0] != '+')) return 1;
            const int s = text_[0] == '-' ? -1 : 1;
            text_.remove_prefix(1);
            return s;
        };
        switch (c) {
            case 'A':
            case 'a': return name(base::kDays, ignored);
            case 'B':
            case 'b':
            case 'h': {
                int month = 0;
                if (!name(base::kMonths, month)) return false;
                parsed.month = month + 1;
                return true;
            }
            case 'C':
                if (!digits(bounded ? 2 : 0, number)) return false;
                // No year that is valid has a century beyond these.
                if (number > 99'999'999) return false;
                parsed.century = static_cast<int>(number);
                return true;
            case 'd':
            case 'e': return padded(parsed.day, 1, 31);
            case 'H':
            case 'k': return padded(parsed.hour, 0, 24);
            case 'I':
            case 'l': return padded(parsed.hour, 1, 12);
            case 'j': return field(ignored, 3, 1, 366);
            case 'L': return fraction(bounded ? 3 : 0);
            case 'N': return fraction(bounded ? 9 : 0);
            case 'M': return field(parsed.minute, 2, 0, 59);
            case 'm': return field(parsed.month, 2, 1, 12);
            case 'n':
            case 't': blanks(); return true;
            case 'P':
            case 'p':
                for (const std::string_view half : {"a.m.", "p.m.", "am", "pm"}) {
                    if (!starts_with(half)) continue;
                    parsed.afternoon = half[0] == 'p';
                    text_.remove_prefix(half.size());
                    return true;
                }
                return false;
            case 'Q':
            case 's': sign(); return digits(0, number);
            case 'S': return field(parsed.second, 2, 0, 60);
            case 'U':
            case 'W': return field(ignored, 2, 0, 53);
            case 'V': return field(ignored, 2, 1, 53);
            case 'u': return field(ignored, 1, 1, 7);
            case 'w': return field(ignored, 1, 0, 6);
            case 'G': sign(); return digits(bounded ? 4 : 0, number);
            case 'g': return field(ignored, 2, 0, 99);
            case 'Y': {
                const int s = sign();
                if (!digits(bounded ? 4 : 0, number)) return false;
                parsed.year = s * number;
                return true;
            }
            case 'y':
                if (!field(ignored, 2, 0, 99)) return false;
                parsed.year = ignored + (parsed.century ? 0 : ignored >= 69 ? 1900 : 2000);
                return true;
            case 'Z':
            case 'z': {
                const std::size_t n = zone_length(text_);
                if (n == 0) return false;
                parsed.zone = std::string(text_.substr(0, n));
                text_.remove_prefix(n);
                return true;
            }
            case '%': return literal('%');
            case 'c': return read("%a %b %e %H:%M:%S %Y", depth + 1);
            case 'D':
            case 'x': return read("%m/%d/%y", depth + 1);
            case 'F': return read("%Y-%m-%d", depth + 1);
            case 'R': return read("%H:%M", depth + 1);
            case 'r': return read("%I:%M:%S %p", depth + 1);
            case 'T':
            case 'X': return read("%H:%M:%S", depth + 1);
            case 'v': return read("%e-%b-%Y", depth + 1);
            case '+': return read("%a %b %e %H:%M:%S %Z %Y", depth + 1);
            default: known = false; return true;
        }
    }

    std::string_view text_;
};

std::optional<Parsed> strptime(std::string_view text, std::string_view format) {
    Reader reader(text);
    if (!reader.read(format)) return std::nullopt;
    Parsed p = std::move(reader.parsed);
    p.leftover = !reader.rest().empty();
    if (p.afternoon) p.hour = p.hour % 12 + (*p.afternoon ? 12 : 0);
    BUNRAKU_ASSERT(p.month >= 1 && p.month <= 12 && p.day >= 1 && p.day <= 31);
    BUNRAKU_ASSERT(p.hour >= 0 && p.hour <= 24 && p.minute <= 59 && p.second <= 60);
    if (p.century && p.year && *p.year < 100) *p.year += std::int64_t{*p.century} * 100;
    return p;
}

value::Nanoseconds to_nanoseconds(const Parsed& p, std::string_view timezone) {
    if (!p.year) throw PuppetError("no implicit conversion of nil into Integer");
    if (*p.year < -300'000 || *p.year > 300'000) throw PuppetError("argument out of range");
    std::int64_t seconds = base::days_from_civil(*p.year, p.month, p.day) * 86'400 + p.hour * 3600 +
                           p.minute * 60 + p.second;
    if (!timezone.empty()) {
        seconds -= utc_offset(timezone);
    } else if (p.zone) {
        seconds -= utc_offset(*p.zone);
    }
    const auto ns = static_cast<value::Nanoseconds>(seconds) * kNsPerSecond;
    return add_nanoseconds(ns, p.nanosecond);
}

}  // namespace

value::Nanoseconds parse_timestamp(std::string_view text, std::span<const std::string_view> formats,
                                   std::string_view timezone) {
    const bool has_timezone = !timezone.empty();
    if (formats.size() == 1) {
        const auto p = strptime(text, formats[0]);
        if (!p || p->leftover) {
            throw PuppetError(
                fmt::format("Unable to parse '{}' using format '{}'", text, formats[0]));
        }
        if (has_timezone && p->zone) {
            throw PuppetError(
                "Using a Timezone designator in format specification is mutually exclusive to "
                "providing an explicit timezone argument");
        }
        return to_nanoseconds(*p, timezone);
    }
    if (formats.empty()) {
        formats = has_timezone ? std::span<const std::string_view>(kWithoutZone)
                               : std::span<const std::string_view>(kDefaultFormats);
    }
    std::string all;
    for (const std::string_view format : formats) {
        if (!all.empty()) all += ", ";
        all += format;
        const auto p = strptime(text, format);
        if (p && !p->leftover && !(has_timezone && p->zone)) return to_nanoseconds(*p, timezone);
    }
    throw PuppetError(fmt::format("Unable to parse '{}' using any of the formats {}", text, all));
}

}  // namespace bunraku::types
