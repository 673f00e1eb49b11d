#include "sys/lock.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "sys/file_system.h"

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
    for (int attempt = 0; attempt < 3; ++attempt) {
        int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0) {
            std::string text = std::to_string(::getpid());
            bool written =
                ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
            ::close(fd);
            if (!written) {
                ::unlink(path_.c_str());
                return base::failure(fmt::format("{} - {}", std::strerror(ENOSPC), path_), ENOSPC);
            }
            held_ = true;
            return true;
        }
        if (errno != EEXIST) {
            return base::failure(fmt::format("{} - {}", std::strerror(errno), path_), errno);
        }
        int pid = owner();
        if (pid == ::getpid()) return false;
        if (pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM)) return false;
        ::unlink(path_.c_str());
    }
    return false;
}

void PidLock::release() {
    if (!held_) return;
    held_ = false;
    ::unlink(path_.c_str());
}

}  // namespace bunraku::sys
