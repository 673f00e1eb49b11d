// SPDX-License-Identifier: Apache-2.0
#include "core/sys/shared_secret.h"

#include <cerrno>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/sys/descriptor.h"

namespace bunraku::sys {

namespace {

bool is_own(const struct stat& status) {
    return S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
}

/// Reports whether the path still leads to the same file.
bool still_there(const std::string& path, const struct stat& status) {
    struct stat now{};
    return ::lstat(path.c_str(), &now) == 0 && now.st_dev == status.st_dev &&
           now.st_ino == status.st_ino;
}

}  // namespace

std::optional<std::string> own_file(int fd, std::uint64_t most) {
    struct stat status{};
    if (fd < 0 || ::fstat(fd, &status) != 0 || !is_own(status) ||
        static_cast<std::uint64_t>(status.st_size) > most)
        return std::nullopt;
    BUNRAKU_ASSERT(is_own(status));
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    if (read_all_at(fd, text, 0) != 0) return std::nullopt;
    return text;
}

int secret_path(const std::string& path, std::string_view text, const SecretPlace& how) {
    const std::string folder = path.substr(0, path.rfind('/') + 1) + ".";
    std::string part = path + ".XXXXXX";
    int code = 0;
    auto attempt = [&](int result) {
        if (code == 0 && result != 0) code = errno;
    };
    {
        BUNRAKU_ASSERT(part.starts_with(path));
        const Descriptor file(::mkostemp(part.data(), O_CLOEXEC));
        if (!file.good()) return errno;
        code = write_all(file.get(), text);
        struct stat above{};
        if (how.for_folder_owner && ::geteuid() == 0 && ::stat(folder.c_str(), &above) == 0) {
            attempt(::fchown(file.get(), above.st_uid, above.st_gid));
        }
        attempt(::fsync(file.get()));
    }
    if (code == 0) {
        attempt(how.replace ? ::rename(part.c_str(), path.c_str())
                            : ::link(part.c_str(), path.c_str()));
    }
    if (code != 0 || !how.replace) ::unlink(part.c_str());
    if (code != 0) return code;
    const Descriptor above(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (above.good()) ::fsync(above.get());
    return 0;
}

std::string shared_secret(const std::string& path, const std::string& fresh) {
    if (fresh.empty()) return {};
    const auto secret_in = [&](int fd) {
        auto known = own_file(fd, fresh.size());
        return known && known->size() == fresh.size() ? known : std::nullopt;
    };
    const auto open_for = [&](int how) {
        return ::open(path.c_str(), how | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    };
    // The secret is written once. Later calls only read it, also without write permission.
    if (auto known = secret_in(Descriptor(open_for(O_RDONLY)).get())) return *known;
    // If the file belongs to another user or was replaced meanwhile, try again.
    for (int tries = 0; tries < 10; ++tries) {
        const Descriptor fd(open_for(O_RDWR | O_CREAT));
        if (!fd.good() && errno != ELOOP && errno != EACCES && errno != ENXIO) return {};
        struct stat status{};
        if (!fd.good() || ::fstat(fd.get(), &status) != 0 || !is_own(status)) {
            if (::unlink(path.c_str()) != 0 && errno != ENOENT) return {};
            continue;
        }
        // The secret is written in place under a lock. A killed process leaves a file without a
        // secret, which the next process fills, and no temporary files.
        if (retrying([&] { return ::flock(fd.get(), LOCK_EX); }) != 0) return {};
        if (!still_there(path, status)) continue;
        if (auto known = secret_in(fd.get())) return *known;
        BUNRAKU_ASSERT(!fresh.empty());
        if (::ftruncate(fd.get(), 0) != 0 || write_all_at(fd.get(), fresh, 0) != 0) return {};
        return fresh;
    }
    return {};
}

}  // namespace bunraku::sys
