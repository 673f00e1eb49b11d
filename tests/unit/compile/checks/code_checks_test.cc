// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/code_checks.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

namespace bunraku::checks {
namespace {

class CodeChecksTest : public testing::Test {
protected:
    CodeChecksTest() {
        char name[] = "/tmp/code_checks_test_XXXXXX";
        root_ = ::mkdtemp(name);
        write("m/manifests/init.pp", "class m ($a, $b = 1) { $c = 2 [$d, $e] = [3, 4] }\n");
        write("m/manifests/child.pp", "class m::child inherits m { $f = 5 }\n");
        write("m/manifests/thing.pp", "define m::thing ($size) { }\n");
        write("m/functions/twice.pp", "function m::twice($x) { $x * 2 }\n");
        write("m/functions/text.pp", "function m::text(String $a, Integer $b = 1, *$c) { }\n");
        write("m/types/port.pp", "type M::Port = Integer[1, 65535]\n");
        write("m/manifests/typed.pp",
              "define m::typed (M::Port $port, Optional[String] $a, Enum['x'] $b = 'x') { }\n");
        write("m/manifests/web.pp", "class m::web (M::Port $port, Array[String] $names) { }\n");
        write("m/manifests/filled.pp", "define m::filled ($a) { }\n");
        write("m/manifests/defaults.pp", "class m::defaults { M::Filled { a => 1 } }\n");
        write("stdlib/lib/puppet/functions/stdlib/to_json.rb", "\n");
        write("m/lib/puppet/type/rubied.rb", "Puppet::Type.newtype(:rubied) { }\n");
        environment::Spec spec;
        spec.modulepath = {root_};
        spec.modulepath_given = spec.no_manifest = true;
        auto opened = environment::Environment::open(spec, log_);
        EXPECT_TRUE(opened);
        environment_ = *opened;
    }
    ~CodeChecksTest() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, std::string_view text) {
        const auto full = std::filesystem::path(root_) / path;
        std::filesystem::create_directories(full.parent_path());
        std::ofstream(full) << text;
    }

    /// Returns the problems as "LINE:COLUMN CHECK MESSAGE", one per line.
    static std::string problems(std::string_view text, CodeNames* names,
                                const lint::LintOptions& options = {}) {
        std::string out;
        for (const auto& problem : check_code(text, "/t.pp", options, names)) {
            if (problem.severity == lint::Severity::Ignored) continue;
            out += fmt::format("{}:{} {} {}\n", problem.line, problem.column, problem.check,
                               problem.message);
        }
        return out;
    }
    std::string found(std::string_view text) {
        CodeNames names(*environment_);
        return problems(text, &names);
    }

