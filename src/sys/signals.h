// Signals that ask the program to stop are noted, and looked at between steps.
#pragma once

namespace bunraku::sys {

/// Writing to a closed pipe gives an error rather than ending the process silently.
void ignore_broken_pipes();
/// SIGINT and SIGTERM set the flag from now on; a second SIGINT ends the process.
void catch_stop_signals();
/// The signal that came, or 0.
int stop_signal();
/// For tests and embedders.
void reset_stop_signal();

}  // namespace bunraku::sys
