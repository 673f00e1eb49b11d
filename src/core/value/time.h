// SPDX-License-Identifier: Apache-2.0
// Nanoseconds of Timestamps and Timespans. Puppet has no bounds for them. A value holds 96 bits,
// which is enough for any calendar. Value::as_integer returns the nanoseconds that fit in 64 bits
// (the years 1677 to 2262).
#pragma once

#include <cstdint>

#include "core/value/value.h"

namespace bunraku::value {

using Nanoseconds = __int128;

/// The layout of the number in a Value: the low 64 bits, and the bits above them.
struct ValueLayout {
    static Value time(Kind kind, Nanoseconds ns) {
        const auto low = static_cast<std::int64_t>(ns);
        const auto high = static_cast<std::int32_t>((ns - low) >> 64);
        return Value(kind, static_cast<std::uint32_t>(high), low);
    }
    static Nanoseconds nanoseconds(const Value& v) {
        return v.int_ + (static_cast<Nanoseconds>(static_cast<std::int32_t>(v.size_)) << 64);
    }
};

/// Reports whether a value can hold the number.
inline bool fits_time(Nanoseconds ns) {
    constexpr Nanoseconds kLimit = static_cast<Nanoseconds>(1) << 94;
    return ns > -kLimit && ns < kLimit;
}
inline Value make_timestamp(Nanoseconds ns) { return ValueLayout::time(Kind::Timestamp, ns); }
inline Value make_timespan(Nanoseconds ns) { return ValueLayout::time(Kind::Timespan, ns); }
/// Returns the nanoseconds of a Timestamp or Timespan.
inline Nanoseconds nanoseconds(const Value& v) { return ValueLayout::nanoseconds(v); }
/// Does the same, clamped to 64 bits. For the ends of ranges, where the extreme values mean "no
/// limit".
inline std::int64_t clamped_nanoseconds(const Value& v) {
    const Nanoseconds ns = nanoseconds(v);
    return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : static_cast<std::int64_t>(ns);
}

}  // namespace bunraku::value
