// SPDX-License-Identifier: Apache-2.0
// Runs programs: their environment, input and output, and time limits.
#include "core/sys/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/uninitialized.h"
#include "core/sys/child.h"
#include "core/sys/descriptor.h"
#include "core/sys/file_system.h"
#include "core/sys/signals.h"

extern char** environ;

namespace bunraku::sys {

namespace {

std::string error_text(int error) {
    std::array<char, 128> buffer{};
    return strerror_r(error, buffer.data(), buffer.size());
}

/// Moves the descriptor above those that a child sets (0 to 4). It may be one of them if this
/// process was started with some of them closed. Returns -1 if no descriptor is free.
int above_the_childs(int fd) {
    if (fd < 0 || fd > 4) return fd;
    int higher = ::fcntl(fd, F_DUPFD_CLOEXEC, 5);
    ::close(fd);
    return higher;
}

struct Pipe {
    int read_end = -1, write_end = -1;
    bool open() {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC) != 0) return false;
        read_end = above_the_childs(fds[0]);
        write_end = above_the_childs(fds[1]);
        return read_end >= 0 && write_end >= 0;
    }
    void close_read() {
        if (read_end >= 0) ::close(read_end);
        read_end = -1;
    }
    void close_write() {
        if (write_end >= 0) ::close(write_end);
        write_end = -1;
    }
    ~Pipe() {
        close_read();
        close_write();
    }
};

std::vector<std::string> environment_of(const Command& command) {
    std::vector<std::string> out;
    auto overridden = [&](std::string_view entry) {
        std::string_view name = entry.substr(0, entry.find('='));
        for (const auto& [key, value] : command.environment) {
            if (key == name) return true;
        }
        return false;
    };
    if (command.inherit_environment) {
        for (char** e = environ; *e; ++e) {
            if (!overridden(*e)) out.emplace_back(*e);
        }
    }
    for (std::size_t i = 0; i < command.environment.size(); ++i) {
        const auto& [key, value] = command.environment[i];
        bool later = false;  // the last of several entries wins
        for (std::size_t k = i + 1; k < command.environment.size(); ++k) {
            later = later || command.environment[k].first == key;
        }
        if (value && !later) out.push_back(key + "=" + *value);
    }
    return out;
}

/// Destinations of a child's stream other than a descriptor.
constexpr int kToNull = -1, kToOutput = -2, kToOwnErrors = -3;

class RealProcesses final : public Processes {
public:
    base::Result<Outcome> run(const Command& command) override {
        Pipe in, out, err;
        if (!out.open() || (!command.input.empty() && !in.open()) ||
            (!command.merge_errors && !err.open())) {
            return base::failure(error_text(errno), errno);
        }
        const int child =
            BUNRAKU_TRY(spawn(command, in.read_end, command.capture ? out.write_end : kToNull,
                              command.merge_errors ? kToOutput
                              : command.capture    ? err.write_end
                                                   : kToNull));
        BUNRAKU_ASSERT(child > 0);
        in.close_read();
        out.close_write();
        err.close_write();
        Outcome outcome;
        exchange(command, child, in, out, err, outcome);
        return outcome;
    }

    base::Result<int> start(const Command& command) override {
        const int output = command.to_own_errors ? kToOwnErrors : kToNull;
        return spawn(command, kToNull, output, output);
    }

    base::Result<void> kill(int pid, int signal) override {
        if (pid <= 0) return base::failure("Invalid argument", EINVAL);
        if (::kill(pid, signal) != 0) return base::failure(error_text(errno), errno);
        return {};
    }
    bool alive(int pid) override { return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM); }

    std::optional<std::string> which(std::string_view name, std::string_view path) override {
        if (name.empty()) return std::nullopt;
        if (name.find('/') != std::string_view::npos) {
            std::string file(name);
            return executable(file) ? std::optional(file) : std::nullopt;
        }
        std::string_view rest = path;
        if (rest.empty()) {
            const char* own = std::getenv("PATH");
            rest = own ? own : "/usr/local/bin:/usr/bin:/bin";
        }
        while (true) {
            std::size_t colon = rest.find(':');
            std::string candidate = join(rest.substr(0, colon), name);
            if (colon != 0 && executable(candidate)) return candidate;
            if (colon == std::string_view::npos) return std::nullopt;
            rest = rest.substr(colon + 1);
        }
    }

