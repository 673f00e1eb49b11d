// SPDX-License-Identifier: Apache-2.0
// Tests complete runs on a simulated machine; the messages were recorded from puppet apply 8.11.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "machine.h"
#include "resources/apply/types/file/fileset.h"
#include "resources/apply/types/file/mode.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {
namespace {

const std::string kSum = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

TEST(Apply, CreatesFilesOnce) {
    Machine m;
    std::string files = resource("File", "/tmp/d", R"("ensure":"directory")") +
                        resource("File", "/tmp/d/a", R"("content":"hello\n","mode":"0600")");
    std::string made =
        "/Stage[main]/Main/File[/tmp/d/a]/ensure: defined content as '{sha256}" + kSum + "'";
    EXPECT_EQ(m.run(files, true),
              (Lines{"/Stage[main]/Main/File[/tmp/d]/ensure: created (noop)", made + " (noop)",
                     "Class[Main]: Would have triggered 'refresh' from 2 events",
                     "Stage[main]: Would have triggered 'refresh' from 1 event"}));
    EXPECT_EQ(m.fake.files.changes, 0);
    EXPECT_EQ(m.run(files), (Lines{"/Stage[main]/Main/File[/tmp/d]/ensure: created", made}));
    EXPECT_EQ(m.exit_status, 2);
    EXPECT_EQ(m.fake.files.read("/tmp/d/a").value_or(""), "hello\n");
    EXPECT_EQ(m.fake.files.stat("/tmp/d/a")->mode, 0600u);
    EXPECT_EQ(m.run(files), Lines{});
    EXPECT_EQ(m.exit_status, 0);
}

TEST(Apply, FailureSkipsDependents) {
    Machine m;
    m.fake.files.put("/bin/false", "", 0755);
    m.fake.processes.answer("/bin/false", sys::Outcome{.status = 1});
    EXPECT_EQ(m.run(resource("Exec", "/bin/false", R"("before":"Notify[after]")") +
                    resource("Notify", "after", "")),
              (Lines{"'/bin/false' returned 1 instead of one of [0]",
                     "/Stage[main]/Main/Exec[/bin/false]/returns: change from 'notrun' to ['0'] "
                     "failed: '/bin/false' returned 1 instead of one of [0]",
                     "/Stage[main]/Main/Notify[after]: Dependency Exec[/bin/false] has failures: "
                     "true",
                     "/Stage[main]/Main/Notify[after]: Skipping because of failed dependencies"}));
    EXPECT_EQ(m.exit_status, 4);
}

TEST(Apply, Refusals) {
    struct Row {
        std::string resource, text;
    };
    for (const Row& r : std::initializer_list<Row>{
             {resource("File", "/m", R"("mode":644)"),
              "Parameter mode failed on File[/m]: The file mode specification must be a string, "
              "not 'Integer'"},
             {resource("File", "/m", R"("links":"9")"),
              "Parameter links failed on File[/m]: Invalid value \"9\". Valid values are follow, "
              "manage."},
             {resource("File", "m", ""),
              "Parameter path failed on File[m]: File paths must be fully qualified, not 'm'"},
             {resource("File", "/a", R"("content":"x","source":"/y")"),
              "Validation of File[/a] failed: You cannot specify more than one of content, source, "
              "target"},
             {resource("Exec", "foo", ""),
              "Validation of Exec[foo] failed: 'foo' is not qualified and no path was specified. "
              "Please qualify the command or specify a path."},
             {resource("Notify", "a", R"("require":"Notify[b]")"),
              "Could not find dependency Notify[b] for Notify[a]"}}) {
        EXPECT_EQ(Machine().run(r.resource), Lines{r.text});
    }
}

TEST(Apply, ReportsCycles) {
    Machine m;
    EXPECT_EQ(m.run(resource("Notify", "a", R"("require":"Notify[b]")") +
                    resource("Notify", "b", R"("require":"Notify[a]")")),
              (Lines{"Found 1 dependency cycle:\n(Notify[a] => Notify[b] => Notify[a])\\nTry the "
                     "'--graph' option and opening the resulting '.dot' file in OmniGraffle or "
                     "GraphViz",
                     "The reason of each step of the cycle:\n  Notify[b] has require => Notify[a]\n"
                     "  Notify[a] has require => Notify[b]",
                     "Failed to apply catalog: One or more resource dependency cycles detected in "
                     "graph"}));
    EXPECT_EQ(m.exit_status, -1);
}

TEST(Apply, ReportsTheReasonOfEachStepOfACycle) {
    Machine m;
    const auto placed = [](std::string text, int line) {
        return text.replace(text.find(R"("tags":[])"), 9,
                            fmt::format(R"("tags":[],"file":"/s.pp","line":{})", line));
    };
    const auto lines = m.run(
        placed(resource("File", "/d", R"("ensure":"directory","require":"Exec[run]")"), 3) +
        placed(resource("File", "/d/f", R"("ensure":"file")"), 7) +
        placed(resource("Exec", "run", R"("command":"/bin/true","subscribe":"File[/d/f]")"), 9));
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[1],
              "The reason of each step of the cycle:\n"
              "  File[/d] has require => Exec[run] (file: /s.pp, line: 3)\n"
              "  File[/d/f] has an automatic `require` for File[/d] (file: /s.pp, line: 7)\n"
              "  Exec[run] has subscribe => File[/d/f] (file: /s.pp, line: 9)");
}

