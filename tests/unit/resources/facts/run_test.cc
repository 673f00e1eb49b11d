// SPDX-License-Identifier: Apache-2.0
// Tests which fact has priority, blocked and cached facts, and Facter's output formats.
#include <gtest/gtest.h>

#include "core/value/rich_data.h"
#include "resources/facts/context.h"
#include "resources/facts/format.h"
#include "testing/fake.h"

namespace bunraku::facts {
namespace {

/// Returns the configuration with this text.
FacterConf conf_of(sys::FakeSystem& fake, const std::string& text) {
    fake.files.put("/facter.conf", text);
    base::MemorySink log;
    FacterConf conf = read_facter_conf(fake.files, "/facter.conf", &log);
    EXPECT_TRUE(log.records.empty());
    return conf;
}

std::string facter(sys::FakeSystem& fake, Options options, std::vector<std::string> queries,
                   Format format = Format::Facter) {
    base::Arena arena;
    options.puppet = false;
    const auto found = resolve(arena, fake.system, options, queries);
    return format_facts(arena, found, queries, format, options);
}

TEST(Run, QueriesAndForms) {
    sys::FakeSystem fake;
    fake.files.put("/proc/uptime", "93784.21 1.00\n");
    fake.files.put("/d/a.yaml",
                   "struct:\n  list: [1, two, {b: true, a: ~}]\n  text: 'x \"y\" z'\n"
                   "quoted: 'a \"b\", c'\nlines: \"one\\ntwo\"\nslash: 'C:\\x'\ncolon: 'a: b'\n"
                   "number: '12'\nempty: {}\nNone: ''\n");
    const Options options{.external_directories = {"/d"}};
    const auto of = [&](std::vector<std::string> q, Format f = Format::Facter) {
        return facter(fake, options, std::move(q), f);
    };
    EXPECT_EQ(of({"system_uptime.seconds"}), "93784");
    EXPECT_EQ(of({"uptime"}), "1 day");
    EXPECT_EQ(of({"system_uptime"}),
              "{\n  days => 1,\n  hours => 26,\n  seconds => 93784,\n  uptime => \"1 day\"\n}");
    EXPECT_EQ(of({"struct.list.2.b", "nothing", "quoted", "uptime_days"}),
              "nothing => \nquoted => a \"b\", c\nstruct.list.2.b => true\nuptime_days => 1");
    EXPECT_EQ(of({"struct"}),
              "{\n  list => [\n    1,\n    \"two\",\n    {\n      b => true,\n      a => null\n    "
              "}\n  ],\n  text => \"x \\\"y\\\" z\"\n}");
    EXPECT_EQ(of({"lines", "slash"}), "lines => one\ntwo\nslash => C:\\x");
    EXPECT_EQ(of({"struct.list"}),
              "[\n  1,\n  \"two\",\n  {\n    b => true,\n    a => null\n  }\n]");
    EXPECT_EQ(of({"none"}), "");
    EXPECT_EQ(of({"struct.list.7"}), "");
    EXPECT_EQ(of({"number", "nothing"}, Format::Json),
              "{\n  \"nothing\": null,\n  \"number\": \"12\"\n}");
    EXPECT_EQ(of({"number", "colon", "nothing", "struct"}, Format::Yaml),
              "colon: \"a: b\"\nnothing: \"\"\nnumber: '12'\nstruct:\n  list:\n  - 1\n  - two\n  - "
              "b: true\n    a: \"\"\n  text: \"x \\\"y\\\" z\"\n");
    EXPECT_EQ(
        of({"number", "colon", "struct"}, Format::Hocon),
        "colon=\"a: b\"\nnumber=\"12\"\nstruct={\n    list=[\n        1,\n        two,\n      "
        "  {\n            b=true\n            a=null\n        }\n    ]\n    text=\"x \\\"y\\\" "
        "z\"\n}\n");
    EXPECT_EQ(of({"number"}, Format::Hocon), "12");
}

TEST(Run, ExternalFacts) {
    sys::FakeSystem fake;
    fake.files.put("/one/a.txt", "role=first\n# x=1\nnone\n=3\nempty=\nkey =v\r\n");
    fake.files.put("/one/b.txt", "role=second\n");
    fake.files.put("/two/c.txt", "role=third\nelse=here\n");
    fake.files.put("/one/.hidden.txt", "hidden=1\n");
    fake.files.put("/one/d.json", "{broken");
    fake.files.put("/one/e.yaml", "- 1\n");
    fake.files.put("/one/f.YAML", "Upper: Case\n");
    fake.files.put("/one/g.dat", "x=y\n");
    fake.files.put("/one/run", "", 0755);
    fake.processes.answer("/one/run", sys::Outcome{.output = "a: [1]\n", .errors = " oh\n"});
    fake.files.put("/one/slow", "", 0755);
    fake.processes.answer("/one/slow", sys::Outcome{.timed_out = true});
    base::Arena arena;
    base::MemorySink log;
    Options options{
        .names = {"role", "# x", "none", "key ", "else", "hidden", "upper", "x", "a", "fixed"},
        .external_directories = {"/one", "/two"},
        .environment = {{"fixed", "yes"}},
        .log = &log};
    EXPECT_EQ(value::to_json(collect(arena, fake.system, options)),
              R"({"# x":"1","a":[1],"else":"here","fixed":"yes","key ":"v","role":"second",)"
              R"("upper":"Case"})");
    std::vector<std::string> told;
    for (const auto& r : log.records)
        if (r.level > base::Level::Debug)
            told.push_back(std::string(base::level_name(r.level)) + " " + r.source + ": " +
                           r.message);
    ASSERT_EQ(told.size(), 4u);
    EXPECT_EQ(told[0],
              "err Facter: Timed out after 60 seconds while resolving external facts of "
              "/one/slow");
    EXPECT_EQ(told[1],
              "warning run: Command /one/run completed with the following stderr message: oh");
    EXPECT_EQ(told[2],
              "err LegacyFacter::Util::DirectoryLoader: Structured data fact file /one/e.yaml was "
              "parsed but no key=>value data was returned.");
    EXPECT_TRUE(
        told[3].starts_with("err Facter: Failed to handle /one/d.json as "
                            "LegacyFacter::Util::Parser::JsonParser facts: "))
        << told[3];
}

TEST(Run, InvalidExternalFacts) {
    sys::FakeSystem fake;
    fake.files.put("/d/empty", "", 0755);
    fake.processes.answer("/d/empty", sys::Outcome{});
    fake.files.put("/d/bytes", "", 0755);
    fake.processes.answer("/d/bytes", sys::Outcome{.output = "a=\xff\n"});
    fake.files.put("/d/a.json", "{\"bad\": \"\xff\", \"nul\": [\"\\u0000\"], \"good\": 1}");
    // The next fact with the same name is used.
    fake.files.put("/d/0.json", "{\"bad\": \"second\"}");
    base::Arena arena;
    base::MemorySink log;
    Options options{
        .names = {"bad", "nul", "good", "a"}, .external_directories = {"/d"}, .log = &log};
    EXPECT_EQ(value::to_json(collect(arena, fake.system, options)), R"({"bad":"second","good":1})");
    std::vector<std::string> errors;
    for (const auto& r : log.records)
        if (r.level == base::Level::Err) errors.push_back(r.message);
    ASSERT_EQ(errors.size(), 3u);
    EXPECT_EQ(errors[0],
              "Failed to handle /d/bytes as LegacyFacter::Util::Parser::ScriptParser facts: "
              "invalid byte sequence in UTF-8");
    EXPECT_EQ(errors[1],
              "Fact resolution fact='bad', resolution='<anonymous>' resolved to an invalid value: "
              "String \"\\xFF\" doesn't match the reported encoding UTF-8");
    EXPECT_EQ(errors[2],
              "Fact resolution fact='nul', resolution='<anonymous>' resolved to an invalid value: "
              "String \"\\u0000\" contains a null byte reference; unsupported for all facts.");
}

TEST(Run, ReplacesInvalidBytesInBuiltInFacts) {
    sys::FakeSystem fake;
    fake.files.put("/proc/filesystems", "\text4\xff\n");
    EXPECT_EQ(facter(fake, {}, {"filesystems"}), "ext4\xEF\xBF\xBD");
}

TEST(Run, BlockedFacts) {
    sys::FakeSystem fake;
    fake.files.put("/proc/uptime", "60 1\n");
    fake.files.put("/proc/loadavg", "1 2 3 1/1 1\n");
    fake.files.put("/d/x.txt", "x=1\n");
    Options options{.external_directories = {"/d"}, .legacy = true};
    options.conf = conf_of(fake,
                           "facts : { blocklist : [ \"mine\", \"system_uptime.days\", \"x.txt\", "
                           "\"hours\" ] }\nfact-groups : { mine : [ load_averages ], "
                           "hours : [ uptime_hours ] }");
    const auto queries = {"load_averages", "system_uptime", "x",
                          "uptime_days",   "uptime_hours",  "uptime_seconds"};
    const std::vector<std::string> all(queries.begin(), queries.end());
    EXPECT_EQ(facter(fake, options, all, Format::Json),
              "{\n  \"load_averages\": null,\n  \"system_uptime\": {\n    \"hours\": 0,\n    "
              "\"seconds\": 60,\n    \"uptime\": \"0:01 hours\"\n  },\n  \"uptime_days\": null,\n  "
              "\"uptime_hours\": null,\n  \"uptime_seconds\": 60,\n  \"x\": null\n}");
    options.block = false;
    EXPECT_EQ(facter(fake, options, {"load_averages.1m", "uptime_days", "x"}),
              "load_averages.1m => 1.0\nuptime_days => 0\nx => 1");
    options.block = true;
    // Matches Facter 4.11: "uptime_days" is a flat fact whose name begins with this text.
    options.conf = conf_of(fake, R"(facts : { blocklist : [ "sys.*[e]", "up.*d", "(" ] })");
    base::MemorySink log;
    options.log = &log;
    EXPECT_EQ(
        facter(fake, options, {"load_averages.1m", "system_uptime.days", "uptime_hours", "x"}),
        "load_averages.1m => 1.0\nsystem_uptime.days => \nuptime_hours => \nx => 1");
    ASSERT_FALSE(log.records.empty());
    EXPECT_TRUE(log.records[0].message.starts_with("blocklist: invalid regular expression '(': "));
    options.log = nullptr;
    // Flat facts that Facter resolves separately remain if the structured fact is blocked.
    fake.files.put("/etc/debian_version", "12.1\n");
    fake.files.put("/etc/os-release", "ID=debian\nNAME=\"Debian GNU/Linux\"\n");
    options.conf = conf_of(fake, "facts : { blocklist : [ \"os.distro\" ] }");
    EXPECT_EQ(facter(fake, options, {"lsbdistid", "lsbdistrelease", "os.distro.id"}),
              "lsbdistid => Debian\nlsbdistrelease => \nos.distro.id => ");
    options.conf = conf_of(fake, "facts : { blocklist : [ legacy ] }");
    EXPECT_EQ(facter(fake, options, {"uptime_days", "system_uptime.days"}),
              "system_uptime.days => 0\nuptime_days => ");
}

TEST(Run, CachedFacts) {
    sys::FakeSystem fake;
    fake.files.put("/proc/uptime", "60 1\n");
    fake.files.put("/d/x.txt", "x=1\n");
    Options options{.external_directories = {"/d"}, .cache_directory = "/kept"};
    options.conf = conf_of(fake,
                           "facts : { ttls : [ { uptime : 1 hour }, { \"x.txt\" : 1 day }, "
                           "{ bad : 3 moons } ] }");
    base::MemorySink log;
    options.log = &log;
    EXPECT_EQ(facter(fake, options, {"system_uptime.seconds", "x"}),
              "system_uptime.seconds => 60\nx => 1");
    EXPECT_EQ(fake.files.read("/kept/uptime").value_or(""),
              "{\n  \"system_uptime.seconds\": 60,\n  \"cache_format_version\": 1\n}");
    EXPECT_EQ(fake.files.read("/kept/x.txt").value_or(""),
              "{\n  \"x\": \"1\",\n  \"cache_format_version\": 1\n}");
    std::vector<std::string> told;
    for (const auto& r : log.records)
        if (r.message.find("cach") != std::string::npos || r.level > base::Level::Debug)
            told.push_back(r.message);
    EXPECT_EQ(told.front().substr(0, 31), "Could not parse time unit moons");
    EXPECT_EQ(told.back(), "caching values for x.txt facts");

    // While the cached facts are young enough, they are not resolved again.
    const auto kept_at = fake.clock.now;
    for (const char* file : {"/kept/uptime", "/kept/x.txt"})
        ASSERT_TRUE(fake.files.set_mtime(file, kept_at));
    fake.files.put("/proc/uptime", "120 1\n");
    fake.files.put("/d/x.txt", "x=2\n");
    fake.clock.now += 3599LL * 1'000'000'000;
    EXPECT_EQ(facter(fake, options, {"system_uptime.seconds", "x"}),
              "system_uptime.seconds => 60\nx => 1");
    options.cache = false;
    EXPECT_EQ(facter(fake, options, {"system_uptime.seconds", "x"}),
              "system_uptime.seconds => 120\nx => 2");
    options.cache = true;
    fake.clock.now += 2LL * 1'000'000'000;
    EXPECT_EQ(facter(fake, options, {"system_uptime.seconds", "x"}),
              "system_uptime.seconds => 120\nx => 1");
    // An unreadable cache file is replaced, and so is one of Facter 3.
    for (const char* text : {"{\"system_uptime.seconds\": 5}", "broken"}) {
        fake.files.put("/kept/uptime", text);
        ASSERT_TRUE(fake.files.set_mtime("/kept/uptime", fake.clock.now));
        EXPECT_EQ(facter(fake, options, {"system_uptime.seconds"}), "120");
        EXPECT_EQ(fake.files.read("/kept/uptime").value_or(""),
                  "{\n  \"system_uptime.seconds\": 120,\n  \"cache_format_version\": 1\n}");
    }
}

TEST(Run, TimesToLive) {
    const std::pair<const char*, std::optional<std::int64_t>> cases[] = {
        {"30 days", 2592000}, {"1 day", 86400},
        {"3 h", 10800},       {"5 minutes", 300},
        {"7 s", 7},           {"2500", 2},
        {"2500 ms", 2},       {"1 second", 1},
        {"9 nanos", 0},       {"3 moons", std::nullopt},
        {"x days", 0}};
    for (const auto& [text, seconds] : cases)
        EXPECT_EQ(ttl_seconds(text, nullptr), seconds) << text;
}

TEST(Run, IgnoresInvalidConfiguration) {
    sys::FakeSystem fake;
    fake.files.put("/facter.conf", "facts : { blocklist : [ ");
    base::MemorySink log;
    EXPECT_TRUE(read_facter_conf(fake.files, "/facter.conf", &log).blocklist.empty());
    ASSERT_EQ(log.records.size(), 1u);
    EXPECT_TRUE(log.records[0].message.starts_with(
        "Facter failed to read config file /facter.conf with the following error: "));
    EXPECT_TRUE(read_facter_conf(fake.files, "/none", &log).blocklist.empty());
}

}  // namespace
}  // namespace bunraku::facts
