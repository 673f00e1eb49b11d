// SPDX-License-Identifier: Apache-2.0
#include "language/ruby/process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/sys/process.h"
#include "language/ruby/share.h"

namespace bunraku::ruby {

namespace {

constexpr std::size_t kLargestMessage = 256u << 20;

// Reads from the socket the positions of the files of share/ruby in descriptor 4, evaluates the
// first one, and calls its Bunraku.run.
constexpr int kTooOld = 86;
constexpr const char* kBootstrap =
    "exit!(86) if RUBY_VERSION.to_i<3;"
    "$BI=IO.for_fd(3,'rb');$BT=IO.for_fd(4,'rb');"
    "f=Marshal.load($BI.read($BI.read(4).unpack1('N')));"
    "eval($BT.pread(f[0][2],f[0][1]).force_encoding('UTF-8'),TOPLEVEL_BINDING,f[0][0]);"
    "Bunraku.run(f)";

bool executable(const std::string& path) {
    struct stat st{};
    return ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_ruby(const std::string& program) {
    if (program.find('/') != std::string::npos) return executable(program) ? program : "";
    const char* path = std::getenv("PATH");
    std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
    while (!rest.empty()) {
        const auto colon = rest.find(':');
        const auto dir = rest.substr(0, colon);
        rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
        if (dir.empty() || dir[0] != '/') continue;
        auto full = fmt::format("{}/{}", dir, program);
        if (executable(full)) return full;
    }
    const std::string packaged = "/opt/puppetlabs/puppet/bin/" + program;
    return executable(packaged) ? packaged : "";
}

std::vector<std::string> ruby_command(const std::string& program, std::string script) {
    // rubygems takes longer to load than everything else. share/ruby loads it when a library cannot
    // be found otherwise.
    return {program,
            "--disable=gems,did_you_mean,error_highlight,rubyopt",
            "-EUTF-8:UTF-8",
            "-W0",
            "-e",
            std::move(script)};
}

void Process::start(const HostOptions& options) {
    BUNRAKU_ASSERT(fd_ < 0 && pid_ < 0);
    stop_ = options.stop;
    const std::string program = find_ruby(options.program);
    if (program.empty()) {
        throw base::PuppetError(
            fmt::format("Could not find the program '{}': code written in Ruby needs Ruby, which "
                        "is not installed on this machine",
                        options.program));
    }
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        throw base::PuppetError(
            fmt::format("Could not start {}: {}", program, std::strerror(errno)));
    }
    sys::Command command;
    command.argv = ruby_command(program, kBootstrap);
    command.channel = pair[1];
    const auto files = share_files(options.library);
    if (!files) {
        ::close(pair[0]);
        ::close(pair[1]);
        throw base::PuppetError(
            fmt::format("Could not start {}: {}", program, files.error().message));
    }
    command.second_channel = (*files)->text.get();
    // Output of Ruby code must not become part of a catalog.
    command.to_own_errors = true;
    auto pid = sys::make_real_processes()->start(command);
    ::close(pair[1]);
    if (!pid) {
        ::close(pair[0]);
        throw base::PuppetError(
            fmt::format("Could not start {}: {}", program, std::strerror(pid.error().code)));
    }
    ::fcntl(pair[0], F_SETFL, ::fcntl(pair[0], F_GETFL) | O_NONBLOCK);
    fd_ = pair[0];
    pid_ = *pid;
    used_ = taken_ = 0;

    std::string body;
    MarshalWriter writer(body);
    writer.begin();
    writer.array((*files)->parts.size() + 1);
    for (const auto& part : (*files)->parts) {
        writer.array(4);
        writer.string(part.name);
        writer.integer(static_cast<std::int64_t>(part.offset));
        writer.integer(static_cast<std::int64_t>(part.size));
        writer.string(part.digest);
    }
    writer.string(compiled_folder(options.compiled));
    send(body, Clock::now() + std::chrono::seconds(30));
}

void Process::kill() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    if (pid_ > 0) {
        ::kill(-pid_, SIGKILL);
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
    }
    pid_ = -1;
    BUNRAKU_ASSERT(!running());
}

bool Process::hung_up() const {
    pollfd poll_fd{fd_, POLLIN, 0};
    return ::poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLHUP | POLLERR)) != 0;
}

