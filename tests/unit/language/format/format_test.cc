// SPDX-License-Identifier: Apache-2.0
#include "language/format/format.h"

#include <gtest/gtest.h>

namespace bunraku::format {
namespace {

/// Formats the text, checks that the result does not change again, and returns it.
std::string formatted(std::string_view text, const FormatOptions& options = {}) {
    const auto once = format::format(text, "test.pp", options);
    if (!once) return once.error().message;
    const auto again = format::format(*once, "test.pp", options);
    EXPECT_EQ(again.value_or("not valid"), *once);
    return *once;
}

struct Case {
    std::string_view before, after;
};

void check(std::initializer_list<Case> cases) {
    for (const Case& one : cases) EXPECT_EQ(formatted(one.before), one.after) << one.before;
}

TEST(FormatTest, EmptyManifests) {
    check({{"", ""}, {" \n\n", ""}, {"\n# only a comment", "# only a comment\n"}});
}

TEST(FormatTest, Resources) {
    check({
        {"file{'/a':ensure=>file}", "file { '/a': ensure => file }\n"},
        {"file{'/a':\nensure=>file}", "file { '/a':\n  ensure => file,\n}\n"},
        {"file{'/a':ensure=>file,mode=>'0644'}",
         "file { '/a':\n  ensure => file,\n  mode   => '0644',\n}\n"},
        {"class {\n  'a':\n}", "class { 'a': }\n"},
        {"@@file { 'a': mode +> '1', * => $b }",
         "@@file { 'a':\n  mode +> '1',\n  *    => $b,\n}\n"},
        {"file { 'a': mode => '1'; 'b': mode => '22', owner => 'x' }",
         "file {\n  'a': mode => '1';\n  'b':\n    mode  => '22',\n    owner => 'x';\n}\n"},
        {"package { ['a',\n'b']: ensure => present }",
         "package { [\n    'a',\n    'b',\n  ]:\n  ensure => present,\n}\n"},
        {"File{owner=>'root',mode=>'1'}", "File {\n  owner => 'root',\n  mode  => '1',\n}\n"},
        {"File['a']{mode=>'1'}", "File['a'] { mode => '1' }\n"},
        {"User<|title=='a' and b==1|>{c=>1}", "User <| title == 'a' and b == 1 |> { c => 1 }\n"},
        {"User <<||>>", "User <<| |>>\n"},
    });
}

TEST(FormatTest, Lists) {
    check({
        {"$a=[1,2,]", "$a = [1, 2]\n"},
        {"$a = [\n1,2]", "$a = [\n  1,\n  2,\n]\n"},
        {"$a={'b'=>1,'cc'=>2}", "$a = { 'b' => 1, 'cc' => 2 }\n"},
        {"$a={'b'=>1,\n'cc'=>2}", "$a = {\n  'b'  => 1,\n  'cc' => 2,\n}\n"},
        {"$a = [{\nb=>1}]", "$a = [{\n  b => 1,\n}]\n"},
        {"$a = [{\nb=>1},2]", "$a = [\n  {\n    b => 1,\n  },\n  2,\n]\n"},
        {"$a = {}\n$b = [ ]", "$a = {}\n$b = []\n"},
        {"$a = $b [ 1 ]", "$a = $b\n[1]\n"},
        {"$a = $b[ 'c' ][0]", "$a = $b['c'][0]\n"},
    });
}

TEST(FormatTest, Calls) {
    check({
        {"foo ( 1,2 )", "foo(1, 2)\n"},
        {"foo(\n1,2)", "foo(\n  1,\n  2\n)\n"},
        {"foo('a', {\nb=>1,\nccc=>2\n})", "foo('a', {\n  b   => 1,\n  ccc => 2,\n})\n"},
        {"include  a,b", "include a, b\n"},
        {"include a,\nb", "include a,\n  b\n"},
        {"$a.map|$x|{$x+1}", "$a.map |$x| { $x + 1 }\n"},
        {"$a.each |$k,$v| {\nfoo($k)\nbar($v)}", "$a.each |$k, $v| {\n  foo($k)\n  bar($v)\n}\n"},
        {"a() |$x = b(), | { 1 }", "a() |$x = b(),| { 1 }\n"},
        {"$a\n.b.c(1)", "$a\n  .b\n  .c(1)\n"},
        {"foo({'a'=>1}) | $x | >> Integer { 1 }", "foo({ 'a' => 1 }) |$x| >> Integer { 1 }\n"},
    });
}

TEST(FormatTest, Operators) {
    check({
        {"$a=1+2*3", "$a = 1 + 2 * 3\n"},
        {"$a=!$b and -1<2", "$a = !$b and -1 < 2\n"},
        {"if $a\nand $b or $c{}", "if $a and\n  $b or $c {}\n"},
        {"if($a){}", "if ($a) {}\n"},
        {"File['a']->File['b']", "File['a'] -> File['b']\n"},
        {"File['a'] ->\nFile['b'] ~>\nFile['c']", "File['a']\n-> File['b']\n~> File['c']\n"},
        {"$x = $a?{'b'=>1,default=>2}", "$x = $a ? { 'b' => 1, default => 2 }\n"},
        {"$x = $a?{'b'=>1,\ndefault=>2}", "$x = $a ? {\n  'b'     => 1,\n  default => 2,\n}\n"},
    });
}

TEST(FormatTest, Conditionals) {
    check({
        {"if $a{b()}elsif $c{d()}else{e()}",
         "if $a {\n  b()\n} elsif $c {\n  d()\n} else {\n  e()\n}\n"},
        {"$x = if $a{1}else{2}", "$x = if $a { 1 } else { 2 }\n"},
        {"$x = if $a{\n1}else{2}", "$x = if $a {\n  1\n} else {\n  2\n}\n"},
        {"unless $a{b()}", "unless $a {\n  b()\n}\n"},
        {"case $a{'b','c':{d()}default:{}}", "case $a {\n  'b', 'c': { d() }\n  default: {}\n}\n"},
        {"case $a{'b':{\nd()}\n\n\ndefault:{}}",
         "case $a {\n  'b': {\n    d()\n  }\n\n  default: {}\n}\n"},
    });
}

TEST(FormatTest, Definitions) {
    check({
        {"class a{}", "class a {}\n"},
        {"class a($b,String $c='d')inherits e{f()}",
         "class a (\n  $b,\n  String $c = 'd',\n) inherits e {\n  f()\n}\n"},
        {"define a::b(Optional[String]$c=undef){}",
         "define a::b (\n  Optional[String] $c = undef,\n) {}\n"},
        {"function a($b,*$c)>>String{$b}", "function a($b, *$c) >> String {\n  $b\n}\n"},
        {"node 'a',/b/,c.example.com{include d}",
         "node 'a', /b/, c.example.com {\n  include d\n}\n"},
        {"type A=Variant[B,C[D]]", "type A = Variant[B, C[D]]\n"},
        {"type A={attributes=>{b=>C}}", "type A = { attributes => { b => C } }\n"},
        {"type A=B{attributes=>{b=>C}}", "type A = B { attributes => { b => C } }\n"},
        {"plan a($b){return $b}", "plan a (\n  $b,\n) {\n  return $b\n}\n"},
    });
}

TEST(FormatTest, Comments) {
    check({
        {"$a = 1 # one\n# two\n\n# three\n$b = 2", "$a = 1 # one\n# two\n\n# three\n$b = 2\n"},
        {"if $a { # one\n# two\n}\n# three\nelse { }",
         "if $a { # one\n  # two\n}\n# three\nelse {}\n"},
        {"$a = [ # one\n1, # two\n# three\n2 # four\n]",
         "$a = [ # one\n  1, # two\n  # three\n  2, # four\n]\n"},
        {"file { # one\n 'a': # two\n ensure => file # three\n # four\n}",
         "file { # one\n  'a': # two\n    ensure => file, # three\n  # four\n}\n"},
        {"$a = $b # one\n+ $c", "$a = $b + # one\n  $c\n"},
        {"$a /* one */ = /* two */ 1", "$a = /* one */ /* two */ 1\n"},
        {"foo /* one */ (1)", "foo /* one */(1)\n"},
        {"A['b'] -> # one\nC['d']", "A['b'] # one\n-> C['d']\n"},
        {"#one  \n\n\n\n#two", "#one\n\n#two\n"},
    });
}

TEST(FormatTest, Semicolons) {
    check({
        {"$a = 1; $b = 2", "$a = 1\n$b = 2\n"},
        {"$a = 1; -1", "$a = 1;\n-1\n"},
        {"$a = b; [1].c()", "$a = b;\n[1].c()\n"},
    });
}

TEST(FormatTest, TextsStayAsTheyAre) {
    check({
        {"$a = 'b\n\t  c'", "$a = 'b\n\t  c'\n"},
        {"$a = \"x ${ $b } # y\"", "$a = \"x ${ $b } # y\"\n"},
        {"foo( @(A), @(\"B\") ) # c\n  a\n  | A\nb\nB\n$d=1",
         "foo(@(A), @(\"B\")) # c\n  a\n  | A\nb\nB\n$d = 1\n"},
        {"$a=1\r\n$b='x\r\ny'\r\n", "$a = 1\n$b = 'x\r\ny'\n"},
    });
}

TEST(FormatTest, EmptyLines) {
    check({{"\n\n$a = 1\n\n\n$b = 2\n\n", "$a = 1\n\n$b = 2\n"},
           {"if $a {\n\n  $b = 1\n\n}", "if $a {\n  $b = 1\n}\n"},
           {"$a = {\n\n  b => 1,\n\n\n  c => 2,\n\n}", "$a = {\n  b => 1,\n\n  c => 2,\n}\n"}});
}

TEST(FormatTest, LongLinesAreBroken) {
    const FormatOptions narrow{.line_length = 40};
    EXPECT_EQ(formatted("$a = ['first one', 'second one', 'third one']", narrow),
              "$a = [\n  'first one',\n  'second one',\n  'third one',\n]\n");
    EXPECT_EQ(formatted("$result = 'a string of thirty eight chars'", narrow),
              "$result =\n  'a string of thirty eight chars'\n");
    EXPECT_EQ(formatted("$result = 'a string that does not fit into one line at all'", narrow),
              "$result = 'a string that does not fit into one line at all'\n");
    EXPECT_EQ(formatted("if $first_condition and $second_condition { a() }", narrow),
              "if $first_condition and\n  $second_condition {\n  a()\n}\n");
    EXPECT_EQ(formatted("$list.filter |$x| { $x > 1000 }.map |$x| { $x }", narrow),
              "$list\n  .filter |$x| { $x > 1000 }\n  .map |$x| { $x }\n");
}

TEST(FormatTest, SwitchedOff) {
    check({
        {"$a=1\n# fmt: off\n$b  =  2\n$cc =  3 # x\n# fmt: on\n$d=4",
         "$a = 1\n# fmt: off\n$b  =  2\n$cc =  3 # x\n# fmt: on\n$d = 4\n"},
        {"if $a {\n# fmt: off\n  $b  =  2\n}\n$c=3",
         "if $a {\n  # fmt: off\n  $b  =  2\n}\n$c = 3\n"},
        {"$a = [\n# fmt: off\n1,  0,\n0,  1,\n# fmt: on\n5,6]",
         "$a = [\n  # fmt: off\n1,  0,\n0,  1,\n  # fmt: on\n  5,\n  6,\n]\n"},
        {"# fmt: off\n$a = @(A)\n  b\n  A\n# fmt: on\n$c=1",
         "# fmt: off\n$a = @(A)\n  b\n  A\n# fmt: on\n$c = 1\n"},
    });
}

TEST(FormatTest, Errors) {
    EXPECT_EQ(formatted("$a = '\xff'"), "invalid byte sequence in UTF-8 (file: test.pp)");
    EXPECT_EQ(formatted("\xEF\xBB\xBF$a = 1"),
              "Illegal UTF-8 Byte Order mark at beginning of input: [EF BB BF] - remove these from "
              "the puppet source (file: test.pp)");
    EXPECT_EQ(formatted("$a = ]"), "Syntax error at ']' (file: test.pp, line: 1, column: 6)");
    EXPECT_EQ(formatted("$a = \"${@(A)}\n  b\n  A\n\""),
              "Cannot format a heredoc that starts within a string or a comment (file: test.pp)");
}

TEST(FormatRangeTest, OnlyTheGivenLinesChange) {
    constexpr std::string_view kText = "$a=1\n$b=[1,\n2]\n$c=3 # d\n";
    const auto of_lines = [&](int first, int last) {
        return apply_edits(kText, format_range(kText, "test.pp", {first, last}).value());
    };
    EXPECT_EQ(of_lines(1, 1), "$a = 1\n$b=[1,\n2]\n$c=3 # d\n");
    EXPECT_EQ(of_lines(2, 3), "$a=1\n$b = [\n  1,\n  2,\n]\n$c=3 # d\n");
    EXPECT_EQ(of_lines(4, 4), "$a=1\n$b=[1,\n2]\n$c = 3 # d\n");
    EXPECT_EQ(of_lines(1, 4), formatted(kText));
}

TEST(FormatRangeTest, EditsAreMinimal) {
    const auto edits = format_range("$a = 1\n$b=2\n", "test.pp", {1, 2}).value();
    ASSERT_EQ(edits.size(), 2u);
    EXPECT_EQ(edits[0].begin, 9u);
    EXPECT_EQ(edits[0].end, 9u);
    EXPECT_EQ(edits[0].text, " ");
    EXPECT_EQ(edits[1].begin, 10u);
}

}  // namespace
}  // namespace bunraku::format
