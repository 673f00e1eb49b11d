// A child shares the memory of its parent until its program runs, as with posix_spawn: a copy of
// the tables of a large process costs more than most of the programs that it starts. Owner, groups
// and umask are beyond posix_spawn itself.
#include "core/sys/child.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BUNRAKU_COPIED_CHILD 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BUNRAKU_COPIED_CHILD 1
#endif

namespace bunraku::sys {
namespace {

/// In the child: all descriptors from `first` on end with exec. Whoever forgot to mark one when it
/// was opened (a library, or a thread between opening and marking) is no danger to what runs.
void close_on_exec_from(int first) {
#ifndef CLOSE_RANGE_CLOEXEC
    constexpr unsigned CLOSE_RANGE_CLOEXEC = 1U << 2;
#endif
    if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    // Linux before 5.11.
    struct rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const int end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 16));
    for (int fd = first; fd < end; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// The library's own functions would set the ids of all threads, those of the parent: the kernel is
// asked.
#ifdef SYS_setgroups32
constexpr long kSetGroups = SYS_setgroups32, kSetGid = SYS_setresgid32, kSetUid = SYS_setresuid32;
#else
constexpr long kSetGroups = SYS_setgroups, kSetGid = SYS_setresgid, kSetUid = SYS_setresuid;
#endif

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
}

/// Everything that the child needs, ready before it is there: it may allocate nothing.
struct Prepared {
    const ChildPlan& plan;
    std::vector<char*> argv, envp, shell_argv;
    int error = 0;

    explicit Prepared(const ChildPlan& p)
        : plan(p), argv(pointers(p.arguments)), envp(pointers(p.environment)) {
        static char shell[] = "sh";
        shell_argv = {shell, const_cast<char*>(p.program.c_str())};
        shell_argv.insert(shell_argv.end(), argv.begin() + 1, argv.end());
    }

    /// Comes back only with an error.
    int become() const {
        ::setpgid(0, 0);
        ::dup2(plan.in, 0);
        ::dup2(plan.out, 1);
        ::dup2(plan.err, 2);
        if (plan.channel >= 0) {
            // The same number is a copy that says nothing about exec.
            ::dup2(plan.channel, 3);
            ::fcntl(3, F_SETFD, 0);
            if (plan.second_channel >= 0) ::dup2(plan.second_channel, 4);
        }
        close_on_exec_from(plan.channel < 0 ? 3 : plan.second_channel < 0 ? 4 : 5);
        struct sigaction plain{};
        plain.sa_handler = SIG_DFL;
        for (int s = 1; s < 32; ++s) ::sigaction(s, &plain, nullptr);
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        if (plan.umask) ::umask(*plan.umask);
        // Before the rights change: whoever runs there need not be let in.
        if (!plan.cwd.empty() && ::chdir(plan.cwd.c_str()) != 0) return errno;
        if (plan.set_groups && ::syscall(kSetGroups, plan.groups.size(), plan.groups.data()) != 0)
            return errno;
        if (plan.gid && ::syscall(kSetGid, *plan.gid, *plan.gid, *plan.gid) != 0) return errno;
        if (plan.uid && ::syscall(kSetUid, *plan.uid, *plan.uid, *plan.uid) != 0) return errno;
        ::execve(plan.program.c_str(), argv.data(), envp.data());
        // A script without its first line is for the shell, as execvp has it.
        if (errno == ENOEXEC) ::execve("/bin/sh", shell_argv.data(), envp.data());
        return errno;
    }
};

#ifdef BUNRAKU_COPIED_CHILD
// What watches over memory does not know of a child that shares it.
SpawnResult give_birth(Prepared& prepared) {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) return {-1, errno};
    const pid_t pid = ::fork();
    if (pid == 0) {
        const int above = report[1] > 4 ? report[1] : ::fcntl(report[1], F_DUPFD_CLOEXEC, 5);
        const int error = prepared.become();
        [[maybe_unused]] ssize_t n = ::write(above, &error, sizeof error);
        ::_exit(127);
    }
    SpawnResult spawned{pid, pid < 0 ? errno : 0};
    ::close(report[1]);
    if (pid > 0) {
        int error = 0;
        ssize_t n;
        do n = ::read(report[0], &error, sizeof error);
        while (n < 0 && errno == EINTR);
        if (n == static_cast<ssize_t>(sizeof error)) spawned.error = error;
    }
    ::close(report[0]);
    return spawned;
}
#else
int child_main(void* argument) {
    auto& prepared = *static_cast<Prepared*>(argument);
    prepared.error = prepared.become();
    ::_exit(127);
}

// This thread waits until the child's program runs or the child is gone, and then knows.
SpawnResult give_birth(Prepared& prepared) {
    constexpr std::size_t kStack = 64 * 1024;
    void* stack = ::mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return {-1, errno};
    const int pid = ::clone(child_main, static_cast<char*>(stack) + kStack,
                            CLONE_VM | CLONE_VFORK | SIGCHLD, &prepared);
    const SpawnResult spawned{pid, pid < 0 ? errno : prepared.error};
    ::munmap(stack, kStack);
    return spawned;
}
#endif

}  // namespace

SpawnResult start_child(const ChildPlan& plan) {
    Prepared prepared(plan);
    // No handler of this process may run in the child.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const SpawnResult spawned = give_birth(prepared);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (spawned.pid > 0 && spawned.error != 0) {
        while (::waitpid(spawned.pid, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    return spawned;
}

}  // namespace bunraku::sys
