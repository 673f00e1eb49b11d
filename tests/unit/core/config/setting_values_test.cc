// SPDX-License-Identifier: Apache-2.0
#include "core/config/setting_values.h"

#include <gtest/gtest.h>

#include "testing/fake.h"

namespace bunraku::config {
namespace {

Settings empty() { return Settings::defaults(std::make_shared<sys::MemoryFileSystem>(), true); }

TEST(SettingValues, Periods) {
    EXPECT_EQ(parse_period("7d"), 7 * 86400000LL);
    EXPECT_EQ(parse_period("0"), 0);
    EXPECT_EQ(parse_period("500ms"), 500);
    for (const char* bad : {"", "7", "7w", "d", "-1d", "99999999999999999d"})
        EXPECT_FALSE(parse_period(bad)) << bad;
}

TEST(SettingValues, CompileLimits) {
    constexpr CompileLimits kOtherwise{.time_ms = 60'000, .memory_bytes = 2LL << 30};
    const auto limits = [&](const char* time, const char* memory) {
        auto settings = empty();
        if (*time) settings.set("compile-timeout", time);
        if (*memory) settings.set("max_compile_memory", memory);
        const auto out = compile_limits(settings, kOtherwise);
        return out ? std::to_string(out->time_ms) + " " + std::to_string(out->memory_bytes)
                   : out.error().message;
    };
    EXPECT_EQ(limits("", ""), "60000 2147483648");
    EXPECT_EQ(limits("2s", "3"), "2000 3145728");
    EXPECT_EQ(limits("2", ""), "2000 2147483648");
    EXPECT_EQ(limits("0", ""), "0 2147483648");
    EXPECT_EQ(limits("-1", ""),
              "The setting compile-timeout is not a time period (7d, 12h, 30m, 10s): -1");
    EXPECT_EQ(limits("", "0"), "The setting max-compile-memory is less than 1 (MiB)");
    EXPECT_EQ(limits("", "2G"), "The setting max-compile-memory is not a number: 2G");
    EXPECT_EQ(limits("", "999999999999999"), "The setting max-compile-memory is too large");
}

}  // namespace
}  // namespace bunraku::config
