// SPDX-License-Identifier: Apache-2.0
// Small helpers that the database code and the store engine share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/sys/clock.h"
#include "resources/catalog/catalog.h"

namespace bunraku::store {

/// Returns the current time in milliseconds since the epoch, the unit of producer timestamps.
std::int64_t now_ms();

/// Returns the monotonic clock in microseconds.
inline std::int64_t now_us(sys::Clock& clock) { return clock.monotonic_ns() / 1000; }

/// The interval between two checks of a standby.
constexpr std::chrono::seconds kReplicaPause{1};

/// Returns a JSON array of strings.
std::string strings_to_json(const std::vector<std::string>& items);

/// Returns the strings of a JSON array and skips other values. Returns an empty vector if `json` is
/// invalid.
std::vector<std::string> strings_from_json(std::string_view json);

/// Returns the text by which parameter values are searched: the JSON with sorted keys, or its
/// SHA-1 if the JSON is longer than 200 bytes.
std::string match_text(const catalog::Value& v);

}  // namespace bunraku::store
