// SPDX-License-Identifier: Apache-2.0
// Tests that the tables in puppet_test.cc do not cover: locations, warnings, limits, reports.
#include "language/syntax/parser.h"

#include <gtest/gtest.h>

#include "language/syntax/pn_format.h"
#include "language/syntax/visit.h"

namespace bunraku::syntax {
namespace {

using base::PuppetError;

std::string error_of(std::string file, std::string text) {
    try {
        parse(std::move(file), std::move(text));
    } catch (const PuppetError& error) {
        return error.full_text();
    }
    return "";
}

TEST(Source, LocationsCountCharacters) {
    Source source("f.pp", "aé\nüb\n");
    EXPECT_EQ(source.locate(0).line, 1);
    EXPECT_EQ(source.locate(3).column, 3);  // after the two bytes of é
    EXPECT_EQ(source.locate(4).line, 2);
    EXPECT_EQ(source.locate(6).column, 2);
    EXPECT_EQ(source.locate(99).line, 3);
    EXPECT_EQ(source.line_text(2), "üb");
    EXPECT_EQ(source.line_text(9), "");
}

TEST(Parser, ErrorsContainLocation) {
    EXPECT_EQ(error_of("/a.pp", "$a = )"), "Syntax error at ')' (file: /a.pp, line: 1, column: 6)");
    EXPECT_EQ(error_of("/a.pp", "$a ="), "Syntax error at end of input (file: /a.pp)");
    EXPECT_EQ(error_of("", "$a ="), "Syntax error at end of input");
}

// The text of a heredoc has no separate line numbers, so its parts have locations in the file.
TEST(Parser, HeredocPartsAreLocatedInTheFile) {
    auto tree = parse("", "$a = @(\"X\")\n  one\n  ${b} ${c}\n  | X\n");
    std::vector<std::string> found;
    auto walk = [&](auto& self, const Node* node) -> void {
        if (const auto* variable = as<VariableExpression>(node)) {
            auto where = node->where();
            found.push_back(std::string(variable->name.view()) + ":" + std::to_string(where.line) +
                            ":" + std::to_string(where.column));
        }
        for_each_child(node, [&](const Node* child) { self(self, child); });
    };
    walk(walk, tree->program);
    EXPECT_EQ(found, (std::vector<std::string>{"a:1:1", "b:3:5", "c:3:10"}));
}

TEST(Parser, WarnsOfUnknownEscapes) {
    base::MemorySink log;
    auto tree = parse("f.pp", "$a = \"x\\qy\"", {.log = &log});
    ASSERT_EQ(log.records.size(), 1u);
    EXPECT_EQ(log.records[0].message, "Unrecognized escape sequence '\\q'");
    EXPECT_EQ(log.records[0].issue_code, "UNRECOGNIZED_ESCAPE");
    EXPECT_EQ(base::format_location(log.records[0].where), "(file: f.pp, line: 1, column: 12)");
    EXPECT_EQ(tree->warnings.size(), 1u);
    // After a syntax error at the start, the rest was not read.
    log.records.clear();
    EXPECT_THROW(parse("", ") \"\\q\"", {.log = &log}), PuppetError);
    EXPECT_TRUE(log.records.empty());
}

TEST(Parser, DefinitionsAndNames) {
    auto tree = parse("", "class a { class b { define c { } } }\nfunction d::e() { }");
    std::vector<std::string> names;
    for (const Node* node : tree->program->definitions) {
        names.emplace_back(static_cast<const NamedDefinition*>(node)->name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"a::b::c", "a::b", "a", "d::e"}));
}

TEST(Parser, PlansNeedTheTasksSetting) {
    EXPECT_THROW(parse("", "plan a() { }"), PuppetError);
    auto tree = parse("", "plan a($x) { apply($x) { file { 'a': } } }", {.tasks = true});
    EXPECT_TRUE(as<PlanDefinition>(tree->program->body));
    EXPECT_TRUE(validate(*tree, {.tasks = true}).empty());
    auto outside = parse("", "file { 'a': }", {.tasks = true});
    auto found = validate(*outside, {.tasks = true});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].message, "A Resource Statement is only available when compiling a catalog");
}

TEST(Parser, NestingIsBounded) {
    const std::string_view kMessage = "Syntax error: the code is nested too deeply";
    auto repeat = [](std::string_view text, int count) {
        std::string out;
        for (int i = 0; i < count; ++i) out += text;
        return out;
    };
    for (std::string_view part :
         {"[", "(", "!", "- ", "f(", "\"${", "{a=>", "A[", "$a ? { a => ",
          "$a = ", "if a { } else { ", "case a { a: { ", "f() || {", "class a { ", "@"}) {
        EXPECT_EQ(error_of("", repeat(part, 5000)).substr(0, kMessage.size()), kMessage) << part;
    }
    for (std::string_view part : {" + 1", "[1]", ".a", "(1)", " -> a", " ? { a => 1 }"}) {
        EXPECT_EQ(error_of("", "$a" + repeat(part, 5000)).substr(0, kMessage.size()), kMessage)
            << part;
    }
    EXPECT_NO_THROW(parse("", "$a" + repeat(" + 1", 1000)));
    EXPECT_NO_THROW(parse("", repeat("[", 200) + repeat("]", 200)));
}

