// SPDX-License-Identifier: Apache-2.0
// Runs programs by argument vector, with a time limit that ends the whole process group.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace bunraku::sys {

/// A request about a running program: none, end it (SIGTERM, then SIGKILL if it does not end), or
/// kill it at once.
enum class Stop : std::uint8_t { No, Ask, Kill };

/// A program to run. There is no shell unless argv names one.
struct Command {
    std::vector<std::string> argv;
    /// Search path for an argv[0] without a slash. If empty, the PATH of `environment` or of this
    /// process is used.
    std::string search_path;
    bool inherit_environment = true;
    /// Variables added to the environment, or the whole environment if inherit_environment is
    /// false. A nullopt value removes the variable.
    std::vector<std::pair<std::string, std::optional<std::string>>> environment;
    std::string cwd;  ///< if empty, this process's
    std::optional<std::uint32_t> uid, gid;
    /// for initgroups if uid is set; if this is empty, the only group is gid
    std::string user_name;
    /// the user's primary group, for initgroups; defaults to gid
    std::optional<std::uint32_t> own_gid;
    std::optional<std::uint32_t> umask;
    std::string input;          ///< standard input; if empty, /dev/null
    bool merge_errors = false;  ///< standard error is written to standard output
    bool capture = true;        ///< if false, output is written to /dev/null
    /// For start() only: writes output and errors to this process's standard error.
    bool to_own_errors = false;
    /// Two descriptors that the program receives as 3 and 4; -1 means none. The program inherits no
    /// others beyond the standard streams.
    int channel = -1, second_channel = -1;
    std::optional<std::chrono::milliseconds> timeout;
    std::size_t output_limit = 64 * 1024 * 1024;  ///< further output is dropped
    /// Called repeatedly while the program runs; may be empty. If it is set, a second ^C does not
    /// end this process while the program runs (see catch_stop_signals).
    std::function<Stop()> stop;
};

struct Outcome {
    int status = 0;  ///< exit status, or 128 + signal if a signal ended the program
    int signal = 0;
    bool timed_out = false;
    bool stopped = false;  ///< by Command::stop
    std::string output;    ///< standard output
    std::string errors;    ///< standard error, unless merged
    bool ok() const { return status == 0 && !timed_out; }
};

class Processes {
public:
    virtual ~Processes() = default;
    /// Runs the program to its end. Returns an error only if it could not be started ("No such file
    /// or directory - x", errno in `code`).
    virtual base::Result<Outcome> run(const Command& command) = 0;
    /// Starts the program in the background and returns its pid.
    virtual base::Result<int> start(const Command& command) = 0;
    virtual base::Result<void> kill(int pid, int signal) = 0;
    virtual bool alive(int pid) = 0;
    /// Returns the path of the executable `name` in `search_path` (a colon-separated list; $PATH if
    /// empty). A name with a slash is only checked. Returns nullopt if there is none.
    virtual std::optional<std::string> which(std::string_view name,
                                             std::string_view search_path = {}) = 0;
};

std::unique_ptr<Processes> make_real_processes();

/// Turns this process into a daemon: a new session without terminal, working folder and standard
/// streams. The original process ends. An error means that nothing has changed.
base::Result<void> become_daemon();
/// Runs `action` in a forked copy of this process and waits for it. Returns its result, which is
/// the copy's exit status, or 128 plus the signal number if a signal killed it. Calls `stopping`
/// after each signal; if it returns true, the copy receives one SIGTERM. Only for a process without
/// other threads.
base::Result<int> run_in_copy(const std::function<int()>& action,
                              const std::function<bool()>& stopping);

/// Formats an argument vector for people: "a 'b c'".
std::string shell_text(const std::vector<std::string>& argv);
/// Splits like Ruby's Shellwords (quotes and backslashes, no expansion). Returns an error for
/// unmatched quotes.
base::Result<std::vector<std::string>> shell_split(std::string_view line);

}  // namespace bunraku::sys
