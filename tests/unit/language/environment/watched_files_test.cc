// SPDX-License-Identifier: Apache-2.0
// Tests that notifications miss nothing: every change of a watched path, made in any way, must
// change the moment number.
#include "language/environment/watched_files.h"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bunraku::environment {
namespace {

namespace fs = std::filesystem;

class WatchedFilesTest : public testing::Test {
protected:
    WatchedFilesTest() {
        // If /tmp does not support notifications, /dev/shm does.
        for (const std::string place : {"/tmp", "/dev/shm"}) {
            std::string name = place + "/watched_files_test_XXXXXX";
            if (!::mkdtemp(name.data())) continue;
            if (!root_.empty()) fs::remove_all(root_);
            root_ = fs::canonical(name).string();
            files_ = watched_files();
            (void)files_->stat(root_);
            if (files_->moment()) break;
        }
    }
    ~WatchedFilesTest() override { fs::remove_all(root_); }
    std::string at(const std::string& path) const { return root_ + "/" + path; }
    void write(const std::string& path, const std::string& text) const {
        std::ofstream(at(path)) << text;
    }

    std::string root_;
    std::shared_ptr<const Files> files_;
};

TEST_F(WatchedFilesTest, IgnoresChangesOfUnreadFiles) {
    fs::create_directories(at("a/b"));
    write("a/b/file", "x");
    fs::create_directories(at("c"));
    EXPECT_TRUE(files_->stat(at("a/b/file")).exists);
    EXPECT_FALSE(files_->stat(at("c/gone/file")).exists);
    const auto moment = files_->moment();
    ASSERT_TRUE(moment);
    write("a/b/other", "x");
    fs::create_directories(at("a/d"));
    write("c/near", "x");
    (void)files_->read(at("a/b/file"));
    (void)files_->list(at("a/b"));
    EXPECT_EQ(files_->moment(), moment);
    fs::create_directories(at("c/gone"));
    EXPECT_NE(files_->moment(), moment);
}

TEST_F(WatchedFilesTest, DetectsEveryKindOfChange) {
    const struct {
        const char* what;
        const char* asked;
        std::function<void()> change;
    } cases[] = {
        {"written", "file", [&] { write("file", "else"); }},
        {"appended", "file", [&] { std::ofstream(at("file"), std::ios::app) << "x"; }},
        {"cut", "file", [&] { fs::resize_file(at("file"), 0); }},
        {"touched", "file",
         [&] { fs::last_write_time(at("file"), fs::file_time_type::clock::now()); }},
        {"replaced", "file", [&] { write("new", "y"), fs::rename(at("new"), at("file")); }},
        {"removed", "file", [&] { fs::remove(at("file")); }},
        {"through another name", "file",
         [&] { std::ofstream(at("elsewhere/same"), std::ios::app) << "x"; }},
        {"through memory", "file",
         [&] {
             const int fd = ::open(at("file").c_str(), O_RDWR);
             auto* bytes =
                 static_cast<char*>(::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
             bytes[0] = 'z';
             ::munmap(bytes, 1);
             ::close(fd);
         }},
        {"the link's file", "link", [&] { write("elsewhere/target", "else"); }},
        {"the link", "link",
         [&] { fs::remove(at("link")), fs::create_symlink("file", at("link")); }},
        {"behind a link to a folder", "way/target", [&] { write("elsewhere/target", "else"); }},
        {"a link on the way", "way/target",
         [&] { fs::remove(at("way")), fs::create_symlink("empty", at("way")); }},
        {"a folder above", "deep/er/file",
         [&] { fs::rename(at("deep"), at("was")), fs::create_directories(at("deep/er")); }},
        {"in the folder", "elsewhere", [&] { write("elsewhere/new", "x"); }},
        {"what a dead link waits for", "dead", [&] { write("nowhere", "x"); }},
        {"where nothing was", "empty/a/b/c", [&] { fs::create_directories(at("empty/a")); }},
        {"up and down", "empty/../file", [&] { write("file", "else"); }},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.what);
        fs::remove_all(root_);
        fs::create_directories(at("elsewhere"));
        fs::create_directories(at("empty"));
        fs::create_directories(at("deep/er"));
        for (const char* file : {"file", "elsewhere/target", "deep/er/file"}) write(file, "text");
        fs::create_hard_link(at("file"), at("elsewhere/same"));
        fs::create_symlink(at("elsewhere/target"), at("link"));
        fs::create_symlink("elsewhere", at("way"));
        fs::create_symlink("nowhere", at("dead"));
        (void)files_->moment();
        (void)files_->stat(at(c.asked));
        const auto moment = files_->moment();
        (void)files_->stat(at(c.asked));
        ASSERT_TRUE(moment);
        EXPECT_EQ(files_->moment(), moment);
        c.change();
        EXPECT_NE(files_->moment(), moment);
    }
}

// The test fails if a folder's content differs but the moment number is the same.
TEST_F(WatchedFilesTest, DetectsRandomChanges) {
    const std::vector<std::string> names = {"a", "b", "c"};
    for (std::uint32_t seed = 1; seed <= 30; ++seed) {
        std::mt19937 rng(seed);
        const auto below = [&](std::size_t n) { return rng() % n; };
        const auto any = [&] {
            std::string out = root_;
            for (std::size_t i = 1 + below(3); i > 0; --i) out += "/" + names[below(names.size())];
            return out;
        };
        fs::remove_all(root_);
        fs::create_directories(root_);
        std::vector<std::string> asked{root_};
        for (int i = 0; i < 8; ++i) asked.push_back(any());
        const auto looks = [&](const Files& files) {
            std::map<std::string, std::string> out;
            for (const auto& path : asked) {
                const auto s = files.stat(path);
                out[path] = fmt::format("{} {} {} {} {}", s.exists, s.directory, s.mtime_ns, s.size,
                                        s.inode);
            }
            return out;
        };
        auto moment = files_->moment();
        auto before = looks(*files_);
        for (int step = 0; step < 60; ++step) {
            std::error_code ignored;
            const auto one = any(), two = any();
            switch (below(9)) {
                case 0: fs::create_directory(one, ignored); break;
                case 1: fs::remove_all(one, ignored); break;
                case 2: std::ofstream(one) << step; break;
                case 3: fs::rename(one, two, ignored); break;
                case 4: fs::create_symlink(two, one, ignored); break;
                case 5: fs::create_symlink(names[below(3)], one, ignored); break;
                case 6: fs::create_hard_link(one, two, ignored); break;
                case 7: fs::create_directories(one, ignored); break;
                default: std::ofstream(one, std::ios::app) << "more"; break;
            }
            const auto now = files_->moment();
            ASSERT_TRUE(now);
            const auto after = looks(*disk_files());
            if (now == moment) {
                ASSERT_EQ(before, after) << "seed " << seed << ", step " << step;
            }
            // Reads the moment before the paths, as every caller must.
            moment = files_->moment();
            before = looks(*files_);
        }
    }
}

TEST_F(WatchedFilesTest, PollsWithoutNotifications) {
    EXPECT_TRUE(files_->moment());
    EXPECT_TRUE(files_->stat("/proc/self/status").exists);
    EXPECT_FALSE(files_->moment());
}

}  // namespace
}  // namespace bunraku::environment
