// SPDX-License-Identifier: Apache-2.0
// Formats and parses timespans with Puppet's own format directives.
#include "language/types/time_format.h"

#include <cstdlib>
#include <fmt/format.h>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/value/value.h"

namespace bunraku::types {

using base::PuppetError;
using value::Nanoseconds;

namespace {

constexpr std::uint64_t kMinute = 60ULL * kNsPerSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

constexpr std::string_view kDefaultFormats[] = {
    "%D-%H:%M:%S.%-N", "%H:%M:%S.%-N", "%M:%S.%-N", "%S.%-N",
    "%D-%H:%M:%S",     "%H:%M:%S",     "%D-%H:%M",  "%S",
};

constexpr int kMaxWidth = 1000;

/// The unit of a segment, from the smallest up.
enum Unit { Nanosecond, Millisecond, Second, Minute, Hour, Day, Literal };

struct Segment {
    Unit unit = Literal;
    std::string text;  ///< text of a literal
    char pad = '0';    ///< 0 means no padding
    int width = -1;    ///< -1 if not given
    /// True for the largest unit of the format, which includes all larger units.
    bool total = false;

    int default_width() const {
        switch (unit) {
            case Nanosecond: return 9;
            case Millisecond: return 3;
            case Day: return 1;
            default: return 2;
        }
    }
    int effective_width() const { return width >= 0 ? width : default_width(); }
};

/// Returns the number of characters of a UTF-8 text up to byte `end`. Positions in messages count
/// characters.
std::size_t characters(std::string_view text, std::size_t end) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < end && i < text.size(); ++i) n += (text[i] & 0xC0) != 0x80;
    return n;
}

std::vector<Segment> parse_format(std::string_view format) {
    std::vector<Segment> out;
    enum { InLiteral, Pad, Width } state = InLiteral;
    int highest = -1;
    std::size_t start = 0;
    Segment s;
    const auto literal = [&out](char c) {
        if (out.empty() || out.back().unit != Literal) out.push_back({.unit = Literal});
        out.back().text += c;
    };
    const auto bad = [&](std::size_t at) -> PuppetError {
        return PuppetError(fmt::format("Bad format specifier '{}' in '{}', at position {}",
                                       format.substr(start, at - start), format,
                                       characters(format, at)));
    };
    const auto value = [&](Unit unit) {
        s.unit = unit;
        if (unit == Day || highest < unit) highest = unit;
        out.push_back(s);
        state = InLiteral;
    };
    for (std::size_t i = 0; i < format.size(); ++i) {
        const char c = format[i];
        if (state == InLiteral) {
            if (c == '%') {
                state = Pad;
                start = i;
                s = {};
            } else {
                literal(c);
            }
            continue;
        }
        switch (c) {
            case '%':
                literal(c);
                state = InLiteral;
                break;
            case '-':
            case '_':
                if (state != Pad) throw bad(i);
                s.pad = c == '-' ? '\0' : ' ';
                state = Width;
                break;
            case 'D': value(Day); break;
            case 'H': value(Hour); break;
            case 'M': value(Minute); break;
            case 'S': value(Second); break;
            case 'L': value(Millisecond); break;
            case 'N': value(Nanosecond); break;
            default:
                if (c < '0' || c > '9') throw bad(i);
                if (state == Pad && c == '0') {
                    s.pad = '0';
                } else {
                    s.width = (s.width < 0 ? 0 : s.width) * 10 + (c - '0');
                    if (s.width > kMaxWidth) throw bad(i);
                }
                state = Width;
        }
    }
    if (state != InLiteral) throw bad(format.empty() ? 0 : format.size() - 1);
    for (Segment& one : out) {
        if (one.unit == highest) {
            one.total = true;
            break;
        }
    }
    return out;
}

std::uint64_t unit_size(const Segment& s) {
    switch (s.unit) {
        case Day: return kDay;
        case Hour: return kHour;
        case Minute: return kMinute;
        case Second: return kNsPerSecond;
        case Millisecond: return 1'000'000;
        default: {
            std::uint64_t n = 1;
            for (int w = s.effective_width(); w < 9; ++w) n *= 10;
            return n;
        }
    }
}

