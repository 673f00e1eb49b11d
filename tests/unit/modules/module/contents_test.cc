// Tests copies of trees, and git servers that do not answer.
#include <arpa/inet.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/system.h"
#include "modules/module/git.h"
#include "modules/module/sources.h"
#include "modules/module/state.h"
#include "support.h"

namespace bunraku::module {
namespace {

void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
}
std::string read(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}
bool same_inode(const std::string& a, const std::string& b) {
    struct stat x{}, y{};
    return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_ino == y.st_ino;
}

TEST(CopyTree, LinksUnchangedFiles) {
    const test::Scratch scratch;
    const std::string from = scratch.path + "/from", one = scratch.path + "/one",
                      two = scratch.path + "/two";
    write(from + "/manifests/init.pp", "class x {}\n");
    write(from + "/manifests/edited.pp", "class y {}\n");
    write(from + "/run", "#!/bin/sh\n");
    ::chmod((from + "/run").c_str(), 0755);
    // Sets older times, because the clocks of file systems have a coarse resolution.
    for (const char* name : {"/manifests/init.pp", "/manifests/edited.pp", "/run"}) {
        std::filesystem::last_write_time(
            from + name, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    }
    ASSERT_TRUE(copy_tree(from, one));
    EXPECT_FALSE(same_inode(from + "/run", one + "/run"));
    // The size is unchanged, so only the time shows the change.
    write(one + "/manifests/edited.pp", "class z {}\n");
    ::chmod((one + "/run").c_str(), 0644);
    ASSERT_TRUE(copy_tree(from, two, {}, one));
    EXPECT_TRUE(same_inode(one + "/manifests/init.pp", two + "/manifests/init.pp"));
    EXPECT_FALSE(same_inode(one + "/manifests/edited.pp", two + "/manifests/edited.pp"));
    EXPECT_EQ(read(two + "/manifests/edited.pp"), "class y {}\n");
    EXPECT_EQ(::access((two + "/run").c_str(), X_OK), 0);
}

TEST(InstallRecords, UnchangedFilesAreNotReadAgain) {
    const test::Scratch scratch;
    sys::RealSystem real;
    auto& files = real.system().files;
    const std::string folder = scratch.path + "/web";
    write(folder + "/a", "one");
    write(folder + "/b", "two");
    ASSERT_TRUE(files.make_link("file 0123 4", folder + "/link"));
    InstallRecords records(files, scratch.path + "/installed");
    FileStamps stamps;
    auto manifest = read_manifest(files, folder, nullptr, &stamps);
    ASSERT_TRUE(manifest && stamps.size() == 2);
    ASSERT_TRUE(records.keep(folder, "x", *manifest, stamps));
    auto known = records.find(folder, "x");
    ASSERT_TRUE(known);
    EXPECT_EQ(known->manifest, *manifest);
    EXPECT_EQ(known->stamps, stamps);
    // A file written shortly before it was recorded is read again.
    bool reread = false;
    ASSERT_TRUE(read_manifest(files, folder, &*known, nullptr, &reread));
    EXPECT_TRUE(reread);
    // Older records are trusted. The test shows this with a wrong digest in the record.
    known->recorded_ns += 3'600'000'000'000;
    known->manifest["a"] = "file " + std::string(64, '0');
    reread = false;
    auto again = read_manifest(files, folder, &*known, nullptr, &reread);
    ASSERT_TRUE(again);
    EXPECT_FALSE(reread);
    EXPECT_EQ((*again)["a"], known->manifest["a"]);
    // A change with the same size and the old modification time.
    const auto before = std::filesystem::last_write_time(folder + "/b");
    write(folder + "/b", "TWO");
    std::filesystem::last_write_time(folder + "/b", before);
    again = read_manifest(files, folder, &*known, nullptr, &reread);
    ASSERT_TRUE(again);
    EXPECT_TRUE(reread);
    EXPECT_EQ(differing(known->manifest, *again), std::vector<std::string>{"b"});
}

/// Accepts connections and never sends anything.
class SilentServer {
public:
    SilentServer() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address_;
        auto* plain = reinterpret_cast<sockaddr*>(&address_);
        if (::bind(fd_, plain, size) != 0 || ::listen(fd_, 16) != 0 ||
            ::getsockname(fd_, plain, &size) != 0) {
            ADD_FAILURE() << "no server";
        }
    }
    ~SilentServer() { ::close(fd_); }
    SilentServer(const SilentServer&) = delete;
    std::string url() const {
        return fmt::format("git://127.0.0.1:{}/x", ntohs(address_.sin_port));
    }

private:
    int fd_;
    sockaddr_in address_{};
};

TEST(GitRefs, ReadsRepositoryFiles) {
    const test::Scratch scratch;
    sys::RealSystem real;
    auto& files = real.system().files;
    const std::string a(40, 'a'), b(40, 'b'), c(40, 'c');
    write(scratch.path + "/packed-refs", "# pack-refs with: peeled fully-peeled sorted \n" + a +
                                             " refs/heads/main\n" + b + " refs/tags/v1\n^" + c +
                                             "\n" + c + " refs/tags/v2\n");
    write(scratch.path + "/refs/heads/main", b + "\n");
    write(scratch.path + "/refs/heads/main.lock", "");
    write(scratch.path + "/refs/heads/deep/er", c + "\n");
    write(scratch.path + "/refs/tags/v2", c + "\n");
    write(scratch.path + "/refs/tags/v3", a + "\n");
    auto refs = read_git_refs(files, scratch.path);
    ASSERT_TRUE(refs);
    EXPECT_EQ(refs->size(), 5U);
    EXPECT_EQ((*refs)["refs/heads/main"].object, b);
    EXPECT_EQ((*refs)["refs/heads/deep/er"].object, c);
    EXPECT_EQ((*refs)["refs/tags/v1"].object, b);
    EXPECT_EQ((*refs)["refs/tags/v1"].peeled, c);
    EXPECT_EQ((*refs)["refs/tags/v2"].peeled, c);
    EXPECT_EQ((*refs)["refs/tags/v3"].peeled, "");
    // Other formats of refs are left to git.
    write(scratch.path + "/refs/heads/link", "ref: refs/heads/main\n");
    EXPECT_FALSE(read_git_refs(files, scratch.path));
    std::filesystem::remove(scratch.path + "/refs/heads/link");
    write(scratch.path + "/packed-refs", "nonsense\n");
    EXPECT_FALSE(read_git_refs(files, scratch.path));
    std::filesystem::remove(scratch.path + "/packed-refs");
    write(scratch.path + "/reftable/tables.list", "");
    EXPECT_FALSE(read_git_refs(files, scratch.path));
}

TEST(GitRefs, MatchServerResponse) {
    const std::string a(40, 'a'), b(40, 'b');
    auto refs =
        parse_remote_refs(a + "\tHEAD\n" + a + "\trefs/heads/main\n" + a + "\trefs/tags/v1\n" + b +
                          "\trefs/tags/v1^{}\nwarning: x\n" + b + "\trefs/tags/x^{}\n");
    EXPECT_EQ(refs.size(), 2U);
    EXPECT_EQ(refs["refs/heads/main"].object, a);
    EXPECT_EQ(refs["refs/tags/v1"].object, a);
    EXPECT_EQ(refs["refs/tags/v1"].peeled, b);
}

TEST(GitMirror, TimesOutOnSilentServer) {
    const test::Scratch scratch;
    const SilentServer server;
    sys::RealSystem real;
    auto mirror = GitMirror::open(real.system(), scratch.path, server.url(),
                                  {.silence = std::chrono::seconds(1)});
    ASSERT_TRUE(mirror);
    auto done = mirror->fetch();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message,
              "git clone timed out: " + server.url() + " has sent nothing for 1 seconds");
    EXPECT_FALSE(mirror->exists());
}

TEST(GitMirror, CanBeStopped) {
    const test::Scratch scratch;
    const SilentServer server;
    sys::RealSystem real;
    auto mirror = GitMirror::open(real.system(), scratch.path, server.url(),
                                  {.stopped = [] { return true; }});
    ASSERT_TRUE(mirror);
    auto done = mirror->fetch();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "git clone was stopped");
}

TEST(GitMirror, ReportsGitErrors) {
    const test::Scratch scratch;
    sys::RealSystem real;
    auto mirror = GitMirror::open(real.system(), scratch.path, "file://" + scratch.path + "/nope");
    ASSERT_TRUE(mirror);
    auto done = mirror->fetch();
    ASSERT_FALSE(done);
    EXPECT_TRUE(done.error().message.starts_with("git clone failed: fatal: "))
        << done.error().message;
}

}  // namespace
}  // namespace bunraku::module
