// SPDX-License-Identifier: Apache-2.0
// Tests invalid values: each must fail only its own resource. Messages and results were recorded
// from puppet apply 8.11 as root.
#include <fmt/ranges.h>
#include <stdexcept>

#include "machine.h"

namespace bunraku::apply {
namespace {

const std::string kX = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";

// Regression test: the allowed values of `ensure` were compared with a destroyed string, for all
// strings that do not fit into std::string's inline buffer.
TEST(OddValues, PreservesLongTexts) {
    for (std::size_t length : {1, 15, 16, 23, 24, 200, 4000}) {
        Machine m;
        const std::string target = "/" + std::string(length, 'x');
        m.run(resource("File", "/tmp/l", R"("ensure":"link","target":")" + target + "\""));
        EXPECT_EQ(m.fake.files.read_link("/tmp/l").value_or(""), target);
        m.run(resource("File", "/tmp/m", R"("ensure":")" + target + "\""));
        EXPECT_EQ(m.fake.files.read_link("/tmp/m").value_or(""), target);
    }
    Machine m;
    m.fake.processes.programs = {"apt-get",  "apt-cache",  "apt-mark", "debconf-set-selections",
                                 "dpkg-deb", "dpkg-query", "dpkg"};
    m.fake.processes.answer("/usr/bin/", sys::Outcome{});
    m.run(resource("Package", "bash", R"("ensure":"1:5.2.15-2ubuntu1.7~long","provider":"apt")"));
    bool asked = false;
    for (const std::string& text : m.fake.processes.texts()) {
        asked = asked || text.find("bash=1:5.2.15-2ubuntu1.7~long") != std::string::npos;
    }
    EXPECT_TRUE(asked) << fmt::format("{}", fmt::join(m.fake.processes.texts(), "\n"));
}

/// The texts of Puppet 8.10.
TEST(OddValues, RefusedWhenSet) {
    struct Row {
        const char *type, *title, *attributes, *error;
    };
    for (const Row& r : std::initializer_list<Row>{
             {"Resources", "user", R"("purge":"maybe")",
              "Parameter purge failed on Resources[user]: Munging failed for value \"maybe\" in "
              "class "
              "purge: expected a boolean value"},
             {"Resources", "user", R"("unless_uid":[1,"x"])",
              "Parameter unless_uid failed on Resources[user]: Munging failed for value [1, \"x\"] "
              "in "
              "class unless_uid: invalid value for Integer(): \"x\""},
             {"User", "u", R"("managehome":"")",
              "Parameter managehome failed on User[u]: Munging failed for value \"\" in class "
              "managehome: expected a boolean value"},
             {"Mount", "/m", R"("atboot":"a b")",
              "Parameter atboot failed on Mount[/m]: Munging failed for value \"a b\" in class "
              "atboot: expected a boolean value"},
             {"Package", "p", R"("enable_only":3)",
              "Parameter enable_only failed on Package[p]: Munging failed for value 3 in class "
              "enable_only: expected a boolean value"},
             {"Tidy", "/t", R"("recurse":"TRUE")",
              "Parameter recurse failed on Tidy[/t]: Munging failed for value \"TRUE\" in class "
              "recurse: Invalid recurse value \"TRUE\""},
             {"File", "/f", R"("checksum_value":"5891")",
              "Validation of File[/f] failed: Checksum value '5891' is not a valid checksum type "
              "sha256"},
         }) {
        Machine m;
        EXPECT_EQ(m.run(resource(r.type, r.title, r.attributes)), std::vector<std::string>{r.error})
            << r.type;
    }
}

TEST(OddValues, OwnersBeyond32Bits) {
    struct Row {
        const char *owner, *error;
        std::uint32_t uid;
    };
    for (const Row& r : std::initializer_list<Row>{
             {"\"99999999999999999999999\"",
              "Failed to set owner to '99999999999999999999999': bignum too big to convert into "
              "`unsigned long'",
              0},
             {"4294967296",
              "Failed to set owner to '4294967296': integer 4294967296 too big to convert to "
              "`unsigned int'",
              0},
             {"\"4294967296\"",
              "Failed to set owner to '4294967296': integer 4294967296 too big to convert to "
              "`unsigned int'",
              0},
             {"-2147483649",
              "Failed to set owner to '-2147483649': integer -2147483649 too small to convert to "
              "`unsigned int'",
              0},
             {"4294967294", "", 4294967294},
             {"\"4294967290\"", "", 4294967290},
             {"\"-5\"", "", 4294967291},
             {"-3", "", 4294967293},
             {"1.5", "", 1}}) {
        for (bool group : {false, true}) {
            Machine m;
            std::string error = r.error;
            if (std::size_t at = error.find("owner"); group && at != std::string::npos) {
                error.replace(at, 5, "group");
            }
            const std::string name = group ? "group" : "owner";
            Lines want = {
                "/Stage[main]/Main/File[/tmp/o]/ensure: defined content as '{sha256}" + kX + "'",
                "/Stage[main]/Main/Notify[after]/message: defined 'message' as 'after'"};
            if (!error.empty()) {
                want = {error,
                        "/Stage[main]/Main/File[/tmp/o]/ensure: change from 'absent' to 'file' "
                        "failed: " +
                            error,
                        want[1]};
            }
            Lines got =
                m.run(resource("File", "/tmp/o", R"("content":"x",")" + name + "\":" + r.owner) +
                      resource("Notify", "after", ""));
            std::erase(got, "after");
            EXPECT_EQ(got, want) << r.owner;
            auto status = m.fake.files.stat("/tmp/o");
            ASSERT_TRUE(status);
            EXPECT_EQ(group ? status->gid : status->uid, r.uid) << r.owner;
            EXPECT_EQ(m.status, error.empty() ? "changed" : "failed");
        }
    }
}

