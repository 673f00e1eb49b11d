// SPDX-License-Identifier: Apache-2.0
// One case for each check of puppet-lint itself.
#include <algorithm>
#include <gtest/gtest.h>

#include "check_cases.h"
#include "language/lint/check.h"

namespace bunraku::lint {
namespace {

constexpr CheckCase kCoreCases[] = {
    {"arrow_on_right_operand_line",
     "Package['a'] ->\n"
     "Service['a']\n",
     "1:14 WARNING arrow should be on the right operand's line\n",
     "Package['a']\n"
     "-> Service['a']\n"},
    {"autoloader_layout", "class foo::bar { }\n",
     "1:7 ERROR foo::bar not in autoload module layout\n", ""},
    {"class_inherits_from_params_class", "class foo inherits foo::params { }\n",
     "1:20 WARNING class inheriting from params class\n", ""},
    {"code_on_top_scope",
     "class foo { }\n"
     "notice 'a'\n",
     "2:1 WARNING code outside of class or define block - notice\n"
     "2:8 WARNING code outside of class or define block - a\n",
     ""},
    {"inherits_across_namespaces", "class foo inherits bar::baz { }\n",
     "1:20 WARNING class inherits across module namespaces\n", ""},
    {"names_containing_dash", "define foo-bar { }\n",
     "1:8 ERROR defined type name containing a dash\n", ""},
    {"names_containing_uppercase", "class fooBar { }\n",
     "1:7 ERROR class 'fooBar' contains illegal uppercase\n", "class foobar { }\n"},
    {"nested_classes_or_defines",
     "class foo {\n"
     "  define bar { }\n"
     "}\n",
     "2:3 WARNING defined type defined inside a class\n", ""},
    {"parameter_order",
     "class foo (\n"
     "  $a = 1,\n"
     "  $b,\n"
     ") { }\n",
     "3:3 WARNING optional parameter listed before required parameter\n", ""},
    {"right_to_left_relationship", "Service['a'] <- Package['a']\n",
     "1:14 WARNING right-to-left (<-) relationship\n", ""},
    {"variable_scope",
     "class foo ($a) {\n"
     "  $b = $a\n"
     "  [1].each |$c| { notice($b, $c, $d) }\n"
     "}\n",
     "3:34 WARNING top-scope variable being used without an explicit namespace\n", ""},
    {"slash_comments", "// comment\n", "1:1 WARNING // comment found\n", "# comment\n"},
    {"star_comments",
     "  /* first\n"
     "   * second */\n",
     "1:3 WARNING /* */ comment found\n",
     "  # first\n"
     "  # second\n"},
    {"case_without_default",
     "case $a {\n"
     "  1: { case $b { default: { } } }\n"
     "}\n",
     "1:1 WARNING case statement without a default case\n", ""},
    {"selector_inside_resource",
     "file { 'a':\n"
     "  mode => $b ? { default => 1 },\n"
     "}\n",
     "2:8 WARNING selector inside resource block\n", ""},
    {"documentation",
     "# Comment.\n"
     "class foo { }\n"
     "\n"
     "define bar { }\n",
     "4:1 WARNING defined type not documented\n", ""},
    {"unquoted_node_name", "node web { }\n", "1:6 WARNING unquoted node name found\n",
     "node 'web' { }\n"},
    {"duplicate_params",
     "file { 'a':\n"
     "  mode => '0644',\n"
     "  mode => '0600',\n"
     "}\n",
     "3:3 ERROR duplicate parameter found in resource\n", ""},
    {"ensure_first_param",
     "file { 'a':\n"
     "  mode   => '0644',\n"
     "  ensure => file,\n"
     "}\n",
     "3:3 WARNING ensure found on line but it's not the first attribute\n",
     "file { 'a':\n"
     "  ensure => file,\n"
     "  mode   => '0644',\n"
     "}\n"},
    {"ensure_not_symlink_target",
     "file { 'a':\n"
     "  ensure => '/b',\n"
     "}\n",
     "2:13 WARNING symlink target specified in ensure attr\n",
     "file { 'a':\n"
     "  ensure => symlink,\n"
     "  target => '/b',\n"
     "}\n"},
    {"file_mode",
     "file { 'a':\n"
     "  mode => '644',\n"
     "}\n",
     "2:11 WARNING mode should be represented as a 4 digit octal value or symbolic mode\n",
     "file { 'a':\n"
     "  mode => '0644',\n"
     "}\n"},
    {"unquoted_file_mode",
     "file { 'a':\n"
     "  mode => 0644,\n"
     "}\n",
     "2:11 WARNING unquoted file mode\n",
     "file { 'a':\n"
     "  mode => '0644',\n"
     "}\n"},
    {"unquoted_resource_title",
     "file { a:\n"
     "}\n",
     "1:8 WARNING unquoted resource title\n",
     "file { 'a':\n"
     "}\n"},
    {"double_quoted_strings",
     "$a = \"b\"\n"
     "$c = \"d\\n\"\n",
     "1:6 WARNING double quoted string containing no variables\n",
     "$a = 'b'\n"
     "$c = \"d\\n\"\n"},
    {"only_variable_string", "$a = \"${b['c']}\"\n",
     "1:9 WARNING string containing only a variable\n", "$a = $b['c']\n"},
    {"puppet_url_without_modules", "$a = 'puppet:///foo/bar'\n",
     "1:6 WARNING puppet:// URL without modules/ found\n", "$a = 'puppet:///modules/foo/bar'\n"},
    {"quoted_booleans", "$a = 'true'\n", "1:6 WARNING quoted boolean value found\n", "$a = true\n"},
    {"single_quote_string_with_variables", "$a = '${b}'\n",
     "1:6 ERROR single quoted string containing a variable found\n", ""},
    {"variables_not_enclosed", "$a = \"b $c[d] $e-f\"\n",
     "1:9 WARNING variable not enclosed in {}\n"
     "1:15 WARNING variable not enclosed in {}\n",
     "$a = \"b ${c[d]} ${e}-f\"\n"},
    {"variable_contains_dash", "$a-b = 1\n", "1:1 WARNING variable contains a dash\n", ""},
    {"variable_is_lowercase", "$aB = 1\n", "1:1 WARNING variable contains an uppercase letter\n",
     ""},
    {"140chars",
     "# "
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
     "# "
     "http://"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
     "1:140 WARNING line has more than 140 characters\n", ""},
    {"2sp_soft_tabs",
     "class foo {\n"
     "   $a = 1\n"
     "}\n",
     "2:1 ERROR two-space soft tabs not used\n", ""},
    {"80chars",
     "# xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
     "1:80 WARNING line has more than 80 characters\n", ""},
    {"arrow_alignment",
     "file { 'a':\n"
     "  ensure => file,\n"
     "  mode  => '0644', owner => 'b',\n"
     "}\n",
     "3:9 WARNING indentation of => is not properly aligned (expected in column 10, but found it "
     "in column 9)\n"
     "3:26 WARNING indentation of => is not properly aligned (expected in column 10, but found it "
     "in column 26)\n",
     "file { 'a':\n"
     "  ensure => file,\n"
     "  mode   => '0644',\n"
     "  owner  => 'b',\n"
     "}\n"},
    {"hard_tabs",
     "\t$a = 1\n"
     "$b\t= 2\n",
     "1:1 ERROR tab character found\n"
     "2:3 ERROR tab character found\n",
     "  $a = 1\n"
     "$b  = 2\n"},
    {"space_before_arrow",
     "file { 'a':\n"
     "  ensure  => file,\n"
     "}\n",
     "2:9 WARNING there should be a single space before '=>' on line 2, column 9\n",
     "file { 'a':\n"
     "  ensure => file,\n"
     "}\n"},
    {"trailing_whitespace", "$a = 1 \n", "1:7 ERROR trailing whitespace found\n", "$a = 1\n"},
    {"legacy_facts",
     "$a = $facts['osfamily']\n"
     "$b = \"${::ipaddress_eth0}\"\n"
     "$c = $::memoryfree_mb\n",
     "1:6 WARNING legacy fact 'osfamily'\n"
     "2:9 WARNING legacy fact 'ipaddress_eth0'\n"
     "3:6 WARNING legacy fact 'memoryfree_mb'\n",
     "$a = $facts['os']['family']\n"
     "$b = \"${facts['networking']['interfaces']['eth0']['ip']}\"\n"
     "$c = $::memoryfree_mb\n"},
    {"top_scope_facts",
     "$a = $::foo\n"
     "$b = $::bar['c']\n"
     "$d = $::osfamily\n",
     "1:6 WARNING top scope fact instead of facts hash\n"
     "2:6 WARNING top scope fact instead of facts hash\n",
     "$a = $facts['foo']\n"
     "$b = $facts['bar']['c']\n"
     "$d = $::osfamily\n"},
};

TEST(CoreChecks, FindAndFix) { run_check_cases(kCoreCases); }

TEST(CoreChecks, EachHasACase) {
    for (const Check* check : all_checks()) {
        if (check->group != CheckGroup::Core) continue;
        const auto found = std::ranges::find(kCoreCases, check->name, &CheckCase::check);
        ASSERT_NE(found, std::end(kCoreCases)) << check->name;
        EXPECT_FALSE(found->problems.empty()) << check->name;
    }
}

}  // namespace
}  // namespace bunraku::lint
