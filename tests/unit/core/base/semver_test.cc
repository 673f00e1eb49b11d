// SPDX-License-Identifier: Apache-2.0
#include "core/base/semver.h"

#include <gtest/gtest.h>

namespace bunraku::base {
namespace {

TEST(Versions, AreReadStrictly) {
    for (const char* good :
         {"0.0.0", "1.2.3", "1.2.3-rc.1", "1.2.3-rc+b.1", "1.2.3+b", "10.20.30-x-y"}) {
        ASSERT_TRUE(SemVer::parse(good)) << good;
        EXPECT_EQ(SemVer::parse(good)->to_string(), good);
    }
    for (const char* bad : {"", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3-a..b",
                            "v1.2.3", "1.2.3+", "99999999999999999999.0.0"}) {
        EXPECT_FALSE(SemVer::parse(bad)) << bad;
    }
}

TEST(Versions, AreOrderedBySpecification) {
    const char* ordered[] = {
        "1.0.0-1",    "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
        "1.0.0-beta", "1.0.0",   "1.0.1",    "1.1.0",       "2.0.0"};
    for (std::size_t i = 0; i + 1 < std::size(ordered); ++i) {
        EXPECT_LT(*SemVer::parse(ordered[i]), *SemVer::parse(ordered[i + 1])) << ordered[i];
    }
    EXPECT_EQ(*SemVer::parse("1.0.0+a"), *SemVer::parse("1.0.0+b"));
}

// Recorded from semantic_puppet 1.0.4 (inspect).
TEST(Ranges, AreReadLikeSemanticPuppet) {
    const struct {
        const char *text, *normalized;
    } cases[] = {
        {"1.2.3", "1.2.3"},
        {"=1.2.3", "1.2.3"},
        {"1.x", ">=1.0.0 <2.0.0"},
        {"1.2.*", ">=1.2.0 <1.3.0"},
        {"1", ">=1.0.0 <2.0.0"},
        {"*", "*"},
        {"", "*"},
        {"~1.2.3", ">=1.2.3 <1.3.0"},
        {"~>1.2", ">=1.2.0 <1.3.0"},
        {"~1", ">=1.0.0 <2.0.0"},
        {"^1.2.3", ">=1.2.3 <2.0.0"},
        {"^0.2.3", ">=0.2.3 <0.3.0"},
        {"^1.2.3-rc1", ">=1.2.3-rc1 <2.0.0"},
        {"> 1.2.3", ">1.2.3"},
        {">1.2", ">=1.3.0"},
        {"<=1.2", "<1.3.0"},
        {">=v1.0.0", ">=1.0.0"},
        {"1.0.0 - 2.0.0", ">=1.0.0 <=2.0.0"},
        {"1 - 2", ">=1.0.0 <=2.0.0"},
        {">=1.0.0 <2.0.0", ">=1.0.0 <2.0.0"},
        {">1.0.0 <0.5.0", "<0.0.0"},
        {">=1.0.0 <=1.0.0", "1.0.0"},
        {">=1.0.0 <2.0.0 || >=3.0.0 <4.0.0", ">=1.0.0 <2.0.0 || >=3.0.0 <4.0.0"},
        {">=1.0.0 <2.0.0 || >=1.5.0 <3.0.0", ">=1.0.0 <3.0.0"},
        {"1.x || 2.x", ">=1.0.0 <3.0.0"},
    };
    for (const auto& c : cases) {
        const auto range = SemVerRange::parse(c.text);
        ASSERT_TRUE(range) << c.text;
        EXPECT_EQ(range->normalized(), c.normalized) << c.text;
    }
    for (const char* bad :
         {"!1", "1.2.3.4", "a", "1.0.0 -", ">=1.0.0 nope", "1.2.3-01", ">= v1.0.0"}) {
        EXPECT_FALSE(SemVerRange::parse(bad)) << bad;
    }
}

TEST(Ranges, MatchPrereleasesOnlyIfNamed) {
    const auto includes = [](const char* range, const char* version) {
        return SemVerRange::parse(range)->includes(*SemVer::parse(version));
    };
    EXPECT_TRUE(includes(">=1.0.0 <2.0.0", "1.5.0"));
    EXPECT_FALSE(includes(">=1.0.0 <2.0.0", "2.0.0"));
    EXPECT_FALSE(includes(">=1.0.0 <2.0.0", "1.5.0-rc1"));
    EXPECT_TRUE(includes(">=1.5.0-rc1 <2.0.0", "1.5.0-rc2"));
    EXPECT_FALSE(includes(">=1.5.0-rc1 <2.0.0", "1.6.0-rc2"));
    EXPECT_TRUE(includes("*", "1.0.0-rc1"));
    EXPECT_FALSE(includes(">1.0.0 <0.5.0", "0.0.0"));
}

}  // namespace
}  // namespace bunraku::base
