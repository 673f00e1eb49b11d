// SPDX-License-Identifier: Apache-2.0
// Tests file notifications from the kernel and in virtual time.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/sys/executor.h"
#include "core/sys/file_changes.h"
#include "testing/simulation.h"

namespace bunraku::sys {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class WatchTest : public testing::Test {
protected:
    WatchTest() {
        std::string name = (fs::exists("/dev/shm") ? "/dev/shm" : "/tmp");
        name += "/watch_test_XXXXXX";
        root_ = ::mkdtemp(name.data());
    }
    ~WatchTest() override { fs::remove_all(root_); }
    void write(const std::string& path, const std::string& text) const {
        std::ofstream(root_ + "/" + path) << text;
    }
    bool heard(int so_often) const {
        for (int i = 0; i < 500 && heard_ < so_often; ++i) std::this_thread::sleep_for(20ms);
        return heard_ >= so_often;
    }
    std::string root_;
    std::atomic<int> heard_{0};
};

TEST_F(WatchTest, ReportsFilesAndMissingFolders) {
    write("other", "x");
    const auto watch = machine().watch({root_ + "/a/file", root_ + "/b"}, [this] { ++heard_; });
    // Changes of other files in the folder do not cause a notification.
    write("other", "y");
    write("near", "y");
    std::this_thread::sleep_for(1200ms);
    EXPECT_EQ(heard_, 0);
    fs::create_directories(root_ + "/a");
    fs::create_directories(root_ + "/b");
    EXPECT_TRUE(heard(1));
    const int before = heard_;
    write("a/file", "x");
    EXPECT_TRUE(heard(before + 1));
    const int then = heard_;
    write("b/child", "x");
    write("b/another", "x");
    EXPECT_TRUE(heard(then + 1));
}

TEST_F(WatchTest, EndsDuringPause) {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
        auto watch = machine().watch({root_ + "/file"}, [this] { ++heard_; });
        write("file", std::to_string(i));
        if (i % 2 == 0) std::this_thread::sleep_for(5ms);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
}

TEST_F(WatchTest, PollsWithoutNotifications) {
    const auto watch =
        machine().watch({"", root_ + "/file", "/proc/self/status"}, [this] { ++heard_; });
    EXPECT_EQ(heard_, 0);
    EXPECT_TRUE(heard(1));
}

// Uses a new mount namespace; skipped without the required privileges.
TEST_F(WatchTest, MountIsReportedWithinSeconds) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            ::_exit(77);
        FileChanges changes;
        changes.add(root_ + "/file");
        const auto before = changes.moment();
        if (!before || changes.wait(-1, 0ms)) ::_exit(1);
        if (::mount("none", root_.c_str(), "tmpfs", 0, nullptr) != 0) ::_exit(77);
        const auto begun = std::chrono::steady_clock::now();
        (void)changes.wait(-1, 60s);  // the notification arrives immediately
        if (std::chrono::steady_clock::now() - begun > 4s) ::_exit(2);
        // Unrelated changes in the parent folders also end a wait.
        while (changes.moment() == before) (void)changes.wait(-1, 60s);
        ::_exit(std::chrono::steady_clock::now() - begun < 10s ? 0 : 3);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(WatchTest, CoalescesChangesInVirtualTime) {
    Simulation world(1, {.reports_file_changes = true});
    int looks = 0;
    {
        const auto watch = world.watch({"/a/file", "/b"}, [&] { ++looks; });
        world.run_for(1h);
        EXPECT_EQ(looks, 0);
        for (const char* other : {"/a/filer", "/a/other", "/bb", "/c"}) world.file_changed(other);
        world.run_for(1h);
        EXPECT_EQ(looks, 0);
        for (const char* path : {"/a/file", "/b/x", "/b/y"}) world.file_changed(path);
        EXPECT_EQ(looks, 0);
        world.run_for(Runtime::kWatchPause);
        EXPECT_EQ(looks, 1);
        world.file_changed("/a");
        world.run_for(1h);
        EXPECT_EQ(looks, 2);
        world.file_changed("/b");
    }
    world.run_for(1h);
    EXPECT_EQ(looks, 2);
    // Without notifications, the watch polls the files.
    Simulation deaf(1);
    const auto watch = deaf.watch({"/a"}, [&] { ++looks; });
    deaf.run_for(Runtime::kLookPause * 3 + 1s);
    EXPECT_EQ(looks, 5);
}

}  // namespace
}  // namespace bunraku::sys