    std::string root_;
    base::NullSink log_;
    std::shared_ptr<const environment::Environment> environment_;
};

TEST_F(CodeChecksTest, Classes) {
    EXPECT_EQ(found("include m, ::m::child, m::no\ncontain 'other::x'\nclass { 'm::nope': }\n"
                    "class z inherits m::gone { }\n"),
              "1:24 unknown_class unknown class 'm::no'\n"
              "3:9 unknown_class unknown class 'm::nope'\n"
              "4:1 unknown_class unknown class 'm::gone'\n");
    EXPECT_EQ(found("include $x, \"m::a${x}\"\n"), "");
}

TEST_F(CodeChecksTest, TypesAndAttributes) {
    EXPECT_EQ(found("m::none { 'a': }\nrubied { 'b': any => 1 }\nother::type { 'c': }\n"
                    "whatever { 'd': }\n"),
              "1:1 unknown_resource_type unknown resource type 'm::none'\n");
    EXPECT_EQ(found("m::thing { 'a': size => 1, sise => 2, name => 'n', require => File['b'] }\n"
                    "file { 'b': mdoe => '0644', * => $x }\nclass { 'm': a => 1, z => 2 }\n"),
              "1:28 unknown_attribute m::thing has no attribute 'sise'\n"
              "2:13 unknown_attribute file has no attribute 'mdoe'\n"
              "3:22 unknown_attribute class m has no attribute 'z'\n");
}

TEST_F(CodeChecksTest, Functions) {
    EXPECT_EQ(found("$a = m::twice(1)\n$b = m::thrice(1)\n$c = 1.m::nothing\nother::f()\nfoo()\n"
                    "$d = split('a', 'b')\n"),
              "2:6 unknown_function unknown function 'm::thrice'\n"
              "3:7 unknown_function unknown function 'm::nothing'\n");
}

TEST_F(CodeChecksTest, Variables) {
    EXPECT_EQ(found("notice($m::a, $::m::c, $m::d, $m::child::f, $m::child::e, $m::title)\n"
                    "notice(\"${m::x} $m::child::y $other::z $::top\")\n"),
              "2:11 unknown_variable class m has no variable 'x'\n"
              "2:17 unknown_variable class m::child has no variable 'y'\n");
}

TEST_F(CodeChecksTest, UnreachableCode) {
    EXPECT_EQ(problems("function f() {\n  return(1)\n  notice(2)\n}\n"
                       "if false { notice(3) } else { notice(4) }\n"
                       "if $a { fail('b') } else { fail('c') }\nnotice(5)\n",
                       nullptr),
              "3:3 unreachable_code code after a statement that ends the block never runs\n"
              "5:12 unreachable_code the condition is always false, so this code never runs\n"
              "7:1 unreachable_code code after a statement that ends the block never runs\n");
    EXPECT_EQ(problems("if $a { fail('b') }\nnotice(1)\nif true { notice(2) }\n", nullptr), "");
}

TEST_F(CodeChecksTest, DeprecatedFunctions) {
    EXPECT_EQ(problems("$a = hiera('b')\n$c = {}.to_json\n", nullptr),
              "1:6 deprecated_function function hiera is deprecated, use lookup\n"
              "2:8 deprecated_function function to_json is deprecated, use stdlib::to_json\n");
}

TEST_F(CodeChecksTest, TypesOfParameters) {
    EXPECT_EQ(found("m::typed { 'a': port => 80 }\n"
                    "m::typed { 'b': port => 'http', b => 'y' }\n"
                    "m::typed { 'c': port => $x, b => undef }\n"
                    "class { 'm::web': port => 0, names => ['a', 1] }\n"
                    "class t (M::Port $p = 0, Unknown::Type $u = 1, Integer $ok = 2) { }\n"
                    "file { 'd': ensure => 'presant', mode => $y }\n"
                    "service { 'e': ensure => running, enable => 'yes' }\n"),
              "2:25 wrong_type parameter 'port' expects a M::Port = Integer[1, 65535] value, got "
              "String\n"
              "2:38 wrong_type parameter 'b' expects a match for Enum['x'], got 'y'\n"
              "4:27 wrong_type parameter 'port' expects a M::Port = Integer[1, 65535] value, got "
              "Integer[0, 0]\n"
              "4:39 wrong_type parameter 'names' index 1 expects a String value, got Integer\n"
              "5:23 wrong_type parameter 'p' expects a M::Port = Integer[1, 65535] value, got "
              "Integer[0, 0]\n"
              "7:45 wrong_type Invalid value \"yes\". Valid values are true, false, manual, mask, "
              "delayed.\n");
}

TEST_F(CodeChecksTest, MissingParameters) {
    EXPECT_EQ(found("m::typed { 'a': b => 'x' }\nm::typed { 'b': * => $h }\nm::filled { 'c': }\n"
                    "m::thing { 'd': }\n"),
              "1:12 missing_parameter m::typed expects a value for parameter 'port'\n"
              "4:12 missing_parameter m::thing expects a value for parameter 'size'\n");
    EXPECT_EQ(found("M::Thing { size => 1 }\nm::thing { 'd': }\n"), "");
    EXPECT_EQ(found("m::thing { 'd': }\nM::Thing <| |> { size => 1 }\n"), "");
    // The body with the title default is no resource, and its attributes apply to the others.
    EXPECT_EQ(found("m::typed { default: port => 1; 'a': b => 'x' }\n"), "");
    EXPECT_EQ(found("m::typed { default: * => $h; 'a': b => 'x' }\n"), "");
}

TEST_F(CodeChecksTest, NamesThatOtherFilesDefine) {
    // In the file itself.
    EXPECT_EQ(found("class m::here { }\ndefine m::local { }\nfunction m::f() { 1 }\n"
                    "include m::here\nm::local { 'a': }\n$a = m::f()\n"),
              "");
    // A file with a syntax error may define any name to which it belongs.
    write("m/manifests/broken.pp", "class m::broken { $a = }\n");
    EXPECT_EQ(found("include m::broken, m::broken::inner, m::gone\n"),
              "1:38 unknown_class unknown class 'm::gone'\n");
    // In a manifest outside of the modules.
    write("../" + root_.substr(root_.rfind('/') + 1) + "_site/nodes.pp",
          "class m::site inherits m {\n}\ndefine ::m::made() { }\n");
    CodeNames names(*environment_);
    names.add_folder(root_ + "_site");
    EXPECT_EQ(problems("include m::site, m::sit\nm::made { 'a': }\n", &names),
              "1:18 unknown_class unknown class 'm::sit'\n");
    std::filesystem::remove_all(root_ + "_site");
}

TEST_F(CodeChecksTest, Arguments) {
    EXPECT_EQ(found("$a = m::text('a', 2, 3, 4)\n$b = m::text()\n$c = m::text(1)\n"
                    "$d = 'a'.m::text('b')\n$e = m::text(*$x)\n"),
              "2:6 wrong_type function 'm::text' does not accept 0 arguments\n"
              "3:14 wrong_type function 'm::text' parameter 'a' expects a String value, got "
              "Integer\n"
              "4:18 wrong_type function 'm::text' parameter 'b' expects an Integer value, got "
              "String\n");
    EXPECT_EQ(
        found("$a = split(1, $x)\n$b = split('a', $x)\n$c = size()\n$d = [1].each |$x| { }\n"),
        "1:12 wrong_type function 'split' does not accept this value as argument 1\n"
        "3:6 wrong_type function 'size' does not accept 0 arguments\n");
}

TEST_F(CodeChecksTest, CorrectionsOfDeprecatedFunctions) {
    const std::string_view text = "$a = to_json(1)\n$b = to_yaml(2)\n$c = 3.to_json\n";
    CodeNames names(*environment_);
    const auto problems = check_code(text, "/t.pp", {}, &names);
    // This stdlib has no stdlib::to_yaml.
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_TRUE(problems[0].fixable);
    EXPECT_EQ(corrected(text, problems),
              "$a = stdlib::to_json(1)\n$b = to_yaml(2)\n$c = 3.stdlib::to_json\n");
}

TEST_F(CodeChecksTest, OptionsAndControlComments) {
    const std::string_view text =
        "$a = hiera('b') # lint:ignore:deprecated_function\n$c = hiera('d')\n";
    EXPECT_EQ(problems(text, nullptr),
              "2:6 deprecated_function function hiera is deprecated, use lookup\n");
    lint::LintOptions options;
    options.compiler = false;
    EXPECT_EQ(problems(text, nullptr, options), "");
    options.checks["deprecated_function"] = true;
    EXPECT_NE(problems(text, nullptr, options), "");
}

TEST_F(CodeChecksTest, InvalidCodeHasNoProblems) { EXPECT_EQ(found("include m::no\n$a = )"), ""); }

}  // namespace
}  // namespace bunraku::checks
