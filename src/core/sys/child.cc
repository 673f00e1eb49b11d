// SPDX-License-Identifier: Apache-2.0
// A child shares its parent's memory until it executes its program, as with posix_spawn. Copying
// the page tables of a large process costs more than most of the programs that it starts.
// posix_spawn itself cannot set owner, groups and umask.
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

#include "core/base/assert.h"

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

/// Runs in the child. Marks all descriptors from `first` on as close-on-exec, so that the program
/// does not inherit a descriptor that a library, or another thread, has not marked yet.
void close_on_exec_from(int first) {
#ifndef CLOSE_RANGE_CLOEXEC
    constexpr unsigned CLOSE_RANGE_CLOEXEC = 1U << 2;
#endif
    if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    // For Linux before 5.11.
    struct rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const int end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 16));
    for (int fd = first; fd < end; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Direct system calls, because the C library's functions would change the ids of all threads of the
// parent.
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
    BUNRAKU_ASSERT(out.size() == texts.size() + 1);
    return out;
}

/// The data that the child needs. It is prepared in the parent, because the child must not
/// allocate.
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

    /// Returns only on an error.
    int exec_program() const {
        ::setpgid(0, 0);
        ::dup2(plan.in, 0);
        ::dup2(plan.out, 1);
        ::dup2(plan.err, 2);
        if (plan.channel >= 0) {
            // If both numbers are the same, dup2 does not clear the close-on-exec flag.
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
        // The folder is changed before the user, because that user may have no access to it.
        if (!plan.cwd.empty() && ::chdir(plan.cwd.c_str()) != 0) return errno;
        if (plan.set_groups && ::syscall(kSetGroups, plan.groups.size(), plan.groups.data()) != 0)
            return errno;
        if (plan.gid && ::syscall(kSetGid, *plan.gid, *plan.gid, *plan.gid) != 0) return errno;
        if (plan.uid && ::syscall(kSetUid, *plan.uid, *plan.uid, *plan.uid) != 0) return errno;
        ::execve(plan.program.c_str(), argv.data(), envp.data());
        // The shell runs a script without an interpreter line, as with execvp.
        if (errno == ENOEXEC) ::execve("/bin/sh", shell_argv.data(), envp.data());
        return errno;
    }
};

#ifdef BUNRAKU_COPIED_CHILD
// Sanitizers do not support a child that shares the parent's memory.
SpawnResult spawn_child(Prepared& prepared) {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) return {-1, errno};
    const pid_t pid = ::fork();
    if (pid == 0) {
        const int above = report[1] > 4 ? report[1] : ::fcntl(report[1], F_DUPFD_CLOEXEC, 5);
        const int error = prepared.exec_program();
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
    prepared.error = prepared.exec_program();
    ::_exit(127);
}

// This thread waits until the child has executed its program or has ended, so the error is known
// afterwards.
SpawnResult spawn_child(Prepared& prepared) {
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
    BUNRAKU_ASSERT(!plan.program.empty() && !plan.arguments.empty());
    BUNRAKU_ASSERT(plan.in >= 0 && plan.out >= 0 && plan.err >= 0);
    BUNRAKU_ASSERT(plan.second_channel < 0 || plan.channel >= 0);
    Prepared prepared(plan);
    // No signal handler of this process may run in the child.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const SpawnResult spawned = spawn_child(prepared);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (spawned.pid > 0 && spawned.error != 0) {
        while (::waitpid(spawned.pid, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    return spawned;
}

}  // namespace bunraku::sys
