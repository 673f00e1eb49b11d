// SPDX-License-Identifier: Apache-2.0
// Tests native ERB rendering: the output equals that of ERB in Ruby 3.1 (recorded by
// tools/compare_erb).
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/erb/probe.h"
#include "language/erb/scan.h"

namespace bunraku::erb {
namespace {

using value::Value;

std::string text_of(const Value& v, std::string_view key) {
    const Value* found = v.as_hash().find(key);
    return found && found->is_string() ? std::string(found->as_string()) : std::string();
}

// "text" is Ruby's output. "ruby" means that the template must be rendered by Ruby. "error" is
// Ruby's message, which the native renderer reports if it can determine it.
TEST(Erb, RendersLikeRuby) {
    std::ifstream in(std::string(BUNRAKU_TEST_DATA) + "/unit/language/erb/cases.json");
    const std::string json{std::istreambuf_iterator<char>(in), {}};
    base::Arena arena;
    const auto cases = value::parse_json(arena, json);
    ASSERT_TRUE(cases && cases->is_array());
    ASSERT_GT(cases->as_array().size(), 150u);
    for (const Value& each : cases->as_array()) {
        const auto& c = each.as_hash();
        const auto source = text_of(each, "source");
        SCOPED_TRACE(source);
        const auto result = probe(source, *c.find("variables"), arena);
        if (c.find("ruby")) {
            EXPECT_FALSE(result.text.has_value()) << *result.text;
        } else if (c.find("error")) {
            EXPECT_FALSE(result.text.has_value()) << *result.text;
            if (!result.detail.empty()) {
                EXPECT_EQ(result.detail, text_of(each, "error"));
            }
        } else {
            ASSERT_TRUE(result.text.has_value()) << result.reason << ": " << result.detail;
            EXPECT_EQ(*result.text, text_of(each, "text"));
        }
    }
}

TEST(Erb, LeavesUnsupportedCodeToRuby) {
    base::Arena arena;
    for (const std::string& source :
         {std::string("<% while true %>x<% end %>"), std::string("<% a = []; a << a %><%= a %>"),
          std::string("<% s = 'x'; 64.times { s << s } %><%= s %>"),
          "<%= " + std::string(5000, '(') + " %>", "<%= " + std::string(5000, '[') + " %>",
          "<%= " + std::string(5000, '!') + "1 %>", std::string("<%= (1..9999999999).to_a %>"),
          "<%= x" + std::string(3000, '+') + " %>", std::string("\x01 \x02"),
          std::string("<%# coding: latin-1 %>x"), std::string("bad \xff utf8")}) {
        const auto result = probe(source, Value::undef(), arena);
        EXPECT_FALSE(result.text.has_value()) << source.substr(0, 40);
    }
}

TEST(Erb, PreservesTemplateLines) {
    const auto script = scan("a\n<% x\n y -%>\nb\n<%= z %>\n");
    ASSERT_TRUE(script);
    EXPECT_EQ(std::count(script->code.begin(), script->code.end(), '\n'), 5);
    EXPECT_EQ(script->texts, (std::vector<std::string>{"a\n", "b\n", "\n"}));
}

}  // namespace
}  // namespace bunraku::erb
