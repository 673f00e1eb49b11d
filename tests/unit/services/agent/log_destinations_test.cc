// SPDX-License-Identifier: Apache-2.0
#include "services/agent/log_destinations.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace bunraku::agent {
namespace {

using base::Diagnostic;
using base::Level;

std::string read(const std::string& path) {
    std::ifstream in(path);
    std::string text(std::istreambuf_iterator<char>(in), {});
    // Only the time differs between runs.
    for (std::size_t at; (at = text.find("\"time\":\"2")) != std::string::npos;) {
        text.replace(at, text.find('"', at + 8) + 1 - at, "TIME");
    }
    return text;
}

TEST(LogDestinations, SyslogLines) {
    Diagnostic d{.level = Level::Notice, .message = "100% done\nand more"};
    EXPECT_EQ(syslog_lines(d), (std::vector<std::string>{"100% done", "and more"}));
    d.source = "/Stage[main]/Main/Notify[x]";
    EXPECT_EQ(syslog_lines(d),
              (std::vector<std::string>{"(/Stage[main]/Main/Notify[x]) 100% done",
                                        "(/Stage[main]/Main/Notify[x]) and more"}));
}

// Recorded from Puppet 8.11: logging appends to an existing .json file and never writes the closing
// bracket.
TEST(LogDestinations, Files) {
    std::string folder = testing::TempDir() + "bunraku_log_XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const std::string json = folder + "/new/a.json", lines = folder + "/a.jsonl",
                      text = folder + "/a.log";
    for (int run = 0; run < 2; ++run) {
        auto sink = make_log_destinations({json + ", " + lines, text}, nullptr, {}, "daemon");
        ASSERT_TRUE(sink) << sink.error().message;
        (*sink)->log(Level::Debug, "unseen");
        (*sink)->log(Level::Notice, "x");
        (*sink)->log(Diagnostic{.level = Level::Err,
                                .message = "y",
                                .where = {.file = "/f.pp", .line = 3},
                                .source = "/Stage[main]",
                                .tags = {"notify"}});
    }
    const std::string first =
        R"({"level":"notice","message":"x","source":"Puppet","tags":["notice"],TIME})";
    const std::string second =
        R"({"level":"err","message":"y","source":"/Stage[main]","tags":["err","notify"],TIME,)"
        R"("file":"/f.pp","line":3})";
    EXPECT_EQ(read(json),
              "[\n" + first + "\n,\n" + second + "\n,\n" + first + "\n,\n" + second + "\n");
    EXPECT_EQ(read(lines), first + "\n" + second + "\n" + first + "\n" + second + "\n");
    const std::string log = read(text);
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4);
    EXPECT_NE(log.find(" Puppet (notice): x\n"), std::string::npos);
    EXPECT_NE(log.find(" /Stage[main] (err): y\n"), std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST(LogDestinations, Refused) {
    EXPECT_EQ(make_log_destinations({"console,foo"}, nullptr, {}, "daemon").error().message,
              "Unknown destination type foo");
    EXPECT_EQ(make_log_destinations({"eventlog"}, nullptr, {}, "daemon").error().message,
              "Unknown destination type eventlog");
    EXPECT_EQ(make_log_destinations({"syslog"}, nullptr, {}, "nope").error().message,
              "Invalid syslog facility nope");
}

}  // namespace
}  // namespace bunraku::agent