void append_number(std::string& out, const Segment& s, std::uint64_t n) {
    const auto width = static_cast<std::size_t>(s.effective_width());
    std::string digits = std::to_string(n);
    const bool fraction = s.unit <= Millisecond;
    if (fraction && !s.total && s.pad != '0') {
        // A fraction loses its trailing zeros unless zeros are its padding.
        while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    }
    if (s.pad == '\0' || digits.size() >= width) {
        out += digits;
    } else if (fraction) {
        // Fractions are left-aligned.
        out += digits;
        out.append(width - digits.size(), ' ');
    } else {
        out.append(width - digits.size(), s.pad);
        out += digits;
    }
}

void append_segment(std::string& out, const Segment& s, unsigned __int128 ns) {
    unsigned __int128 n = 0;
    switch (s.unit) {
        case Literal: out += s.text; return;
        case Day: n = ns / kDay; break;
        case Hour:
            n = ns / kHour;
            if (!s.total) n %= 24;
            break;
        case Minute:
            n = ns / kMinute;
            if (!s.total) n %= 60;
            break;
        case Second:
            n = ns / kNsPerSecond;
            if (!s.total) n %= 60;
            break;
        case Millisecond:
            n = ns / 1'000'000;
            if (!s.total) n %= 1000;
            break;
        case Nanosecond: {
            n = ns / unit_size(s);
            std::uint64_t limit = 1;
            for (int w = 0; w < s.effective_width() && w < 9; ++w) limit *= 10;
            if (!s.total) n %= limit;
            break;
        }
    }
    append_number(out, s, static_cast<std::uint64_t>(n));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Matches the segments from `index` on against the text from `at` on. It tries the longest match
/// first, like the regular expression that Puppet makes from a format.
class Matcher {
public:
    Matcher(std::string_view text, const std::vector<Segment>& segments)
        : text_(text), segments_(segments), groups_(segments.size()) {}

    bool match(std::size_t index, std::size_t at) {
        if (++steps_ > 100'000) return false;
        if (index == segments_.size()) return at == text_.size();
        const Segment& s = segments_[index];
        if (s.unit == Literal) {
            return text_.substr(at, s.text.size()) == s.text &&
                   match(index + 1, at + s.text.size());
        }
        std::size_t skip = 0;
        bool blanks = false;
        std::size_t low = 1, high = static_cast<std::size_t>(s.effective_width());
        if (s.width < 0) {
            if (s.total) high = text_.size();
            if (s.pad == ' ') {
                if (s.total) {
                    while (at + skip < text_.size() && is_blank(text_[at + skip])) ++skip;
                } else {
                    blanks = true;
                }
            }
        } else if (s.pad != '\0') {
            low = high;
            blanks = s.pad == ' ';
        }
        std::size_t n = 0;
        const std::size_t from = at + skip;
        while (n < high && from + n < text_.size() &&
               (is_digit(text_[from + n]) || (blanks && is_blank(text_[from + n])))) {
            ++n;
        }
        for (; n >= low && n > 0; --n) {
            groups_[index] = text_.substr(from, n);
            if (match(index + 1, from + n)) return true;
        }
        return false;
    }

    const std::vector<std::string_view>& groups() const { return groups_; }

private:
    std::string_view text_;
    const std::vector<Segment>& segments_;
    std::vector<std::string_view> groups_;
    int steps_ = 0;
};

[[noreturn]] void out_of_range() { throw PuppetError("the time is out of range"); }

Nanoseconds multiply(Nanoseconds a, Nanoseconds b) {
    Nanoseconds out = 0;
    if (__builtin_mul_overflow(a, b, &out) || !value::fits_time(out)) out_of_range();
    return out;
}

/// Returns nullopt if the text does not match the format.
std::optional<Nanoseconds> try_parse(std::string_view text, std::string_view format) {
    const std::vector<Segment> segments = parse_format(format);
    const bool negative = text.starts_with('-');
    Matcher matcher(text, segments);
    if (!(negative && matcher.match(0, 1)) && !matcher.match(0, 0)) return std::nullopt;
    Nanoseconds total = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const Segment& s = segments[i];
        if (s.unit == Literal) continue;
        std::string_view group = matcher.groups()[i];
        while (!group.empty() && is_blank(group.front())) group.remove_prefix(1);
        Nanoseconds n = 0;
        if (group.empty()) return std::nullopt;
        for (const char c : group) {
            if (!is_digit(c)) return std::nullopt;
            n = add_nanoseconds(multiply(n, 10), c - '0');
        }
        if (s.unit <= Millisecond) {
            if (s.total) {
                throw PuppetError(
                    "Format specifiers %L and %N denotes fractions and must be used together with "
                    "a specifier of higher magnitude");
            }
            for (std::size_t w = group.size(); w < 9; ++w) n *= 10;
        } else {
            n = multiply(n, static_cast<Nanoseconds>(unit_size(s)));
        }
        total = add_nanoseconds(total, n);
    }
    return negative ? -total : total;
}

}  // namespace

