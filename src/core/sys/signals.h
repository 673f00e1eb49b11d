// SPDX-License-Identifier: Apache-2.0
// Records signals that ask the program to stop; the program checks them between steps.
#pragma once

#include <signal.h>

namespace bunraku::sys {

/// Makes writing to a closed pipe return an error instead of ending the process.
void ignore_broken_pipes();

/// Does the same for the current thread during its lifetime. For libraries, which must not change
/// the signal handling of the process.
class BrokenPipesAreErrors {
public:
    BrokenPipesAreErrors();
    ~BrokenPipesAreErrors();
    BrokenPipesAreErrors(const BrokenPipesAreErrors&) = delete;
    BrokenPipesAreErrors& operator=(const BrokenPipesAreErrors&) = delete;

private:
    sigset_t before_;
    bool was_pending_;
};

/// Makes SIGINT and SIGTERM (and SIGHUP, with `hangup`) set the flag. Signals that the process was
/// started to ignore (nohup, a shell's &) stay ignored. A second SIGINT ends the process.
void catch_stop_signals(bool hangup = false);
/// Returns the first signal received, or 0.
int stop_signal();
/// Returns the number of signals received.
int stop_signals();
/// Clears the record; for tests and embedders.
void reset_stop_signal();

/// A guard for code that checks the signals continuously. While one exists, the second SIGINT
/// leaves time to end a child and to write a report, and only a third one ends the process.
class StopIsHandled {
public:
    StopIsHandled();
    ~StopIsHandled();
    StopIsHandled(const StopIsHandled&) = delete;
    StopIsHandled& operator=(const StopIsHandled&) = delete;
};

}  // namespace bunraku::sys
