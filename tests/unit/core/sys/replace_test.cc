// SPDX-License-Identifier: Apache-2.0
// Tests replacing files and stopping programs, on the real machine.
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/sys/file_system.h"
#include "core/sys/process.h"
#include "core/sys/signals.h"

namespace bunraku::sys {
namespace {

struct Folder {
    std::string path = (std::filesystem::temp_directory_path() / "replace-XXXXXX").string();
    Folder() { EXPECT_NE(::mkdtemp(path.data()), nullptr); }
    ~Folder() { std::filesystem::remove_all(path); }
};

TEST(Replace, SynchronizesAFolder) {
    Folder folder;
    auto files = make_real_file_system();
    ASSERT_TRUE(files->replace_link("target", folder.path + "/link"));
    EXPECT_TRUE(files->sync_directory(folder.path));
    const auto missing = files->sync_directory(folder.path + "/none");
    ASSERT_FALSE(missing);
    EXPECT_TRUE(missing.error().message.starts_with("No such file or directory"))
        << missing.error().message;
    EXPECT_FALSE(files->sync_directory(folder.path + "/link"));
}

TEST(Replace, FailureLeavesNoTemporaryFile) {
    Folder folder;
    auto files = make_real_file_system();
    const std::string path = folder.path + "/a";
    ASSERT_TRUE(files->write(path, "old"));
    auto failed = files->replace_from(path, [](const Write& write) -> Result<void> {
        EXPECT_TRUE(write("half"));
        return base::failure("no more");
    });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "no more");
    EXPECT_THROW((void)files->replace_from(path,
                                           [](const Write& write) -> Result<void> {
                                               EXPECT_TRUE(write("half"));
                                               throw std::runtime_error("worse");
                                           }),
                 std::runtime_error);
    EXPECT_EQ(files->list(folder.path).value(), std::vector<std::string>{"a"});
    EXPECT_EQ(files->read(path).value(), "old");
}

TEST(Replace, ReadsFilesInPieces) {
    Folder folder;
    auto files = make_real_file_system();
    const std::string text(1'000'000, 'x');
    ASSERT_TRUE(files->write(folder.path + "/a", text));
    auto reader = files->open(folder.path + "/a");
    ASSERT_TRUE(reader);
    std::size_t pieces = 0;
    std::string all;
    ASSERT_TRUE(pump(**reader, [&](std::string_view part) -> Result<void> {
        ++pieces;
        all += part;
        return {};
    }));
    EXPECT_EQ(all, text);
    EXPECT_GT(pieces, 10u);
    ASSERT_TRUE(files->copy(folder.path + "/a", folder.path + "/b", {.mode = 0640}));
    EXPECT_EQ(files->read(folder.path + "/b").value(), text);
    EXPECT_EQ(files->stat(folder.path + "/b")->mode, 0640u);
}

// The umask belongs to the whole process. Reading it by setting it would make files that other
// threads create writable for all users.
TEST(Replace, LeavesTheUmaskAlone) {
    Folder folder;
    auto files = make_real_file_system();
    const mode_t before = ::umask(027);
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) (void)files->replace(folder.path + "/a", "text");
    });
    int wrong = 0;
    for (int i = 0; i < 3000; ++i) {
        const std::string path = folder.path + "/b";
        ::unlink(path.c_str());
        const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
        struct ::stat st{};
        if (fd < 0 || ::fstat(fd, &st) != 0 || (st.st_mode & 0777) != 0640) ++wrong;
        ::close(fd);
    }
    done = true;
    other.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(files->stat(folder.path + "/a")->mode, 0640u);
    ::umask(before);
}

TEST(StopProgram, IsTerminatedAndThenKilled) {
    struct Case {
        std::string script;
        Stop how;
        int signal;
    };
    for (const Case& c :
         {Case{"sleep 60", Stop::Ask, SIGTERM}, Case{"trap '' TERM; sleep 60", Stop::Kill, SIGKILL},
          Case{"exec >/dev/null 2>&1; sleep 60", Stop::Ask, SIGTERM}}) {
        Command command{.argv = {"/bin/sh", "-c", c.script}};
        const auto begin = std::chrono::steady_clock::now();
        command.stop = [&] {
            const auto past = std::chrono::steady_clock::now() - begin;
            return past > std::chrono::milliseconds(200) ? c.how : Stop::No;
        };
        auto outcome = make_real_processes()->run(command);
        ASSERT_TRUE(outcome);
        EXPECT_TRUE(outcome->stopped) << c.script;
        EXPECT_EQ(outcome->signal, c.signal) << c.script;
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    }
}

// Runs `child` in a child process. Returns its exit status, or the negative number of the signal
// that ended it.
int exit_of_child(const std::function<void()>& child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        child();
        ::_exit(7);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(StopSignals, SecondSignalEndsTheProcess) {
    EXPECT_EQ(exit_of_child([] {
                  catch_stop_signals();
                  ::raise(SIGINT);
                  if (stop_signal() != SIGINT || stop_signals() != 1) ::_exit(1);
                  ::raise(SIGINT);
              }),
              -SIGINT);
    EXPECT_EQ(exit_of_child([] {
                  catch_stop_signals();
                  StopIsHandled handled;
                  ::raise(SIGTERM);
                  ::raise(SIGINT);
                  if (stop_signal() != SIGTERM || stop_signals() != 2) ::_exit(1);
                  ::raise(SIGINT);
              }),
              -SIGINT);
}

TEST(StopSignals, IgnoredSignalsStayIgnored) {
    EXPECT_EQ(exit_of_child([] {
                  ::signal(SIGHUP, SIG_IGN);
                  catch_stop_signals(true);
                  ::raise(SIGHUP);
                  if (stop_signal() != 0) ::_exit(1);
              }),
              7);
    EXPECT_EQ(exit_of_child([] {
                  catch_stop_signals(true);
                  ::raise(SIGHUP);
                  if (stop_signal() != SIGHUP) ::_exit(1);
              }),
              7);
    EXPECT_EQ(exit_of_child([] {
                  catch_stop_signals();
                  ::raise(SIGHUP);
              }),
              -SIGHUP);
}

}  // namespace
}  // namespace bunraku::sys
