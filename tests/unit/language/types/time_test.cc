// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "language/types/time_format.h"

namespace bunraku::types {
namespace {

struct Case {
    const char *format, *text;
};

// Recorded from Puppet 8.11 on Ruby 3.1.
TEST(Strftime, OfTimestampsMatchesRuby) {
    const std::int64_t t = 1456977906'789012345;  // 2016-03-03 04:05:06.789012345 UTC
    for (const Case& c : {
             Case{"%FT%T.%N %Z", "2016-03-03T04:05:06.789012345 UTC"},
             {"%Y|%C|%y|%m|%B|%b|%h|%d|%e|%j", "2016|20|16|03|March|Mar|Mar|03| 3|063"},
             {"%H|%k|%I|%l|%P|%p|%M|%S|%L", "04| 4|04| 4|am|AM|05|06|789"},
             {"%3N|%6N|%9N|%12N|%6L", "789|789012|789012345|789012345000|789012"},
             {"%z|%:z|%::z", "+0000|+00:00|+00:00:00"},
             {"%A|%a|%u|%w|%G|%g|%V|%U|%W", "Thursday|Thu|4|4|2016|16|09|09|09"},
             {"%s|%n|%t|%%", "1456977906|\n|\t|%"},
             {"%c|%D|%x|%R|%r|%X",
              "Thu Mar  3 04:05:06 2016|03/03/16|03/03/16|04:05|04:05:06 AM|04:05:06"},
             {"%v", " 3-MAR-2016"},
             {"%-d|%_m|%05d|%^b|%#p|%10Y|%-H", "3| 3|00003|MAR|am|0000002016|4"},
             {"%Q|%E|%", "%Q|%E|%"},
         }) {
        EXPECT_EQ(format_timestamp(t, c.format), c.text) << c.format;
    }
    EXPECT_EQ(format_timestamp(t, "%F %T %z|%Z", "+02:30"), "2016-03-03 06:35:06 +0230|");
    EXPECT_EQ(format_timestamp(t, "%F %T %z", "PST"), "2016-03-02 20:05:06 -0800");
    EXPECT_EQ(timestamp_text(-1), "1969-12-31T23:59:59.999999999 UTC");
    EXPECT_THROW(format_timestamp(t, "%F", "Foo/Bar"), base::PuppetError);
}

TEST(Strftime, OfTimespansMatchesPuppet) {
    const std::int64_t t = timespan_from_fields(false, 1, 2, 3, 4, 5, 6, 7);
    for (const Case& c : {
             Case{"%D-%H:%M:%S.%-N", "1-02:03:04.5006007"},
             {"%H:%M", "26:03"},
             {"%M %S", "1563 04"},
             {"%S", "93784"},
             {"%S.%L", "93784.5  "},
             {"%S.%-L", "93784.5"},
             {"%S.%3N", "93784.5  "},
             {"%L", "93784005"},
             {"%_5H|%4D", "    2|0001"},
             {"%%", "%"},
         }) {
        std::string got;
        try {
            got = format_timespan(t, c.format);
        } catch (const base::PuppetError& e) {
            got = e.message();
        }
        EXPECT_EQ(got, c.text) << c.format;
    }
    EXPECT_EQ(timespan_text(-90'061'500'000'000), "-1-01:01:01.5");
    EXPECT_THROW(format_timespan(1, "%q"), base::PuppetError);
}

TEST(Zones, AreKnownByNameAndNumber) {
    EXPECT_EQ(utc_offset("UTC"), 0);
    EXPECT_EQ(utc_offset("PST"), -8 * 3600);
    EXPECT_EQ(utc_offset("Pacific Standard Time"), -8 * 3600);
    EXPECT_EQ(utc_offset("+02:30"), 9000);
    EXPECT_EQ(utc_offset("-0230"), -9000);
    EXPECT_EQ(utc_offset("GMT+1"), 3600);
    EXPECT_THROW(utc_offset("nowhere/land"), base::PuppetError);
}

TEST(FarTimes, BeyondSixtyFourBits) {
    EXPECT_EQ(timestamp_text(parse_timestamp("5553-12-31T12:30:45.5")),
              "5553-12-31T12:30:45.500000000 UTC");
    EXPECT_EQ(timestamp_text(parse_timestamp("0001-01-01")), "0001-01-01T00:00:00.000000000 UTC");
    EXPECT_EQ(format_timestamp(parse_timestamp("9999-12-31T23:59:59"), "%F %j %s"),
              "9999-12-31 365 253402300799");
    EXPECT_EQ(timespan_text(timespan_from_fields(false, 1'000'000, 1, 0, 0, 0, 0, 5)),
              "1000000-01:00:00.5");
    EXPECT_EQ(timespan_text(timespan_from_fields(true, 1'000'000, 1, 0, 0, 0, 0, 0)),
              "-1000000-01:00:00.0");
    EXPECT_EQ(format_timespan(timespan_from_fields(false, 200'000, 0, 0, 1, 0, 0, 0), "%S"),
              "17280000001");
}

TEST(Overflow, IsAnError) {
    EXPECT_THROW(timespan_from_fields(false, 1'000'000'000'000'000, 0, 0, 0, 0, 0, 0),
                 base::PuppetError);
    EXPECT_THROW(seconds_to_nanoseconds(1e300), base::PuppetError);
}

}  // namespace
}  // namespace bunraku::types