Nanoseconds add_nanoseconds(Nanoseconds a, Nanoseconds b) {
    Nanoseconds out = 0;
    if (__builtin_add_overflow(a, b, &out) || !value::fits_time(out)) out_of_range();
    return out;
}

Nanoseconds seconds_to_nanoseconds(double seconds) {
    const double ns = seconds * 1e9;
    if (!(ns > -1.9e28 && ns < 1.9e28)) out_of_range();
    return static_cast<Nanoseconds>(ns);
}

Nanoseconds timespan_from_fields(bool negative, std::int64_t days, std::int64_t hours,
                                 std::int64_t minutes, std::int64_t seconds,
                                 std::int64_t milliseconds, std::int64_t microseconds,
                                 std::int64_t nanoseconds) {
    Nanoseconds n = add_nanoseconds(multiply(days, 24), hours);
    n = add_nanoseconds(multiply(n, 60), minutes);
    n = add_nanoseconds(multiply(n, 60), seconds);
    n = add_nanoseconds(multiply(n, 1000), milliseconds);
    n = add_nanoseconds(multiply(n, 1000), microseconds);
    n = add_nanoseconds(multiply(n, 1000), nanoseconds);
    return negative ? -n : n;
}

Nanoseconds parse_timespan(std::string_view text, std::span<const std::string_view> formats) {
    if (formats.size() == 1) {
        if (const auto n = try_parse(text, formats[0])) return *n;
        throw PuppetError(fmt::format("Unable to parse '{}' using format '{}'", text, formats[0]));
    }
    const bool given = !formats.empty();
    if (!given) formats = kDefaultFormats;
    std::string all;
    for (const std::string_view format : formats) {
        if (!all.empty()) all += ", ";
        all += format;
        const std::vector<Segment> checked = parse_format(format);  // throws for invalid formats
        try {
            if (const auto n = try_parse(text, format)) return *n;
        } catch (const PuppetError&) {
            // As in Puppet, a text that does not match one format may match the next.
        }
    }
    throw PuppetError(fmt::format("Unable to parse '{}' using any of the formats {}", text, all));
}

std::string format_timespan(Nanoseconds nanoseconds, std::string_view format) {
    auto ns = static_cast<unsigned __int128>(nanoseconds);
    std::string out;
    if (nanoseconds < 0) {
        out = "-";
        ns = 0 - ns;
    }
    for (const Segment& s : parse_format(format)) append_segment(out, s, ns);
    return out;
}

std::string timespan_text(Nanoseconds nanoseconds) {
    return value::to_text(value::make_timespan(nanoseconds));
}

std::string timestamp_text(Nanoseconds nanoseconds) {
    return value::to_text(value::make_timestamp(nanoseconds));
}

}  // namespace bunraku::types
