// SPDX-License-Identifier: Apache-2.0
// Tests which links a privileged process follows, and that it never leaves a folder that it
// traverses.
#include "core/sys/guarded_file_system.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bunraku::sys {
namespace {

constexpr uid_t kUser = 65534;

struct GuardedFileSystemTest : testing::Test {
    std::string top;
    std::unique_ptr<FileSystem> plain = make_real_file_system();
    std::unique_ptr<FileSystem> files = make_guarded_file_system();
    bool root = ::geteuid() == 0;

    void SetUp() override {
        char name[] = "/tmp/guarded-XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        top = name;
        ASSERT_EQ(::chmod(name, 0755), 0);
        for (const char* folder : {"/user", "/user/own", "/victim"})
            ASSERT_TRUE(plain->make_directory(top + folder, 0755));
        ASSERT_TRUE(plain->write(top + "/victim/f", "secret", 0600));
        ASSERT_TRUE(plain->write(top + "/user/own/f", "own", 0600));
        for (const char* path : {"/user", "/user/own", "/user/own/f"}) give(path);
    }
    void TearDown() override { (void)plain->remove_all(top); }
    void give(const std::string& path) {
        if (root) {
            ASSERT_TRUE(plain->set_owner(top + path, kUser, kUser, false));
        }
    }
    void link(const std::string& target, const std::string& path) {
        ASSERT_TRUE(plain->make_link(target, top + path));
        give(path);
    }
    /// Returns the error code of each call that reads or changes a file; 0 means success.
    std::vector<int> all_calls(const std::string& path) {
        const auto code = [](const auto& result) { return result ? 0 : result.error().code; };
        return {code(files->read(path)),
                code(files->open(path)),
                code(files->write(path, "x", 0600)),
                code(files->append(path, "x", 0600)),
                code(files->set_mode(path, 0640)),
                code(files->set_owner(path, ::geteuid(), {}, true)),
                code(files->set_mtime(path, 0)),
                code(files->real_path(path))};
    }
    void expect_victim_untouched() {
        EXPECT_EQ(plain->read(top + "/victim/f").value_or("gone"), "secret");
        const auto status = plain->lstat(top + "/victim/f");
        ASSERT_TRUE(status);
        EXPECT_EQ(status->mode, 0600U);
        EXPECT_EQ(status->uid, ::geteuid());
        EXPECT_EQ(plain->list(top + "/victim")->size(), 1U);
    }
};

TEST_F(GuardedFileSystemTest, MatchesRealFileSystemWithoutLinks) {
    const std::string path = top + "/victim/new";
    ASSERT_TRUE(files->write(path, "one", 0600));
    ASSERT_TRUE(files->append(path, " two", 0600));
    EXPECT_EQ(*files->read(path), "one two");
    ASSERT_TRUE(files->replace(path, "three", {.mode = 0640}));
    EXPECT_EQ(*files->read(path), "three");
    EXPECT_EQ(files->stat(path)->mode, 0640U);
    ASSERT_TRUE(files->set_mode(path, 0604));
    EXPECT_EQ(files->stat(path)->mode, 0604U);
    ASSERT_TRUE(files->rename(path, path + "2"));
    EXPECT_EQ(*files->list(top + "/victim"), (std::vector<std::string>{"f", "new2"}));
    ASSERT_TRUE(files->remove(path + "2"));
    EXPECT_EQ(files->read(path).error().code, ENOENT);
    EXPECT_EQ(files->read(path).error().message,
              "No such file or directory @ rb_sysopen - " + path);
    EXPECT_EQ(files->read(top + "/victim/f/x").error().code, ENOTDIR);
    EXPECT_TRUE(files->read("/proc/self/cmdline"));
    EXPECT_TRUE(files->list("/"));
}

TEST_F(GuardedFileSystemTest, FollowsOwnLinks) {
    ASSERT_TRUE(plain->make_link(top + "/victim", top + "/link"));
    ASSERT_TRUE(plain->make_link("link/f", top + "/to_file"));
    EXPECT_EQ(*files->read(top + "/link/f"), "secret");
    EXPECT_EQ(*files->read(top + "/to_file"), "secret");
    EXPECT_EQ(*files->real_path(top + "/to_file"), top + "/victim/f");
    ASSERT_TRUE(files->write(top + "/to_file", "more", 0600));
    ASSERT_TRUE(files->replace(top + "/link/f", "most", {.mode = 0600}));
    EXPECT_EQ(*plain->read(top + "/victim/f"), "most");
    EXPECT_TRUE(files->make_directory(top + "/link/d"));
    EXPECT_TRUE(remove_tree(*files, top + "/link/d"));
    EXPECT_TRUE(files->set_mode(top + "/to_file", 0640));
    EXPECT_EQ(plain->stat(top + "/victim/f")->mode, 0640U);
    ASSERT_TRUE(plain->make_link("circle", top + "/circle"));
    for (auto* system : {&*plain, &*files}) {
        EXPECT_EQ(system->make_link("x", top + "/circle").error().message,
                  "File exists @ syserr_fail2_in - " + top + "/circle");
        EXPECT_EQ(system->make_link("x", top + "/none/y").error().message,
                  "No such file or directory @ rb_file_s_symlink - (x, " + top + "/none/y)");
    }
    EXPECT_EQ(files->read(top + "/circle").error().code, ELOOP);
    ASSERT_TRUE(plain->make_link("victim/f", top + "/file"));
    EXPECT_EQ(files->read(top + "/file/x").error().code, ENOTDIR);
    EXPECT_EQ(files->write(top + "/file/x", "", 0600).error().code, ENOTDIR);
}

TEST_F(GuardedFileSystemTest, FollowsLinksOfAUserOnlyToTheUsersFiles) {
    if (!root) GTEST_SKIP() << "only root has files of several users";
    link(top + "/victim", "/user/folder");
    link(top + "/victim/f", "/user/file");
    link(top + "/user/own", "/user/good");
    for (const char* path : {"/user/folder/f", "/user/file"})
        EXPECT_EQ(all_calls(top + path), std::vector<int>(8, ELOOP)) << path;
    for (const char* path : {"/user/folder/f", "/user/folder/new"}) {
        EXPECT_EQ(files->replace(top + path, "x").error().code, ELOOP);
        EXPECT_EQ(files->make_directory(top + path).error().code, ELOOP);
        EXPECT_EQ(files->make_link("x", top + path).error().code, ELOOP);
        EXPECT_EQ(files->remove(top + path).error().code, ELOOP);
        EXPECT_EQ(files->rename(top + path, top + "/x").error().code, ELOOP);
        EXPECT_EQ(files->set_owner(top + path, kUser, {}, false).error().code, ELOOP);
    }
    EXPECT_EQ(files->list(top + "/user/folder").error().code, ELOOP);
    expect_victim_untouched();
    EXPECT_EQ(*files->read(top + "/user/good/f"), "own");
    EXPECT_TRUE(files->replace(top + "/user/good/new", "x"));
    // The user could have put a link that belongs to root into the folder.
    ASSERT_TRUE(plain->make_link(top + "/victim", top + "/user/root"));
    EXPECT_EQ(files->read(top + "/user/root/f").error().code, ELOOP);
    // A link of the user in a folder that all users may write to.
    ASSERT_TRUE(plain->make_directory(top + "/all"));
    link(top + "/victim", "/all/link");
    EXPECT_EQ(files->read(top + "/all/link/f").error().code, ELOOP);
    // A path through the user's folder to another folder, over several links.
    link("own/../../victim", "/user/round");
    link("round", "/user/again");
    EXPECT_EQ(files->read(top + "/user/again/f").error().code, ELOOP);
    expect_victim_untouched();
}

TEST_F(GuardedFileSystemTest, RemovesLinksAndNotTheirTargets) {
    ASSERT_TRUE(plain->make_directory(top + "/tree"));
    std::string deep = top + "/tree";
    for (int i = 0; i < 300; ++i) {
        deep += "/d";
        ASSERT_TRUE(plain->make_directory(deep));
        ASSERT_TRUE(plain->write(deep + "/f", "", 0600));
        ASSERT_TRUE(plain->make_link(top + "/victim", deep + "/link"));
    }
    ASSERT_TRUE(remove_tree(*files, top + "/tree"));
    EXPECT_FALSE(files->exists(top + "/tree"));
    ASSERT_TRUE(plain->make_link(top + "/victim", top + "/link"));
    ASSERT_TRUE(remove_tree(*files, top + "/link"));
    EXPECT_TRUE(remove_tree(*files, top + "/link"));
    expect_victim_untouched();
}

TEST_F(GuardedFileSystemTest, FollowsNoLinkBelowAFolderThatIsWalked) {
    ASSERT_TRUE(plain->make_directories(top + "/tree/sub"));
    ASSERT_TRUE(plain->write(top + "/tree/sub/f", "x", 0600));
    ASSERT_TRUE(plain->make_link(top + "/victim", top + "/tree/link"));
    ASSERT_TRUE(plain->make_link(top + "/victim/f", top + "/tree/file"));
    ASSERT_TRUE(plain->make_link("tree", top + "/name"));
    for (const char* walked : {"/tree", "/name"}) {
        const LinkFreeWalk walk(*files, top + walked);
        const std::string below = top + walked;
        for (const char* path : {"/link/f", "/file"}) {
            const auto codes = all_calls(below + path);
            // set_mtime and set_owner change the link itself.
            EXPECT_EQ(codes[0], ELOOP);
            EXPECT_EQ(codes[2], ELOOP);
            EXPECT_EQ(codes[4], ELOOP);
        }
        EXPECT_EQ(files->list(below + "/link").error().code, ENOTDIR);
        EXPECT_EQ(files->remove(below + "/link/f").error().code, ELOOP);
        EXPECT_EQ(files->replace(below + "/link/f", "y").error().code, ELOOP);
        {
            const LinkFreeWalk inner(*files, below + "/link");
            EXPECT_EQ(files->remove(below + "/link/f").error().code, ELOOP);
        }
        EXPECT_EQ(files->remove(below + "/link/f").error().code, ELOOP);
        EXPECT_EQ(*files->read(below + "/sub/f"), "x");
        EXPECT_EQ(*files->list(below + "/sub"), std::vector<std::string>{"f"});
        EXPECT_TRUE(files->set_mode(below + "/sub/f", 0600));
    }
    expect_victim_untouched();
    EXPECT_EQ(*files->read(top + "/tree/link/f"), "secret");
}

TEST_F(GuardedFileSystemTest, ActsWithTheRightsOfAUser) {
    if (!root) GTEST_SKIP() << "only root may act as others";
    link(top + "/victim", "/user/folder");
    const auto groups = [] {
        std::vector<gid_t> all(64);
        all.resize(static_cast<std::size_t>(std::max(0, ::getgroups(64, all.data()))));
        return all;
    };
    const auto before = groups();
    {
        const ActingAs user(*files, {.name = "nobody", .uid = kUser, .gid = kUser});
        ASSERT_TRUE(user.begun());
        EXPECT_EQ(files->read(top + "/victim/f").error().code, EACCES);
        EXPECT_EQ(files->replace(top + "/user/folder/new", "x").error().code, EACCES);
        EXPECT_TRUE(files->replace(top + "/user/new", "x"));
        EXPECT_TRUE(files->make_directory(top + "/user/made"));
    }
    EXPECT_EQ(plain->stat(top + "/user/new")->uid, kUser);
    EXPECT_EQ(plain->stat(top + "/user/made")->gid, kUser);
    EXPECT_EQ(groups(), before);
    EXPECT_EQ(*files->read(top + "/victim/f"), "secret");
    expect_victim_untouched();
}

// The temporary file of a killed process is removed when the file is written again. Temporary files
// of running processes stay.
TEST_F(GuardedFileSystemTest, RemovesTheTemporaryFileOfAKilledProcess) {
    const std::string left = top + "/.f.bunraku-new";
    ASSERT_TRUE(plain->write(left, "half", 0600));
    ASSERT_TRUE(files->replace(top + "/f", "whole"));
    EXPECT_EQ(*files->read(top + "/f"), "whole");
    EXPECT_FALSE(files->exists(left));
    const auto written = files->replace_from(top + "/f", [&](const Write& write) {
        EXPECT_TRUE(files->exists(left));
        EXPECT_TRUE(plain->replace(top + "/f", "of the other"));
        EXPECT_TRUE(files->exists(left));
        return write("of the first");
    });
    EXPECT_TRUE(written);
    EXPECT_EQ(*files->read(top + "/f"), "of the first");
    EXPECT_EQ(*files->list(top), (std::vector<std::string>{"f", "user", "victim"}));
}

}  // namespace
}  // namespace bunraku::sys
