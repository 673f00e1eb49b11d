// SPDX-License-Identifier: Apache-2.0
#include "core/value/value.h"

#include <gtest/gtest.h>
#include <limits>

#include "core/base/diagnostic.h"
#include "core/base/semver.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"

namespace bunraku::value {
namespace {

// Recorded from Ruby 3.1 (Float#to_s).
TEST(Floats, FormatsLikeRuby) {
    const struct {
        double d;
        const char* text;
    } cases[] = {{1, "1.0"},
                 {-0.0, "-0.0"},
                 {100, "100.0"},
                 {1e15, "1.0e+15"},
                 {1e14, "100000000000000.0"},
                 {1e16, "1.0e+16"},
                 {1e20, "1.0e+20"},
                 {0.0001, "0.0001"},
                 {0.00001, "1.0e-05"},
                 {1.5e-7, "1.5e-07"},
                 {0.1, "0.1"},
                 {123.456, "123.456"},
                 {1e100, "1.0e+100"},
                 {3.0e-5, "3.0e-05"},
                 {-2.5, "-2.5"},
                 {1e22, "1.0e+22"},
                 {12345678.9, "12345678.9"}};
    for (const auto& c : cases) EXPECT_EQ(format_float(c.d), c.text);
    EXPECT_EQ(format_float(std::numeric_limits<double>::infinity()), "Infinity");
    EXPECT_EQ(format_float(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(Quote, EscapesAsPuppet) {
    EXPECT_EQ(quote("abc"), "'abc'");
    EXPECT_EQ(quote("it's"), "'it\\'s'");
    EXPECT_EQ(quote("a\\b"), "'a\\b'");
    EXPECT_EQ(quote("a\\'b"), "'a\\'b'");
    EXPECT_EQ(quote("a\\"), "'a\\'");
    EXPECT_EQ(quote("a\nb$\"\\\x01"), "\"a\\nb\\$\\\"\\\\\\u{1}\"");
    EXPECT_EQ(quote_double("a"), "\"a\"");
}

TEST(Text, IsThatOfInterpolation) {
    base::Arena a;
    HashBuilder hash(a);
    hash.set("k", Value::undef());
    hash.set(Value::integer(1), Value::boolean(true));
    const Value array = make_array(a, {Value::integer(1), Value::string("x"), hash.build(),
                                       Value::default_value(), Value::floating(1.5)});
    EXPECT_EQ(to_text(array), "[1, x, {k => , 1 => true}, default, 1.5]");
    EXPECT_EQ(to_source(array), "[1, 'x', {'k' => undef, 1 => true}, default, 1.5]");
    EXPECT_EQ(to_text(make_sensitive(a, Value::integer(1))), "Sensitive [value redacted]");
    EXPECT_EQ(to_text(make_regexp(a, "a/b")), "/a\\/b/");
    EXPECT_EQ(to_text(make_regexp(a, "ab", 4)), "/(?m-ix:ab)/");
    EXPECT_EQ(to_text(make_binary(a, "ab")), "YWI=");
    EXPECT_EQ(to_text(Value::timestamp(0)), "1970-01-01T00:00:00.000000000 UTC");
    EXPECT_EQ(to_text(Value::timespan(3'600'500'000'000)), "0-01:00:00.5");
    EXPECT_EQ(to_text(make_semver(a, *base::SemVer::parse("1.2.3-rc1+b"))), "1.2.3-rc1+b");
}

TEST(Equality, MatchesRubyEql) {
    base::Arena a;
    EXPECT_FALSE(equal(Value::integer(1), Value::floating(1)));
    EXPECT_TRUE(equal(Value::floating(0.0), Value::floating(-0.0)));
    EXPECT_EQ(hash_of(Value::floating(0.0)), hash_of(Value::floating(-0.0)));
    EXPECT_FALSE(equal(Value::string("a"), Value::string("A")));
    EXPECT_FALSE(equal(Value::string("a"), make_binary(a, "a")));
    HashBuilder x(a), y(a);
    x.set("a", Value::integer(1));
    x.set("b", Value::integer(2));
    y.set("b", Value::integer(2));
    y.set("a", Value::integer(1));
    EXPECT_TRUE(equal(x.build(), y.build()));
    EXPECT_EQ(hash_of(x.build()), hash_of(y.build()));
}

TEST(Hashes, KeepOrderAndFindAmongMany) {
    base::Arena a;
    HashBuilder b(a);
    for (int i = 0; i < 1000; ++i) b.set(Value::integer(i), Value::integer(-i));
    for (int i = 0; i < 1000; ++i) b.set(make_string(a, std::to_string(i)), Value::integer(i));
    b.set(Value::integer(500), Value::string("again"));
    EXPECT_TRUE(b.erase(Value::integer(3)));
    EXPECT_FALSE(b.erase(Value::integer(3)));
    const Value v = b.build();
    const HashRep& h = v.as_hash();
    EXPECT_EQ(h.size(), 1999U);
    EXPECT_EQ(h.entries[0].key.as_integer(), 0);
    EXPECT_EQ(h.find("999")->as_integer(), 999);
    EXPECT_EQ(h.find(Value::integer(500))->as_string(), "again");
    EXPECT_EQ(h.find(Value::integer(3)), nullptr);
    EXPECT_EQ(h.find(Value::floating(4)), nullptr);
    base::Arena other;
    EXPECT_TRUE(equal(deep_copy(other, v), v));
}

TEST(Json, RoundTrips) {
    base::Arena a;
    for (const char* text :
         {"null", "true", "[]", "{}", "[1,-2,3.5,1.0e+20,\"\"]", R"({"a":{"b":[{}]},"c":null})",
          R"("a\"\\\b\f\n\r\t\u0001/é")", "-9223372036854775808"}) {
        const auto v = parse_json(a, text);
        ASSERT_TRUE(v) << text << v.error().message;
        EXPECT_EQ(to_json(*v), text);
    }
    EXPECT_EQ(to_json(*parse_json(a, " [ 1 , \"\\u00e9\\ud83d\\ude00\" ]\n")), "[1,\"é😀\"]");
    EXPECT_EQ(parse_json(a, "\"a\\u0000b\"")->as_string(), std::string_view("a\0b", 3));
    EXPECT_EQ(to_json(*parse_json(a, R"({"a":1,"b":2,"a":3})")), R"({"a":3,"b":2})");
    EXPECT_TRUE(parse_json(a, "18446744073709551616")->is_float());
    EXPECT_EQ(to_pretty_json(*parse_json(a, R"({"a":[1,{"b":2}]})")),
              "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ]\n}");
}

TEST(Json, ErrorsContainTheLocation) {
    base::Arena a;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"", "Unexpected end-of-input (line: 1, column: 1)"},
        {"[1,\n 2,]", "Unexpected character ']' (line: 2, column: 4)"},
        {"{\"a\" 1}", "expected ':' (line: 1, column: 6)"},
        {"\"a\nb\"", "a control character must be escaped in a string (line: 1, column: 3)"},
        {"\"\xff\"", "invalid UTF-8 (line: 1, column: 2)"},
        {"\"\\ud800x\"", "incomplete surrogate pair (line: 1, column: 10)"},
        {"01", "unexpected text after the document (line: 1, column: 2)"},
        {"-", "Unexpected end-of-input (line: 1, column: 2)"},
        {"1.e5", "Decimal point not followed by a digit (line: 1, column: 3)"},
        {"tru", "Unrecognized token 'tru' (line: 1, column: 1)"},
        {"1e999", "the number is out of range (line: 1, column: 6)"},
    };
    for (const auto& c : cases) {
        const auto v = parse_json(a, c.text);
        ASSERT_FALSE(v) << c.text;
        EXPECT_EQ(v.error().message, c.message) << c.text;
    }
    EXPECT_FALSE(parse_json(a, std::string(100'000, '[')));
}

TEST(RichData, MatchesPuppetForPlainValues) {
    base::Arena a;
    HashBuilder odd(a);
    odd.set(Value::integer(1), Value::integer(2));
    HashBuilder reserved(a);
    reserved.set("__ptype", Value::integer(1));
    const struct {
        Value v;
        const char* json;
    } cases[] = {
        {Value::default_value(), R"({"__ptype":"Default"})"},
        {make_regexp(a, "a.*"), R"({"__ptype":"Regexp","__pvalue":"a.*"})"},
        {make_semver(a, *base::SemVer::parse("1.2.3")),
         R"({"__ptype":"SemVer","__pvalue":"1.2.3"})"},
        {make_semver_range(a, *base::SemVerRange::parse(">=1.0.0")),
         R"({"__ptype":"SemVerRange","__pvalue":">=1.0.0"})"},
        {Value::timestamp(-1'500'000'000),
         R"({"__ptype":"Timestamp","__pvalue":"1969-12-31T23:59:58.500000000 UTC"})"},
        {Value::timespan(-3'600'500'000'000),
         R"({"__ptype":"Timespan","__pvalue":"-0-01:00:00.5"})"},
        {make_binary(a, "abc"), R"({"__ptype":"Binary","__pvalue":"YWJj"})"},
        {Value::uri("http://x/"), R"({"__ptype":"URI","__pvalue":"http://x/"})"},
        {make_sensitive(a, Value::string("x")), R"({"__ptype":"Sensitive","__pvalue":"x"})"},
        {odd.build(), R"({"__ptype":"Hash","__pvalue":[1,2]})"},
        {reserved.build(), R"({"__ptype":"Hash","__pvalue":["__ptype",1]})"},
    };
    for (const auto& c : cases) {
        const Value data = to_rich_data(a, c.v);
        EXPECT_EQ(to_json(data), c.json);
        EXPECT_TRUE(equal(from_rich_data(a, data), c.v)) << c.json;
    }
    EXPECT_EQ(to_json(to_rich_data(a, odd.build(), {.rich_data = false})), R"({"1":2})");
    EXPECT_EQ(
        to_json(to_rich_data(a, make_sensitive(a, Value::integer(1)), {.unwrap_sensitive = true})),
        "1");
}

}  // namespace
}  // namespace bunraku::value
