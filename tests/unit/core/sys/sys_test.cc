// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/sys/lock.h"
#include "core/sys/shared_secret.h"
#include "testing/fake.h"

namespace bunraku::sys {
namespace {

class Scratch {
public:
    Scratch() {
        char name[] = "/tmp/bunraku-sys-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Scratch() { (void)make_real_file_system()->remove_all(path); }
    std::string path;
};

struct Pipe {
    Pipe() {
        if (::pipe(ends) != 0) std::abort();
    }
    ~Pipe() {
        for (int fd : ends) ::close(fd);
    }
    int ends[2];
};

/// Tests the behaviour that the real and the in-memory file system share.
void exercise(FileSystem& fs, const std::string& root) {
    const std::string file = root + "/a/b/f";
    ASSERT_TRUE(fs.make_directories(root + "/a/b"));
    EXPECT_TRUE(fs.make_directories(root + "/a/b"));
    EXPECT_EQ(fs.read(file).error().message, "No such file or directory @ rb_sysopen - " + file);
    EXPECT_EQ(fs.stat(file).error().code, ENOENT);
    ASSERT_TRUE(fs.write(file, "one"));
    ASSERT_TRUE(fs.append(file, "two"));
    EXPECT_EQ(fs.read(file), "onetwo");
    ASSERT_TRUE(fs.replace(file, "three", {.mode = 0640}));
    EXPECT_EQ(fs.stat(file)->mode, 0640u);
    EXPECT_EQ(fs.stat(file)->size, 5u);
    ASSERT_TRUE(fs.make_link("f", root + "/a/b/l"));
    EXPECT_EQ(fs.read(root + "/a/b/l"), "three");
    EXPECT_EQ(fs.lstat(root + "/a/b/l")->kind, FileKind::Link);
    EXPECT_EQ(fs.stat(root + "/a/b/l")->kind, FileKind::File);
    EXPECT_EQ(fs.read_link(root + "/a/b/l"), "f");
    EXPECT_EQ(fs.real_path(root + "/a/b/l"), file);
    EXPECT_EQ(fs.list(root + "/a/b"), (std::vector<std::string>{"f", "l"}));
    ASSERT_TRUE(fs.copy(file, root + "/a/copy", {.mode = 0600}));
    ASSERT_TRUE(fs.rename(root + "/a/copy", root + "/a/moved"));
    EXPECT_EQ(fs.read(root + "/a/moved"), "three");
    EXPECT_EQ(fs.remove_directory(root + "/a").error().code, ENOTEMPTY);
    EXPECT_EQ(fs.make_directory(root + "/a").error().code, EEXIST);
    EXPECT_EQ(fs.list(file).error().code, ENOTDIR);
    ASSERT_TRUE(fs.set_mode(file, 0755));
    EXPECT_TRUE(fs.access(file, 1));
    ASSERT_TRUE(fs.set_mtime(file, 1'500'000'000'000'000'000));
    EXPECT_EQ(fs.stat(file)->mtime_ns, 1'500'000'000'000'000'000);
    // Removing a link never removes its target.
    ASSERT_TRUE(fs.make_directories(root + "/kept"));
    ASSERT_TRUE(fs.make_link(root + "/kept", root + "/a/out"));
    ASSERT_TRUE(fs.remove_all(root + "/a"));
    EXPECT_TRUE(fs.remove_all(root + "/a"));
    EXPECT_FALSE(fs.exists(root + "/a"));
    EXPECT_TRUE(fs.is_directory(root + "/kept"));
}

TEST(PlaceSecret, SecondCallerGetsAnError) {
    const Scratch scratch;
    const std::string path = scratch.path + "/secret";
    EXPECT_EQ(secret_path(path, "one"), 0);
    EXPECT_EQ(secret_path(path, "other"), EEXIST);
    EXPECT_EQ(*make_real_file_system()->read(path), "one");
    EXPECT_EQ(secret_path(path, "other", {.replace = true}), 0);
    EXPECT_EQ(*make_real_file_system()->read(path), "other");
    EXPECT_EQ(secret_path(scratch.path + "/nowhere/secret", "x"), ENOENT);
    // The temporary file was removed.
    EXPECT_EQ(make_real_file_system()->list(scratch.path)->size(), 1U);
}

TEST(FileSystem, Real) {
    Scratch scratch;
    exercise(*make_real_file_system(), scratch.path);
}
TEST(FileSystem, Memory) {
    MemoryFileSystem fs;
    ASSERT_TRUE(fs.make_directories("/tmp/x"));
    exercise(fs, "/tmp/x");
    ASSERT_TRUE(fs.make_link("/loop", "/loop"));
    EXPECT_EQ(fs.read("/loop").error().code, ELOOP);
    fs.fail_after(1, ENOSPC);
    EXPECT_TRUE(fs.write("/one", "", 0644));
    EXPECT_EQ(fs.write("/two", "", 0644).error().code, ENOSPC);
    EXPECT_TRUE(fs.write("/two", "", 0644));
}

TEST(FileSystem, InaccessibleFileIsNotAbsent) {
    MemoryFileSystem fs;
    fs.put("/etc/file", "text");
    ASSERT_TRUE(fs.make_link("/loop", "/loop"));
    EXPECT_EQ(fs.there("/etc/file").value_or(false), true);
    EXPECT_EQ(fs.read_if_there("/etc/file").value_or(std::nullopt), "text");
    for (const char* path : {"/none", "/etc/file/below", "/loop"}) {
        EXPECT_EQ(fs.there(path).value_or(true), false) << path;
    }
    EXPECT_EQ(fs.read_if_there("/none").value_or("x"), std::nullopt);
    for (int error : {EACCES, EIO, EMFILE}) {
        fs.fail_calls(0, error);
        EXPECT_EQ(fs.there("/etc/file").error().code, error);
        fs.fail_calls(0, error);
        EXPECT_EQ(fs.read_if_there("/etc/file").error().code, error);
        fs.fail_calls(0, error);
        EXPECT_EQ(fs.look("/none").error().code, error);
    }
}

TEST(Paths, MatchesRubyFile) {
    EXPECT_EQ(base_name("/a/b"), "b");
    EXPECT_EQ(base_name("/a/b/"), "b");
    EXPECT_EQ(base_name("/"), "/");
    EXPECT_EQ(directory_name("/a/b"), "/a");
    EXPECT_EQ(directory_name("/a"), "/");
    EXPECT_EQ(directory_name("a"), ".");
    EXPECT_EQ(directory_name("/a//b/"), "/a");
    EXPECT_EQ(join("/a", "b"), "/a/b");
    EXPECT_EQ(join("/", "b"), "/b");
    EXPECT_EQ(join("/a", "/b"), "/b");
    EXPECT_EQ(expand_path("/a/../b/./c//d/"), "/b/c/d");
    EXPECT_EQ(expand_path("../x", "/a/b"), "/a/x");
    EXPECT_EQ(expand_path("/../.."), "/");
}

TEST(Processes, ReturnOutputAndStatus) {
    auto p = make_real_processes();
    auto sh = [&](const char* script) { return Command{.argv = {"sh", "-c", script}}; };
    auto r = p->run(sh("echo out; echo err >&2; exit 3"));
    ASSERT_TRUE(r.has_value());
    EXPECT_EQ(r->status, 3);
    EXPECT_EQ(r->output, "out\n");
    EXPECT_EQ(r->errors, "err\n");

    // No shell reads the arguments.
    const std::string odd = "$(id); `id` | x";
    EXPECT_EQ(p->run({.argv = {"printf", "%s", odd}})->output, odd);

    Command merged = sh("echo a; echo b >&2");
    merged.merge_errors = true;
    EXPECT_EQ(p->run(merged)->output, "a\nb\n");

    Command input{.argv = {"cat"}};
    input.input = std::string(300'000, 'x');
    EXPECT_EQ(p->run(input)->output, input.input);
    // The command does not read its input, and SIGPIPE is not ignored.
    Command deaf{.argv = {"true"}};
    deaf.input = std::string(1'000'000, 'x');
    EXPECT_TRUE(p->run(deaf)->ok());

    Command environment = sh("echo $A-$B-$HOME; pwd; umask");
    environment.environment = {{"A", "1"}, {"B", "2"}, {"A", "3"}, {"HOME", std::nullopt}};
    environment.cwd = "/";
    environment.umask = 027;
    EXPECT_EQ(p->run(environment)->output, "3-2-\n/\n0027\n");

    Command slow = sh("echo begun; sleep 30 & sleep 30");
    slow.timeout = std::chrono::milliseconds(300);
    auto timed = p->run(slow);
    EXPECT_TRUE(timed->timed_out);
    EXPECT_EQ(timed->output, "begun\n");
    EXPECT_EQ(timed->signal, SIGKILL);

    Command quiet = sh("exec >&- 2>&-; sleep 30");
    quiet.timeout = std::chrono::milliseconds(200);
    EXPECT_TRUE(p->run(quiet)->timed_out);

    // A daemon that keeps the pipe open does not delay the caller.
    EXPECT_EQ(p->run(sh("sleep 20 & echo done"))->output, "done\n");

    EXPECT_EQ(p->run(sh("kill -TERM $$"))->status, 128 + SIGTERM);
    Command none{.argv = {"/no/such/program"}};
    EXPECT_EQ(p->run(none).error().message, "No such file or directory - /no/such/program");
    EXPECT_EQ(p->run({.argv = {"no-such-program-x"}}).error().code, ENOENT);
    Command nowhere{.argv = {"true"}};
    nowhere.cwd = "/no/such/dir";
    EXPECT_EQ(p->run(nowhere).error().code, ENOENT);
    EXPECT_FALSE(p->run({}).has_value());

    Command limited = sh("head -c 100000 /dev/zero");
    limited.output_limit = 10;
    EXPECT_EQ(p->run(limited)->output.size(), 10u);

    EXPECT_EQ(p->which("sh", "/nonexistent:/bin"), "/bin/sh");
    EXPECT_FALSE(p->which("no-such-program-x").has_value());
    EXPECT_FALSE(p->which("/etc/passwd").has_value());
}

TEST(Processes, ChildrenInheritNothingButTheirStreams) {
    // Without O_CLOEXEC, as a library may open it.
    int leaking = ::open("/dev/null", O_RDONLY);
    ASSERT_GE(leaking, 0);
    auto p = make_real_processes();
    // Tests each file descriptor separately, because listing a folder opens a descriptor too.
    auto list = [](const char* where) {
        return std::string(
                   "cat >/dev/null; i=0; while [ $i -lt 100 ]; do [ -e /proc/$$/fd/$i ] && "
                   "echo $i >&") +
               where + "; i=$((i+1)); done; exit 0";
    };
    for (bool merged : {false, true}) {
        for (bool with_input : {false, true}) {
            Command c{.argv = {"sh", "-c", list("1")}};
            c.merge_errors = merged;
            c.input = with_input ? "x" : "";
            auto r = p->run(c);
            ASSERT_TRUE(r.has_value());
            EXPECT_EQ(r->output, "0\n1\n2\n");
        }
    }
    // A child process can get a channel, whatever its descriptor number is in the parent.
    for (int number : {0, 3, 40}) {
        Pipe line;
        int fd = line.ends[1];
        if (number == 3 && leaking == 3) fd = ::dup2(fd, 3);
        if (number == 40) fd = ::fcntl(fd, F_DUPFD_CLOEXEC, 40);
        Command started{.argv = {"sh", "-c", list("3")}};
        started.channel = fd;
        auto pid = p->start(started);
        ASSERT_TRUE(pid.has_value());
        ::waitpid(*pid, nullptr, 0);
        char text[200] = {};
        ASSERT_GT(::read(line.ends[0], text, sizeof text - 1), 0);
        EXPECT_EQ(std::string(text), "0\n1\n2\n3\n");
        if (fd != line.ends[1]) ::close(fd);
    }
    if (leaking != 3) ::close(leaking);
}

TEST(Processes, StandardStreamsThatAreClosedHere) {
    // A daemon may start this process without standard streams. Then pipes get the descriptors 0
    // to 2.
    pid_t child = ::fork();
    if (child == 0) {
        for (int fd = 0; fd < 3; ++fd) ::close(fd);
        Command c{.argv = {"sh", "-c", "cat; echo err >&2; exit 7"}};
        c.input = "in";
        auto r = make_real_processes()->run(c);
        ::_exit(r && r->output == "in" && r->errors == "err\n" && r->status == 7 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(Processes, Words) {
    EXPECT_EQ(shell_text({"a", "b c", "it's", ""}), "a 'b c' 'it'\\''s' ''");
    EXPECT_EQ(shell_split("a 'b c' \"d\\\"e\" f\\ g ''"),
              (std::vector<std::string>{"a", "b c", "d\"e", "f g", ""}));
    EXPECT_EQ(shell_split("a 'b").error().message, "Unmatched quote: 'b");
}

TEST(Clock, Texts) {
    EXPECT_EQ(iso8601_utc(1'700'000'000'123'456'789), "2023-11-14T22:13:20.123456789Z");
    EXPECT_EQ(iso8601_utc(-1, 3), "1969-12-31T23:59:59.999Z");
    EXPECT_EQ(iso8601_utc(0, 0), "1970-01-01T00:00:00Z");
}

TEST(Users, Real) {
    auto users = make_real_users();
    EXPECT_EQ(users->user("root")->uid, 0u);
    EXPECT_EQ(users->user(0u)->name, "root");
    EXPECT_EQ(users->group(0u)->name, "root");
    EXPECT_FALSE(users->user("no-such-user-x").has_value());
    EXPECT_FALSE(users->all_users().empty());
}

TEST(Locks, OneAtATime) {
    Scratch scratch;
    const std::string path = scratch.path + "/lock";
    {
        auto first = FileLock::acquire(path);
        ASSERT_TRUE(first.has_value());
        EXPECT_EQ(FileLock::try_acquire(path).error().code, EWOULDBLOCK);
    }
    EXPECT_TRUE(FileLock::try_acquire(path).has_value());

    PidLock pid(scratch.path + "/pid"), other(scratch.path + "/pid");
    EXPECT_TRUE(*pid.acquire());
    EXPECT_EQ(other.owner(), ::getpid());
    EXPECT_FALSE(*other.acquire());
    pid.release();
    // The lock file of a process that has ended or had the same process ID. In a container, every
    // start has the same process ID.
    for (const std::string& left : {std::string("999999999"), std::to_string(::getpid()),
                                    std::to_string(::getppid()), std::string("1"), std::string()}) {
        ASSERT_TRUE(make_real_file_system()->write(scratch.path + "/pid", left));
        PidLock next(scratch.path + "/pid");
        EXPECT_TRUE(*next.acquire()) << left;
        EXPECT_EQ(next.owner(), ::getpid());
        EXPECT_FALSE(*other.acquire());
    }
    EXPECT_EQ(PidLock("/nowhere/pid").acquire().error().code, ENOENT);
}

TEST(Locks, PidLockOfKilledProcessIsFree) {
    Scratch scratch;
    const std::string path = scratch.path + "/pid";
    Pipe ready;
    pid_t child = ::fork();
    if (child == 0) {
        PidLock lock(path);
        char held = lock.acquire().value_or(false) ? 'y' : 'n';
        (void)!::write(ready.ends[1], &held, 1);
        for (;;) ::pause();
    }
    char held = 0;
    ASSERT_EQ(::read(ready.ends[0], &held, 1), 1);
    EXPECT_EQ(held, 'y');
    PidLock lock(path);
    EXPECT_FALSE(*lock.acquire());
    EXPECT_EQ(lock.owner(), child);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(lock.owner(), child);
    EXPECT_TRUE(*lock.acquire());
    EXPECT_EQ(lock.owner(), ::getpid());
}

TEST(Locks, PidLockHasOneOwnerUnderContention) {
    Scratch scratch;
    const std::string path = scratch.path + "/pid";
    std::atomic<int> inside{0}, most{0}, times{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 300; ++i) {
                PidLock lock(path);
                if (!lock.acquire().value_or(false)) continue;
                most = std::max(most.load(), ++inside);
                ++times;
                std::this_thread::yield();
                --inside;
            }
        });
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(most, 1);
    EXPECT_GT(times, 0);
}

TEST(FakeProcesses, LongestRuleWins) {
    FakeProcesses p;
    p.answer("dpkg", Outcome{.status = 1});
    p.answer("dpkg -l", Outcome{.output = "list"});
    EXPECT_EQ(p.run({.argv = {"dpkg", "-l", "x"}})->output, "list");
    EXPECT_EQ(p.run({.argv = {"dpkg", "-i"}})->status, 1);
    EXPECT_FALSE(p.run({.argv = {"other"}}).has_value());
    EXPECT_EQ(p.texts().size(), 3u);
}

}  // namespace
}  // namespace bunraku::sys
