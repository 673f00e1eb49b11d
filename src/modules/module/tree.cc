// SPDX-License-Identifier: Apache-2.0
// Copies trees. Uses clones if the file system supports them, otherwise the kernel copies.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/uninitialized.h"
#include "core/sys/descriptor.h"
#include "modules/module/sources.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using sys::Descriptor;

std::unexpected<base::Error> copy_failed(const char* what, const std::string& path) {
    const int code = errno;
    return failure(std::string("cannot ") + what + " " + path + ": " + std::strerror(code), code);
}

Result<void> copy_content(int from, int to, const struct stat& status, const std::string& path) {
    if (status.st_size == 0) return {};
    static std::atomic<bool> clones{true};
    if (clones && ::ioctl(to, FICLONE, from) == 0) return {};
    clones = false;
    char buffer[65536] BUNRAKU_UNINITIALIZED;
    // For a small file, one read and one write are faster than copy_file_range.
    bool by_hand = status.st_size <= static_cast<off_t>(sizeof buffer);
    for (;;) {
        ssize_t n = by_hand ? ::read(from, buffer, sizeof buffer)
                            : ::copy_file_range(from, nullptr, to, nullptr, 1U << 30, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && !by_hand) {
            by_hand = true;
            continue;
        }
        if (n < 0) return copy_failed("read", path);
        if (n == 0) return {};
        for (const char* at = buffer; by_hand && n > 0;) {
            const ssize_t written = ::write(to, at, static_cast<std::size_t>(n));
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return copy_failed("write", path);
            at += written;
            n -= written;
        }
    }
}

Result<void> copy_file(int from_folder, int to_folder, const char* name, const struct stat& status,
                       const std::string& path, CopyMode how) {
    const Descriptor from(::openat(from_folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (from.get() < 0) return copy_failed("read", path);
    // Versions share files by hard links. The files are read-only, because editing one in place
    // would change all versions.
    const mode_t mode = status.st_mode & 0100 ? 0555 : 0444;
    const Descriptor to(
        ::openat(to_folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (to.get() < 0) return copy_failed("write", path);
    if (how == CopyMode::Same && ::fchmod(to.get(), status.st_mode & 0777) != 0)
        return copy_failed("write", path);
    BUNRAKU_TRY_VOID(copy_content(from.get(), to.get(), status, path));
    // The preserved time shows later copies that this file is unmodified (see `same_file`).
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, status.st_mtim};
    if (::futimens(to.get(), times) != 0) return copy_failed("write", path);
    return {};
}

/// Reports whether `name` in the folder `like` is an unmodified copy of that file.
bool same_file(int like, const char* name, const struct stat& status) {
    struct stat there{};
    return like >= 0 && ::fstatat(like, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(there.st_mode) && there.st_size == status.st_size &&
           there.st_mtim.tv_sec == status.st_mtim.tv_sec &&
           there.st_mtim.tv_nsec == status.st_mtim.tv_nsec &&
           (there.st_mode & 0100) == (status.st_mode & 0100) && there.st_uid == ::geteuid();
}

/// Copies a folder. `from` and `to` are descriptors, and `from` is closed. `like` is as in
/// copy_tree, or -1.
Result<void> copy_folder(int from, int to, int like, const std::string& path,
                         const std::set<std::string>& without, CopyMode how) {
    std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(from), ::closedir);
    if (!folder) {
        ::close(from);
        return copy_failed("read", path);
    }
    while (const dirent* entry = ::readdir(folder.get())) {
        const char* name = entry->d_name;
        if (!std::strcmp(name, ".") || !std::strcmp(name, "..") || without.contains(name)) continue;
        const std::string there = path + "/" + name;
        const int in = ::dirfd(folder.get());
        struct stat status{};
        if (::fstatat(in, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            return copy_failed("read", there);
        }
        if (S_ISDIR(status.st_mode)) {
            if (::mkdirat(to, name, 0777) != 0) return copy_failed("make", there);
            Descriptor next(::openat(in, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
            const Descriptor made(
                ::openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
            if (next.get() < 0 || made.get() < 0) return copy_failed("read", there);
            const Descriptor alike(
                like < 0 ? -1
                         : ::openat(like, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
            BUNRAKU_TRY_VOID(copy_folder(next.release(), made.get(), alike.get(), there, {}, how));
        } else if (S_ISLNK(status.st_mode)) {
            char target[4097];
            const ssize_t n = ::readlinkat(in, name, target, sizeof target - 1);
            if (n < 0) return copy_failed("read", there);
            target[n] = '\0';
            if (::symlinkat(target, to, name) != 0) return copy_failed("make", there);
        } else if (S_ISREG(status.st_mode)) {
            if (same_file(like, name, status) && ::linkat(like, name, to, name, 0) == 0) continue;
            BUNRAKU_TRY_VOID(copy_file(in, to, name, status, there, how));
        } else {
            return failure(there + " is neither file, folder nor link");
        }
    }
    return {};
}

}  // namespace

Result<void> copy_tree(const std::string& from, const std::string& to,
                       const std::set<std::string>& without, const std::string& like,
                       CopyMode mode) {
    Descriptor in(::open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (in.get() < 0) return copy_failed("read", from);
    if (::mkdir(to.c_str(), 0777) != 0) return copy_failed("make", to);
    const Descriptor out(::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (out.get() < 0) return copy_failed("read", to);
    const Descriptor alike(like.empty() ? -1
                                        : ::open(like.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return copy_folder(in.release(), out.get(), alike.get(), to, without, mode);
}

}  // namespace bunraku::module
