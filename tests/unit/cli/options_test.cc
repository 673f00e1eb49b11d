// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/command.h"

namespace bunraku::cli {
namespace {

struct Parsed {
    Invocation invocation;
    bool ok = false, flag = false;
    std::string node, code;
    std::vector<std::string> several, words;
    std::optional<base::Level> level;
    std::string error;
    int exit_code = 0;
};

Parsed parse(std::vector<std::string> args) {
    Parsed p;
    p.invocation = {.program = "bunraku",
                    .command = "config",
                    .args = std::move(args),
                    .settings = config::Settings::defaults()};
    OptionParser options(p.invocation);
    options.flag("detailed-exitcodes", &p.flag);
    options.value("node", &p.node);
    options.value("e", &p.code);
    options.value("execute", &p.code);
    options.list("setting-file", &p.several);
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    p.ok = options.parse(&p.words);
    testing::internal::GetCapturedStdout();
    p.error = testing::internal::GetCapturedStderr();
    p.level = options.log_level;
    p.exit_code = options.exit_code();
    return p;
}

TEST(Options, Forms) {
    Parsed p = parse({"--node", "a.b", "-e", "notice(1)", "x.pp", "--detailed-exitcodes", "--noop",
                      "--setting", "vardir=/v=1", "--log_level=warning", "--no-report",
                      "--setting-file=a", "--setting-file", "b", "--", "--y"});
    ASSERT_TRUE(p.ok) << p.error;
    EXPECT_EQ(p.node, "a.b");
    EXPECT_EQ(p.code, "notice(1)");
    EXPECT_TRUE(p.flag);
    EXPECT_EQ(p.words, (std::vector<std::string>{"x.pp", "--y"}));
    EXPECT_EQ(p.several, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(p.invocation.settings.boolean("noop"));
    EXPECT_FALSE(p.invocation.settings.boolean("report"));
    EXPECT_EQ(p.invocation.settings.text("vardir"), "/v=1");
    EXPECT_EQ(p.level, base::Level::Warning);
    EXPECT_EQ(parse({"-dv"}).level, base::Level::Debug);
    EXPECT_EQ(parse({"--detailed", "--environment=x"}).flag, true);
    EXPECT_EQ(parse({"-enotice(2)"}).code, "notice(2)");
    EXPECT_EQ(parse({"-e", "--x"}).code, "--x");
}

// Error messages of Puppet 8.11.
TEST(Options, Errors) {
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{"--fooo"}, "invalid option: --fooo"},
        {{"--fooo=1"}, "invalid option: --fooo"},
        {{"--execute"}, "missing argument: --execute"},
        {{"-e"}, "missing argument: -e"},
        {{"-q"}, "invalid option: -q"},
        {{"--no-node"}, "invalid option: --no-node"},
        {{"--noop=maybe"}, "invalid argument: --noop=maybe"},
    };
    for (const auto& [args, text] : cases) {
        Parsed p = parse(args);
        EXPECT_FALSE(p.ok);
        EXPECT_EQ(p.exit_code, 1);
        EXPECT_EQ(p.error, std::string("Error: Could not parse application options: ") + text +
                               "\nTry 'bunraku help config' for usage\n");
    }
    Parsed help = parse({"--help"});
    EXPECT_FALSE(help.ok);
    EXPECT_EQ(help.exit_code, 0);
}

TEST(Console, JsonAndText) {
    Invocation invocation{.program = "bunraku", .settings = config::Settings::defaults()};
    OptionParser options(invocation);
    base::Diagnostic warning{.level = base::Level::Warning,
                             .message = "Unknown \"x\"",
                             .where = {"/a.pp", 3, 7},
                             .issue_code = "UNKNOWN_VARIABLE",
                             .source = "Scope(Class[main])"};
    auto written = [&](auto&& what) {
        testing::internal::CaptureStderr();
        auto sink = make_console_sink(options);
        what(*sink);
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(written([&](base::LogSink& s) { s.log(warning); }),
              "Warning: Scope(Class[main]): Unknown \"x\" (file: /a.pp, line: 3, column: 7)\n");
    EXPECT_EQ(written([&](base::LogSink& s) { s.log(base::Level::Info, "hidden"); }), "");
    base::PuppetError error("Unknown variable: 'x'.", "UNKNOWN_VARIABLE");
    error.at({"", 1, 5});
    EXPECT_EQ(written([&](base::LogSink& s) { report_error(s, error, " on node n"); }),
              "Error: Evaluation Error: Unknown variable: 'x'. (line: 1, column: 5) on node n\n");
    options.log_format = "json";
    EXPECT_EQ(written([&](base::LogSink& s) { s.log(warning); }),
              "{\"level\":\"warning\",\"message\":\"Unknown \\\"x\\\"\","
              "\"source\":\"Scope(Class[main])\",\"file\":\"/a.pp\",\"line\":3,\"pos\":7,"
              "\"issue_code\":\"UNKNOWN_VARIABLE\"}\n");
    EXPECT_EQ(written([&](base::LogSink& s) { report_error(s, error, " on node n"); }),
              "{\"level\":\"err\",\"message\":\"Evaluation Error: Unknown variable: 'x'. "
              "(line: 1, column: 5) on node n\",\"line\":1,\"pos\":5,"
              "\"issue_code\":\"UNKNOWN_VARIABLE\"}\n");
    options.color = "ansi";
    options.log_format = "text";
    EXPECT_EQ(written([&](base::LogSink& s) { s.log(base::Level::Err, "x"); }),
              "\033[1;31mError: x\033[0m\n");
}

}  // namespace
}  // namespace bunraku::cli
