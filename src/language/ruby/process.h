// SPDX-License-Identifier: Apache-2.0
// A Ruby process and the socket to it, which carries frames with a length prefix in both
// directions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "language/ruby/host.h"

namespace bunraku::ruby {

/// Returns the path of the Ruby program. A `program` that contains a slash is used as it is.
/// Otherwise it is searched in PATH and in the folder of Puppet's packages. Empty if there is none.
std::string find_ruby(const std::string& program);
/// Returns the arguments that run `script` in this interpreter, with UTF-8 as encoding, without
/// warnings, and without the libraries that take long to load.
std::vector<std::string> ruby_command(const std::string& program, std::string script);

/// One child process. Not thread-safe.
class Process {
public:
    using Clock = std::chrono::steady_clock;

    Process() = default;
    ~Process() { kill(); }
    Process(const Process&) = delete;

    /// Starts Ruby with the files of share/ruby. Throws PuppetError if there is no Ruby.
    void start(const HostOptions& options);
    bool running() const { return fd_ >= 0; }
    int pid() const { return fd_ >= 0 ? pid_ : -1; }
    /// Returns true if the child has closed its end of the socket, which means that it has ended.
    bool hung_up() const;
    /// Kills the child's whole process group immediately.
    void kill();

    enum class Status : std::uint8_t { Ok, Ended, TimedOut, Stopped };
    /// Sends one message.
    Status send(std::string_view body, Clock::time_point deadline);
    /// Receives one; `body` is valid until the next call.
    Status receive(std::string_view* body, Clock::time_point deadline);
    /// After Status::Ended, reaps the child and returns how it ended: "exit status 3", "signal 9".
    std::string end_text();

private:
    Status wait(short events, Clock::time_point deadline) const;

    std::function<bool()> stop_;
    int fd_ = -1;
    int pid_ = -1;
    std::string out_;
    std::string in_;
    std::size_t used_ = 0;   // Bytes in `in_` that were received.
    std::size_t taken_ = 0;  // Bytes in `in_` that were returned to the caller.
};

}  // namespace bunraku::ruby
