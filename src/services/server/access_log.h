// SPDX-License-Identifier: Apache-2.0
// The access log: one JSON line per request with the client, the request and the result.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "net/http/message.h"

namespace bunraku::server {

/// Writes the log. Thread-safe. If the file exceeds its maximum size, it is renamed to FILE.1,
/// FILE.1 to FILE.2, .., and a new file is created. reopen() supports external log rotation.
class AccessLog {
public:
    struct Options {
        std::string path;
        std::uint64_t most_bytes = 64 << 20;
        int keep = 5;
    };
    static base::Result<std::unique_ptr<AccessLog>> open(Options options, base::LogSink& log);
    ~AccessLog();

    void add(const http::Request& request, int status, std::uint64_t bytes,
             std::int64_t microseconds, std::int64_t now_ns);
    base::Result<void> reopen();

    /// Returns the line without a line break.
    static std::string line(const http::Request& request, int status, std::uint64_t bytes,
                            std::int64_t microseconds, std::int64_t now_ns);

private:
    AccessLog(Options options, base::LogSink& log) : options_(std::move(options)), log_(log) {}
    void rotate();

    Options options_;
    base::LogSink& log_;
    std::mutex mutex_;
    int fd_ = -1;
    std::uint64_t size_ = 0;
    bool reported_ = false;  ///< true if a write error was logged
};

}  // namespace bunraku::server
