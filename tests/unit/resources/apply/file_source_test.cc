// SPDX-License-Identifier: Apache-2.0
// Tests `file { source => }`: the content is streamed and verified. The file is never readable by
// users who must not read it.
#include <cerrno>

#include "machine.h"

namespace bunraku::apply {
namespace {

std::string big_text() {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
}

TEST(FileSource, CopiesInChunks) {
    Machine m;
    const std::string text = big_text();
    m.fake.files.put("/src/a", text);
    m.run(resource("File", "/tmp/a", R"("source":"/src/a")"));
    EXPECT_EQ(m.fake.files.read("/tmp/a").value_or(""), text);
    EXPECT_EQ(m.run(resource("File", "/tmp/a", R"("source":"/src/a")")), Lines{});
}

TEST(FileContent, ReplacesOtherContentOfTheSameSize) {
    Machine m;
    m.fake.files.put("/tmp/t", "one");
    const std::string two = resource("File", "/tmp/t", R"("content":"two")");
    EXPECT_EQ(m.run(two),
              Lines{"/Stage[main]/Main/File[/tmp/t]/content: content changed "
                    "'{sha256}7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed' to "
                    "'{sha256}3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3'"});
    EXPECT_EQ(m.fake.files.read("/tmp/t").value_or(""), "two");
    EXPECT_EQ(m.run(two), Lines{});
    for (const char* kind : {"md5", "sha256lite", "sha512"}) {
        EXPECT_EQ(m.run(resource("File", "/tmp/t",
                                 std::string(R"("content":"two","checksum":")") + kind + "\"")),
                  Lines{})
            << kind;
    }
}

TEST(FileSource, DiscardsContentWithWrongChecksum) {
    Machine m;
    m.fake.files.put("/src/a", "hello\n");
    m.fake.files.put("/tmp/a", "old");
    Lines got = m.run(resource(
        "File", "/tmp/a",
        R"("source":"/src/a","checksum":"md5","checksum_value":"0123456789abcdef0123456789abcdef")"));
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0],
              "File written to disk did not match desired checksum; discarding changes "
              "({md5}b1946ac92492d2347c6235b4d2611184 vs {md5}0123456789abcdef0123456789abcdef)");
    EXPECT_EQ(m.fake.files.read("/tmp/a").value_or(""), "old");
    EXPECT_EQ(m.status, "failed");
    EXPECT_EQ(m.fake.files.list("/tmp").value_or(Lines{}), (Lines{".keep", "a"}));
}

TEST(FileSource, IgnoresDanglingLink) {
    for (const char* more : {R"("links":"manage")", R"("recurse":true)"}) {
        Machine m;
        ASSERT_TRUE(m.fake.files.make_directory("/src", 0755));
        ASSERT_TRUE(m.fake.files.make_link("none", "/src/link"));
        const Lines got =
            m.run(resource("File", "/tmp/a", std::string(R"("source":"/src/link",)") + more));
        EXPECT_EQ(got,
                  Lines{"/Stage[main]/Main/File[/tmp/a]: Could not evaluate: Could not retrieve "
                        "information from environment production source(s) file:///src/link"})
            << more;
    }
}

// A secret is never visible under the file's name with the mode or owner of the old file.
TEST(FileSource, SetsModeAndOwnerBeforeRename) {
    for (const char* body : {R"("source":"/src/a")", R"("content":"hello\n")"}) {
        Machine m;
        m.fake.users.users.push_back({"web", "x", "", "/", "/bin/sh", 33, 33});
        m.fake.users.groups.push_back({"web", 33, {}});
        m.fake.files.put("/src/a", "hello\n");
        m.fake.files.put("/tmp/a", "old", 0644);
        Lines got = m.run(resource(
            "File", "/tmp/a", std::string(body) + R"(,"mode":"0600","owner":"web","group":"web")"));
        ASSERT_EQ(m.fake.files.replaced.size(), 1u);
        EXPECT_EQ(m.fake.files.replaced[0].first, "/tmp/a");
        const sys::WriteOptions& options = m.fake.files.replaced[0].second;
        EXPECT_EQ(options.mode, 0600u);
        EXPECT_EQ(options.uid, 33u);
        EXPECT_EQ(options.gid, 33u);
        // The changes are still reported.
        EXPECT_EQ(got.size(), 4u);
        EXPECT_EQ(m.status, "changed");
    }
}

// Each file system call fails once, in turn. The run ends with a report, and the next run repairs
// the rest.
TEST(FileSource, FailingCallFailsTheResource) {
    const std::string catalog =
        resource("File", "/tmp/d",
                 R"("ensure":"directory","source":"/src","recurse":true,"purge":true)") +
        resource("File", "/tmp/s", R"("source":"/src/a","mode":"0600")") +
        resource("File", "/tmp/t", R"("content":"text","backup":"puppet")") +
        resource("File", "/tmp/l", R"("ensure":"link","target":"/src/a")") +
        resource("Host", "web", R"("ip":"10.0.0.1")");
    const auto prepare = [](Machine& m) {
        m.options.clientbucketdir = "/bucket";
        m.fake.files.put("/src/a", "secret\n");
        m.fake.files.put("/src/b/c", "more\n");
        m.fake.files.put("/tmp/d/stray", "x");
        m.fake.files.put("/tmp/t", "before");
        m.fake.files.put("/etc/hosts", "127.0.0.1 localhost\n");
    };
    Machine whole;
    prepare(whole);
    const int before = whole.fake.files.calls;
    whole.run(catalog);
    ASSERT_EQ(whole.status, "changed");
    const int calls = whole.fake.files.calls - before;
    ASSERT_GT(calls, 50);
    for (int error : {EIO, ENOSPC, EACCES}) {
        for (int n = 0; n < calls; ++n) {
            Machine m;
            prepare(m);
            m.fake.files.fail_calls(n, error);
            m.run(catalog);
            EXPECT_NE(m.status, "none") << n;
            auto secret = m.fake.files.lstat("/tmp/s");
            EXPECT_TRUE(!secret || secret->mode == 0600u) << n;
            m.run(catalog);
            EXPECT_EQ(m.fake.files.read("/tmp/s").value_or(""), "secret\n") << n;
            EXPECT_EQ(m.fake.files.read("/tmp/t").value_or(""), "text") << n;
            EXPECT_EQ(m.fake.files.read("/tmp/d/b/c").value_or(""), "more\n") << n;
            EXPECT_FALSE(m.fake.files.exists("/tmp/d/stray")) << n;
        }
    }
}

}  // namespace
}  // namespace bunraku::apply
