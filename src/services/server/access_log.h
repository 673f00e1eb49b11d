// One line a request, as JSON, in a file: who asked for what, and what came of it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "net/http/message.h"

namespace bunraku::server {

/// Thread-safe. Where the file grows beyond its size it is renamed to FILE.1, that to FILE.2, ..,
/// and a new one is begun; reopen() follows another program that does so.
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

    /// The line, without its end.
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
    bool reported_ = false;  ///< that it cannot be written
};

}  // namespace bunraku::server
