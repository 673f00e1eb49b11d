// SPDX-License-Identifier: Apache-2.0
// Times in queries, and PostgreSQL's to_char() of times for the embedded store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bunraku::query {

/// Parses a time in the formats that PuppetDB accepts: ISO 8601 in its usual forms (a date alone,
/// with or without seconds, fraction, zone; basic or extended), a blank for the "T", RFC 822. A
/// time without a zone is UTC. Returns milliseconds since the epoch.
std::optional<std::int64_t> parse_query_time(std::string_view text);

/// Implements to_char(timestamp, format) of PostgreSQL 15 for milliseconds since the epoch, in UTC.
std::string time_to_char(std::int64_t milliseconds, std::string_view format);

}  // namespace bunraku::query