TEST(Apply, PreservesUnmanagedHostsLines) {
    Machine m;
    m.fake.files.put("/etc/hosts", "# mine\n127.0.0.1\tlocalhost\n");
    m.run(resource("Host", "web", R"("ip":"10.0.0.1","host_aliases":["a","b"])"));
    std::string text = m.fake.files.read("/etc/hosts").value_or("");
    EXPECT_NE(text.find("# mine\n127.0.0.1\tlocalhost\n10.0.0.1\tweb\ta b\n"), std::string::npos)
        << text;
    EXPECT_EQ(m.run(resource("Host", "web", R"("ip":"10.0.0.1","host_aliases":["a","b"])")),
              Lines{});
}

// The messages are those of Puppet 8.11.
TEST(Apply, SkipsHostsFileThatIsNotUtf8) {
    const std::string before = "127.0.0.1\tlocalhost\n10.0.0.8\tweb # caf\xe9\n";
    Machine m;
    m.fake.files.put("/etc/hosts", before);
    const std::string two = resource("Host", "web", R"("ip":"10.0.0.9")") +
                            resource("Host", "new", R"("ip":"10.0.0.7")");
    const std::string why =
        "Puppet::Util::FileType::FileTypeFlat could not read /etc/hosts: invalid byte sequence in "
        "UTF-8";
    for (int run = 0; run < 2; ++run) {
        EXPECT_EQ(
            m.run(two),
            (Lines{why, "Could not prefetch host provider 'parsed': " + why,
                   "/Stage[main]/Main/Host[web]: Skipping because provider prefetch failed",
                   "/Stage[main]/Main/Host[new]: Skipping because provider prefetch failed"}));
        EXPECT_EQ(m.status, "failed");
        EXPECT_EQ(m.fake.files.read("/etc/hosts").value_or(""), before);
    }
}

// In Puppet 8.11 too, these audited values are symbols: `returns` of an exec that must run, and the
// target of a file that is not a link.
TEST(Apply, StoresAuditedValues) {
    Machine m;
    m.options.statefile = "/state.yaml";
    m.fake.files.put("/bin/id", "", 0755);
    m.fake.processes.answer("/bin/id", sys::Outcome{});
    const std::string audited = resource("Exec", "/bin/id", R"("audit":"all")") +
                                resource("File", "/bin/id", R"("audit":"target")");
    m.run(audited);
    const std::string state = m.fake.files.read("/state.yaml").value_or("");
    EXPECT_TRUE(state.contains("\n  :returns: :notrun\n")) << state;
    EXPECT_TRUE(state.contains("\n  :target: :notlink\n")) << state;
    EXPECT_EQ(m.run(audited), Lines{});
}

// If a resource logs a warning before its path is known, its later messages omit the path too.
// Messages of its attributes contain the path.
TEST(Apply, NamesResourceInWarnings) {
    Machine m;
    m.fake.files.put("/d/f", "x");
    EXPECT_EQ(m.run(resource("File", "/d", R"("recurselimit":1,"mode":"a=rX")")),
              (Lines{"/File[/d]: Possible error: recurselimit is set but not recurse, no recursion "
                     "will happen",
                     "X only works with the '+' operator in symbolic mode \"a=rX\"",
                     "/Stage[main]/Main/File[/d]/mode: change from '0755' to 'a=rX' failed: X only "
                     "works with the '+' operator in symbolic mode \"a=rX\""}));
}