TEST(Validator, StrictDecidesOnDuplicateKeys) {
    auto tree = parse("", "$a = {b => 1, b => 2}");
    using Strict = ValidateOptions::Strict;
    EXPECT_TRUE(validate(*tree, {.strict = Strict::Off}).empty());
    EXPECT_EQ(validate(*tree, {.strict = Strict::Warning})[0].level, base::Level::Warning);
    EXPECT_EQ(validate(*tree, {.strict = Strict::Error})[0].level, base::Level::Err);
}

TEST(Validator, ModuleFilesDefineMatchingNames) {
    struct Place {
        const char* file;
        const char* code;
        const char* expected;
    };
    const Place places[] = {
        {"/m/a/manifests/init.pp", "class a { }", ""},
        {"/m/a/manifests/b/c.pp", "class a::b::c { }", ""},
        {"/m/A/manifests/b.pp", "class a::b { }", ""},
        {"/m/a/functions/f.pp", "function a::f() { }", ""},
        {"/m/a/manifests/b.pp", "class a::c { }",
         "Unacceptable location. The name 'a::c' is unacceptable in file '/m/a/manifests/b.pp'"},
        {"/m/a/files/b.pp", "class a::b { }",
         "Unacceptable location. The name 'a::b' is unacceptable in file '/m/a/files/b.pp'"},
        {"/m/a/manifests/init.pp", "class a { } $x = 1",
         "This '=' expression is unacceptable as a top level construct in this location"},
        {"/elsewhere/a/manifests/init.pp", "class b { } $x = 1", ""},
        {"/m/site/manifests/x.pp", "class b { } $x = 1", ""},
        {"/m/a/manifests/init.pp", "# nothing", ""},
    };
    for (const Place& p : places) {
        auto found = validate(*parse(p.file, p.code),
                              {.modulepath = {"/m"}, .manifest = "/m/site/manifests"});
        EXPECT_EQ(found.empty() ? "" : found[0].message, p.expected) << p.file << " " << p.code;
    }
}

TEST(Validator, ReportsLikePuppet) {
    base::MemorySink log;
    auto report = [&](const char* code, ReportLimits limits = {}) -> std::string {
        log.records.clear();
        try {
            report_issues(validate(*parse("f.pp", code)), log, limits);
        } catch (const PuppetError& error) {
            return error.full_text() + "|" + error.issue_code();
        }
        return "";
    };
    EXPECT_EQ(report("$a = 1"), "");
    EXPECT_EQ(report("1 = 2"),
              "Illegal attempt to assign to 'a Literal Integer'. Not an assignable reference "
              "(file: f.pp, line: 1, "
              "column: 1)|ILLEGAL_ASSIGNMENT");
    EXPECT_TRUE(log.records.empty());
    EXPECT_EQ(report("function plan() { 1 = 2 3 = 4 }"),
              "Language validation logged 2 errors, and 1 warnings. Giving up (file: f.pp)|");
    EXPECT_EQ(log.records.size(), 3u);
    EXPECT_EQ(report("1 = 2 3 = 4 5 = 6", {.max_errors = 2}),
              "Language validation logged 3 errors. Giving up (file: f.pp)|");
    EXPECT_EQ(log.records.size(), 2u);
}

TEST(Validator, ChecksProducedText) {
    auto check = [](const char* text, const char* syntax) {
        auto error = check_text_syntax(text, syntax, {});
        return error ? error->message() : std::string();
    };
    EXPECT_EQ(check("{\"a\": [1, -2.5e3, \"\\u0041\", null]}", "json"), "");
    EXPECT_EQ(check("[1 2]", "data+json"),
              "Invalid produced text having syntax: 'data+json'. JSON syntax checker: Cannot parse "
              "invalid JSON "
              "string. \"451: unexpected token at '2]'\"");
    EXPECT_EQ(check("{\"a\":}", "json"),
              "Invalid produced text having syntax: 'json'. JSON syntax checker: Cannot parse "
              "invalid JSON string. "
              "\"859: unexpected token at '{\"a\":}'\"");
    EXPECT_EQ(check("YWJj\n", "base64"), "");
    EXPECT_EQ(check("YW", "base64"),
              "Invalid produced text having syntax: 'base64'. Base64 syntax checker: Cannot parse "
              "invalid Base64 "
              "string - padding is not correct");
    EXPECT_EQ(check("$a = )", "pp"),
              "Invalid produced text having syntax: 'pp'. PP syntax checker: \"Syntax error at ')' "
              "(line: 1, column: "
              "6)\"");
    EXPECT_EQ(check("anything", "unknown"), "");
}

TEST(Pn, OtherForms) {
    const std::string pn = dump_pn(parse("", "f('a\\b', undef, 1.5) \"x\ty\"")->program);
    EXPECT_EQ(
        pn_to_json(pn),
        R"({"^":["block",{"^":["invoke",{"#":["functor",{"^":["qn","f"]},"args",["a\\b",null,1.5]]}]},"x\ty"]})");
    EXPECT_EQ(pn_indented(dump_pn(parse("", "$a = [1]")->program)),
              "(=\n  (var\n    \"a\")\n  (array\n    1))");
}

}  // namespace
}  // namespace bunraku::syntax
