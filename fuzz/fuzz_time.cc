// SPDX-License-Identifier: Apache-2.0
// Times from untrusted sources: after a time is read and written, the strict reader reads the same
// time.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/base/civil_time.h"

using namespace bunraku::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (unsigned latitude = 0; latitude < 8; ++latitude) {
        const auto time = parse_iso_time(text, latitude);
        // Values such as 24 o'clock or a 60th second are written in normalized form.
        if (!time) continue;
        const CivilTime plain = civil_time(time->seconds(), time->nanosecond, time->offset);
        if (plain.year < 0 || plain.year > 9999) continue;
        const auto again = parse_iso_time(iso_text(plain, 9, "+00:00"));
        if (!again || again->seconds() != time->seconds() || again->nanosecond != time->nanosecond)
            std::abort();
    }
    if (const auto time = parse_rfc822_time(text)) {
        const CivilTime utc = civil_time(time->seconds());
        const auto again = parse_rfc822_time(rfc1123_text(utc));
        if (utc.year >= 0 && utc.year <= 9999 && (!again || again->seconds() != time->seconds()))
            std::abort();
    }
    return 0;
}
