// SPDX-License-Identifier: Apache-2.0
#include "core/sys/shared_secret.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <set>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/disk.h"

namespace bunraku::sys {
namespace {

class SharedSecretTest : public testing::Test {
protected:
    SharedSecretTest() {
        char name[] = "/tmp/bunraku-secret-XXXXXX";
        folder_ = ::mkdtemp(name);
        path_ = folder_ + "/secret";
    }
    ~SharedSecretTest() override { (void)disk().remove_all(folder_); }

    std::string folder_, path_;
    const std::string one_ = std::string(64, 'a'), other_ = std::string(64, 'b');
};

TEST_F(SharedSecretTest, FirstSecretStays) {
    EXPECT_EQ(shared_secret(path_, one_), one_);
    EXPECT_EQ(shared_secret(path_, other_), one_);
    EXPECT_EQ(disk().stat(path_)->mode, 0600u);
    EXPECT_EQ(disk().list(folder_), std::vector<std::string>{"secret"});
    EXPECT_EQ(shared_secret(path_, ""), "");
    EXPECT_EQ(shared_secret(folder_ + "/none/secret", one_), "");
}

TEST_F(SharedSecretTest, FileWithoutSecretIsFilled) {
    for (const auto& left : {std::string(), one_.substr(0, 10), one_ + "longer"}) {
        ASSERT_TRUE(disk().write(path_, left, 0600));
        EXPECT_EQ(shared_secret(path_, other_), other_) << left.size();
        EXPECT_EQ(disk().read(path_), other_);
        ASSERT_TRUE(disk().remove(path_));
    }
}

TEST_F(SharedSecretTest, ReplacesReadableOrIrregularFiles) {
    ASSERT_TRUE(disk().write(path_, one_, 0600));
    ASSERT_TRUE(disk().set_mode(path_, 0644));
    EXPECT_EQ(shared_secret(path_, other_), other_);
    EXPECT_EQ(disk().stat(path_)->mode, 0600u);

    ASSERT_TRUE(disk().remove(path_));
    ASSERT_TRUE(disk().write(folder_ + "/elsewhere", one_, 0600));
    ASSERT_TRUE(disk().make_link("elsewhere", path_));
    EXPECT_EQ(shared_secret(path_, other_), other_);
    EXPECT_EQ(disk().lstat(path_)->kind, FileKind::File);
    EXPECT_EQ(disk().read(folder_ + "/elsewhere"), one_);

    ASSERT_TRUE(disk().remove(path_));
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    EXPECT_EQ(shared_secret(path_, other_), other_);

    ASSERT_TRUE(disk().remove(path_));
    ASSERT_TRUE(disk().make_directory(path_));
    EXPECT_EQ(shared_secret(path_, other_), "");
}

TEST_F(SharedSecretTest, ConcurrentCallersGetTheSameSecret) {
    for (int round = 0; round < 20; ++round) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        constexpr int kMany = 6;
        for (int i = 0; i < kMany; ++i) {
            if (::fork() != 0) continue;
            const auto got = shared_secret(path_, std::string(64, static_cast<char>('a' + i)));
            ::_exit(::write(ends[1], got.data(), got.size()) == 64 ? 0 : 1);
        }
        ::close(ends[1]);
        std::string all;
        char buffer[64];
        for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
            all.append(buffer, static_cast<std::size_t>(n));
        ::close(ends[0]);
        for (int i = 0; i < kMany; ++i) ::wait(nullptr);
        EXPECT_EQ(all.size(), 64u * kMany);
        EXPECT_EQ(std::set<char>(all.begin(), all.end()).size(), 1u);
        ASSERT_TRUE(disk().remove(path_));
    }
}

// A process that is killed at any time leaves no file except the secret.
TEST_F(SharedSecretTest, KillLeavesNoTemporaryFile) {
    for (int round = 0; round < 40; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            for (;;) {
                (void)shared_secret(path_, one_);
                (void)::unlink(path_.c_str());
            }
        }
        ::usleep(500 + 37 * static_cast<unsigned>(round));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const auto names = disk().list(folder_);
        ASSERT_TRUE(names);
        for (const auto& name : *names) EXPECT_EQ(name, "secret");
        EXPECT_EQ(shared_secret(path_, one_), one_);
    }
}

}  // namespace
}  // namespace bunraku::sys
