// SPDX-License-Identifier: Apache-2.0
#include "services/server/access_log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "resources/catalog/wire_time.h"

namespace bunraku::server {

using base::Level;
using base::Result;

Result<std::unique_ptr<AccessLog>> AccessLog::open(Options options, base::LogSink& log) {
    std::unique_ptr<AccessLog> out(new AccessLog(std::move(options), log));
    BUNRAKU_TRY_VOID(out->reopen());
    return out;
}

AccessLog::~AccessLog() {
    if (fd_ >= 0) ::close(fd_);
}

Result<void> AccessLog::reopen() {
    BUNRAKU_TRY_VOID(
        sys::disk().make_directories(std::string(sys::directory_name(options_.path)), 0750));
    const int fd =
        ::open(options_.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
    if (fd < 0) {
        return base::failure(fmt::format("The access log {} cannot be written: {}", options_.path,
                                         std::strerror(errno)));
    }
    struct stat status{};
    const bool known = ::fstat(fd, &status) == 0;
    const std::lock_guard lock(mutex_);
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
    size_ = known ? static_cast<std::uint64_t>(status.st_size) : 0;
    return {};
}

std::string AccessLog::line(const http::Request& request, int status, std::uint64_t bytes,
                            std::int64_t microseconds, std::int64_t now_ns) {
    const auto quoted = [](std::string_view text) { return codec::json_string(text); };
    return fmt::format(
        R"({{"time":"{}","address":{},"certname":{},"method":{},"target":{},"status":{},)"
        R"("bytes":{},"microseconds":{},"agent":{}}})",
        catalog::format_wire_time(now_ns / 1'000'000), quoted(request.peer.address),
        request.peer.name().empty() ? "null" : quoted(request.peer.name()), quoted(request.method),
        quoted(request.target), status, bytes, microseconds,
        quoted(request.headers.get("User-Agent")));
}

void AccessLog::add(const http::Request& request, int status, std::uint64_t bytes,
                    std::int64_t microseconds, std::int64_t now_ns) {
    const std::string text = line(request, status, bytes, microseconds, now_ns) + "\n";
    const std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(fd_ >= 0);
    if (size_ + text.size() > options_.most_bytes && size_ > 0) rotate();
    ssize_t written = -1;
    do written = ::write(fd_, text.data(), text.size());
    while (written < 0 && errno == EINTR);
    if (written > 0) size_ += static_cast<std::uint64_t>(written);
    const bool good = written == static_cast<ssize_t>(text.size());
    if (!good && !reported_) {
        log_.log(Level::Err, fmt::format("The access log {} cannot be written: {}", options_.path,
                                         written < 0 ? std::strerror(errno) : "the disk is full"));
    }
    reported_ = !good;
}

void AccessLog::rotate() {
    BUNRAKU_ASSERT(fd_ >= 0 && size_ > 0);
    for (int i = options_.keep - 1; i >= 0; --i) {
        const auto from = i == 0 ? options_.path : fmt::format("{}.{}", options_.path, i);
        (void)::rename(from.c_str(), fmt::format("{}.{}", options_.path, i + 1).c_str());
    }
    const int fd =
        ::open(options_.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
    size_ = 0;
    if (fd < 0) return;  // continue with the old file
    ::close(fd_);
    fd_ = fd;
}

}  // namespace bunraku::server
