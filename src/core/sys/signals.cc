// SPDX-License-Identifier: Apache-2.0
#include "core/sys/signals.h"

#include <atomic>
#include <cerrno>
#include <ctime>
#include <signal.h>

#include "core/base/assert.h"

namespace bunraku::sys {

namespace {

// A signal handler can access only globals.
std::atomic<int> first{0}, count{0}, handled{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void note_signal(int number) {
    int none = 0;
    first.compare_exchange_strong(none, number);
    const int before = count.fetch_add(1);
    if (number == SIGINT && before > (handled.load() > 0 ? 1 : 0)) {
        ::signal(SIGINT, SIG_DFL);
        ::raise(SIGINT);
    }
}

}  // namespace

void ignore_broken_pipes() { ::signal(SIGPIPE, SIG_IGN); }

namespace {

sigset_t broken_pipe() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

}  // namespace

BrokenPipesAreErrors::BrokenPipesAreErrors() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    const sigset_t pipe = broken_pipe();
    pthread_sigmask(SIG_BLOCK, &pipe, &before_);
}

BrokenPipesAreErrors::~BrokenPipesAreErrors() {
    const int saved_errno = errno;
    // A signal that the write itself caused is pending for this thread. It is consumed before it
    // can be delivered.
    if (!was_pending_) {
        const sigset_t pipe = broken_pipe();
        const timespec at_once{};
        while (sigtimedwait(&pipe, nullptr, &at_once) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = saved_errno;
}

void catch_stop_signals(bool hangup) {
    for (int number : {SIGINT, SIGTERM, SIGHUP}) {
        if (number == SIGHUP && !hangup) continue;
        struct sigaction before{};
        if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        struct sigaction action{};
        action.sa_handler = note_signal;
        ::sigaction(number, &action, nullptr);
    }
}

int stop_signal() { return first.load(); }
int stop_signals() { return count.load(); }
void reset_stop_signal() {
    first = 0;
    count = 0;
}

StopIsHandled::StopIsHandled() { ++handled; }
StopIsHandled::~StopIsHandled() {
    const int before = handled.fetch_sub(1);
    BUNRAKU_ASSERT(before > 0);
}

}  // namespace bunraku::sys
