// Signals that ask the program to stop are noted, and looked at between steps.
#pragma once

#include <signal.h>

namespace bunraku::sys {

/// Writing to a closed pipe gives an error rather than ending the process silently.
void ignore_broken_pipes();

/// While one lives, the same for this thread alone: what a library needs that may not change how
/// its process takes signals.
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

/// SIGINT and SIGTERM (with `hangup` SIGHUP too) set the flag from now on, but for those that the
/// process was started to ignore (nohup, a shell's &). A second SIGINT ends the process.
void catch_stop_signals(bool hangup = false);
/// The signal that came first, or 0.
int stop_signal();
/// How many came.
int stop_signals();
/// For tests and embedders.
void reset_stop_signal();

/// While one lives, somebody looks at the signals all the time: it takes a third SIGINT to end the
/// process, so that after the second a child can be ended and a report be written.
class StopIsHandled {
public:
    StopIsHandled();
    ~StopIsHandled();
    StopIsHandled(const StopIsHandled&) = delete;
    StopIsHandled& operator=(const StopIsHandled&) = delete;
};

}  // namespace bunraku::sys
