// SPDX-License-Identifier: Apache-2.0
#include "core/value/msgpack.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/value/rich_data.h"

namespace bunraku::value {
namespace {

using namespace std::string_literals;

// The encoded bytes equal those of Ruby's MessagePack: the shortest form in the specification.
TEST(Msgpack, RoundTrips) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"null", "\xc0"s},
        {"true", "\xc3"s},
        {"127", "\x7f"s},
        {"128", "\xcc\x80"s},
        {"256", "\xcd\x01\x00"s},
        {"65536", "\xce\x00\x01\x00\x00"s},
        {"4294967296", "\xcf\x00\x00\x00\x01\x00\x00\x00\x00"s},
        {"-32", "\xe0"s},
        {"-33", "\xd0\xdf"s},
        {"-128", "\xd0\x80"s},
        {"-129", "\xd1\xff\x7f"s},
        {"-32769", "\xd2\xff\xff\x7f\xff"s},
        {"-2147483649", "\xd3\xff\xff\xff\xff\x7f\xff\xff\xff"s},
        {"1.5", "\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00"s},
        {R"("é")", "\xa2\xc3\xa9"s},
        {R"({"a":[1,null]})", "\x81\xa1\x61\x92\x01\xc0"s},
        {"\"" + std::string(32, 'x') + "\"", "\xd9\x20" + std::string(32, 'x')},
        {"\"" + std::string(256, 'x') + "\"", "\xda\x01\x00"s + std::string(256, 'x')},
        {"[0" +
             [] {
                 std::string zeros;
                 for (int i = 1; i < 16; ++i) zeros += ",0";
                 return zeros;
             }() +
             "]",
         "\xdc\x00\x10"s + std::string(16, '\0')},
    };
    for (const auto& [json, bytes] : cases) {
        base::Arena arena;
        const auto data = parse_json(arena, json);
        ASSERT_TRUE(data) << json;
        EXPECT_EQ(to_msgpack(*data), bytes) << json;
        const auto back = parse_msgpack(arena, bytes);
        ASSERT_TRUE(back) << json << ": " << back.error().message;
        EXPECT_EQ(to_json(*back), json);
    }
}

TEST(Msgpack, AcceptsAlternativeEncodings) {
    base::Arena arena;
    // A number as a key, a four-byte float, binary data that is text.
    const auto data =
        parse_msgpack(arena, "\x81\x05\x93\xca\x3f\x00\x00\x00\xc4\x01x\xd3\0\0\0\0\0\0\0\x01"s);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(to_json(*data), R"({"5":[0.5,"x",1]})");
}

TEST(Msgpack, RefusesInvalidInput) {
    for (const auto& [bytes, why] : std::vector<std::pair<std::string, std::string>>{
             {"", "is truncated"},
             {"\xdd\xff\xff\xff\xff"s, "is truncated"},
             {"\xdf\x7f\xff\xff\xff\x01"s, "is truncated"},
             {"\xdb\xff\xff\xff\xff"s, "is truncated"},
             {"\x01\x02"s, "data after its end"},
             {"\xa1\xff"s, "not valid UTF-8"},
             {"\xd6\x00\x00\x00\x00\x00"s, "extension type"},
             {"\xc1"s, "extension type"},
             {"\xcf\xff\xff\xff\xff\xff\xff\xff\xff"s, "more than 64 bits"},
             {std::string(5000, '\x91'), "nested too deeply"},
         }) {
        base::Arena arena;
        const auto data = parse_msgpack(arena, bytes);
        ASSERT_FALSE(data);
        EXPECT_NE(data.error().message.find(why), std::string::npos) << data.error().message;
    }
}

}  // namespace
}  // namespace bunraku::value
