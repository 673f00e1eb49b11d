// SPDX-License-Identifier: Apache-2.0
// Numbers, times and durations as the console prints them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::console {

/// "12,431".
std::string number_text(std::int64_t number);
/// "1 node", "12,431 nodes". `plural` is the plural form.
std::string count_text(std::int64_t number, std::string_view singular, std::string_view plural);
/// "0.03 s", "14.9 s", "3 min 20 s", "2 h 5 min".
std::string seconds_text(double seconds);
/// "0.3 ms", "120 ms", or as seconds_text from one second on.
std::string latency_text(double microseconds);
/// "4 min", "3 h", "12 days", "4.3 years": the largest unit, rounded down.
std::string span_text(std::int64_t milliseconds);
/// "20 s ago", "4 min ago", "in 3 days".
std::string ago_text(std::int64_t time_ms, std::int64_t now_ms);
/// "28 Nov 2026 09:48:12 UTC".
std::string time_text(std::int64_t time_ms);
/// "2026-11-28T09:48:12Z", for `datetime` attributes.
std::string machine_time(std::int64_t time_ms);
/// "2026-11-28T09:48:12.345Z", for addresses that name one of several versions.
std::string exact_time(std::int64_t time_ms);
/// "09:30".
std::string hour_text(std::int64_t time_ms);
/// "512 B", "4.2 KB", "1.1 GB".
std::string bytes_text(std::uint64_t bytes);
/// A code version that fits into a table: the first 12 digits of a long hash, else all of it.
std::string_view short_code(std::string_view code);

}  // namespace bunraku::console
