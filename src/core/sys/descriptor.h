// A file descriptor that is closed, and writing to one.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace bunraku::sys {

/// Owns `fd`; a negative one is none, as open(2) gives it when it fails.
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
    /// For somebody else to close.
    int release() { return std::exchange(fd_, -1); }
    /// What close(2) says; 0 where there is nothing to close.
    int close() {
        const int fd = release();
        return fd >= 0 ? ::close(fd) : 0;
    }

private:
    int fd_;
};

/// A call that a signal breaks off (also on file systems that are a program or another machine) is
/// made again.
template <class Call>
auto retrying(const Call& call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

/// Fills `into` with what stands from `at` on; the error number (EIO: there is not so much), or 0.
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

/// Writes all of `content` from `at` on; the error number, or 0.
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

/// Writes all of `content`, whatever interrupts it; the error number, or 0.
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
