// SPDX-License-Identifier: Apache-2.0
#include "core/sys/lock.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/sys/file_system.h"

namespace bunraku::sys {

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    if (this != &other) {
        if (fd_ >= 0) ::close(fd_);
        fd_ = other.fd_;
        other.fd_ = -1;
    }
    return *this;
}
FileLock::~FileLock() {
    if (fd_ >= 0) ::close(fd_);
}

base::Result<FileLock> FileLock::lock(const std::string& path, int how) {
    BUNRAKU_ASSERT((how & LOCK_EX) != 0 && !path.empty());
    int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) return base::failure(fmt::format("{} - {}", std::strerror(errno), path), errno);
    int rc;
    do rc = ::flock(fd, how);
    while (rc != 0 && errno == EINTR);
    if (rc != 0) {
        int error = errno;
        ::close(fd);
        return base::failure(fmt::format("{} - {}", std::strerror(error), path), error);
    }
    return FileLock(fd);
}
base::Result<FileLock> FileLock::acquire(const std::string& path) { return lock(path, LOCK_EX); }
base::Result<FileLock> FileLock::try_acquire(const std::string& path) {
    return lock(path, LOCK_EX | LOCK_NB);
}

int PidLock::owner() const {
    auto text = make_real_file_system()->read(path_);
    int pid = 0;
    if (text) std::from_chars(text->data(), text->data() + text->size(), pid);
    return pid > 0 ? pid : 0;
}

base::Result<bool> PidLock::acquire() {
    if (fd_ >= 0) return true;
    auto failed = [this] {
        return base::failure(fmt::format("{} - {}", std::strerror(errno), path_), errno);
    };
    for (;;) {
        int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0) return failed();
        BUNRAKU_ASSERT(fd_ < 0);
        int rc;
        do rc = ::flock(fd, LOCK_EX | LOCK_NB);
        while (rc != 0 && errno == EINTR);
        if (rc != 0) {
            auto result = errno == EWOULDBLOCK ? base::Result<bool>(false) : failed();
            ::close(fd);
            return result;
        }
        // The owner may have removed the file between our open and our lock. The locked file then
        // has no name, and the next process would lock another file.
        struct stat locked{}, named{};
        if (::fstat(fd, &locked) != 0 || ::stat(path_.c_str(), &named) != 0 ||
            locked.st_dev != named.st_dev || locked.st_ino != named.st_ino) {
            ::close(fd);
            continue;
        }
        std::string text = std::to_string(::getpid());
        // The lock does not depend on this write.
        if (::ftruncate(fd, 0) == 0) (void)!::pwrite(fd, text.data(), text.size(), 0);
        fd_ = fd;
        return true;
    }
}

void PidLock::release() {
    if (fd_ < 0) return;
    ::unlink(path_.c_str());
    ::close(fd_);
    fd_ = -1;
}

}  // namespace bunraku::sys
