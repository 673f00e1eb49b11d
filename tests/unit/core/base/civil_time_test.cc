// SPDX-License-Identifier: Apache-2.0
// The calendar, and all time formats that any parser of Bunraku accepts.
#include "core/base/civil_time.h"

#include <gtest/gtest.h>

namespace bunraku::base {
namespace {

TEST(CivilTime, DaysRoundTrip) {
    const struct {
        std::int64_t days;
        Civil date;
        int weekday, day_of_year;
        std::int64_t iso_year;
        int iso_week;
    } cases[] = {
        {0, {1970, 1, 1}, 4, 1, 1970, 1},
        {-1, {1969, 12, 31}, 3, 365, 1970, 1},
        {11'016, {2000, 2, 29}, 2, 60, 2000, 9},
        {18'627, {2020, 12, 31}, 4, 366, 2020, 53},
        {18'628, {2021, 1, 1}, 5, 1, 2020, 53},
        {-719'528, {0, 1, 1}, 6, 1, -1, 52},
        {2'932'896, {9999, 12, 31}, 5, 365, 9999, 52},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(days_from_civil(c.date.year, c.date.month, c.date.day), c.days);
        const Civil back = civil_from_days(c.days);
        EXPECT_EQ(std::tuple(back.year, back.month, back.day),
                  std::tuple(c.date.year, c.date.month, c.date.day));
        EXPECT_EQ(weekday(c.days), c.weekday) << c.days;
        EXPECT_EQ(day_of_year(c.date), c.day_of_year) << c.days;
        EXPECT_EQ(iso_week(c.date).year, c.iso_year) << c.days;
        EXPECT_EQ(iso_week(c.date).week, c.iso_week) << c.days;
    }
    for (std::int64_t day = -800'000; day < 3'000'000; day += 37) {
        const Civil date = civil_from_days(day);
        ASSERT_EQ(days_from_civil(date.year, date.month, date.day), day);
    }
}

TEST(CivilTime, Writes) {
    const std::int64_t ns = 1'700'000'000'123'456'789;
    EXPECT_EQ(iso_text(civil_time_ns(ns)), "2023-11-14T22:13:20Z");
    EXPECT_EQ(iso_text(civil_time_ns(ns), 3), "2023-11-14T22:13:20.123Z");
    EXPECT_EQ(iso_text(civil_time_ns(ns), 12), "2023-11-14T22:13:20.123456789Z");
    EXPECT_EQ(iso_text(civil_time_ns(ns, 3600), 9, "+00:00"),
              "2023-11-14T23:13:20.123456789+01:00");
    EXPECT_EQ(iso_text(civil_time_ns(ns, -12'600), 0, " +0000", ' '), "2023-11-14 18:43:20 -0330");
    EXPECT_EQ(iso_text(civil_time_ms(-1), 3), "1969-12-31T23:59:59.999Z");
    EXPECT_EQ(iso_text(civil_time(-62'167'219'201)), "-0001-12-31T23:59:59Z");
    EXPECT_EQ(iso_text(civil_time(253'402'300'800)), "10000-01-01T00:00:00Z");
    EXPECT_EQ(iso_text(civil_time_ns(INT64_MIN), 9), "1677-09-21T00:12:43.145224192Z");
    EXPECT_EQ(iso_text(civil_time_ms(INT64_MIN), 3), "-292275055-05-16T16:47:04.192Z");
    EXPECT_EQ(iso_text(civil_time_ms(INT64_MAX), 3), "292278994-08-17T07:12:55.807Z");
    EXPECT_EQ(rfc1123_text(civil_time(784'887'151)), "Tue, 15 Nov 1994 08:12:31 GMT");
}

TEST(CivilTime, Reads) {
    constexpr unsigned kAll = kZoneOptional | kBlankBeforeZone | kAnyShape;
    // The time in milliseconds for each parser; parsers that refuse the text are omitted.
    using Read = std::optional<std::int64_t>;
    constexpr auto no = std::nullopt;
    const struct {
        std::string_view text;
        Read strict, loose_zone, all;
    } cases[] = {
        {"2001-01-02T03:04:05.678Z", 978404645678, 978404645678, 978404645678},
        {"2001-01-02 03:04:05,6Z", 978404645600, 978404645600, 978404645600},
        {"2001-01-02T04:04:05+01:00", 978404645000, 978404645000, 978404645000},
        {"2001-01-02T02:34:05-0030", 978404645000, 978404645000, 978404645000},
        {"2001-01-02T03:04:60Z", 978404700000, 978404700000, 978404700000},
        {"2000-02-29T00:00:00Z", 951782400000, 951782400000, 951782400000},
        {"0000-01-01T00:00:00Z", -62167219200000, -62167219200000, -62167219200000},
        {"9999-12-31T23:59:59.9999Z", 253402300799999, 253402300799999, 253402300799999},
        {"2001-01-02 03:04:05 +00:00", no, 978404645000, 978404645000},
        {"2001-01-02 03:04:05", no, 978404645000, 978404645000},
        {"2001-01-02T03:04:05+01", no, no, 978401045000},
        {"2001-01-02T03:04:05.0123456789Z", no, no, 978404645012},
        {"2001-01-02t03:04:05z", no, no, 978404645000},
        {"2001-01-02 03:04:05 GMT", no, no, 978404645000},
        {"2001-01-02", no, no, 978393600000},
        {"2001-01", no, no, 978307200000},
        {"2001-1-2", no, no, 978393600000},
        {"2001-002", no, no, 978393600000},
        {"2001-W01-2", no, no, 978393600000},
        {"2001-W01", no, no, 978307200000},
        {"20010102T030405Z", no, no, 978404645000},
        {"2001-01-02T03", no, no, 978404400000},
        {"2001-01-02T03:04", no, no, 978404640000},
        {"2001-01-02T", no, no, 978393600000},
        {"2001-01-02T24:00:00Z", no, no, 978480000000},
        {"2001-01-02T25:00:00Z", no, no, no},
        {"2001-01-02T03:60:00Z", no, no, no},
        {"2001-01-02T03:04:61Z", no, no, no},
        {"2001-01-02T03:04:05.Z", no, no, no},
        {"2001-01-02T03:04:05Zx", no, no, no},
        {"2001-01-02T03:04:05+24:00", no, no, no},
        {"2001-01-02T03:04:05+01:", no, no, no},
        {"2001-02-29T00:00:00Z", no, no, no},
        {"2001-13-01T00:00:00Z", no, no, no},
        {"2001-00-01T00:00:00Z", no, no, no},
        {"2001-01-00T00:00:00Z", no, no, no},
        {"2001-W54", no, no, no},
        {"2001-367", no, no, no},
        {"2001", no, no, no},
        {"yesterday", no, no, no},
        {"", no, no, no},
    };
    for (const auto& c : cases) {
        const auto read = [&c](unsigned latitude) {
            return parse_iso_time(c.text, latitude).transform(&CivilTime::milliseconds);
        };
        EXPECT_EQ(read(kStrictTime), c.strict) << c.text;
        EXPECT_EQ(read(kZoneOptional | kBlankBeforeZone), c.loose_zone) << c.text;
        EXPECT_EQ(read(kAll), c.all) << c.text;
    }
    EXPECT_EQ(parse_iso_time("2001-01-02T03:04:05.1234567899Z", kAll)->nanosecond, 123456789);
    EXPECT_EQ(parse_rfc822_time("Tue, 02 Jan 2001 03:04:05 +0000")->seconds(), 978404645);
    EXPECT_EQ(parse_rfc822_time("2 Jan 2001 03:04 GMT")->seconds(), 978404640);
    for (std::string_view bad : {"", "Tue,", "2 Jan", "31 Feb 2001 00:00:00 GMT",
                                 "2 January 2001 00:00:00", "0 Jan 2001 00:00:00"}) {
        EXPECT_FALSE(parse_rfc822_time(bad)) << bad;
    }
}

}  // namespace
}  // namespace bunraku::base
