// SPDX-License-Identifier: Apache-2.0
// Declarations shared by the files of this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/value/time.h"
#include "core/value/value.h"

namespace bunraku::value {

/// Returns hash_of for a string value without making the value.
std::uint64_t hash_of_string(std::string_view text);

/// Hashes of up to this many entries have no index.
inline constexpr std::size_t kLinearEntries = 8;

/// Makes a hash from entries that are already in the arena. Their keys must differ.
Value hash_over(base::Arena& arena, std::span<const Entry> entries);

/// "2016-01-01T00:00:00.000000000 UTC"
void append_timestamp(std::string& out, Nanoseconds nanoseconds);
/// "0-01:00:00.0"
void append_timespan(std::string& out, Nanoseconds nanoseconds);

}  // namespace bunraku::value
