// SPDX-License-Identifier: Apache-2.0
// Applies fifty resources on a simulated machine whose N-th file system call fails, for every N and
// in every way. tests/faults does the same with the real file system.
#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>

#include "machine.h"

namespace bunraku::apply {
namespace {

// Twelve chains of a file, a resource that requires it, and another that requires the second. Also
// unchanged files, links, sources, and records of /etc/hosts.
std::string fifty() {
    std::string out;
    for (int i = 0; i < 12; ++i) {
        out += resource("File", fmt::format("/new/{}", i),
                        fmt::format(R"("content":"new {}\n","mode":"0640")", i));
        out += resource("File", fmt::format("/old/{}", i),
                        fmt::format(R"("content":"changed {0}\n","require":"File[/new/{0}]")", i));
        out += resource("Notify", fmt::format("after {}", i),
                        fmt::format(R"("require":"File[/old/{}]")", i));
    }
    out += resource("File", "/new", R"("ensure":"directory")");
    for (int i = 0; i < 4; ++i) {
        out += resource("File", fmt::format("/old/kept{}", i), R"("content":"kept\n")");
        out += resource("File", fmt::format("/new/link{}", i),
                        fmt::format(R"("ensure":"link","target":"/old/kept{}")", i));
    }
    out += resource("File", "/new/copied", R"("source":"/source/a")");
    out += resource("File", "/old/gone", R"("ensure":"absent")");
    out += resource("File", "/old/folder", R"("ensure":"absent","force":true)");
    out += resource("Host", "web", R"("ip":"10.0.0.1")");
    out += resource("Host", "away", R"("ensure":"absent")");
    return out;
}

void prepare(Machine& m) {
    for (int i = 0; i < 12; ++i) m.fake.files.put(fmt::format("/old/{}", i), "before\n");
    for (int i = 0; i < 4; ++i) m.fake.files.put(fmt::format("/old/kept{}", i), "kept\n");
    m.fake.files.put("/old/gone", "x");
    m.fake.files.put("/old/folder/inner/x", "x");
    m.fake.files.put("/old/unmanaged", "not ours\n");
    m.fake.files.put("/source/a", "a\n");
    m.fake.files.put("/etc/hosts", "127.0.0.1 localhost\n10.9.9.9 away\n");
}

using Contents = std::map<std::string, std::string>;

// Collects every path that the run manages, with its content or target.
void collect(sys::FileSystem& files, const std::string& folder, Contents& out) {
    const auto names = files.list(folder);
    if (!names) return;
    for (const auto& name : *names) {
        const std::string path = sys::join(folder, name);
        const auto status = files.lstat(path);
        if (!status) continue;
        if (status->kind == sys::FileKind::Directory) {
            out[path] = "folder";
            collect(files, path, out);
        } else if (status->kind == sys::FileKind::Link) {
            out[path] = "-> " + files.read_link(path).value_or("?");
        } else {
            out[path] = files.read(path).value_or("?");
        }
    }
}

Contents contents(Machine& m) {
    Contents out;
    for (const char* folder : {"/old", "/new", "/source"}) collect(m.fake.files, folder, out);
    out["/etc/hosts"] = m.fake.files.read("/etc/hosts").value_or("?");
    // The header of a written file of records contains the time.
    std::string& hosts = out["/etc/hosts"];
    while (hosts.starts_with('#')) hosts.erase(0, hosts.find('\n') + 1);
    return out;
}

bool contains(const Lines& lines, std::string_view text) {
    return std::ranges::any_of(lines,
                               [&](const auto& l) { return l.find(text) != std::string::npos; });
}

TEST(Faults, EveryCallFailsInEveryWay) {
    const std::string catalog = fifty();
    Machine whole;
    prepare(whole);
    const Contents before = contents(whole);
    const int first = whole.fake.files.calls;
    whole.run(catalog);
    ASSERT_EQ(whole.status, "changed");
    const int calls = whole.fake.files.calls - first;
    const Contents after = contents(whole);
    ASSERT_GT(calls, 150);
    for (const int error : {ENOSPC, EIO, EACCES, EINTR}) {
        for (int n = 0; n < calls; ++n) {
            SCOPED_TRACE(fmt::format("call {} fails with {}", n, error));
            Machine m;
            prepare(m);
            m.fake.files.fail_calls(n, error);
            const Lines said = m.run(catalog);
            m.fake.files.fail_calls(-1, 0, 0);
            ASSERT_NE(m.status, "none");
            const Contents now = contents(m);
            // No file is half written, and no other file was changed.
            for (const auto& [path, content] : now) {
                const auto is = [&](const Contents& state) {
                    const auto at = state.find(path);
                    return at != state.end() && at->second == content;
                };
                EXPECT_TRUE(is(before) || is(after) || path == "/etc/hosts")
                    << path << ": " << content;
            }
            for (const auto& [path, content] : before) {
                EXPECT_TRUE(now.contains(path) || !after.contains(path)) << path << " is gone";
            }
            // A successful resource is completely applied. A failed one reports an error, and its
            // dependents are skipped. If a managed path cannot be accessed, only a message shows
            // it, as in Puppet.
            if (m.status != "failed" && !contains(said, "Could not stat; permission denied")) {
                EXPECT_EQ(now, after);
            }
            for (int i = 0; i < 12; ++i) {
                const auto failed = [&](const std::string& ref) {
                    return contains(said, fmt::format("Dependency {} has failures: true", ref));
                };
                if (failed(fmt::format("File[/new/{}]", i))) {
                    EXPECT_EQ(now.at(fmt::format("/old/{}", i)), "before\n");
                }
                if (failed(fmt::format("File[/old/{}]", i))) {
                    EXPECT_TRUE(contains(said, fmt::format("Notify[after {}]: Skipping because of "
                                                           "failed dependencies",
                                                           i)));
                }
            }
            m.run(catalog);
            EXPECT_NE(m.status, "failed");
            EXPECT_EQ(contents(m), after);
        }
    }
}

}  // namespace
}  // namespace bunraku::apply
