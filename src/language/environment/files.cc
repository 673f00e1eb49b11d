// SPDX-License-Identifier: Apache-2.0
#include "language/environment/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diagnostic.h"
#include "core/base/uninitialized.h"
#include "core/sys/change_times.h"
#include "core/sys/descriptor.h"
#include "core/sys/file_system.h"

namespace bunraku::environment {

namespace {

base::Error failed(int number, const std::string& path) {
    return base::Error{std::string(std::strerror(number)) + " @ rb_sysopen - " + path, number};
}

/// Returns true if the error proves that a path does not exist. Any other failure (no permission,
/// an unreadable disk) must not look like an absent file, because the compile would continue
/// without it.
bool surely_absent(int number) {
    return sys::is_absence(number) || number == ELOOP || number == ENAMETOOLONG;
}
[[noreturn]] void cannot_look(int number, std::string_view call, const std::string& path) {
    throw base::PuppetError(fmt::format("{} @ {} - {}", std::strerror(number), call, path), {},
                            base::PuppetError::Class::Plain);
}

Stamp stamp_of(const struct stat& st) {
    Stamp out;
    out.exists = true;
    out.directory = S_ISDIR(st.st_mode);
    out.mtime_ns =
        static_cast<std::int64_t>(st.st_mtim.tv_sec) * 1'000'000'000 + st.st_mtim.tv_nsec;
    out.size = static_cast<std::uint64_t>(st.st_size);
    out.inode = st.st_ino;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const std::int64_t age =
        static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec - out.mtime_ns;
    out.fresh = age > -sys::kTimesTick && age < sys::kTimesTick;
    return out;
}

class Disk final : public Files {
public:
    base::Result<std::string> read(const std::string& path) const override {
        const int fd = sys::retrying([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
        if (fd < 0) return std::unexpected(failed(errno, path));
        struct stat st{};
        int error = ::fstat(fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
        std::string text;
        // One byte more than the size, so that the read that detects the end needs no second
        // buffer.
        std::size_t used = 0;
        if (error == 0) text.resize(static_cast<std::size_t>(st.st_size) + 1);
        while (error == 0) {
            if (used == text.size()) text.resize(text.size() * 2);
            const auto n = ::read(fd, text.data() + used, text.size() - used);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) error = errno;
            if (n <= 0) break;
            used += static_cast<std::size_t>(n);
        }
        ::close(fd);
        if (error != 0) return std::unexpected(failed(error, path));
        text.resize(used);
        return text;
    }
    Stamp stat(const std::string& path) const override {
        struct stat st{};
        if (sys::retrying([&] { return ::stat(path.c_str(), &st); }) == 0) return stamp_of(st);
        if (!surely_absent(errno)) cannot_look(errno, "rb_file_s_stat", path);
        return {};
    }
    bool is_real_folder(const std::string& path) const override {
        struct stat st{};
        if (sys::retrying([&] { return ::lstat(path.c_str(), &st); }) == 0)
            return S_ISDIR(st.st_mode);
        if (!surely_absent(errno)) cannot_look(errno, "rb_file_s_lstat", path);
        return false;
    }
    std::vector<std::string> list(const std::string& path) const override {
        std::vector<std::string> names;
        DIR* dir;
        do dir = ::opendir(path.c_str());
        while (!dir && errno == EINTR);
        if (!dir && !surely_absent(errno)) cannot_look(errno, "dir_initialize", path);
        if (!dir) return names;
        for (errno = 0; const dirent* entry = ::readdir(dir); errno = 0) {
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..") names.emplace_back(name);
        }
        const int error = errno;
        ::closedir(dir);
        if (error != 0) cannot_look(error, "rb_readdir", path);
        std::ranges::sort(names);
        return names;
    }
    std::optional<std::string> link(const std::string& path) const override {
        char target[4096] BUNRAKU_UNINITIALIZED;
        const auto n =
            sys::retrying([&] { return ::readlink(path.c_str(), target, sizeof target); });
        if (n <= 0 || static_cast<std::size_t>(n) == sizeof target) return std::nullopt;
        return std::string(target, static_cast<std::size_t>(n));
    }
    std::vector<std::string> glob(const std::string& pattern) const override {
        std::vector<std::string> out;
        glob_t found{};
        if (::glob(pattern.c_str(), GLOB_BRACE, nullptr, &found) == 0)
            out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
        ::globfree(&found);
        return out;
    }
};

}  // namespace

std::optional<std::string> Files::variable(const std::string& name) const {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
}

std::string working_directory() {
    char buffer[4096] BUNRAKU_UNINITIALIZED;
    return ::getcwd(buffer, sizeof buffer) ? std::string(buffer) : std::string("/");
}

const std::shared_ptr<const Files>& disk_files() {
    static const std::shared_ptr<const Files> disk = std::make_shared<Disk>();
    return disk;
}

}  // namespace bunraku::environment