std::string Process::end_text() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    if (pid_ <= 0) return "it is not running";
    int status = 0;
    // The child has closed the socket. If it does not exit soon, it is killed.
    pid_t done = 0;
    for (int i = 0; i < 100 && (done = ::waitpid(pid_, &status, WNOHANG)) == 0; ++i) ::usleep(2000);
    ::kill(-pid_, SIGKILL);
    if (done == 0) {
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
    if (WEXITSTATUS(status) == kTooOld)
        return "Ruby 3.0 or later is required, and the installed version is older";
    return fmt::format("exit status {}", WEXITSTATUS(status));
}

Process::Status Process::wait(short events, Clock::time_point deadline) const {
    BUNRAKU_ASSERT(fd_ >= 0);
    while (true) {
        const auto now = Clock::now();
        if (now >= deadline) return Status::TimedOut;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now).count() + 1;
        pollfd poll_fd{fd_, events, 0};
        const long long most = stop_ || base::work_is_limited() ? 200 : 60000;
        const int n = ::poll(&poll_fd, 1, static_cast<int>(std::min<long long>(left, most)));
        if (n > 0) return Status::Ok;
        if ((stop_ && stop_()) || base::work_end() != base::WorkEnd::None) return Status::Stopped;
        if (n < 0 && errno != EINTR) return Status::Ended;
    }
}

Process::Status Process::send(std::string_view body, Clock::time_point deadline) {
    if (fd_ < 0) return Status::Ended;
    const auto size = static_cast<std::uint32_t>(body.size());
    const char head[4] = {static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                          static_cast<char>(size >> 8), static_cast<char>(size)};
    out_.assign(head, 4);
    out_.append(body);
    std::string_view rest = out_;
    while (!rest.empty()) {
        const auto n = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (n > 0) {
            rest.remove_prefix(static_cast<std::size_t>(n));
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            const Status s = wait(POLLOUT, deadline);
            if (s != Status::Ok) return s;
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else {
            return Status::Ended;
        }
    }
    return Status::Ok;
}

Process::Status Process::receive(std::string_view* body, Clock::time_point deadline) {
    if (fd_ < 0) return Status::Ended;
    BUNRAKU_ASSERT(taken_ <= used_ && used_ <= in_.size());
    if (taken_ > 0) {
        in_.erase(0, taken_);
        used_ -= taken_;
        taken_ = 0;
    }
    std::size_t wanted = 4;
    bool sized = false;
    while (true) {
        if (!sized && used_ >= 4) {
            const auto* b = reinterpret_cast<const unsigned char*>(in_.data());
            wanted = 4 + (static_cast<std::size_t>(b[0]) << 24 | b[1] << 16 | b[2] << 8 | b[3]);
            if (wanted > kLargestMessage) return Status::Ended;
            sized = true;
        }
        if (sized && used_ >= wanted) {
            BUNRAKU_ASSERT(wanted >= 4 && used_ <= in_.size());
            *body = std::string_view(in_).substr(4, wanted - 4);
            taken_ = wanted;
            return Status::Ok;
        }
        if (in_.size() < std::max(wanted, used_ + 4096))
            in_.resize(std::max(wanted, used_ + 16384));
        BUNRAKU_ASSERT(taken_ == 0 && used_ < in_.size());
        const auto n = ::recv(fd_, in_.data() + used_, in_.size() - used_, 0);
        if (n > 0) {
            used_ += static_cast<std::size_t>(n);
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            const Status s = wait(POLLIN, deadline);
            if (s != Status::Ok) return s;
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else {
            return Status::Ended;
        }
    }
}

}  // namespace bunraku::ruby
