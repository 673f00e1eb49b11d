// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/expression.h"

#include <gtest/gtest.h>

#include "language/syntax/parser.h"

namespace bunraku::insight {
namespace {

TEST(Expression, WholeCodeOfNode) {
    const char* const cases[] = {
        "$a + 1",
        "$a = $b ? { 'x' => 1, default => { k => [1, 2] } }",
        "$a and ($b or !$c)",
        "$list.map |$x| { $x }.join(',')",
        "f($a, { k => $v })",
        "File['/x'] -> Service['y']",
        "$facts['os']['family'] == 'Debian'",
        "file { '/x': mode => '0644', }",
        "if $a { 1 } else { 2 }",
        "include a::b",
    };
    for (const char* code : cases) {
        const std::string around = std::string("  ") + code + "\n$behind = 1\n";
        const auto tree = syntax::parse("", around);
        const auto* block = syntax::as<syntax::BlockExpression>(tree->program->body);
        ASSERT_TRUE(block) << code;
        EXPECT_EQ(code_of(block->statements[0]), code);
    }
}

TEST(Expression, CallWithoutBlock) {
    const auto tree = syntax::parse("", "['a',\n  'b'].each |$x| { notice($x) }");
    EXPECT_EQ(call_head(tree->program->body), "['a', 'b'].each");
    EXPECT_EQ(called(tree->program->body), "each");
    ASSERT_EQ(arguments(tree->program->body).size(), 1U);
}

TEST(Expression, BranchesAreOrderedByCondition) {
    const auto code = [](const std::string& text, std::size_t branch) {
        const auto tree = syntax::parse("", text);
        return code_of(branches(tree->program->body).all[branch].code);
    };
    EXPECT_EQ(code("if $a { 1 } else { 2 }", 0), "1");
    EXPECT_EQ(code("unless $a { 1 } else { 2 }", 0), "2");
    EXPECT_NE(code("case $a { 'x': { 1 } default: { 2 } }", 1).find("2"), std::string::npos);
    EXPECT_EQ(code("$a ? { 'x' => 1, default => 2 }", 1), "2");
}

}  // namespace
}  // namespace bunraku::insight
