// SPDX-License-Identifier: Apache-2.0
#include "store/query/time_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "core/base/assert.h"
#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "store/query/number_text.h"

namespace bunraku::query {

namespace {

constexpr std::array<std::string_view, 12> kRoman = {"I",   "II",   "III", "IV", "V",  "VI",
                                                     "VII", "VIII", "IX",  "X",  "XI", "XII"};

/// Parses a year without month and day, with an optional sign. Its length must differ from the
/// lengths of dates.
std::optional<std::int64_t> lone_year(std::string_view text) {
    const bool before = text.starts_with('-');
    const bool sign = before || text.starts_with('+');
    if (sign) text.remove_prefix(1);
    constexpr std::size_t kMost = 9, kOrdinal = 7, kDate = 8;
    if (text.size() > kMost || (!sign && (text.size() == kOrdinal || text.size() == kDate))) {
        return std::nullopt;
    }
    const auto digits = base::parse_integer<unsigned>(text);
    if (!digits) return std::nullopt;
    // More distant years give the same result in every comparison.
    constexpr unsigned kFarthest = 32'000;
    const auto year = static_cast<std::int64_t>(std::min(*digits, kFarthest));
    return base::days_from_civil(before ? -year : year, 1, 1) * 86'400'000;
}

}  // namespace

std::optional<std::int64_t> parse_query_time(std::string_view text) {
    if (text.size() > 64) return std::nullopt;
    if (auto t = lone_year(text)) return t;
    auto time =
        base::parse_iso_time(text, base::kZoneOptional | base::kBlankBeforeZone | base::kAnyShape);
    if (!time) time = base::parse_rfc822_time(text);
    return time.transform(&base::CivilTime::milliseconds);
}

// --- to_char

namespace {

struct Shown {
    base::CivilTime time;
    int ms, day_of_year, weekday;
    base::IsoWeek iso;

