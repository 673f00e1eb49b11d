// The nanoseconds of Timestamps and Timespans. Puppet counts them without bounds; a value holds 96
// bits of them, which is more than any calendar needs. Value::as_integer gives those that fit into
// 64 bits (the years 1677 to 2262).
#pragma once

#include <cstdint>

#include "core/value/value.h"

namespace bunraku::value {

using Nanoseconds = __int128;

/// How the number is spread over a Value: 64 bits as they are, and what is above them.
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

/// Whether a value can hold it.
inline bool fits_time(Nanoseconds ns) {
    constexpr Nanoseconds kLimit = static_cast<Nanoseconds>(1) << 94;
    return ns > -kLimit && ns < kLimit;
}
inline Value make_timestamp(Nanoseconds ns) { return ValueLayout::time(Kind::Timestamp, ns); }
inline Value make_timespan(Nanoseconds ns) { return ValueLayout::time(Kind::Timespan, ns); }
/// Of a Timestamp or Timespan.
inline Nanoseconds nanoseconds(const Value& v) { return ValueLayout::nanoseconds(v); }
/// The same at most as 64 bits: for the ends of ranges, where the outermost mean "no end".
inline std::int64_t clamped_nanoseconds(const Value& v) {
    const Nanoseconds ns = nanoseconds(v);
    return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : static_cast<std::int64_t>(ns);
}

}  // namespace bunraku::value
