// SPDX-License-Identifier: Apache-2.0
// Types of plain scalars, as returned by ScalarScanner of Psych 4.0.3: i integer, f float, t text,
// s symbol.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/codec/yaml.h"
#include "core/codec/yaml_writer.h"

namespace bunraku::codec {
namespace {

struct Case {
    const char* text;
    const char* expected;
};

constexpr Case kCases[] = {
    {"yes", "true"},
    {"No", "false"},
    {"ON", "true"},
    {"off", "false"},
    {"TrUe", "true"},
    {"y", "ty"},
    {"n", "tn"},
    {"null", "nil"},
    {"Null", "nil"},
    {"nULL", "nil"},
    {"~", "nil"},
    {"0", "i0"},
    {"-1", "i-1"},
    {"+2", "i2"},
    {"010", "i8"},
    {"08", "t08"},
    {"0o7", "t0o7"},
    {"0x1F", "i31"},
    {"0xFG", "t0xFG"},
    {"0b11", "i3"},
    {"0b12", "t0b12"},
    {"1_000", "i1000"},
    {"1__0", "t1__0"},
    {"1,000", "i1000"},
    {"1,00,0", "i1000"},
    {"1_", "t1_"},
    {"1.5", "f1.5"},
    {".5", "f0.5"},
    {"1.", "f1"},
    {"-.5", "f-0.5"},
    {"1.0e+3", "f1000"},
    {"1.5e3", "t1.5e3"},
    {"1e3", "t1e3"},
    {"1_0.5", "f10.5"},
    {"1.2.3", "t1.2.3"},
    {".", "t."},
    {"+.", "t+."},
    {".inf", "finf"},
    {"-.Inf", "f-inf"},
    {".nan", "fnan"},
    {"1:30", "i5400"},
    {"190:20:30", "i685230"},
    {"-1:00", "i-3600"},
    {"1:70", "t1:70"},
    {"1:30.5", "f5430"},
    {"1:2:3:4", "t1:2:3:4"},
    {":a", "s:a"},
    {":\"a:b\"", "s:a:b"},
    {"a:b", "ta:b"},
    {"--", "t--"},
    {"-", "t-"},
    {"<<", "t<<"},
    {"é", "té"},
    {"null1", "tnull1"},
    {"2020-01-02", "date"},
    {"2020-13-45", "t2020-13-45"},
    {"2020-1-2", "date"},
    {"2020-01-02T03:04:05Z", "time"},
    {"12:30:45:1", "t12:30:45:1"},
    {"99999999999", "i99999999999"},
    {"2562047788015215:30", "i9223372036854775800"},
    {"2562047788015216:30", "t2562047788015216:30"},  // more than 64 bits: Integers in Ruby
    {"6666666666666666665:00", "t6666666666666666665:00"},
    {"+1_0:30", "i37800"},
    {"2020-01-02 03:04:05 +1", "time"},
    {"2020-01-02 3:04:05", "time"},
};

std::string described(const YamlNode& n) {
    switch (n.kind) {
        case YamlNode::Kind::Null: return "nil";
        case YamlNode::Kind::Boolean: return n.boolean ? "true" : "false";
        case YamlNode::Kind::Integer: return fmt::format("i{}", n.integer);
        case YamlNode::Kind::Float:
            return std::isnan(n.number) ? std::string("fnan") : fmt::format("f{}", n.number);
        case YamlNode::Kind::String:
            if (n.date) return "date";
            if (n.time) return "time";
            return (n.symbol ? "s" : "t") + n.text;
        default: return "?";
    }
}

TEST(YamlScalar, MatchesPsych) {
    for (const Case& c : kCases)
        EXPECT_EQ(described(resolve_yaml_scalar(c.text)), c.expected) << c.text;
}

TEST(Yaml, RefusesDatesWhereRubyDoes) {
    const auto refused = parse_yaml("a: 2020-01-02\n", "f.yaml", YamlDates::Refuse);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "(f.yaml): Tried to load unspecified class: Date");
    EXPECT_TRUE(parse_yaml("a: 2020-01-02\n", "f.yaml"));
}

// libyaml asserts that its input is not a null pointer.
TEST(Yaml, AcceptsAnEmptyView) {
    const auto parsed = parse_yaml(std::string_view(), "f");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->kind, YamlNode::Kind::Null);
    YamlWriter writer(YamlWriteOptions{});
    writer.start_mapping();
    writer.key(std::string_view());
    writer.quoted(std::string_view());
    writer.end_mapping();
    EXPECT_EQ(writer.finish(), "---\n! '': \"\"\n");
}

TEST(Yaml, WritesInvalidUtf8LikePsych) {
    YamlWriter writer(YamlWriteOptions{});
    writer.start_mapping();
    writer.key("k\xff");
    writer.quoted("v\xff");
    writer.key("p");
    writer.plain("\xfe");
    writer.end_mapping();
    EXPECT_EQ(writer.finish(),
              "---\n!binary \"a/8=\": !binary |-\n  dv8=\np: !binary |-\n  /g==\n");
}

TEST(Yaml, ReadsIntegersBeyond64Bits) {
    const auto node = resolve_yaml_scalar("-123_456_789_012_345_678_901");
    EXPECT_TRUE(node.large);
    EXPECT_EQ(node.kind, YamlNode::Kind::String);
    EXPECT_FALSE(resolve_yaml_scalar("text").large);
}

TEST(Yaml, MergesMappings) {
    const auto parsed = parse_yaml(
        "a: &a {x: 1, y: 2}\nb: {y: 3, <<: [*a, {z: 4, x: 5}]}\nc: {<<: text}\nd: 1\nd: 2\n", "f");
    ASSERT_TRUE(parsed);
    const auto& b = parsed->entries[1].second;
    ASSERT_EQ(b.entries.size(), 3u);
    EXPECT_EQ(b.entries[0].first.text, "y");
    EXPECT_EQ(b.entries[0].second.integer, 2);
    EXPECT_EQ(b.entries[2].second.integer, 1);
    EXPECT_EQ(parsed->entries[2].second.entries[0].first.text, "<<");
    EXPECT_EQ(parsed->entries.size(), 4u);
    EXPECT_EQ(parsed->entries[3].second.integer, 2);
}

}  // namespace
}  // namespace bunraku::codec
