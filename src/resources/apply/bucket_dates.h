// SPDX-License-Identifier: Apache-2.0
// Parser for the dates of `filebucket --fromdate` and `--todate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bunraku::apply {

/// Returns the seconds since the epoch for the common formats of Ruby's Time.parse: "2026-05-11",
/// "2026-05-11 09:30", "2026-05-11T09:30:00Z", "11-5-2026", "May 11 2026", "09:30" (on the day of
/// `now`). A date without a zone is in local time. Returns nullopt if the text is not a date.
std::optional<std::int64_t> bucket_date(std::string_view text, std::int64_t now);

}  // namespace bunraku::apply
