// SPDX-License-Identifier: Apache-2.0
// Tests what concerns all checks: control comments, options, fixes, YAML, invalid files.
#include "language/lint/lint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "language/lint/check.h"

namespace bunraku::lint {
namespace {

/// Returns options that only enable these checks.
LintOptions only(std::initializer_list<std::string_view> names) {
    LintOptions options;
    for (const Check* check : all_checks()) options.checks[std::string(check->name)] = false;
    for (const std::string_view name : names) options.checks[std::string(name)] = true;
    return options;
}

/// Returns the problems as "CHECK LINE KIND", separated by commas.
std::string summary(const LintResult& result) {
    std::string out;
    for (const Problem& problem : result.problems) {
        out += fmt::format("{}{} {} {}", out.empty() ? "" : ", ", problem.check, problem.line,
                           severity_name(problem.severity));
        if (!problem.reason.empty()) out += " (" + problem.reason + ")";
    }
    return out;
}

TEST(Lint, CommentsDisableChecks) {
    const LintOptions options = only({"double_quoted_strings"});
    EXPECT_EQ(summary(lint("$a = \"b\" # lint:ignore:double_quoted_strings some reason\n"
                           "$c = \"d\"\n",
                           "", options)),
              "double_quoted_strings 1 ignored (some reason), double_quoted_strings 2 warning");
    EXPECT_EQ(summary(lint("# lint:ignore:double_quoted_strings lint:ignore:hard_tabs\n$a = \"b\"\n"
                           "# lint:endignore\n$c = \"d\"\n",
                           "", options)),
              "double_quoted_strings 2 ignored, double_quoted_strings 4 warning");
    EXPECT_EQ(summary(lint("$a = \"b\" # lint:ignore:hard_tabs\n", "", options)),
              "double_quoted_strings 1 warning");
}

TEST(Lint, CommentsWithoutCounterpartAreReported) {
    EXPECT_EQ(lint("# lint:endignore\n", "").warnings,
              std::vector<std::string>{"lint:endignore comment with no opening lint:ignore:<check> "
                                       "comment found on line 1"});
    EXPECT_EQ(lint("# lint:ignore:hard_tabs\n", "").warnings,
              std::vector<std::string>{"lint:ignore:hard_tabs comment on line 1 with no closing "
                                       "lint:endignore comment"});
}

TEST(Lint, OptionsEnableChecks) {
    const std::string_view text = "anchor { 'a': }\n$b = 'true'\n";
    EXPECT_EQ(summary(lint(text, "")), "anchor_resource 1 warning");
    LintOptions options;
    options.plugins = false;
    EXPECT_EQ(summary(lint(text, "", options)), "");
    options.checks["quoted_booleans"] = true;
    options.checks["anchor_resource"] = true;
    EXPECT_EQ(summary(lint(text, "", options)),
              "quoted_booleans 2 warning, anchor_resource 1 warning");
}

TEST(Lint, ChecksHaveParameters) {
    LintOptions options =
        only({"autoloader_layout", "top_scope_facts", "strict_indent", "parameter_documentation"});
    options.relative = true;
    options.top_scope_variables = {"role"};
    options.indent = 4;
    options.docs_styles = {"strings"};
    EXPECT_EQ(summary(lint("# [*a*] text\nclass foo ($a) {\n    $b = $::role\n}\n",
                           "/code/manifests/init.pp", options)),
              "parameter_documentation 2 warning");
    options.docs_styles.clear();
    EXPECT_EQ(summary(lint("# [*a*] text\nclass foo ($a) {\n    $b = $::role\n}\n",
                           "/code/manifests/init.pp", options)),
              "");
}

TEST(Lint, FixesKeepLineEndsAndIgnoredProblems) {
    LintOptions options = only({"double_quoted_strings", "trailing_whitespace"});
    options.fix = true;
    const LintResult result =
        lint("$a = \"b\" \r\n$c = \"d\" # lint:ignore:double_quoted_strings\r\n", "", options);
    EXPECT_EQ(result.fixed_text, "$a = 'b'\r\n$c = \"d\" # lint:ignore:double_quoted_strings\r\n");
    EXPECT_EQ(summary(result),
              "double_quoted_strings 1 fixed, double_quoted_strings 2 ignored, "
              "trailing_whitespace 1 fixed");
}

TEST(Lint, FixesNothingThatItCannotFix) {
    LintOptions options = only({"file_mode", "star_comments", "version_comparison"});
    options.fix = true;
    const std::string_view text =
        "file { 'a':\n  mode => 'invalid',\n}\n/* b */ $c = 1\nif $version > $d { }\n";
    const LintResult result = lint(text, "", options);
    EXPECT_EQ(result.fixed_text, text);
    EXPECT_EQ(summary(result),
              "star_comments 4 warning, file_mode 2 warning, version_comparison 5 warning");
}

/// puppet-lint exchanges the first attribute of the first resource with a part of both.
TEST(Lint, EnsureWithoutCommaIsNotMoved) {
    LintOptions options = only({"ensure_first_param"});
    options.fix = true;
    const std::string_view text =
        "file { 'a': mode => '0644', ensure => file }\nfile { 'b': mode => '0644', owner => 'c' "
        "}\n";
    const LintResult result = lint(text, "", options);
    EXPECT_EQ(result.fixed_text, text);
    EXPECT_EQ(summary(result), "ensure_first_param 1 warning");
}

/// The limits that keep the output linear are above what readable code reaches.
TEST(Lint, DeeplyNestedDefinitionsAreSkipped) {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "class A { ";
    for (int i = 0; i < 40; ++i) text += "} ";
    const auto problems = lint(text, "", only({"names_containing_uppercase"})).problems;
    EXPECT_EQ(problems.size(), 17u);
}

TEST(Lint, InvalidManifests) {
    LintOptions options;
    options.fix = true;
    const LintResult result = lint("$a = \"b\n", "", options);
    ASSERT_EQ(result.problems.size(), 1u);
    EXPECT_EQ(result.problems[0].check, "syntax");
    EXPECT_EQ(result.problems[0].message, "Syntax error (unterminated string)");
    EXPECT_FALSE(result.fixed_text.has_value());
    EXPECT_EQ(summary(lint("file { 'a': ensure => file\n", "")), "syntax 1 error");
    EXPECT_EQ(summary(lint("", "")), "");
    EXPECT_EQ(summary(lint("# text\n$a = 'caf\xe9'\n", "")), "syntax 2 error");
    EXPECT_EQ(summary(lint("\x8f\xff\x7c\xf9 binary", "")), "");
}

TEST(Lint, YamlIsCheckedForLegacyFacts) {
    const std::string_view text =
        "hierarchy:\n  - \"%{::osfamily}/%{facts.os.name}\"\n  - \"%{facts.ipaddress_eth0}\"\n"
        "\"%{processor0}\": 1\n";
    EXPECT_EQ(summary(lint(text, "/a/hiera.yaml")),
              "legacy_facts 2 warning, legacy_facts 3 warning, legacy_facts 4 warning");
    EXPECT_EQ(summary(lint(text, "/a/hiera.yml", only({"hard_tabs"}))), "");
    EXPECT_EQ(summary(lint("a: [", "/a/hiera.yaml")), "syntax 1 error");
    // The line is that of the text, not that of the first line with the same text.
    EXPECT_EQ(summary(lint("a: \"%{osfamily}\"\nb: \"%{osfamily}\"\n", "/a/b.yaml")),
              "legacy_facts 1 warning, legacy_facts 2 warning");
}

/// No text makes a check or a fix fail, whatever the order of its tokens is.
TEST(Lint, EveryPrefixAndSuffixOfAManifest) {
    const std::string_view text =
        "# a\nclass foo::bar (\n  Optional[String] $a = undef, $b = [1],\n) inherits ::foo {\n"
        "  file { ['/a', \"${b}/c\"]:\n    ensure => '/x', mode => 644,\n"
        "    require => File [d], target => $e ? { default => f };\n  }\n"
        "  include ::g\n  case $::h { i: { } }\n  /* j */\n  $k = @(\"X\")\n    l $m[1]\n    | X\n"
        "  $facts['osfamily'] -> [1].each |$n| { notice(\"$n\", {'o'=>1}) }\n"
        "  if $version > 1 { Class ['p'] ->\n Class['::q'] }\n}\n";
    LintOptions options;
    options.fix = true;
    for (const Check* check : all_checks()) options.checks[std::string(check->name)] = true;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        lint(text.substr(0, i), "/foo/manifests/bar.pp", options);
        lint(text.substr(i), "/foo/manifests/bar.pp", options);
    }
    EXPECT_TRUE(lint(text, "/foo/manifests/bar.pp", options).fixed_text.has_value());
}

}  // namespace
}  // namespace bunraku::lint
