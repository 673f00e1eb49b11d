// Locks between processes.
#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"

namespace bunraku::sys {

/// An advisory lock on a file, held until the object dies (or the process does).
class FileLock {
public:
    FileLock(FileLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();
    /// Waits for the lock; makes the file where it is missing.
    static base::Result<FileLock> acquire(const std::string& path);
    /// Error code EWOULDBLOCK where another process holds it.
    static base::Result<FileLock> try_acquire(const std::string& path);

private:
    explicit FileLock(int fd) : fd_(fd) {}
    static base::Result<FileLock> lock(const std::string& path, int how);
    int fd_;
};

/// A pid file. The kernel's lock on it decides who owns it, and ends with the process however that
/// ends; the number in the file is for people, who may find their own process's there: in a
/// container every start has the same few numbers.
class PidLock {
public:
    explicit PidLock(std::string path) : path_(std::move(path)) {}
    PidLock(const PidLock&) = delete;
    PidLock& operator=(const PidLock&) = delete;
    ~PidLock() { release(); }
    /// False where somebody holds it (another object of this process too).
    base::Result<bool> acquire();
    void release();
    int owner() const;  ///< pid in the file, 0: none

private:
    std::string path_;
    int fd_ = -1;  ///< while it is held
};

}  // namespace bunraku::sys
