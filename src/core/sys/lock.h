// SPDX-License-Identifier: Apache-2.0
// Locks between processes.
#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"

namespace bunraku::sys {

/// An advisory lock on a file, held until the object or the process ends.
class FileLock {
public:
    FileLock(FileLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();
    /// Waits for the lock. Creates the file if it does not exist.
    static base::Result<FileLock> acquire(const std::string& path);
    /// Fails with code EWOULDBLOCK if another process holds the lock.
    static base::Result<FileLock> try_acquire(const std::string& path);

private:
    explicit FileLock(int fd) : fd_(fd) {}
    static base::Result<FileLock> lock(const std::string& path, int how);
    int fd_;
};

/// A pid file. The kernel's lock on the file decides which process owns it, and ends with the
/// process in any case. The number in the file is only informative, and may equal the reader's own
/// pid: in a container, every start has the same few pids.
class PidLock {
public:
    explicit PidLock(std::string path) : path_(std::move(path)) {}
    PidLock(const PidLock&) = delete;
    PidLock& operator=(const PidLock&) = delete;
    ~PidLock() { release(); }
    /// Returns false if another process or object holds the lock.
    base::Result<bool> acquire();
    void release();
    int owner() const;  ///< Returns the pid in the file, or 0 if there is none.

private:
    std::string path_;
    int fd_ = -1;  ///< valid while the lock is held
};

}  // namespace bunraku::sys