// Puppet stops at the first of owner, group and mode that fails, and sets the remaining ones in the
// next run.
TEST(Apply, UnknownOwnerPreventsSettingGroup) {
    Machine m;
    m.fake.users.groups.push_back({"g", 7, {}});
    const std::string file =
        resource("File", "/f", R"("content":"x","owner":"nobodyhere","group":"g")");
    m.run(file);
    EXPECT_EQ(m.fake.files.stat("/f")->gid, 0U);
    EXPECT_EQ(m.run(file),
              (Lines{"Could not find user nobodyhere",
                     "/Stage[main]/Main/File[/f]/owner: change from 'root' to 'nobodyhere' failed: "
                     "Could not find user nobodyhere",
                     "/Stage[main]/Main/File[/f]/group: group changed 'root' to 'g'"}));
}

// Matches Puppet 8.11: keywords of a type are symbols; versions and paths are strings.
TEST(Apply, AuditPreservesSymbols) {
    Machine m;
    m.options.statefile = "/state.yaml";
    m.fake.files.put("/f", "x");
    const std::string audited = resource("File", "/f", R"("audit":["ensure","target","mode"])");
    m.run(audited);
    const std::string first = m.fake.files.read("/state.yaml").value_or("");
    EXPECT_TRUE(first.contains("\n  :ensure: :file\n  :target: :notlink\n  :mode: '0")) << first;
    EXPECT_EQ(m.run(audited), Lines{});
}

// If `content` is only audited, it has no value, and the message shows an empty one as in Puppet.
TEST(Apply, CreatesAuditedFileWithoutContent) {
    Machine m;
    EXPECT_EQ(m.run(resource("File", "/f", R"("ensure":"present","audit":["content"])"))[0],
              "/Stage[main]/Main/File[/f]/ensure: defined content as ''");
}

// Puppet 8.10: a dangling link is absent if links are followed, and is not replaced.
TEST(Apply, FollowedDanglingLinkIsNotReplaced) {
    Machine m;
    ASSERT_TRUE(m.fake.files.make_link("/nowhere", "/l").has_value());
    m.run(resource("File", "/l", R"("ensure":"other","links":"follow")"));
    EXPECT_EQ(m.fake.files.read_link("/l").value_or(""), "/nowhere");
    EXPECT_EQ(m.exit_status, 4);
    m.run(resource("File", "/l", R"("ensure":"link","target":"other")"));
    EXPECT_EQ(m.fake.files.read_link("/l").value_or(""), "other");
}

// If Puppet read only a part of the source, `purge` would delete files.
TEST(Apply, RefusesSourceWithDanglingLink) {
    Machine m;
    m.fake.files.put("/from/f", "x");
    m.fake.files.put("/to/old", "x");
    ASSERT_TRUE(m.fake.files.make_link("/nowhere", "/from/l").has_value());
    const auto copy = [&](const std::string& links) {
        return m.run(resource("File", "/to",
                              R"("ensure":"directory","recurse":true,"purge":true,)"
                              R"("source":"/from","links":")" +
                                  links + "\""));
    };
    EXPECT_EQ(copy("follow"),
              Lines{"/Stage[main]/Main/File[/to]: Failed to generate additional resources using "
                    "'eval_generate': No such file or directory @ rb_file_s_stat - /from/l"});
    EXPECT_TRUE(m.fake.files.exists("/to/old"));
    copy("manage");
    EXPECT_EQ(m.fake.files.read_link("/to/l").value_or(""), "/nowhere");
    EXPECT_FALSE(m.fake.files.exists("/to/old"));
}

// Puppet 8.11 accepts only a filebucket, and no value is one.
TEST(Apply, TidyMakesNoBackup) {
    Machine m;
    m.fake.files.put("/t/a", "x");
    m.run(resource("Tidy", "/t", R"("recurse":true,"age":"0","backup":".bak")"));
    EXPECT_EQ(m.fake.files.list("/t").value_or(Lines{"?"}), Lines{});
}

// Matches Puppet 8.11: `checksum_value` without a source has an effect only together with
// `checksum`.
TEST(Apply, ChecksumValueOfContentNeedsChecksum) {
    Machine m;
    const std::string file = R"("content":"x","checksum_value":"5891")";
    EXPECT_EQ(m.run(resource("File", "/f", file)).size(), 1U);
    const std::string sum =
        "{sha256}2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    const Lines again{"/Stage[main]/Main/File[/f]/content: content changed '" + sum + "' to '" +
                      sum + "'"};
    EXPECT_EQ(m.run(resource("File", "/f", file)), again);
    EXPECT_EQ(m.run(resource("File", "/f", R"("content":"x","audit":["checksum_value"])"))[0],
              again[0]);
    EXPECT_EQ(m.run(resource("File", "/f", file + R"(,"checksum":"md5")")),
              Lines{"Validation of File[/f] failed: Checksum value '5891' is not a valid checksum "
                    "type md5"});
}

