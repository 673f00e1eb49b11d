#include "sys/signals.h"

#include <atomic>
#include <signal.h>

namespace bunraku::sys {

namespace {

// A signal handler can reach nothing but a global.
std::atomic<int> pending{0};

extern "C" void note_signal(int number) {
    if (pending.exchange(number) != 0 && number == SIGINT) {
        ::signal(SIGINT, SIG_DFL);
        ::raise(SIGINT);
    }
}

}  // namespace

void ignore_broken_pipes() { ::signal(SIGPIPE, SIG_IGN); }

void catch_stop_signals() {
    struct sigaction action{};
    action.sa_handler = note_signal;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() { return pending.load(); }
void reset_stop_signal() { pending = 0; }

}  // namespace bunraku::sys
