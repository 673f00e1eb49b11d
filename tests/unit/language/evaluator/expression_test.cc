// SPDX-License-Identifier: Apache-2.0
// Tests operators, access, conditions and variables. The expected texts are those of Puppet 8.11.
#include <gtest/gtest.h>

#include "support.h"

namespace bunraku::evaluator {
namespace {

struct Case {
    const char* code;
    const char* expected;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.code; }

class Expression : public testing::TestWithParam<Case> {};

TEST_P(Expression, Gives) {
    Bench bench;
    EXPECT_EQ(bench.run(GetParam().code), GetParam().expected) << GetParam().code;
}

const Case kArithmetic[] = {
    {"1 + 2 * 3", "7"},
    {"7 / 2", "3"},
    {"-7 / 2", "-4"},
    {"-7 % 3", "2"},
    {"7.0 / 2", "3.5"},
    {"1 << 3", "8"},
    {"-16 >> 2", "-4"},
    {"1 << -1", "0"},
    {"-(2 + 3)", "-5"},
    {"1 / 0", "Evaluation Error: Division by 0 (line: 1, column: 5)"},
    {"1.0 / 0",
     "Evaluation Error: The result of the / expression is Infinity (line: 1, column: 1)"},
    {"1.5 % 2",
     "Evaluation Error: Operator '%' is not applicable to a Float. (line: 1, column: 1)"},
    {"9223372036854775807 + 1",
     "Evaluation Error: A '+' expression resulted in a value outside of Puppet Integer max range, "
     "got '+0x8000000000000000' (line: 1, column: 21)"},
    {"-9223372036854775807 - 2",
     "Evaluation Error: A '-' expression resulted in a value outside of Puppet Integer min range, "
     "got '-0x8000000000000001' (line: 1, column: 22)"},
    {"'1' + 1",
     "Evaluation Error: The string '1' was automatically coerced to the numerical value 1 (line: "
     "1, "
     "column: 1)"},
    {"'a' + 1",
     "Evaluation Error: The value 'a' cannot be converted to Numeric. (line: 1, column: 1)"},
    {"undef + 1",
     "Evaluation Error: The value '' cannot be converted to Numeric. (line: 1, column: 1)"},
    {"[1] + [2, [3]]", "[1, 2, [3]]"},
    {"[1] + {a => 2}", "[1, ['a', 2]]"},
    {"[1] + 2", "[1, 2]"},
    {"[1] << [2]", "[1, [2]]"},
    {"{a => 1} + {b => 2}", "{'a' => 1, 'b' => 2}"},
    {"{a => 1} + [b, 2]", "{'a' => 1, 'b' => 2}"},
    {"{a => 1} + [[a, 2]]", "{'a' => 2}"},
    {"{a => 1} + 2",
     "Evaluation Error: Error while evaluating a '+' expression, Can only append Array or Hash to "
     "a "
     "Hash (line: 1, column: 10)"},
    {"[1, 2, 3, 2] - 2", "[1, 3]"},
    {"[1, 2, 3] - [2, 3]", "[1]"},
    {"{a => 1, b => 2} - [a]", "{'b' => 2}"},
    {"{a => 1, b => 2} - {b => 3}", "{'a' => 1}"},
};
INSTANTIATE_TEST_SUITE_P(Arithmetic, Expression, testing::ValuesIn(kArithmetic));

const Case kComparison[] = {
    {"'A' == 'a'", "true"},
    {"1 == 1.0", "true"},
    {"1 == '1'", "false"},
    {"[1, 'A'] == [1.0, 'a']", "true"},
    {"{a => 'X'} == {a => 'x'}", "true"},
    {"undef == ''", "false"},
    {"'a' < 'B'", "true"},
    {"1 < 1.5", "true"},
    {"Integer < Numeric", "true"},
    {"Integer <= Integer", "true"},
    {"Numeric > Integer[1, 2]", "true"},
    {"1 < 'a'",
     "Evaluation Error: Comparison of: Integer < String, is not possible. Caused by 'A Numeric is "
     "not comparable to non Numeric'. (line: 1, column: 3)"},
    {"[] < []",
     "Evaluation Error: Comparison of: Array < Array, is not possible. Caused by 'Only Strings, "
     "Numbers, Timespans, Timestamps, and Versions are comparable'. (line: 1, column: 4)"},
    {"'b' in 'ABC'", "true"},
    {"'B' in [a, b]", "true"},
    {"1 in [1.0]", "true"},
    {"Integer in [a, 1]", "true"},
    {"/b/ in [abc]", "true"},
    {"a in {a => 1}", "true"},
    {"'abc' =~ /b(.)/ and $1 == 'c'", "true"},
    {"'abc' !~ /x/", "true"},
    {"1 =~ Integer", "true"},
    {"'abc' =~ 'b.'", "true"},
    {"1 =~ /1/",
     "Evaluation Error: Left match operand must result in a String value. Got an Integer. (line: "
     "1, "
     "column: 1)"},
    {"'a' =~ 1",
     "Evaluation Error: Can not convert right match operand to a regular expression. Caused by 'no "
     "implicit conversion of Integer into String'. (line: 1, column: 8)"},
    {"!true", "false"},
    {"false or undef", "false"},
    {"1 and ''", "true"},
};
INSTANTIATE_TEST_SUITE_P(Comparison, Expression, testing::ValuesIn(kComparison));

const Case kAccess[] = {
    {"[1, 2, 3][-1]", "3"},
    {"[1, 2, 3][3]", "undef"},
    {"[1, 2, 3, 4][1, -2]", "[2, 3]"},
    {"[1, 2, 3, 4][-3, 2]", "[2, 3]"},
    {"[1, 2][5, 1]", "[]"},
    {"[1, 2][1.5]",
     "Evaluation Error: An Array[] cannot use Float where Integer is expected (line: 1, column: "
     "8)"},
    {"[1, 2][1, 2, 3]",
     "Evaluation Error: Array supports [] with one or two arguments. Got 3 (line: 1, column: 1)"},
    {"{a => 1, b => 2}[a]", "1"},
    {"{a => 1, b => 2}[a, c, b]", "[1, 2]"},
    {"'abcdef'[1]", "'b'"},
    {"'abcdef'[1, -2]", "'bcde'"},
    {"'äöü'[1]", "'ö'"},
    {"'abc'[9]", "''"},
    {"'abc'[x]",
     "Evaluation Error: A substring operation does not accept a String as a character index. "
     "Expected an Integer (line: 1, column: 7)"},
    {"1[0]",
     "Evaluation Error: Operator '[]' is not applicable to an Integer. (line: 1, column: 1)"},
    {"Class[foo]", "Class[foo]"},
    {"Class['::Foo::Bar', baz]", "[Class[foo::bar], Class[baz]]"},
    {"Resource[file, '/x']", "File['/x']"},
    {"Resource[file]", "File"},
    {"Integer[1, 2]", "Integer[1, 2]"},
    {"Foo[1]", "Evaluation Error: Resource type not found: Foo (line: 1, column: 1)"},
};
INSTANTIATE_TEST_SUITE_P(Access, Expression, testing::ValuesIn(kAccess));

const Case kControl[] = {
    {"if false { 1 }", "undef"},
    {"if '' { 1 } else { 2 }", "1"},
    {"unless true { 1 } else { 2 }", "2"},
    {"case 'AB' { 'b': { 1 } 'ab': { 2 } default: { 3 } }", "2"},
    {"case 'abc' { /b(.)/: { $1 } }", "'c'"},
    {"case 3 { *[1, 3]: { yes } }", "'yes'"},
    {"case [1, 'x'] { [Integer, /x/]: { yes } }", "'yes'"},
    {"5 ? { Integer[6] => a, default => b }", "'b'"},
    {"5 ? { 6 => a }",
     "Evaluation Error: No matching entry for selector parameter with value '5' (line: 1, column: "
     "1)"},
    {"if 'a' =~ /(a)/ { $x = $1 } [$x, $1]", "['a', undef]"},
    {"\"${1 + 1} ${[1, {a => undef}]} ${$u = undef}.\"", "'2 [1, {a => }] .'"},
    {"[*[1, 2], *undef, *{a => 1}]", "[1, 2, ['a', 1]]"},
};
INSTANTIATE_TEST_SUITE_P(Control, Expression, testing::ValuesIn(kControl));

const Case kVariables[] = {
    {"$a = 1 $a + 1", "2"},
    {"$a = $b = 2 $a", "2"},
    {"[$a, [$b, $c]] = [1, [2, 3]] [$c, $b, $a]", "[3, 2, 1]"},
    {"[$a, $b] = {b => 2, a => 1} $a", "1"},
    {"[$a, $b] = [1]",
     "Evaluation Error: Mismatched number of assignable entries and values, expected 2, got 1 "
     "(line: 1, column: 10)"},
    {"[$a] = {b => 1}",
     "Evaluation Error: No value for required key 'a' in assignment to variables from hash (line: "
     "1, column: 6)"},
    {"$a = 1 $a = 2", "Evaluation Error: Cannot reassign variable '$a' (line: 1, column: 11)"},
    {"$x", "Evaluation Error: Unknown variable: 'x'. (line: 1, column: 1)"},
    {"$::x", "Evaluation Error: Unknown variable: '::x'. (line: 1, column: 1)"},
    {"$a::x", "Evaluation Error: Unknown variable: 'a::x'. (line: 1, column: 1)"},
    {"$x = 1 $::x", "1"},
    {"$1", "undef"},
    {"$module_name", "undef"},
    {"$server_facts = 1",
     "Evaluation Error: Attempt to assign to a reserved variable name: '$server_facts' (line: 1, "
     "column: 15)"},
    {"$trusted = 1",
     "Evaluation Error: Error while evaluating a '=' expression, Attempt to assign to a reserved "
     "variable name: 'trusted' (line: 1, column: 10)"},
};
INSTANTIATE_TEST_SUITE_P(Variables, Expression, testing::ValuesIn(kVariables));

TEST(Bounds, DeepNestingEvaluates) {
    Bench bench;
    std::string deep = "1";
    for (int i = 0; i < 400; ++i) deep = "[" + deep + "]";
    EXPECT_EQ(bench.run("$x = " + deep + " 5"), "5");
}

TEST(Warnings, SettingsChangeResults) {
    Bench bench({}, {.strict = Strict::Warning, .strict_variables = false});
    EXPECT_EQ(bench.run("$x"), "undef");
    EXPECT_EQ(bench.run("'0x1F' + 1"), "32");
    ASSERT_EQ(bench.log.records.size(), 2U);
    EXPECT_EQ(bench.log.records[0].message, "Unknown variable: 'x'.");
    EXPECT_EQ(bench.log.records[1].message,
              "The string '0x1F' was automatically coerced to the numerical value 31");
}

}  // namespace
}  // namespace bunraku::evaluator
