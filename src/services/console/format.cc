// SPDX-License-Identifier: Apache-2.0
#include "services/console/format.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/civil_time.h"
#include "core/sys/clock.h"

namespace bunraku::console {

std::string number_text(std::int64_t number) {
    auto out = std::to_string(number);
    const std::ptrdiff_t first = number < 0 ? 1 : 0;
    for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > first; at -= 3)
        out.insert(static_cast<std::size_t>(at), 1, ',');
    return out;
}

std::string count_text(std::int64_t number, std::string_view singular, std::string_view plural) {
    return number_text(number) + " " + std::string(number == 1 ? singular : plural);
}

std::string seconds_text(double seconds) {
    if (seconds < 0.995) return fmt::format("{:.2f} s", seconds);
    if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<std::int64_t>(seconds + 0.5);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string latency_text(double microseconds) {
    if (microseconds >= 999'500) return seconds_text(microseconds / 1e6);
    return microseconds < 9'950 ? fmt::format("{:.1f} ms", microseconds / 1e3)
                                : fmt::format("{:.0f} ms", microseconds / 1e3);
}

std::string span_text(std::int64_t milliseconds) {
    const auto seconds = std::max<std::int64_t>(0, milliseconds / 1000);
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{} min", seconds / 60);
    if (seconds < 48 * 3600) return fmt::format("{} h", seconds / 3600);
    const auto days = seconds / 86'400;
    if (days < 730) return fmt::format("{} days", days);
    return fmt::format("{:.1f} years", static_cast<double>(days) / 365.25);
}

std::string ago_text(std::int64_t time_ms, std::int64_t now_ms) {
    if (time_ms > now_ms) return "in " + span_text(time_ms - now_ms);
    return span_text(now_ms - time_ms) + " ago";
}

std::string time_text(std::int64_t time_ms) {
    const auto t = base::civil_time_ms(time_ms);
    return fmt::format("{} {} {} {:02}:{:02}:{:02} UTC", t.day,
                       base::kMonths[t.month - 1].substr(0, 3), t.year, t.hour, t.minute, t.second);
}

std::string machine_time(std::int64_t time_ms) {
    return base::iso_text(base::civil_time_ms(time_ms));
}

std::string exact_time(std::int64_t time_ms) { return sys::iso8601_utc(time_ms * 1'000'000, 3); }

std::string hour_text(std::int64_t time_ms) {
    const auto t = base::civil_time_ms(time_ms);
    return fmt::format("{:02}:{:02}", t.hour, t.minute);
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 5> kUnits = {"KB", "MB", "GB", "TB", "PB"};
    if (bytes < 1000) return fmt::format("{} B", bytes);
    auto value = static_cast<double>(bytes) / 1000;
    std::size_t unit = 0;
    while (value >= 999.95 && unit + 1 < kUnits.size()) {
        value /= 1000;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string_view short_code(std::string_view code) {
    const bool hash =
        code.size() == 40 && code.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    return hash ? code.substr(0, 12) : code;
}

}  // namespace bunraku::console