private:
    static bool executable(const std::string& path) {
        struct ::stat st{};
        return retrying([&] { return ::stat(path.c_str(), &st); }) == 0 && S_ISREG(st.st_mode) &&
               retrying([&] { return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS); }) == 0;
    }

    /// Prepares the plan, except for its descriptors.
    base::Result<ChildPlan> prepare(const Command& command) {
        ChildPlan p;
        if (command.argv.empty()) return base::failure("No such file or directory", ENOENT);
        p.environment = environment_of(command);
        std::string path = command.search_path;
        if (path.empty()) {
            for (const std::string& e : p.environment) {
                if (e.starts_with("PATH=")) path = e.substr(5);
            }
        }
        std::string name = command.argv[0];
        // A path with a slash is relative to the program's working folder.
        if (name.find('/') == std::string::npos) {
            auto found = which(name, path);
            if (!found) {
                return base::failure(fmt::format("No such file or directory - {}", name), ENOENT);
            }
            name = *found;
        }
        p.program = std::move(name);
        p.arguments = command.argv;
        p.cwd = command.cwd;
        p.uid = command.uid;
        p.gid = command.gid;
        p.umask = command.umask;
        p.channel = command.channel;
        if (command.uid && !command.user_name.empty()) {
            int count = 64;
            p.groups.resize(64);
            gid_t primary = command.own_gid.value_or(command.gid.value_or(0));
            if (::getgrouplist(command.user_name.c_str(), primary, p.groups.data(), &count) < 0) {
                p.groups.resize(static_cast<std::size_t>(count));
                ::getgrouplist(command.user_name.c_str(), primary, p.groups.data(), &count);
            }
            p.groups.resize(static_cast<std::size_t>(count));
            p.set_groups = true;
        } else if (command.gid) {
            p.groups = {*command.gid};
            p.set_groups = ::geteuid() == 0;
        }
        return p;
    }

    /// kToOutput is only valid for `err`.
    base::Result<int> spawn(const Command& command, int in, int out, int err) {
        BUNRAKU_ASSERT(in >= kToNull && out != kToOutput);
        ChildPlan p = BUNRAKU_TRY(prepare(command));
        int null_fd =
            above_the_childs(retrying([] { return ::open("/dev/null", O_RDWR | O_CLOEXEC); }));
        if (null_fd < 0) return base::failure(error_text(errno), errno);
        const Descriptor second(
            command.second_channel >= 0 ? ::fcntl(command.second_channel, F_DUPFD_CLOEXEC, 5) : -1);
        if (command.second_channel >= 0 && !second.good()) {
            const int error = errno;
            ::close(null_fd);
            return base::failure(error_text(error), error);
        }
        p.second_channel = second.get();
        p.in = in >= 0 ? in : null_fd;
        p.out = out >= 0 ? out : out == kToOwnErrors ? 2 : null_fd;
        p.err = err == kToOwnErrors ? 2 : err == kToOutput ? 1 : err >= 0 ? err : null_fd;
        BUNRAKU_ASSERT(p.in > 4 && p.out >= 2 && p.err >= 1);
        BUNRAKU_ASSERT(!p.arguments.empty());
        const SpawnResult spawned = start_child(p);
        ::close(null_fd);
        if (spawned.pid < 0) return base::failure(error_text(spawned.error), spawned.error);
        if (spawned.error != 0) {
            return base::failure(fmt::format("{} - {}", error_text(spawned.error), command.argv[0]),
                                 spawned.error);
        }
        return spawned.pid;
    }

    static void take(int fd, std::string& into, std::size_t limit, bool* open) {
        std::array<char, 65536> buffer BUNRAKU_UNINITIALIZED;
        ssize_t n = ::read(fd, buffer.data(), buffer.size());
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (n <= 0) {
            *open = false;
            return;
        }
        std::size_t space = limit > into.size() ? limit - into.size() : 0;
        into.append(buffer.data(), std::min(space, static_cast<std::size_t>(n)));
        BUNRAKU_ASSERT(limit == 0 || into.size() <= limit);
    }

    static void finish(int pid, Outcome& outcome) {
        BUNRAKU_ASSERT(pid > 1);
        int status = 0;
        while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        set_status(status, outcome);
    }
    static void set_status(int status, Outcome& outcome) {
        if (WIFSIGNALED(status)) {
            outcome.signal = WTERMSIG(status);
            outcome.status = 128 + outcome.signal;
        } else {
            outcome.status = WEXITSTATUS(status);
        }
    }

    /// Ends a program's whole process group on request.
    class Stopper {
    public:
        Stopper(const Command& command, int pid) : command_(command), pid_(pid) {
            // kill() with -1 or 0 would reach other processes.
            BUNRAKU_ALWAYS_ASSERT(pid > 1);
            if (command.stop) watch_.emplace();
        }
        /// Returns true if it has just killed the group.
        bool check_stop(Outcome& outcome) {
            if (!command_.stop) return false;
            const Stop what = command_.stop();
            if (what == Stop::No) return false;
            outcome.stopped = true;
            const auto now = std::chrono::steady_clock::now();
            if (what == Stop::Kill || (asked_ && now - *asked_ >= kGrace)) {
                ::kill(-pid_, SIGKILL);
                return true;
            }
            if (!asked_) ::kill(-pid_, SIGTERM);
            if (!asked_) asked_ = now;
            return false;
        }

    private:
        static constexpr std::chrono::seconds kGrace{5};
        const Command& command_;
        int pid_;
        std::optional<std::chrono::steady_clock::time_point> asked_;
        std::optional<StopIsHandled> watch_;
    };

    /// Writes the rest of the program's input as far as the pipe takes it. Closes the pipe at the
    /// end of the input, or if the program no longer reads it.
    static void feed(Pipe& in, const std::string& input, std::size_t& sent) {
        const BrokenPipesAreErrors guard;
        BUNRAKU_ASSERT(sent < input.size());
        const ssize_t n = ::write(in.write_end, input.data() + sent, input.size() - sent);
        if (n > 0) sent += static_cast<std::size_t>(n);
        BUNRAKU_ASSERT(sent <= input.size());
        const bool over = n < 0 && errno != EINTR && errno != EAGAIN;
        if (over || sent == input.size()) in.close_write();
    }

    /// Waits until the program ends. Returns false if it must be killed or has just been killed.
    static bool await_exit(int pid, Stopper& stopper,
                           std::optional<std::chrono::steady_clock::time_point> deadline,
                           Outcome& outcome) {
        while (true) {
            int status = 0;
            if (::waitpid(pid, &status, WNOHANG) == pid) {
                set_status(status, outcome);
                return true;
            }
            if (stopper.check_stop(outcome)) return false;
            if (deadline && std::chrono::steady_clock::now() >= *deadline) {
                outcome.timed_out = true;
                ::kill(-pid, SIGKILL);
                return false;
            }
            ::usleep(1000);
        }
    }

    static void exchange(const Command& command, int pid, Pipe& in, Pipe& out, Pipe& err,
                         Outcome& outcome) {
        using Clock = std::chrono::steady_clock;
        const bool limited = command.timeout.has_value();
        const auto deadline =
            Clock::now() + (limited ? *command.timeout : std::chrono::milliseconds(0));
        std::size_t sent = 0;
        bool out_open = out.read_end >= 0, err_open = err.read_end >= 0;
        bool exited = false;
        Clock::time_point drain_until;
        if (in.write_end >= 0) ::fcntl(in.write_end, F_SETFL, O_NONBLOCK);
        Stopper stopper(command, pid);
        while (out_open || err_open) {
            if (!exited && stopper.check_stop(outcome)) break;
            if (limited && !outcome.timed_out && Clock::now() >= deadline) {
                outcome.timed_out = true;
                ::kill(-pid, SIGKILL);
                break;
            }
            // A background child may hold the pipes open. After the program has exited, wait only
            // as long as its remaining output needs.
            if (exited && Clock::now() >= drain_until) break;
            pollfd fds[3];
            nfds_t count = 0;
            int out_at = -1, err_at = -1, in_at = -1;
            auto add = [&](int fd, short events) {
                fds[count] = {fd, events, 0};
                return static_cast<int>(count++);
            };
            if (out_open) out_at = add(out.read_end, POLLIN);
            if (err_open) err_at = add(err.read_end, POLLIN);
            if (in.write_end >= 0) in_at = add(in.write_end, POLLOUT);
            BUNRAKU_ASSERT(count > 0 && count <= std::size(fds));
            int wait_ms = 50;
            if (limited) {
                auto left =
                    std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
                wait_ms = static_cast<int>(std::clamp<long>(left.count() + 1, 0, wait_ms));
            }
            int ready = ::poll(fds, count, wait_ms);
            if (ready > 0) {
                if (out_at >= 0 && fds[out_at].revents) {
                    take(out.read_end, outcome.output, command.output_limit, &out_open);
                }
                if (err_at >= 0 && fds[err_at].revents) {
                    take(err.read_end, outcome.errors, command.output_limit, &err_open);
                }
                if (in_at >= 0 && fds[in_at].revents) {
                    feed(in, command.input, sent);
                }
                continue;
            }
            if (!exited) {
                int status = 0;
                if (::waitpid(pid, &status, WNOHANG) == pid) {
                    exited = true;
                    set_status(status, outcome);
                    drain_until = Clock::now() + std::chrono::milliseconds(200);
                }
            }
        }
        in.close_write();
        if (exited) return;
        // The output is closed, but the program may still run.
        const bool ended =
            (limited || command.stop) && !outcome.timed_out &&
            await_exit(pid, stopper, limited ? std::optional(deadline) : std::nullopt, outcome);
        if (!ended) finish(pid, outcome);
    }
};

}  // namespace

