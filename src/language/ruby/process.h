// A Ruby process and the line to it: frames with a length before them, in both directions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "language/ruby/host.h"

namespace bunraku::ruby {

/// The path of the Ruby program: `program` with a slash as it is, else searched in PATH and where
/// Puppet's packages have theirs; empty: there is none.
std::string find_ruby(const std::string& program);

/// One child. Not thread-safe.
class Process {
public:
    using Clock = std::chrono::steady_clock;

    Process() = default;
    ~Process() { kill(); }
    Process(const Process&) = delete;

    /// Starts Ruby with the files of share/ruby. Throws PuppetError where there is no Ruby.
    void start(const HostOptions& options);
    bool running() const { return fd_ >= 0; }
    int pid() const { return fd_ >= 0 ? pid_ : -1; }
    /// The child has closed its end of the line: it is gone.
    bool hung_up() const;
    /// Ends the child's whole process group, at once.
    void kill();

    enum class Status : std::uint8_t { Ok, Ended, TimedOut, Stopped };
    /// Sends one message.
    Status send(std::string_view body, Clock::time_point deadline);
    /// Receives one; `body` is valid until the next call.
    Status receive(std::string_view* body, Clock::time_point deadline);
    /// After Ended: what became of the child, "exit status 3", "signal 9"; reaps it.
    std::string end_text();

private:
    Status wait(short events, Clock::time_point deadline) const;

    std::function<bool()> stop_;
    int fd_ = -1;
    int pid_ = -1;
    std::string out_;
    std::string in_;
    std::size_t used_ = 0;   // of in_, read from the line
    std::size_t taken_ = 0;  // of in_, given to the caller
};

}  // namespace bunraku::ruby
