#include "sys/signals.h"

#include <atomic>
#include <signal.h>

namespace bunraku::sys {

namespace {

// A signal handler can reach nothing but globals.
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
StopIsHandled::~StopIsHandled() { --handled; }

}  // namespace bunraku::sys