TEST(Apply, DoesNotReplaceFolderWithLink) {
    Machine m;
    m.fake.files.put("/f/x", "x");
    const Lines said = m.run(resource("File", "/f", R"("ensure":"link","target":"/t")"));
    EXPECT_EQ(std::ranges::count(said,
                                 "/Stage[main]/Main/File[/f]: Not removing directory; use 'force' "
                                 "to override"),
              2);
}

TEST(Apply, ReplacingFileWithLinkMakesOneBackup) {
    Machine m;
    m.fake.files.put("/f", "x");
    m.fake.files.put("/f.puppet-bak", "older");
    m.log.records.clear();
    m.run(resource("File", "/f", R"("ensure":"link","target":"/t","backup":".puppet-bak")"));
    EXPECT_EQ(
        std::ranges::count_if(
            m.log.records, [](const auto& d) { return d.message.contains("Removing old backup"); }),
        1);
    EXPECT_EQ(m.fake.files.read("/f.puppet-bak").value_or(""), "x");
}

// A type with two namevars finds a resource by the names in its title.
TEST(Apply, FindsResourceWithTwoNamevars) {
    Machine m;
    const auto waits = [&](const std::string& type) {
        return m.run(resource("Sshkey", "h", type + R"("key":"AAAA","target":"/k")") +
                         resource("Notify", "n", R"("require":"Sshkey[h]")"),
                     true);
    };
    EXPECT_EQ(waits("").size(), 4U);
    EXPECT_EQ(waits(R"("type":"ssh-rsa",)"),
              Lines{"Could not find dependency Sshkey[h] for Notify[n]"});
}

// Entries of resources that were not checked stay unchanged, in whatever format they are.
TEST(Apply, PreservesUncheckedStateEntries) {
    Machine m;
    m.options.statefile = "/state.yaml";
    m.fake.files.put("/f", "x");
    const std::string time = "  :checked: 2099-01-31 10:20:30.123456789 +00:00\n";
    const std::string other = "\"File[/a]\":\n" + time + "  :mode: '0644'\n'File[/b]':\n" + time +
                              "File[/c]:\n" + time +
                              "  :synced: 2099-01-31 10:20:30.000000001 +00:00\n";
    m.fake.files.put("/state.yaml", "---\n" + other);
    m.run(resource("File", "/f", R"("mode":"0644")"));
    const std::string after = m.fake.files.read("/state.yaml").value_or("");
    EXPECT_TRUE(after.starts_with("---\n" + other)) << after;
    EXPECT_TRUE(after.contains("\nFile[/f]:\n  :checked: ")) << after;
    // Entries are found in any order of the requests.
    m.fake.files.put("/a", "x", 0644);
    m.run(resource("File", "/a", R"("mode":"0644")"));
    const std::string again = m.fake.files.read("/state.yaml").value_or("");
    EXPECT_EQ(again.find("File[/a]"), again.rfind("File[/a]")) << again;
    EXPECT_FALSE(again.contains("\"File[/a]\":\n" + time)) << again;
    EXPECT_TRUE(again.contains("  :mode: '0644'\n'File[/b]':\n" + time)) << again;
}

// Puppet reads the id of a user by auditing it.
TEST(Apply, PurgeOfUsersReportsIds) {
    Machine m;
    m.fake.users.users.push_back({"u", "x", "", "/home/u", "/bin/sh", 1500, 7});
    m.fake.users.users.push_back({"low", "x", "", "/home/low", "/bin/sh", 7, 7});
    for (const char* name : {"useradd", "usermod", "userdel", "chage", "chpasswd"})
        m.fake.processes.programs.emplace_back(name);
    EXPECT_EQ(m.run(resource("Resources", "user", R"("purge":true)"), true),
              (Lines{"/Stage[main]/Main/User[u]/ensure: removed (noop)",
                     "/Stage[main]/Main/User[u]/uid: audit change: newly-recorded value 1500",
                     "Class[Main]: Would have triggered 'refresh' from 1 event",
                     "Stage[main]: Would have triggered 'refresh' from 1 event"}));
}

