// SPDX-License-Identifier: Apache-2.0
// The interface to the clocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace bunraku::sys {

class Clock {
public:
    virtual ~Clock() = default;
    virtual std::int64_t now_ns() = 0;        ///< since the epoch
    virtual std::int64_t monotonic_ns() = 0;  ///< monotonic, for measurements
    virtual void sleep_ns(std::int64_t ns) = 0;
};

std::unique_ptr<Clock> make_real_clock();

/// Formats as "2026-01-31T10:20:30.123456789Z" in UTC, with `digits` digits in the fraction (0-9).
std::string iso8601_utc(std::int64_t ns, int digits = 9);
/// Formats as "2026-01-31 11:20:30 +0100" in local time, like Ruby's Time#to_s.
std::string local_text(std::int64_t ns);

}  // namespace bunraku::sys
