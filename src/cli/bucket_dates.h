// Dates as people write them behind `filebucket --fromdate` and `--todate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bunraku::cli {

/// Seconds since the epoch, of what Ruby's Time.parse takes most: "2026-05-11", "2026-05-11 09:30",
/// "2026-05-11T09:30:00Z", "11-5-2026", "May 11 2026", "09:30" (of the day of `now`). Without a
/// zone it is local time. nullopt: it is none.
std::optional<std::int64_t> bucket_date(std::string_view text, std::int64_t now);

}  // namespace bunraku::cli
