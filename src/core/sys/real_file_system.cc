// SPDX-License-Identifier: Apache-2.0
#include "core/sys/real_file_system.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/uninitialized.h"

namespace bunraku::sys {

namespace {

FileStatus convert(const struct ::stat& st) {
    FileStatus s;
    switch (st.st_mode & S_IFMT) {
        case S_IFDIR: s.kind = FileKind::Directory; break;
        case S_IFLNK: s.kind = FileKind::Link; break;
        case S_IFIFO: s.kind = FileKind::Fifo; break;
        case S_IFSOCK: s.kind = FileKind::Socket; break;
        case S_IFCHR: s.kind = FileKind::Character; break;
        case S_IFBLK: s.kind = FileKind::Block; break;
        default: s.kind = FileKind::File;
    }
    s.mode = st.st_mode & 07777;
    s.uid = st.st_uid;
    s.gid = st.st_gid;
    s.size = static_cast<std::uint64_t>(st.st_size);
    s.inode = st.st_ino;
    s.device = st.st_dev;
    s.links = st.st_nlink;
    auto ns = [](const timespec& t) { return t.tv_sec * 1'000'000'000LL + t.tv_nsec; };
    s.mtime_ns = ns(st.st_mtim);
    s.ctime_ns = ns(st.st_ctim);
    s.atime_ns = ns(st.st_atim);
    return s;
}

bool has_nul(const std::string& path) { return path.find('\0') != std::string::npos; }

class FileReader final : public Reader {
public:
    FileReader(Descriptor file, std::string path)
        : file_(std::move(file)), path_(std::move(path)) {}
    Result<std::size_t> read(std::span<char> into) override {
        BUNRAKU_ASSERT(!into.empty());
        const ssize_t n = retrying([&] { return ::read(file_.get(), into.data(), into.size()); });
        if (n < 0) return system_failure(errno, "io_fread", path_);
        return static_cast<std::size_t>(n);
    }

private:
    Descriptor file_;
    std::string path_;
};

/// Removes a temporary file that was not renamed.
struct Temporary {
    const Place& place;
    std::string name;
    bool made = false;
    ~Temporary() {
        if (made) ::unlinkat(place.at(), name.c_str(), 0);
    }
};

Descriptor make_new(const Place& p, const std::string& name, mode_t mode) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    return Descriptor(retrying([&] { return ::openat(p.at(), name.c_str(), kFlags, mode); }));
}

bool lock(int fd) {
    return retrying([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0;
}

/// Makes a file and locks it while it is open. An existing file of that name without a lock is a
/// leftover of a killed process and is removed. Fails with EEXIST if another process is writing it.
Descriptor make_locked(const Place& p, const std::string& name, mode_t mode) {
    Descriptor made = make_new(p, name, mode);
    if (!made.good() && errno == EEXIST) {
        constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        Descriptor left(retrying([&] { return ::openat(p.at(), name.c_str(), kFlags); }));
        if (left.good() && lock(left.get()) && ::unlinkat(p.at(), name.c_str(), 0) == 0)
            made = make_new(p, name, mode);
        else
            errno = EEXIST;
    }
    if (!made.good()) return made;
    // Another process may have removed the file as a leftover before it was locked.
    struct ::stat st{};
    if (lock(made.get())) {
        const int found = ::fstat(made.get(), &st);
        if (found == 0 && st.st_nlink == 1) return made;
        // A file that cannot be examined is removed now rather than in the next run.
        if (found != 0) ::unlinkat(p.at(), name.c_str(), 0);
    } else if (errno != EWOULDBLOCK) {
        ::unlinkat(p.at(), name.c_str(), 0);  // the file system does not support locks
    }
    errno = EEXIST;
    return Descriptor(-1);
}

template <class Call>
Result<void> done(const Call& call, std::string_view name, const std::string& path) {
    if (retrying(call) != 0) return system_failure(errno, name, path);
    return {};
}

}  // namespace

std::unexpected<base::Error> system_failure(int error, std::string_view call,
                                            const std::string& path) {
    std::array<char, 128> buffer{};
    const char* text = strerror_r(error, buffer.data(), buffer.size());
    return base::failure(fmt::format("{} @ {} - {}", text, call, path), error);
}

Result<Descriptor> RealFileSystem::open_file(const std::string& path, int flags, std::uint32_t mode,
                                             std::string_view call) {
    if (has_nul(path)) return system_failure(EINVAL, call, path);
    Descriptor file(retrying([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); }));
    if (!file.good()) return system_failure(errno, call, path);
    return file;
}

Result<Place> RealFileSystem::place(const std::string& path, Last, std::string_view call) {
    if (has_nul(path)) return system_failure(EINVAL, call, path);
    return Place{Descriptor(-1), path};
}

Result<FileStatus> RealFileSystem::stat(const std::string& path) {
    struct ::stat st{};
    if (has_nul(path)) return system_failure(EINVAL, "rb_file_s_stat", path);
    if (retrying([&] { return ::stat(path.c_str(), &st); }) != 0)
        return system_failure(errno, "rb_file_s_stat", path);
    return convert(st);
}

Result<FileStatus> RealFileSystem::lstat(const std::string& path) {
    struct ::stat st{};
    if (has_nul(path)) return system_failure(EINVAL, "rb_file_s_lstat", path);
    if (retrying([&] { return ::lstat(path.c_str(), &st); }) != 0)
        return system_failure(errno, "rb_file_s_lstat", path);
    return convert(st);
}

Result<std::string> RealFileSystem::read(const std::string& path) {
    std::string content;
    BUNRAKU_TRY_VOID(each_chunk(path, &content, [&](std::string_view part) {
        content += part;
        return true;
    }));
    return content;
}

Result<void> RealFileSystem::read_chunks(const std::string& path,
                                         const std::function<bool(std::string_view)>& chunk) {
    return each_chunk(path, nullptr, chunk);
}

Result<std::unique_ptr<Reader>> RealFileSystem::open(const std::string& path) {
    Descriptor file = BUNRAKU_TRY(open_file(path, O_RDONLY, 0, "rb_sysopen"));
    return std::make_unique<FileReader>(std::move(file), path);
}

Result<std::string> RealFileSystem::read_link(const std::string& path) {
    std::array<char, 4096> buffer BUNRAKU_UNINITIALIZED;
    const ssize_t n =
        retrying([&] { return ::readlink(path.c_str(), buffer.data(), buffer.size()); });
    if (n < 0) return system_failure(errno, "rb_readlink", path);
    return std::string(buffer.data(), static_cast<std::size_t>(n));
}

Result<std::vector<std::string>> RealFileSystem::list(const std::string& path) {
    return names_in(BUNRAKU_TRY(open_file(path, O_RDONLY | O_DIRECTORY, 0, "dir_initialize")),
                    path);
}

Result<std::vector<std::string>> RealFileSystem::names_in(Descriptor folder,
                                                          const std::string& path) {
    DIR* dir = ::fdopendir(folder.get());
    if (!dir) return system_failure(errno, "dir_initialize", path);
    (void)folder.release();
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(dir);
        if (!entry && errno == EINTR) continue;
        if (!entry) break;
        std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    int error = errno;
    ::closedir(dir);
    if (error != 0) return system_failure(error, "dir_read", path);
    std::sort(names.begin(), names.end());
    return names;
}

Result<std::string> RealFileSystem::real_path(const std::string& path) {
    char* resolved;
    do resolved = ::realpath(path.c_str(), nullptr);
    while (!resolved && errno == EINTR);
    if (!resolved) return system_failure(errno, "rb_realpath_internal", path);
    std::string text = resolved;
    std::free(resolved);
    return text;
}

bool RealFileSystem::access(const std::string& path, int how) {
    return retrying([&] { return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS); }) == 0;
}

Result<void> RealFileSystem::write(const std::string& path, std::string_view content,
                                   std::uint32_t mode) {
    return put(path, content, mode, O_TRUNC);
}

Result<void> RealFileSystem::append(const std::string& path, std::string_view content,
                                    std::uint32_t mode) {
    return put(path, content, mode, O_APPEND);
}

Result<void> RealFileSystem::make_directory(const std::string& path, std::uint32_t mode) {
    const Place p = BUNRAKU_TRY(place(path, Last::Keep, "dir_s_mkdir"));
    return done([&] { return ::mkdirat(p.at(), p.c_str(), mode); }, "dir_s_mkdir", path);
}

Result<void> RealFileSystem::sync_directory(const std::string& path) {
    const Place p = BUNRAKU_TRY(place(path, Last::Follow, "dir_initialize"));
    Descriptor folder(
        retrying([&] { return ::openat(p.at(), p.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!folder.good()) return system_failure(errno, "dir_initialize", path);
    return done([&] { return ::fsync(folder.get()); }, "rb_io_fsync", path);
}

Result<void> RealFileSystem::make_link(const std::string& target, const std::string& path) {
    const auto failed = [&](int error) -> std::unexpected<base::Error> {
        if (error == EEXIST) return system_failure(error, "syserr_fail2_in", path);
        return system_failure(error, "rb_file_s_symlink", fmt::format("({}, {})", target, path));
    };
    const auto p = place(path, Last::Keep, "rb_file_s_symlink");
    if (!p) return failed(p.error().code);
    const auto call = [&] { return ::symlinkat(target.c_str(), p->at(), p->c_str()); };
    if (retrying(call) != 0) return failed(errno);
    return {};
}

Result<void> RealFileSystem::rename(const std::string& from, const std::string& to) {
    const Place old = BUNRAKU_TRY(place(from, Last::Keep, "rb_file_s_rename"));
    const Place fresh = BUNRAKU_TRY(place(to, Last::Keep, "rb_file_s_rename"));
    return done([&] { return ::renameat(old.at(), old.c_str(), fresh.at(), fresh.c_str()); },
                "rb_file_s_rename", fmt::format("({}, {})", from, to));
}

Result<void> RealFileSystem::remove(const std::string& path) {
    const Place p = BUNRAKU_TRY(place(path, Last::Keep, "apply2files"));
    return done([&] { return ::unlinkat(p.at(), p.c_str(), 0); }, "apply2files", path);
}

Result<void> RealFileSystem::remove_directory(const std::string& path) {
    const Place p = BUNRAKU_TRY(place(path, Last::Keep, "dir_s_rmdir"));
    return done([&] { return ::unlinkat(p.at(), p.c_str(), AT_REMOVEDIR); }, "dir_s_rmdir", path);
}

Result<void> RealFileSystem::set_mode(const std::string& path, std::uint32_t mode) {
    return done([&] { return ::chmod(path.c_str(), mode); }, "apply2files", path);
}

Result<void> RealFileSystem::set_owner(const std::string& path, std::optional<std::uint32_t> uid,
                                       std::optional<std::uint32_t> gid, bool follow) {
    constexpr auto kKeep = static_cast<std::uint32_t>(-1);
    const Place p = BUNRAKU_TRY(place(path, follow ? Last::Follow : Last::Keep, "apply2files"));
    const int flags = follow ? follow_flags() : AT_SYMLINK_NOFOLLOW;
    const auto call = [&] {
        return ::fchownat(p.at(), p.c_str(), uid.value_or(kKeep), gid.value_or(kKeep), flags);
    };
    return done(call, "apply2files", path);
}

Result<void> RealFileSystem::set_mtime(const std::string& path, std::int64_t mtime_ns) {
    timespec times[2] = {{0, UTIME_OMIT}, {mtime_ns / 1'000'000'000, mtime_ns % 1'000'000'000}};
    const Place p = BUNRAKU_TRY(place(path, Last::Follow, "apply2files"));
    return done([&] { return ::utimensat(p.at(), p.c_str(), times, follow_flags()); },
                "apply2files", path);
}

template <class F>
Result<void> RealFileSystem::each_chunk(const std::string& path, std::string* reserve,
                                        const F& chunk) {
    const Descriptor in = BUNRAKU_TRY(open_file(path, O_RDONLY, 0, "rb_sysopen"));
    if (struct ::stat st{}; reserve && ::fstat(in.get(), &st) == 0 && st.st_size > 0) {
        reserve->reserve(static_cast<std::size_t>(st.st_size));
    }
    std::array<char, 65536> buffer BUNRAKU_UNINITIALIZED;
    for (;;) {
        const ssize_t n = retrying([&] { return ::read(in.get(), buffer.data(), buffer.size()); });
        if (n == 0) return {};
        if (n < 0) return system_failure(errno, "io_fread", path);
        if (!chunk(std::string_view(buffer.data(), static_cast<std::size_t>(n)))) return {};
    }
}

Result<void> RealFileSystem::put(const std::string& path, std::string_view content,
                                 std::uint32_t mode, int how) {
    Descriptor out = BUNRAKU_TRY(open_file(path, O_WRONLY | O_CREAT | how, mode, "rb_sysopen"));
    if (int e = write_all(out.get(), content)) return system_failure(e, "io_write", path);
    if (out.close() != 0) return system_failure(errno, "io_write", path);
    return {};
}

/// Makes a temporary file in the folder of `path`, fills it, sets its owner and mode, and renames
/// it.
Result<void> RealFileSystem::replace_from(const std::string& path, const Fill& fill,
                                          const WriteOptions& options) {
    static std::atomic<unsigned> counter{0};
    const Place p = BUNRAKU_TRY(place(path, Last::Keep, "rb_sysopen"));
    // The lock must last until the file is renamed or removed, so these descriptors are closed
    // after `temporary`.
    Descriptor out(-1), locked(-1);
    Temporary temporary{.place = p, .name = {}};
    // Without a mode, the umask decides. Only the kernel can apply it without changing it for other
    // threads.
    const mode_t first = options.mode ? 0600 : 0666;
    const std::string path_prefix =
        fmt::format("{}/.{}", directory_name(p.name), base_name(p.name).substr(0, 200));
    // The first name is the same in every run, so that a leftover of a killed process is found.
    temporary.name = path_prefix + ".bunraku-new";
    out = make_locked(p, temporary.name, first);
    for (int attempt = 0; attempt < 100 && !out.good() && errno == EEXIST; ++attempt) {
        temporary.name = fmt::format("{}{}.{}", path_prefix, ::getpid(), counter++);
        out = make_new(p, temporary.name, first);
    }
    BUNRAKU_ASSERT(temporary.name != p.name);
    if (!out.good()) return system_failure(errno, "rb_sysopen", path);
    temporary.made = true;
    BUNRAKU_TRY_VOID(fill([&](std::string_view part) -> Result<void> {
        if (int e = write_all(out.get(), part)) return system_failure(e, "io_write", path);
        return {};
    }));
    int error = 0;
    if (options.uid || options.gid) {
        constexpr auto kKeep = static_cast<std::uint32_t>(-1);
        const auto call = [&] {
            return ::fchown(out.get(), options.uid.value_or(kKeep), options.gid.value_or(kKeep));
        };
        if (retrying(call) != 0) error = errno;
    }
    // After chown, which clears the set-id bits.
    const auto then = [&](const auto& call) {
        if (error == 0 && retrying(call) != 0) error = errno;
    };
    if (options.mode) then([&] { return ::fchmod(out.get(), *options.mode); });
    if (options.sync) then([&] { return ::fsync(out.get()); });
    locked = Descriptor(::fcntl(out.get(), F_DUPFD_CLOEXEC, 0));
    if (out.close() != 0 && error == 0) error = errno;
    then([&] { return ::renameat(p.at(), temporary.name.c_str(), p.at(), p.c_str()); });
    BUNRAKU_ASSERT(temporary.made && !out.good());
    if (error != 0) return system_failure(error, "rb_file_s_rename", path);
    temporary.made = false;
    if (options.sync) {
        const std::string above(directory_name(p.name));
        Descriptor folder(retrying(
            [&] { return ::openat(p.at(), above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
        if (folder.good()) ::fsync(folder.get());
    }
    return {};
}

std::unique_ptr<FileSystem> make_real_file_system() { return std::make_unique<RealFileSystem>(); }

}  // namespace bunraku::sys
