// SPDX-License-Identifier: Apache-2.0
#include "core/regex/regex.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "core/base/work_limit.h"

namespace bunraku::regex {
namespace {

// Error messages recorded from Ruby 3.1 (Regexp.new).
TEST(Regex, ErrorMessagesMatchRuby) {
    const std::pair<const char*, const char*> cases[] = {
        {"[", "premature end of char-class: /[/"},
        {"(", "end pattern with unmatched parenthesis: /(/"},
        {")", "unmatched close parenthesis: /)/"},
        {"*", "target of repeat operator is not specified: /*/"},
        {"[z-a]", "empty range in char class: /[z-a]/"},
        {"\\", "too short escape sequence: /\\/"},
        {"(?<a", "invalid group name <a>: /(?<a/"},
        {"(?z)", "undefined group option: /(?z)/"},
        {"\\k<x>", "undefined name <x> reference: /\\k<x>/"},
        {"(?<n>a)\\1", "numbered backref/call is not allowed. (use name): /(?<n>a)\\1/"},
        {"\\p{foo}", "invalid character property name {foo}: /\\p{foo}/"},
        {"\\g<x>", "undefined name <x> reference: /\\g<x>/"},
        {"[a-\\d]", "char-class value at end of range: /[a-\\d]/"},
        {"(?<1a>x)", "invalid group name <1a>: /(?<1a>x)/"},
        {"x{99999999}", "too big number for repeat range: /x{99999999}/"},
        {"\\1", "invalid backref number/name: /\\1/"},
        {"[]", "empty char-class: /[]/"},
        {"\\u12", "invalid Unicode escape: /\\u12/"},
        {"[a&&", "premature end of char-class: /[a&&/"},
    };
    for (auto [pattern, text] : cases) {
        auto r = Regex::compile(pattern);
        ASSERT_FALSE(r.has_value()) << pattern;
        EXPECT_EQ(r.error().message, text);
    }
}

TEST(Regex, MatchesLikeRuby) {
    struct Case {
        const char* pattern;
        const char* subject;
        const char* match;  // null if the pattern does not match
        std::uint32_t options = 0;
    };
    const Case cases[] = {
        {"\\d+", "a٣12", "12"},
        {"\\w+", "éab", "ab"},
        {"[\\w]+", "éab", "ab"},
        {"\\bb", "éb b", "b"},
        {"é\\b", "éb é.", "é"},
        {"[[:alpha:]]+", "1éa", "éa"},
        {"[[:digit:]]+", "a٣1", "٣1"},
        {"[[:word:]]+", "-éa_1", "éa_1"},
        {"[^[:space:]]+", "\u2003x", "x"},
        {"\\s", "\u2003", nullptr},
        {"a.c", "a\nc", nullptr},
        {"a.c", "a\nc", "a\nc", kMultiline},
        {"a b # c", "ab", "ab", kExtended},
        {"ÀB", "àb", "àb", kIgnoreCase},
        {"^b$", "a\nb\nc", "b"},
        {"\\Ab", "a\nb", nullptr},
        {"a\\z", "a\n", nullptr},
        {"a\\Z", "a\n", "a"},
        {"\\u{61 62}", "xab", "ab"},
        {"\\h+", "xyzBEEF", "BEEF"},
        {"(?<y>\\d{4})-\\k<y>", "2020-2020", "2020-2020"},
        {"foo\\Kbar", "foobar", "bar"},
        {"(?>a+)b", "aab", "aab"},
        {"(?i)AbC", "xaBc", "aBc"},
        {"(?m-ix:a.)", "a\n", "a\n"},
        {"", "", ""},
    };
    for (const Case& c : cases) {
        auto r = Regex::cached(c.pattern, c.options);
        ASSERT_TRUE(r.has_value()) << r.error().message;
        auto m = (*r)->search(c.subject);
        ASSERT_EQ(m.has_value(), c.match != nullptr) << c.pattern;
        EXPECT_EQ((*r)->matches(c.subject), c.match != nullptr);
        if (m) {
            EXPECT_EQ(m->group(c.subject, 0), c.match) << c.pattern;
        }
    }
}

TEST(Regex, GroupsAndNames) {
    auto r = Regex::compile("(a)|(b)");
    auto m = (*r)->search("b");
    EXPECT_EQ((*r)->group_count(), 2u);
    EXPECT_FALSE(m->took_part(1));
    EXPECT_EQ(m->group("b", 2), "b");
    auto named = Regex::compile("(?<second>x)(?<first>y)(z)");
    EXPECT_EQ((*named)->names(),
              (std::vector<std::pair<std::string, int>>{{"second", 1}, {"first", 2}}));
}

// The values are those of Ruby 3.1.
TEST(Regex, KeepInLookaheadDoesNotStartBeyondTheEnd) {
    const auto found = [](const char* pattern) {
        const auto match = (*Regex::compile(pattern))->search("abab");
        const auto [from, to] = match->groups[0].value();
        return std::tuple(from, to, std::string(match->group("abab", 0)));
    };
    EXPECT_EQ(found("(?=a\\K)"), std::tuple(0u, 0u, ""));
    EXPECT_EQ(found("(?=ab\\K)a"), std::tuple(1u, 1u, ""));
    EXPECT_EQ(found("a\\Kb"), std::tuple(1u, 2u, "b"));
}

TEST(Regex, HostileInput) {
    auto bad = Regex::compile("(x+x+)+y");
    EXPECT_FALSE((*bad)->matches(std::string(60, 'x')));
    EXPECT_FALSE(Regex::compile(std::string(100000, '(')).has_value());
    auto any = Regex::compile("(.*)b");
    for (const char* s : {"a\xC3", "\xE2\x82", "\xF0\x9F\x92", "\xFF"}) {
        EXPECT_FALSE((*any)->matches(s));
    }
    EXPECT_FALSE(Regex::compile("\xC3(").has_value());
}

// Code that only searches must not exceed the limits of its compile.
TEST(Regex, SearchesCountAsWork) {
    bool cancelled = false;
    base::WorkLimit limit({.cancelled = [&] { return cancelled; }});
    const auto re = *Regex::compile("a");
    EXPECT_TRUE(re->matches("a"));
    cancelled = true;
    const auto search_often = [&](const auto& search) {
        for (int i = 0; i < 100; ++i) search();
    };
    EXPECT_THROW(search_often([&] { (void)re->search("a"); }), base::PuppetError);
    EXPECT_THROW(search_often([&] { (void)re->matches("b"); }), base::PuppetError);
}

}  // namespace
}  // namespace bunraku::regex