TEST(Apply, PurgesUnmanagedKeys) {
    Machine m;
    m.fake.users.users.push_back({"u", "x", "", "/home/u", "/bin/sh", 7, 7});
    for (const char* name : {"useradd", "usermod", "userdel", "chage", "chpasswd"})
        m.fake.processes.programs.emplace_back(name);
    const std::string file = "/home/u/.ssh/authorized_keys";
    m.fake.files.put(file,
                     "# a comment\n"
                     "ssh-rsa my-key short@key\n"
                     "command=\"a b\",no-pty ssh-ed25519 AAAAC3 with options\n"
                     "ssh-rsa AAAAB3 kept\n"
                     "ssh-rsa AAAAB4\n");
    const auto said =
        m.run(resource("User", "u", R"("purge_ssh_keys":true)") +
              resource("Ssh_authorized_key", "kept",
                       R"("user":"u","type":"ssh-rsa","key":"AAAAB3","ensure":"present")"));
    EXPECT_EQ(said, (Lines{"/Stage[main]/Main/Ssh_authorized_key[short@key]/ensure: removed",
                           "/Stage[main]/Main/Ssh_authorized_key[with options]/ensure: removed",
                           "/Stage[main]/Main/Ssh_authorized_key[" + file +
                               ":unnamed-1]/ensure: removed"}));
    const auto left = m.fake.files.read(file).value();
    EXPECT_NE(left.find("# a comment\nssh-rsa AAAAB3 kept\n"), left.npos) << left;
}

// Matches Puppet 8.11: the run fails, but its report is still written.
TEST(Apply, RunFailsIfStateCannotBeWritten) {
    for (auto option : {&Options::statefile, &Options::transactionstorefile}) {
        Machine m;
        m.options.*option = "/state/file";
        ASSERT_TRUE(m.fake.files.make_directories("/state/file/in_the_way"));
        const auto said = m.run(resource("Notify", "n", ""));
        EXPECT_EQ(m.exit_status, -1);
        EXPECT_TRUE(std::ranges::any_of(said, [](const std::string& line) {
            return line.starts_with("Failed to apply catalog: Is a directory @ ");
        })) << said.back();
    }
}

// If the file contains a line that is not a key, the file stays unchanged.
TEST(Apply, LeavesInvalidKeyFileUnchanged) {
    Machine m;
    m.fake.users.users.push_back({"u", "x", "", "/home/u", "/bin/sh", 7, 7});
    const std::string file = "/home/u/.ssh/authorized_keys";
    m.fake.files.put(file, "nonsense AAAAB5 other\n");
    EXPECT_EQ(
        m.run(resource("Ssh_authorized_key", "k",
                       R"("user":"u","type":"ssh-rsa","key":"AAAAB3","ensure":"present")")),
        (Lines{"Could not prefetch ssh_authorized_key provider 'parsed': Could not parse line "
               "\"nonsense AAAAB5 other\" (file: " +
                   file + ", line: 2)",
               "/Stage[main]/Main/Ssh_authorized_key[k]: Skipping because provider prefetch "
               "failed"}));
    EXPECT_EQ(m.fake.files.read(file).value(), "nonsense AAAAB5 other\n");
}

TEST(Mode, Symbolic) {
    struct Row {
        const char* change;
        std::uint32_t from;
        bool directory;
        std::uint32_t to;
    };
    for (const Row& r : std::initializer_list<Row>{{"u=rw,g=r,o=", 0644, false, 0640},
                                                   {"a+X", 0644, false, 0644},
                                                   {"a+X", 0644, true, 0755},
                                                   {"g=u", 0700, false, 0770},
                                                   {"+t,u+s", 0755, true, 05755},
                                                   {"0751", 0, false, 0751}}) {
        EXPECT_EQ(apply_mode(r.change, r.from, r.directory), r.to) << r.change;
    }
    EXPECT_FALSE(valid_mode("9"));
    EXPECT_TRUE(valid_mode("u+rw,g-w"));
}

TEST(Fnmatch, LikeRuby) {
    EXPECT_TRUE(fnmatch("*.tmp", "a.tmp"));
    EXPECT_FALSE(fnmatch("*.tmp", ".a.tmp"));
    EXPECT_TRUE(fnmatch("*.tmp", ".a.tmp", true));
    EXPECT_TRUE(fnmatch("[a-c]?", "bz"));
    EXPECT_FALSE(fnmatch("[!a-c]?", "bz"));
}

TEST(DebianVersion, OrderAndRanges) {
    auto v = [](const char* t) { return *DebianVersion::parse(t); };
    EXPECT_LT(v("1.0~rc1").compare(v("1.0")), 0);
    EXPECT_GT(v("1:0.9").compare(v("2.0")), 0);
    EXPECT_LT(v("1.9-1").compare(v("1.10-1")), 0);
    auto range = VersionRange<DebianVersion>::parse(">=1.0 <2.0");
    ASSERT_TRUE(range);
    EXPECT_TRUE(range->includes(v("1.5-3")));
    EXPECT_FALSE(range->includes(v("2.0")));
}

}  // namespace
}  // namespace bunraku::apply