    std::string_view month() const { return base::kMonths[time.month - 1]; }
    std::string_view day() const { return base::kDays[weekday]; }
    int hour12() const { return time.hour % 12 == 0 ? 12 : time.hour % 12; }
    int iso_day() const { return weekday == 0 ? 7 : weekday; }
    bool morning() const { return time.hour < 12; }
};

/// A template pattern: its name, and its output as a number with a width or as a padded text. The
/// name in lower case is also a pattern, and gives lower-case output.
struct Piece {
    std::string_view name;
    int width;
    std::int64_t (*number)(const Shown&);
    std::string (*text)(const Shown&) = nullptr;
    bool as_name = false;  ///< "Month" is a third form
};

// Longer names precede their prefixes.
using S = Shown;
using I64 = std::int64_t;
using Text = std::string;
constexpr Piece kPieces[] = {
    {"HH24", 2, [](const S& s) -> I64 { return s.time.hour; }},
    {"HH12", 2, [](const S& s) -> I64 { return s.hour12(); }},
    {"HH", 2, [](const S& s) -> I64 { return s.hour12(); }},
    {"SSSSS", 0,
     [](const S& s) -> I64 { return (s.time.hour * 60 + s.time.minute) * 60 + s.time.second; }},
    {"SSSS", 0,
     [](const S& s) -> I64 { return (s.time.hour * 60 + s.time.minute) * 60 + s.time.second; }},
    {"SS", 2, [](const S& s) -> I64 { return s.time.second; }},
    {"MS", 3, [](const S& s) -> I64 { return s.ms; }},
    {"US", 6, [](const S& s) -> I64 { return s.ms * 1000; }},
    {"FF1", 1, [](const S& s) -> I64 { return s.ms / 100; }},
    {"FF2", 2, [](const S& s) -> I64 { return s.ms / 10; }},
    {"FF3", 3, [](const S& s) -> I64 { return s.ms; }},
    {"FF4", 4, [](const S& s) -> I64 { return s.ms * 10; }},
    {"FF5", 5, [](const S& s) -> I64 { return s.ms * 100; }},
    {"FF6", 6, [](const S& s) -> I64 { return s.ms * 1000; }},
    {"A.M.", 0, nullptr, [](const S& s) -> Text { return s.morning() ? "A.M." : "P.M."; }},
    {"P.M.", 0, nullptr, [](const S& s) -> Text { return s.morning() ? "A.M." : "P.M."; }},
    {"AM", 0, nullptr, [](const S& s) -> Text { return s.morning() ? "AM" : "PM"; }},
    {"PM", 0, nullptr, [](const S& s) -> Text { return s.morning() ? "AM" : "PM"; }},
    {"Y,YYY", 0, nullptr,
     [](const S& s) { return fmt::format("{},{:03}", s.time.year / 1000, s.time.year % 1000); }},
    {"YYYY", 4, [](const S& s) { return s.time.year; }},
    {"IYYY", 4, [](const S& s) { return s.iso.year; }},
    {"YYY", 3, [](const S& s) { return s.time.year % 1000; }},
    {"IYY", 3, [](const S& s) { return s.iso.year % 1000; }},
    {"YY", 2, [](const S& s) { return s.time.year % 100; }},
    {"IY", 2, [](const S& s) { return s.iso.year % 100; }},
    {"B.C.", 0, nullptr, [](const S&) -> Text { return "A.D."; }},
    {"A.D.", 0, nullptr, [](const S&) -> Text { return "A.D."; }},
    {"BC", 0, nullptr, [](const S&) -> Text { return "AD"; }},
    {"AD", 0, nullptr, [](const S&) -> Text { return "AD"; }},
    {"MONTH", 9, nullptr, [](const S& s) { return std::string(s.month()); }, true},
    {"MON", 0, nullptr, [](const S& s) { return std::string(s.month().substr(0, 3)); }, true},
    {"MM", 2, [](const S& s) -> I64 { return s.time.month; }},
    {"MI", 2, [](const S& s) -> I64 { return s.time.minute; }},
    {"DAY", 9, nullptr, [](const S& s) { return std::string(s.day()); }, true},
    {"DY", 0, nullptr, [](const S& s) { return std::string(s.day().substr(0, 3)); }, true},
    {"IDDD", 3, [](const S& s) -> I64 { return (s.iso.week - 1) * 7 + s.iso_day(); }},
    {"DDD", 3, [](const S& s) -> I64 { return s.day_of_year; }},
    {"DD", 2, [](const S& s) -> I64 { return s.time.day; }},
    {"ID", 0, [](const S& s) -> I64 { return s.iso_day(); }},
    {"IW", 2, [](const S& s) -> I64 { return s.iso.week; }},
    {"I", 1, [](const S& s) { return s.iso.year % 10; }},
    {"D", 0, [](const S& s) -> I64 { return s.weekday + 1; }},
    {"WW", 2, [](const S& s) -> I64 { return (s.day_of_year - 1) / 7 + 1; }},
    {"W", 0, [](const S& s) -> I64 { return (s.time.day - 1) / 7 + 1; }},
    {"CC", 2, [](const S& s) { return (s.time.year + 99) / 100; }},
    {"J", 0, [](const S& s) { return s.time.days() + 2'440'588; }},
    {"Q", 0, [](const S& s) -> I64 { return (s.time.month - 1) / 3 + 1; }},
    {"RM", 4, nullptr,
     [](const S& s) { return std::string(kRoman[static_cast<std::size_t>(s.time.month - 1)]); }},
    {"TZH", 0, nullptr, [](const S&) -> Text { return "+00"; }},
    {"TZM", 0, nullptr, [](const S&) -> Text { return "00"; }},
    {"TZ", 0, nullptr, [](const S&) -> Text { return "UTC"; }},
    {"OF", 0, nullptr, [](const S&) -> Text { return "+00"; }},
    {"Y", 1, [](const S& s) { return s.time.year % 10; }}};

enum class Letters : std::uint8_t { Capital, Small, AsName };

/// Returns the piece whose name `text` begins with, and sets the letter case in which it is
/// written.
const Piece* find_piece(std::string_view text, Letters* letters) {
    for (const Piece& p : kPieces) {
        const std::string_view head = text.substr(0, p.name.size());
        if (!base::same_ignoring_case(head, p.name)) continue;
        if (head == p.name) {
            *letters = Letters::Capital;
            return &p;
        }
        if (head == base::lower(p.name)) {
            *letters = Letters::Small;
            return &p;
        }
        if (p.as_name && head == base::capitalized(base::lower(p.name))) {
            *letters = Letters::AsName;
            return &p;
        }
    }
    return nullptr;
}

}  // namespace

std::string time_to_char(std::int64_t milliseconds, std::string_view format) {
    const base::CivilTime c = base::civil_time_ms(milliseconds);
    BUNRAKU_ASSERT(c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= 31);
    const Shown shown{c, c.nanosecond / 1'000'000, base::day_of_year(c), base::weekday(c.days()),
                      base::iso_week(c)};
    std::string out;
    bool fill = true;          // FM before a pattern turns off padding
    bool names_filled = true;  // TM before a pattern turns off the padding of day and month names
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
        Letters letters{};
        const Piece* found = find_piece(rest, &letters);
        if (!found) {
            if (rest[0] == '\\' && rest.size() > 1 && rest[1] == '"') ++i;
            out += format[i++];
            continue;
        }
        i += found->name.size();
        BUNRAKU_ASSERT(i <= format.size() &&
                       (found->number != nullptr) != (found->text != nullptr));
        // Names accept the suffixes too, but print nothing for them.
        std::string_view suffix =
            base::upper(format.substr(i, 2)) == "TH" ? format.substr(i, 2) : "";
        if (!suffix.empty() || base::upper(format.substr(i, 2)) == "SP") i += 2;
        if (found->number) {
            const std::int64_t n = found->number(shown);
            out += fill ? fmt::format("{:0{}}", n, found->width) : fmt::format("{}", n);
            if (!suffix.empty()) out += ordinal_suffix(n, suffix[0] == 'T');
        } else {
            std::string text = found->text(shown);
            if (letters == Letters::Small) base::make_lower(text);
            if (letters == Letters::Capital) text = base::upper(text);
            const auto width = static_cast<std::size_t>(found->width);
            if (fill && names_filled && text.size() < width) text.resize(width, ' ');
            out += text;
        }
        fill = names_filled = true;
    }
    return out;
}

}  // namespace bunraku::query