// setuid(-1) changes nothing, so the command would run as root.
TEST(OddValues, UsersOfCommands) {
    struct Row {
        const char *attribute, *value, *output;
    };
    for (const Row& r : std::initializer_list<Row>{
             {"user", "\"99999999999999999999999\"", "Invalid user: 99999999999999999999999"},
             {"user", "4294967296", "integer 4294967296 too big to convert to `unsigned int'"},
             {"user", "4294967295", "can't find user for -1"},
             {"user", "12345", "can't find user for 12345"},
             {"user", "\"nosuch\"", "Invalid user: nosuch"},
             {"group", "\"99999999999999999999999\"", "Invalid group: 99999999999999999999999"},
             {"group", "4294967296", "integer 4294967296 too big to convert to `unsigned int'"},
             {"group", "\"nosuch\"", "Invalid group: nosuch"}}) {
        Machine m;
        m.fake.files.put("/bin/id", "", 0755);
        m.fake.processes.answer("/bin/id", sys::Outcome{});
        Lines got =
            m.run(resource("Exec", "/bin/id", std::string("\"") + r.attribute + "\":" + r.value));
        ASSERT_FALSE(got.empty());
        EXPECT_EQ(got[0],
                  std::string(
                      "/Stage[main]/Main/Exec[/bin/id]/returns: Error: Could not execute posix ") +
                      "command: " + r.output)
            << r.value;
        EXPECT_EQ(m.status, "failed") << r.value;
        EXPECT_TRUE(m.fake.processes.calls.empty()) << r.value;
    }
}

TEST(OddValues, TriesParameter) {
    struct Row {
        const char *value, *error;
    };
    for (const Row& r : std::initializer_list<Row>{
             {"\"inf\"", "\"inf\" in class tries: Tries must be an integer"},
             {"\"nan\"", "\"nan\" in class tries: Tries must be an integer"},
             {"\"1e9\"", "\"1e9\" in class tries: Tries must be an integer"},
             {"\"0\"", "\"0\" in class tries: Tries must be an integer >= 1"},
             {"\"99999999999999999999\"", nullptr},
             {"\"3\"", nullptr}}) {
        Machine m;
        m.fake.files.put("/bin/id", "", 0755);
        m.fake.processes.answer("/bin/id", sys::Outcome{});
        const Lines got = m.run(resource("Exec", "/bin/id", std::string("\"tries\":") + r.value));
        if (r.error) {
            EXPECT_EQ(got, Lines{std::string("Parameter tries failed on Exec[/bin/id]: Munging "
                                             "failed for value ") +
                                 r.error})
                << r.value;
        } else {
            EXPECT_EQ(m.status, "changed") << r.value;
        }
    }
}

TEST(OddValues, TimeoutParameters) {
    struct Row {
        const char *attribute, *value, *shown, *error;
    };
    for (const Row& r : std::initializer_list<Row>{
             {"timeout", "\"bogus\"", "\"bogus\"", "The timeout must be a number."},
             {"timeout", R"(["a","b"])", "[\"b\"]", "The timeout must be a number."},
             {"try_sleep", "\"inf\"", "\"inf\"", "try_sleep must be a number"},
             {"try_sleep", "-1", "-1", "try_sleep cannot be a negative number"}}) {
        Machine m;
        m.fake.files.put("/bin/id", "", 0755);
        EXPECT_EQ(
            m.run(resource("Exec", "/bin/id", fmt::format("\"{}\":{}", r.attribute, r.value))),
            Lines{fmt::format("Parameter {0} failed on Exec[/bin/id]: Munging failed for value {1} "
                              "in class {0}: {2}",
                              r.attribute, r.shown, r.error)});
    }
}

TEST(OddValues, AnyExceptionFailsItsResource) {
    Machine m;
    m.fake.files.put("/bin/a", "", 0755);
    m.fake.processes.answer(
        "/bin/a", [](const sys::Command&) -> sys::Outcome { throw std::out_of_range("stoul"); });
    EXPECT_EQ(
        m.run(resource("Exec", "/bin/a", R"("before":"Notify[b]")") + resource("Notify", "b", "") +
              resource("File", "/tmp/c", R"("content":"x")")),
        (Lines{"stoul",
               "/Stage[main]/Main/Exec[/bin/a]/returns: change from 'notrun' to ['0'] "
               "failed: stoul",
               "/Stage[main]/Main/Notify[b]: Dependency Exec[/bin/a] has failures: true",
               "/Stage[main]/Main/Notify[b]: Skipping because of failed dependencies",
               "/Stage[main]/Main/File[/tmp/c]/ensure: defined content as '{sha256}" + kX + "'"}));
    EXPECT_EQ(m.status, "failed");
    EXPECT_EQ(m.exit_status, 6);
}

}  // namespace
}  // namespace bunraku::apply
