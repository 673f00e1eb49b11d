// What the files of this folder share.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/value/time.h"
#include "core/value/value.h"

namespace bunraku::value {

/// hash_of of a string value, without making one.
std::uint64_t hash_of_string(std::string_view text);

/// Entries up to this number need no index.
inline constexpr std::size_t kLinearEntries = 8;

/// A hash over entries that already live in the arena and whose keys differ.
Value hash_over(base::Arena& arena, std::span<const Entry> entries);

/// "2016-01-01T00:00:00.000000000 UTC"
void append_timestamp(std::string& out, Nanoseconds nanoseconds);
/// "0-01:00:00.0"
void append_timespan(std::string& out, Nanoseconds nanoseconds);

}  // namespace bunraku::value
