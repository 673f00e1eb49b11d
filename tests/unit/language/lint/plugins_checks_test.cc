// SPDX-License-Identifier: Apache-2.0
// One case for each check of the plugins.
#include <algorithm>
#include <gtest/gtest.h>

#include "check_cases.h"
#include "language/lint/check.h"

namespace bunraku::lint {
namespace {

constexpr CheckCase kPluginCases[] = {
    {"relative_classname_inclusion",
     "include ::foo\n"
     "class { '::bar': }\n",
     "1:9 WARNING class included by absolute name (::$class)\n"
     "2:9 WARNING class included by absolute name (::$class)\n",
     "include foo\n"
     "class { 'bar': }\n"},
    {"relative_classname_reference",
     "notify { 'a':\n"
     "  require => Class['::foo'],\n"
     "}\n",
     "2:20 WARNING absolute class name reference\n",
     "notify { 'a':\n"
     "  require => Class['foo'],\n"
     "}\n"},
    {"anchor_resource", "anchor { 'a': }\n", "1:1 WARNING manifest includes anchor resource\n", ""},
    {"exec_idempotency",
     "exec { 'a': }\n"
     "exec { 'b':\n"
     "  unless => 'c',\n"
     "}\n",
     "1:11 WARNING exec without idempotency. set at least one of the attributes: onlyif, unless, "
     "creates, refreshonly\n",
     ""},
    {"file_ensure",
     "file { 'a':\n"
     "  ensure => present,\n"
     "}\n",
     "2:13 WARNING ensure set to present on file resource\n",
     "file { 'a':\n"
     "  ensure => file,\n"
     "}\n"},
    {"leading_zero", "$a = 0644\n", "1:6 WARNING unquoted number with leading zero\n",
     "$a = '0644'\n"},
    {"lookup_in_parameter",
     "class foo (\n"
     "  $a = lookup('b'),\n"
     ") { }\n"
     "class bar ( $a = lookup('b') ) { }\n",
     "2:8 WARNING lookup used to set the default value of a parameter\n"
     "4:18 WARNING lookup used to set the default value of a parameter\n",
     ""},
    {"manifest_whitespace_arrows_single_space_after", "$a = { b =>1, c =>  2 }\n",
     "1:12 ERROR there should be a single space after an arrow\n"
     "1:19 ERROR there should be a single space after an arrow\n",
     "$a = { b => 1, c => 2 }\n"},
    {"manifest_whitespace_inherits_name_single_space_before", "class foo inherits   bar { }\n",
     "1:19 ERROR there should be a single space between the inherits statement and the name\n",
     "class foo inherits bar { }\n"},
    {"manifest_whitespace_class_name_single_space_before", "class   foo { }\n",
     "1:6 ERROR there should be a single space between the class or defined resource statement and "
     "the name\n",
     "class foo { }\n"},
    {"manifest_whitespace_class_name_single_space_after",
     "class foo\n"
     "{ }\n",
     "1:7 ERROR there should be a single space between the class or resource name and the next "
     "item\n",
     "class foo { }\n"},
    {"manifest_whitespace_closing_brace_before", "$a = { b => 1}\n",
     "1:14 ERROR there should be a single space or newline before a closing brace\n",
     "$a = { b => 1 }\n"},
    {"manifest_whitespace_closing_brace_after", "$a = [{ b => 1 } , 2]\n",
     "1:17 ERROR there should be either a bracket, punctuation mark, closing quote or a newline "
     "after a closing brace, or whitespace and none of the aforementioned\n",
     "$a = [{ b => 1 }, 2]\n"},
    {"manifest_whitespace_closing_bracket_before", "$a = [1 ]\n",
     "1:8 ERROR there should be no whitespace or a single newline before a closing bracket\n",
     "$a = [1]\n"},
    {"manifest_whitespace_closing_bracket_after", "$a = [[1] , 2]\n",
     "1:10 ERROR there should be either a bracket, punctuation mark, closing quote or a newline "
     "after a closing bracket, or whitespace and none of the aforementioned\n",
     "$a = [[1], 2]\n"},
    {"manifest_whitespace_two_empty_lines",
     "$a = 1\n"
     "\n"
     "\n"
     "$b = 2\n",
     "3:1 ERROR there should be no two consecutive empty lines\n",
     "$a = 1\n"
     "\n"
     "$b = 2\n"},
    {"manifest_whitespace_newline_beginning_of_file",
     "\n"
     "$a = 1\n",
     "1:1 ERROR there should not be a newline at the beginning of a manifest\n", "$a = 1\n"},
    {"manifest_whitespace_missing_newline_end_of_file", "$a = 1",
     "1:6 ERROR there should be a single newline at the end of a manifest\n", "$a = 1\n"},
    {"manifest_whitespace_double_newline_end_of_file",
     "$a = 1\n"
     "\n",
     "2:1 ERROR there should be a single newline at the end of a manifest\n", "$a = 1\n"},
    {"manifest_whitespace_opening_brace_before", "class foo{ }\n",
     "1:10 ERROR there should be a single space before an opening brace\n", "class foo { }\n"},
    {"manifest_whitespace_opening_brace_after", "$a = {b => 1 }\n",
     "1:7 ERROR there should be a single space or single newline after an opening brace\n",
     "$a = { b => 1 }\n"},
    {"manifest_whitespace_opening_bracket_before", "$a =[1]\n",
     "1:5 ERROR there should be a single space before an opening bracket\n", "$a = [1]\n"},
    {"manifest_whitespace_opening_bracket_after", "$a = [ 1]\n",
     "1:7 ERROR there should be no whitespace or a single newline after an opening bracket\n",
     "$a = [1]\n"},
    {"optional_default",
     "define foo (\n"
     "  Optional[String] $a,\n"
     "  Optional[Integer] $b = 1,\n"
     "  Optional[Integer] $c = undef,\n"
     ") { }\n",
     "2:20 WARNING Optional defined type parameter doesn't have a default\n"
     "3:21 WARNING Optional parameter defaults to something other than undef\n",
     ""},
    {"package_ensure",
     "package { 'a':\n"
     "  ensure => latest,\n"
     "}\n",
     "2:13 WARNING ensure set to latest on a package resource\n",
     "package { 'a':\n"
     "  ensure => installed,\n"
     "}\n"},
    {"parameter_documentation",
     "# @param a  the first\n"
     "# @param c  unknown\n"
     "class foo ($a, $b) { }\n",
     "2:10 WARNING No matching class parameter for documentation of foo::c\n"
     "3:16 WARNING missing documentation for class parameter foo::b\n",
     ""},
    {"parameter_documentation",
     "# @param [Array[String]] a [Deprecated] - the first\n"
     "# @param [String] b [Optional] c\n"
     "class foo ($a, $b) { }\n",
     "2:10 WARNING No matching class parameter for documentation of foo::c\n"
     "3:16 WARNING missing documentation for class parameter foo::b\n",
     ""},
    {"parameter_types", "class foo ($a, Integer $b = 1) { }\n",
     "1:12 WARNING missing datatype for parameter foo::a\n", ""},
    {"params_empty_string_assignment", "class foo (String $a = '', String[1] $b = 'c') { }\n",
     "1:19 WARNING class parameter with String type defaults to empty string\n", ""},
    {"params_not_optional_with_undef",
     "class foo (String $a = undef, Variant[String, Undef] $b = undef) { }\n",
     "1:19 WARNING Not optional parameter defaults to undef\n", ""},
    {"resource_reference_chain_without_whitespace", "Class ['a'] -> Class['b']\n",
     "1:1 ERROR whitespce between reference type and title\n", ""},
    {"resource_reference_with_unquoted_title",
     "file { 'a':\n"
     "  require => File[b],\n"
     "}\n",
     "2:19 ERROR unquoted title in resource reference\n",
     "file { 'a':\n"
     "  require => File['b'],\n"
     "}\n"},
    {"resource_reference_without_title_capital",
     "file { 'a':\n"
     "  require => Foo[Bar],\n"
     "}\n",
     "2:18 ERROR resource reference with title with capital letter\n", ""},
    {"resource_reference_without_whitespace",
     "file { 'a':\n"
     "  require => File ['b'],\n"
     "}\n",
     "2:14 ERROR whitespce between reference type and title\n", ""},
    {"strict_indent",
     "class foo {\n"
     "$a = [\n"
     "      1,\n"
     "  ]\n"
     "}\n",
     "2:1 WARNING indent should be 2 chars and is 0\n"
     "3:1 WARNING indent should be 4 chars and is 6\n",
     "class foo {\n"
     "  $a = [\n"
     "    1,\n"
     "  ]\n"
     "}\n"},
    {"topscope_variable",
     "class foo {\n"
     "  $a = $::bar::b\n"
     "}\n",
     "2:8 WARNING use $bar::b instead of $::bar::b\n",
     "class foo {\n"
     "  $a = $bar::b\n"
     "}\n"},
    {"trailing_comma",
     "$a = [\n"
     "  1,\n"
     "  2\n"
     "]\n",
     "3:4 WARNING missing trailing comma after last element\n",
     "$a = [\n"
     "  1,\n"
     "  2,\n"
     "]\n"},
    {"unquoted_string_in_case",
     "case $a {\n"
     "  b: { }\n"
     "  'c': { }\n"
     "}\n",
     "2:3 WARNING unquoted string in case\n",
     "case $a {\n"
     "  'b': { }\n"
     "  'c': { }\n"
     "}\n"},
    {"unquoted_string_in_selector",
     "$a = $b ? {\n"
     "  c       => 1,\n"
     "  default => 2,\n"
     "}\n",
     "2:3 WARNING unquoted string in selector\n",
     "$a = $b ? {\n"
     "  'c'       => 1,\n"
     "  default => 2,\n"
     "}\n"},
    {"variable_contains_upcase", "$aB = 1\n", "1:1 WARNING variable contains a capital letter\n",
     "$ab = 1\n"},
    {"version_comparison", "if $version > 8 { }\n", "1:4 WARNING version compared as number\n",
     "if versioncmp($version, '8') > 0 { }\n"},
};

TEST(PluginChecks, FindAndFix) { run_check_cases(kPluginCases); }

TEST(PluginChecks, EachHasACase) {
    for (const Check* check : all_checks()) {
        if (check->group != CheckGroup::Plugin) continue;
        const auto found = std::ranges::find(kPluginCases, check->name, &CheckCase::check);
        ASSERT_NE(found, std::end(kPluginCases)) << check->name;
        EXPECT_FALSE(found->problems.empty()) << check->name;
    }
}

}  // namespace
}  // namespace bunraku::lint
