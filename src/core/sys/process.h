// Starting programs: by argument vector, with a time limit that ends the whole process group.
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

/// What is to become of a program that runs: nothing; it is asked to end (SIGTERM, and SIGKILL
/// where it does not); it is killed.
enum class Stop : std::uint8_t { No, Ask, Kill };

/// One program to run. There is no shell unless argv names one.
struct Command {
    std::vector<std::string> argv;
    /// Looked up for argv[0] without a slash; empty: the PATH of `environment` or of this process.
    std::string search_path;
    bool inherit_environment = true;
    /// Added to (or, with inherit_environment off, the whole of) the environment. A nullopt value
    /// removes the variable.
    std::vector<std::pair<std::string, std::optional<std::string>>> environment;
    std::string cwd;  ///< empty: this process's
    std::optional<std::uint32_t> uid, gid;
    std::string user_name;  ///< for initgroups when uid is given; empty: groups are just {gid}
    std::optional<std::uint32_t> own_gid;  ///< the user's own group, for initgroups; unset: gid
    std::optional<std::uint32_t> umask;
    std::string input;          ///< standard input; empty: /dev/null
    bool merge_errors = false;  ///< standard error goes where standard output goes
    bool capture = true;        ///< false: output goes to /dev/null
    /// Of started programs (start): output and errors go where this process's errors go.
    bool to_own_errors = false;
    /// A descriptor that the program finds as number 3, and one that it finds as 4 beside that. It
    /// has no others above its standard ones.
    int channel = -1, second_channel = -1;
    std::optional<std::chrono::milliseconds> timeout;
    std::size_t output_limit = 64 * 1024 * 1024;  ///< what comes beyond is dropped
    /// Asked again and again while it runs; unset: nothing stops it. While it is asked, a second ^C
    /// is its business (see catch_stop_signals).
    std::function<Stop()> stop;
};

struct Outcome {
    int status = 0;  ///< exit status; 128 + signal where a signal ended it
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
    /// Runs to the end. An error means that it could not be started ("No such file or directory -
    /// x", errno in `code`).
    virtual base::Result<Outcome> run(const Command& command) = 0;
    /// Starts in the background, without waiting; gives the pid.
    virtual base::Result<int> start(const Command& command) = 0;
    virtual base::Result<void> kill(int pid, int signal) = 0;
    virtual bool alive(int pid) = 0;
    /// The path of an executable file called `name` in `search_path` (colon list; empty: $PATH);
    /// names with a slash are just checked. nullopt: none.
    virtual std::optional<std::string> which(std::string_view name,
                                             std::string_view search_path = {}) = 0;
};

std::unique_ptr<Processes> make_real_processes();

/// This process goes on in a session of its own without terminal, folder and standard streams; the
/// one that was started ends. An error: nothing happened.
base::Result<void> become_daemon();
/// Runs `action` in a copy of this process and waits for it; its result is the copy's exit status,
/// here 128 and the signal's number where it was killed. `stopping` is asked whenever a signal
/// came: true sends the copy one SIGTERM. Only for a process that has no other thread.
base::Result<int> run_in_copy(const std::function<int()>& action,
                              const std::function<bool()>& stopping);

/// "a 'b c'": an argument vector as people read it.
std::string shell_text(const std::vector<std::string>& argv);
/// Splits as Ruby's Shellwords (quotes and backslashes, no expansion); an error for unmatched
/// quotes.
base::Result<std::vector<std::string>> shell_split(std::string_view line);

}  // namespace bunraku::sys
