// SPDX-License-Identifier: Apache-2.0
// The work of each check and fix grows at most linearly with the size of a manifest. The sources of
// language/lint are compiled with -fsanitize-coverage=trace-pc here: they count the basic blocks
// that run, so that the result does not depend on the machine.
#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "language/lint/check.h"

namespace {
std::uint64_t g_blocks = 0;
}  // namespace

extern "C" void __sanitizer_cov_trace_pc() { ++g_blocks; }

namespace bunraku::lint {
namespace {

/// A manifest of any size: a head, a repeated part, a middle, and a part repeated as often at the
/// end. "#" in a repeated part stands for its number.
struct Shape {
    std::string_view head, part, middle = {}, closing = {}, tail = {};
};

constexpr Shape kShapes[] = {
    // Each kind of token, and each keyword that starts a search.
    {"", "a "},
    {"", "A "},
    {"", "Array "},
    {"", "1 "},
    {"", "f( "},
    {"", "$a "},
    {"", "'a' "},
    {"", "\"a\" "},
    {"", "\"a${b}c$d\" "},
    {"", "{ "},
    {"", "} "},
    {"", "[ "},
    {"", "] "},
    {"", "( "},
    {"", ") "},
    {"", "{}"},
    {"", "[]"},
    {"", "=> "},
    {"", "-> "},
    {"", "->\n"},
    {"", "<- "},
    {"", ": "},
    {"", "; "},
    {"", ", "},
    {"", "? "},
    {"", "| "},
    {"", "= "},
    {"", "\n"},
    {"", " \n"},
    {"", "\t"},
    {"", "\r\n"},
    {"", "case "},
    {"", "class "},
    {"", "class a "},
    {"", "class a( "},
    {"", "class a{ "},
    {"", "class a{ ", "", "} "},
    {"", "class a(){ "},
    {"", "class a(){} "},
    {"", "class a($x [){} "},
    {"", "class 'a'(){} "},
    {"", "class { "},
    {"", "class {'::a' "},
    {"", "class { ", "'::a' ", "'::b' "},
    {"", "Class[ "},
    {"", "Class['::a' "},
    {"", "define a "},
    {"", "define a($b, "},
    {"class a(", "$b = [1], "},
    {"class a(", "String $b = 1, ", "){}"},
    {"class a(", "Optional[String] $b# = 'c', ", "){}"},
    {"class a(", "$b ], ", "){}"},
    {"class a(", ", ] $b ", "){}"},
    {"class a(", "(", "$b", ")", "){}"},
    {"", "inherits "},
    {"", "class a inherits b::# {} "},
    {"", "node "},
    {"", "node a "},
    {"", "node ", "", "a ", "{}"},
    {"", "node a { "},
    {"", "if $a { "},
    {"", "import "},
    {"", "case $a { b: { ", "", "} } "},
    {"", "case $a { b: { "},
    {"", "case $a { ", "", "} "},
    {"", "case } "},
    {"case $a { ", "b: {} "},
    {"", "case ", "{ ", "a: "},
    {"", "default "},
    {"$a = ", "$a ? { b => ", "1", "} "},
    {"$a = $b ? { ", "c => d, "},
    {"", "$a ? { "},
    {"", "include ::a "},
    {"", "include ", "", "::a "},
    {"", "include a\n"},
    {"", "contain(::a) "},
    // Comments.
    {"", "# a\n"},
    {"", "#\r"},
    {"", "// a\n"},
    {"", "/* a */\n"},
    {"", "/* a\n * b */\n"},
    {"", "/* a */ "},
    {"", "/*"},
    {"/*", " * a\n", "*/"},
    {"", "# lint:ignore:hard_tabs\n", "", "\t"},
    {"", "# lint:ignore:140chars\n\t"},
    {"", "\t# lint:ignore:hard_tabs\n"},
    {"", "# lint:ignore:hard_tabs\n", "", "# lint:endignore\n\t"},
    {"", "# lint:endignore\n"},
    {"#", " lint:ignore:hard_tabs"},
    {"", "# @param a\n", "", "class a($b){}\n"},
    {"", "# @param a# b\n", "class a(", "$a, ", "){}"},
    {"", "# @param a\nclass a($a){}\n"},
    {"", "# @api private\ndefine a($a){}\n"},
    {"# @param [", "a] ", "b"},
    // Resources.
    {"", "file { 'a': } "},
    {"", "file { 'a': "},
    {"file { ", "'a': ; ", "}"},
    {"", "'a': "},
    {"", "'a': ; "},
    {"", "?{ ", "", "'a': ; "},
    {"file { 'a': ", "b# => 1, ", "}"},
    {"file { 'a': ", "b# => 1,\n", "}"},
    {"file { 'a':\n", "b# => c, ", "d => 1\n}"},
    {"file { 'a':\nb => 1,\n", "[ ] => 1, ", "}"},
    {"file { 'a': ", "{ ", "b => 1", "} ", "}"},
    {"", "file { 'a': b => 1 ensure => 2 } "},
    {"", "file { 'a': b => 1, ensure => 2, } "},
    {"", "file { 'a': b => 1, ensure => 2 } "},
    {"", "exec { 'a': 'b' } "},
    {"", "exec { 'a': b => '1' } "},
    {"", "file { 'a': ensure => present } "},
    {"", "file { 'a': ensure => '/b' } "},
    {"", "file { 'a': mode => 644 } "},
    {"", "anchor { 'a': } "},
    {"", "file { a: } "},
    {"file { [", "a ", "", "]: ", "}"},
    {"file { 'a': require => [", "File[b], ", "]}"},
    {"file { 'a': ", "require => File[b], ", "}"},
    {"", "File [a] "},
    {"", "File ['a'] file { 'b': } "},
    {"", "File { a => 1 } "},
    {"", "File {\n a => 1\n} "},
    {"", "[\n1\n] "},
    {"", "[\n"},
    {"", "({\n", "1\n", "})\n"},
    {"", "[@(A)\na\nA\n] "},
    {"", "@(A) "},
    {"", "@(A) ", "\n", "A\n"},
    // Variables, lambdas, facts and strings.
    {"class a { ", "$b.each |$c#| { ", "", "} ", "}"},
    {"class a { ", "[1].each |$b| { $b } ", "}"},
    {"class a { ", "|$b", "}"},
    {"class a { ", "[$b#] = 1 ", "}"},
    {"class a { ", "] = ", "}"},
    {"class a { [", "$b, ", "] = 1 }"},
    {"", "$a[", "\n"},
    {"", "$a['b']"},
    {"", "$a-b "},
    {"", "$aB "},
    {"class a {} ", "$::a::b "},
    {"", "$::osfamily "},
    {"", "$facts['osfamily'] "},
    {"", "$facts['osfamily' "},
    {"", "$a_version > 1 "},
    {"", "017 "},
    {"", "$a", "", "b"},
    {"\"", "$a", "\""},
    {"\"", "$a[1]", "\""},
    {"\"", "$a[", "\""},
    {"\"", "${a}", "\""},
    {"\"", "${", "", "}", "\""},
    {"\"", "${a", "\""},
    {"\"", "\\", "\""},
    {"\"", "{", "\""},
    {"\"", "}", "\""},
    {"\"", " ", "\""},
    {"", " ", "\"", " ", "\""},
    {"", "@("},
    {"", "'"},
    {"", "\""},
    {"", "\"${ \"", "", "\" }\" "},
    {"@(A)\n", " ", "\nA\n"},
    {"@(\"A\")\n", "| - | ", "\nA\n"},
    {"@(\"A\")\n", "$b ${c} ", "\nA\n"},
    {"@(A)\n", "\n", "\nA\n"},
    {"", "/ "},
    {"", "=/a/ "},
    {"", "(/\\/"},
    {"", "a::"},
    {"class a", "::b", " {}"},
    {"$a", "[1]", ""},
    {"", "\"puppet://a/b\" "},
    {"\"puppet://a/", "puppet://b/c", "\""},
    {"", "'puppet://a/b' "},
    {"", "\"true\" "},
};

std::string text_of(const Shape& shape, std::size_t size) {
    const auto repeat = [](std::string& out, std::string_view part, std::size_t count) {
        const std::size_t number = part.find("b#") != part.npos    ? part.find("b#") + 1
                                   : part.find("a#") != part.npos  ? part.find("a#") + 1
                                   : part.find("c#") != part.npos  ? part.find("c#") + 1
                                   : part.find("::#") != part.npos ? part.find("::#") + 2
                                                                   : part.npos;
        for (std::size_t i = 0; i < count; ++i) {
            if (number == part.npos)
                out += part;
            else
                out += fmt::format("{}x{}{}", part.substr(0, number), i, part.substr(number + 1));
        }
    };
    const std::size_t count = size / (shape.part.size() + shape.closing.size());
    std::string out(shape.head);
    repeat(out, shape.part, count);
    out += shape.middle;
    repeat(out, shape.closing, count);
    return out.append(shape.tail);
}

/// Returns the number of basic blocks that lint runs.
std::uint64_t work_of(std::string_view text, std::string_view path, const LintOptions& options) {
    g_blocks = 0;
    lint(text, path, options);
    return g_blocks;
}

LintOptions only(std::string_view chosen) {
    LintOptions options;
    options.fix = true;
    for (const Check* check : all_checks())
        options.checks[std::string(check->name)] = check->name == chosen;
    return options;
}

constexpr std::size_t kSmall = 6'000, kFactor = 4;
/// How much more than linear the work may grow, for logarithms and limits that are not yet reached.
constexpr double kTolerance = 1.5;
/// Work per byte that is always acceptable. It hides the growth until a limit is reached.
constexpr std::uint64_t kFreeWork = 60;

void expect_linear(const Shape& shape, std::string_view path, const LintOptions& options,
                   std::string_view what) {
    const std::string small = text_of(shape, kSmall), large = text_of(shape, kSmall * kFactor);
    const auto first =
        static_cast<double>(work_of(small, path, options) + kFreeWork * small.size());
    const auto second = static_cast<double>(work_of(large, path, options));
    EXPECT_LE(second, first * kFactor * kTolerance)
        << what << " on '" << shape.head << "' ('" << shape.part << "')* '" << shape.middle
        << "' ('" << shape.closing << "')* '" << shape.tail << "': " << first << " blocks for "
        << small.size() << " bytes, " << second << " for " << large.size();
}

TEST(LintGrowth, CountsBlocks) {
    const std::string text = text_of({"", "$a = 1\n"}, 1000);
    EXPECT_GT(work_of(text, "", only("")), text.size());
    EXPECT_EQ(work_of(text, "", only("")), work_of(text, "", only("")));
}

TEST(LintGrowth, Tokens) {
    for (const Shape& shape : kShapes) expect_linear(shape, "", only(""), "tokens");
}

TEST(LintGrowth, Checks) {
    for (const Check* check : all_checks()) {
        if (!check->run) continue;
        const LintOptions options = only(check->name);
        for (const Shape& shape : kShapes)
            expect_linear(shape, "/m/a/manifests/b.pp", options, check->name);
    }
}

TEST(LintGrowth, Yaml) {
    const LintOptions options = only("legacy_facts");
    const Shape shapes[] = {
        {"", "a#: \"%{osfamily}\"\n"}, {"a: \"", "%{::osfamily}", "\"\n"}, {"", "- \"%{\"\n"}};
    for (const Shape& shape : shapes) expect_linear(shape, "/d/a.yaml", options, "yaml");
}

}  // namespace
}  // namespace bunraku::lint
