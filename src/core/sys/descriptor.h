// SPDX-License-Identifier: Apache-2.0
// An owned file descriptor, and functions to read and write descriptors.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace bunraku::sys {

/// Owns `fd`. A negative `fd` means none, as open(2) returns it on failure.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            close();
            fd_ = other.release();
        }
        return *this;
    }
    ~Descriptor() { close(); }
    int get() const { return fd_; }
    bool good() const { return fd_ >= 0; }
    /// Gives up ownership; the caller must close the descriptor.
    int release() { return std::exchange(fd_, -1); }
    /// Returns the result of close(2), or 0 if there is no descriptor.
    int close() {
        const int fd = release();
        return fd >= 0 ? ::close(fd) : 0;
    }

private:
    int fd_;
};

/// Repeats a call that a signal interrupts. This also happens on network file systems and FUSE.
template <class Call>
auto retrying(const Call& call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

/// Fills `into` from offset `at`. Returns 0 or the error number, which is EIO if the file is too
/// short.
inline int read_all_at(int fd, std::span<char> into, std::uint64_t at) {
    while (!into.empty()) {
        const ssize_t n =
            retrying([&] { return ::pread(fd, into.data(), into.size(), static_cast<off_t>(at)); });
        if (n <= 0) return n < 0 ? errno : EIO;
        into = into.subspan(static_cast<std::size_t>(n));
        at += static_cast<std::uint64_t>(n);
    }
    return 0;
}

/// Writes all of `content` at offset `at`. Returns 0 or the error number.
inline int write_all_at(int fd, std::string_view content, std::uint64_t at) {
    while (!content.empty()) {
        const ssize_t n = retrying(
            [&] { return ::pwrite(fd, content.data(), content.size(), static_cast<off_t>(at)); });
        if (n <= 0) return n < 0 ? errno : EIO;
        content.remove_prefix(static_cast<std::size_t>(n));
        at += static_cast<std::uint64_t>(n);
    }
    return 0;
}

/// Writes all of `content`, despite interruptions. Returns 0 or the error number.
inline int write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t n = ::write(fd, content.data(), content.size());
        if (n < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        content.remove_prefix(static_cast<std::size_t>(n));
    }
    return 0;
}

}  // namespace bunraku::sys