std::unique_ptr<Processes> make_real_processes() { return std::make_unique<RealProcesses>(); }

base::Result<void> become_daemon() {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) return base::failure(std::strerror(errno), errno);
    if (child > 0) ::_exit(0);
    ::setsid();
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) ::dup2(null, fd);
    if (null > 2) ::close(null);
    if (::chdir("/") != 0) return base::failure(std::strerror(errno), errno);
    return {};
}

base::Result<int> run_in_copy(const std::function<int()>& action,
                              const std::function<bool()>& stopping) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) return base::failure(std::strerror(errno), errno);
    if (child == 0) {
        const int code = action();
        std::fflush(nullptr);
        ::_exit(code);
    }
    int status = 0;
    bool stop_sent = false;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return base::failure(std::strerror(errno), errno);
        if (stop_sent || !stopping()) continue;
        ::kill(child, SIGTERM);
        stop_sent = true;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string shell_text(const std::vector<std::string>& argv) {
    std::string out;
    for (const std::string& word : argv) {
        if (!out.empty()) out += ' ';
        bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-.,:+/@=%") == std::string::npos;
        if (plain) {
            out += word;
            continue;
        }
        out += '\'';
        for (char c : word) {
            if (c == '\'') {
                out += "'\\''";
            } else {
                out += c;
            }
        }
        out += '\'';
    }
    return out;
}

base::Result<std::vector<std::string>> shell_split(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        char c = line[i];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (in_word) words.push_back(std::move(word));
            word.clear();
            in_word = false;
        } else if (c == '\'') {
            std::size_t end = line.find('\'', i + 1);
            if (end == std::string_view::npos) {
                return base::failure(fmt::format("Unmatched quote: {}", line.substr(i)));
            }
            word += line.substr(i + 1, end - i - 1);
            in_word = true;
            i = end;
        } else if (c == '"') {
            std::size_t start = i++;
            in_word = true;
            while (i < line.size() && line[i] != '"') {
                if (line[i] == '\\' && i + 1 < line.size() &&
                    std::string_view("$`\"\\\n").find(line[i + 1]) != std::string_view::npos) {
                    ++i;
                }
                word += line[i++];
            }
            if (i >= line.size()) {
                return base::failure(fmt::format("Unmatched quote: {}", line.substr(start)));
            }
        } else if (c == '\\' && i + 1 < line.size()) {
            word += line[++i];
            in_word = true;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (in_word) words.push_back(std::move(word));
    return words;
}

}  // namespace bunraku::sys
