// SPDX-License-Identifier: Apache-2.0
// Definitions of functions of the C library for the whole program; libraries and Bunraku call
// these. Outside a simulation they call the kernel.
#include "sim/machine.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bunraku::sim {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// A write that may not have reached the disk yet.
struct Unsynced {
    std::int64_t offset = 0, size_before = 0;
    std::string before;
    std::size_t length = 0;
};
struct Times {
    std::int64_t modified = 0, changed = 0;
};

struct World {
    sys::Simulation* simulation = nullptr;
    std::string root;
    dev_t device = 0;
    std::unordered_map<std::string, HostDisk*> disks;  ///< keys are folder names below the root
    std::unordered_map<ino_t, Times> times;
    std::unordered_map<ino_t, std::vector<Unsynced>> unsynced;
    /// file descriptors and paths of open files below the root
    std::unordered_map<int, std::string> open;
    /// true while the simulation itself uses files, which does not count as a step
    bool aside = false;
};
World world;

bool active() { return world.simulation && !world.aside; }

struct Aside {
    bool before = std::exchange(world.aside, true);
    ~Aside() { world.aside = before; }
};

template <class F>
F* real(const char* name) {
    return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

bool below_root(std::string_view path) {
    return path.starts_with(world.root) &&
           (path.size() == world.root.size() || path[world.root.size()] == '/');
}

std::string_view folder_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// Returns the name of the host for a path below the root.
std::string host_of(std::string_view path) {
    path.remove_prefix(std::min(path.size(), world.root.size() + 1));
    return std::string(path.substr(0, path.find('/')));
}

/// Returns null if the path is not on a host's disk, or is on a disk that a crash has replaced.
HostDisk* disk_of(std::string_view path) {
    const auto it = world.disks.find(host_of(path));
    if (it == world.disks.end()) return nullptr;
    const std::string& folder = it->second->folder();
    const bool there =
        path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
    return there ? it->second : nullptr;
}

ino_t inode_of(const std::string& path) {
    const Aside aside;
    struct stat st{};
    return ::lstat(path.c_str(), &st) == 0 ? st.st_ino : 0;
}

void touched(ino_t inode, bool content = true) {
    if (inode == 0) return;
    const auto now = world.simulation->now_ns();
    auto [it, fresh] = world.times.try_emplace(inode);
    if (content || fresh) it->second.modified = now;
    it->second.changed = now;
}
void touched(std::string_view path, bool content = true) {
    touched(inode_of(std::string(path)), content);
}

/// Notifies the simulated file watches.
void told(std::string_view path) { world.simulation->file_changed(path); }

/// Must be called before a change at `path`. Returns an errno if the change must fail, or 0.
int step(std::string_view path, bool needs_space) {
    HostDisk* disk = disk_of(path);
    if (!disk) return 0;
    disk->step();
    return needs_space && disk->full ? ENOSPC : 0;
}

const std::string* path_of(int fd) {
    if (!active()) return nullptr;
    const auto it = world.open.find(fd);
    return it == world.open.end() ? nullptr : &it->second;
}

int fails(int error) {
    errno = error;
    return -1;
}

void remember(int fd, const iovec* parts, int count, std::int64_t offset) {
    const Aside aside;
    struct stat st{};
    if (::fstat(fd, &st) != 0) return;
    Unsynced one{.offset = offset, .size_before = st.st_size};
    for (int i = 0; i < count; ++i) one.length += parts[i].iov_len;
    if (offset < st.st_size) {
        one.before.resize(
            std::min<std::size_t>(one.length, static_cast<std::size_t>(st.st_size - offset)));
        const auto n = ::pread(fd, one.before.data(), one.before.size(), offset);
        one.before.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    }
    world.unsynced[st.st_ino].push_back(std::move(one));
    touched(st.st_ino);
}

/// Must be called at the start of each function that writes. Returns an errno if the write must
/// fail, or 0.
int before_write(int fd, const iovec* parts, int count, std::int64_t offset) {
    const std::string* known = path_of(fd);
    if (!known) return 0;
    const std::string path = *known;
    if (const int error = step(path, true)) return error;
    if (offset < 0) offset = ::lseek(fd, 0, SEEK_CUR);
    remember(fd, parts, count, offset);
    told(path);
    return 0;
}

void describe(struct stat& st) {
    if (!active() || st.st_dev != world.device) return;
    const auto it = world.times.find(st.st_ino);
    if (it == world.times.end()) return;
    const auto spec = [](std::int64_t ns) { return timespec{ns / kSecond, ns % kSecond}; };
    st.st_mtim = st.st_atim = spec(it->second.modified);
    st.st_ctim = spec(it->second.changed);
}

int open_file(int dir, const char* path, int flags, mode_t mode) {
    const auto call = [&] {
        return static_cast<int>(::syscall(SYS_openat, dir, path, flags | O_LARGEFILE, mode));
    };
    if (!active() || !path || dir != AT_FDCWD || !below_root(path)) return call();
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    bool fresh = false;
    if (flags & O_CREAT) {
        fresh = inode_of(path) == 0;
        if (fresh || flags & O_TRUNC)
            if (const int error = step(path, true)) return fails(error);
    }
    const int fd = call();
    if (fd < 0) return fd;
    if (writes) world.open[fd] = path;
    if (fresh) {
        touched(path);
        touched(folder_of(path));
        told(path);
    } else if (flags & O_TRUNC) {
        touched(path);
        told(path);
    }
    return fd;
}

/// Runs a call that changes a folder.
template <class Call>
int change_folder(std::string_view path, bool needs_space, Call&& call) {
    if (!active() || !below_root(path)) return call();
    if (const int error = step(path, needs_space)) return fails(error);
    const int out = call();
    if (out != 0) return out;
    touched(folder_of(path));
    told(path);
    return out;
}

void copy_file(const std::string& from, const std::string& to, const struct stat& st) {
    const int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
    const int out = ::open(to.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, st.st_mode & 07777);
    if (in < 0 || out < 0) std::abort();
    (void)!::fchmod(out, st.st_mode & 07777);
    static std::vector<char> buffer(1 << 18);
    off_t at = 0;
    while (at < st.st_size) {
        const off_t data = ::lseek(in, at, SEEK_DATA);
        if (data < 0) break;
        const off_t hole = ::lseek(in, data, SEEK_HOLE);
        for (at = data; at < hole;) {
            const auto n = ::pread(
                in, buffer.data(),
                std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(hole - at)), at);
            if (n <= 0) std::abort();
            if (::pwrite(out, buffer.data(), static_cast<std::size_t>(n), at) != n) std::abort();
            at += n;
        }
    }
    (void)!::ftruncate(out, st.st_size);
    ::close(in);
    ::close(out);
}

/// Drops some of the unsynced writes, or keeps only their first part, as a power loss does.
void lose(const std::string& copy, const std::vector<Unsynced>& writes, sys::Simulation& rng) {
    const int fd = ::open(copy.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    for (auto it = writes.rbegin(); it != writes.rend(); ++it) {
        if (rng.random(2) == 0) continue;
        const std::size_t kept = rng.random(3) == 0 ? rng.random(it->length + 1) : 0;
        if (kept < it->before.size()) {
            (void)!::pwrite(fd, it->before.data() + kept, it->before.size() - kept,
                            it->offset + static_cast<off_t>(kept));
        }
        const auto end = it->offset + static_cast<std::int64_t>(it->length);
        struct stat st{};
        ::fstat(fd, &st);
        // This write extended the file.
        if (end > it->size_before && st.st_size == end)
            (void)!::ftruncate(
                fd, std::max<std::int64_t>(it->size_before, it->offset + static_cast<off_t>(kept)));
    }
    ::close(fd);
}

void copy_tree(const std::string& from, const std::string& to, sys::Simulation* rng) {
    ::mkdir(to.c_str(), 0700);
    const auto take_times = [&](ino_t old, const std::string& path) {
        const auto it = world.times.find(old);
        if (it == world.times.end()) return;
        const Times times = it->second;
        world.times[inode_of(path)] = times;
    };
    DIR* dir = ::opendir(from.c_str());
    if (!dir) std::abort();
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(dir)) names.emplace_back(entry->d_name);
    ::closedir(dir);
    std::sort(names.begin(), names.end());
    for (const auto& name : names) {
        if (name == "." || name == "..") continue;
        const std::string a = from + '/' + name, b = to + '/' + name;
        struct stat st{};
        if (::lstat(a.c_str(), &st) != 0) continue;
        if (S_ISDIR(st.st_mode)) {
            copy_tree(a, b, rng);
            (void)!::chmod(b.c_str(), st.st_mode & 07777);
        } else if (S_ISLNK(st.st_mode)) {
            char target[4096] = {};
            if (::readlink(a.c_str(), target, sizeof target - 1) > 0)
                (void)!::symlink(target, b.c_str());
        } else if (S_ISREG(st.st_mode)) {
            copy_file(a, b, st);
            const auto lost = world.unsynced.find(st.st_ino);
            if (rng && lost != world.unsynced.end()) lose(b, lost->second, *rng);
        }
        take_times(st.st_ino, b);
    }
    struct stat st{};
    if (::lstat(from.c_str(), &st) == 0) take_times(st.st_ino, to);
}

}  // namespace

void enter_world(sys::Simulation* simulation, const std::string& root) {
    world = {};
    if (!simulation) return;
    struct stat st{};
    if (::stat(root.c_str(), &st) != 0) std::abort();
    world.root = root;
    world.device = st.st_dev;
    world.simulation = simulation;
}

HostDisk::HostDisk(std::string folder, sys::Simulation& simulation)
    : base_(std::move(folder)), world_(simulation) {
    const Aside aside;
    ::mkdir(base_.c_str(), 0700);
    folder_ = life(0);
    ::mkdir(folder_.c_str(), 0700);
    touched(folder_);
    world.disks.emplace(host_of(base_), this);
}

HostDisk::~HostDisk() { world.disks.erase(host_of(base_)); }

std::string HostDisk::life(std::uint64_t n) const { return fmt::format("{}/{:06}", base_, n); }

void HostDisk::crash_after(std::uint64_t steps, bool power_loss, std::function<void()> crashed) {
    steps_ = std::max<std::uint64_t>(1, steps);
    power_loss_ = power_loss;
    crashed_ = std::move(crashed);
}

void HostDisk::step() {
    ++changes_;
    if (steps_ > 0 && --steps_ == 0) {
        steps_ = 1;
        crash_now();
    }
}

void HostDisk::crash_now() {
    if (steps_ == 0) return;
    steps_ = 0;
    {
        const Aside aside;
        const std::string next = life(++life_);
        copy_tree(folder_, next, power_loss_ ? &world_ : nullptr);
        // Code that ran before the crash before has been stopped.
        if (life_ > 1) std::filesystem::remove_all(life(life_ - 2));
        folder_ = next;
    }
    // After a crash, all data in the copy counts as written to the disk.
    world.unsynced.clear();
    const auto told = std::exchange(crashed_, nullptr);
    if (told) told();
}

}  // namespace bunraku::sim

// NOLINTBEGIN: names of the C library.
using namespace bunraku::sim;

#define REAL(name) static auto* const real_##name = real<decltype(name)>(#name)

extern "C" {

int clock_gettime(clockid_t clock, timespec* out) noexcept {
    if (!world.simulation) return static_cast<int>(::syscall(SYS_clock_gettime, clock, out));
    std::int64_t ns = 0;
    switch (clock) {
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE: ns = world.simulation->now_ns(); break;
        case CLOCK_MONOTONIC:
        case CLOCK_MONOTONIC_COARSE:
        case CLOCK_MONOTONIC_RAW:
        case CLOCK_BOOTTIME: ns = world.simulation->monotonic_ns(); break;
        default: return static_cast<int>(::syscall(SYS_clock_gettime, clock, out));
    }
    *out = {ns / kSecond, ns % kSecond};
    return 0;
}
time_t time(time_t* out) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(timeval* out, void*) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    *out = {now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
/// Names and texts contain the process ID. A fixed ID makes sure that their lengths do not change
/// the simulated events.
pid_t getpid() noexcept {
    return world.simulation ? 1000 : static_cast<pid_t>(::syscall(SYS_getpid));
}
int nanosleep(const timespec* time, timespec* left) {
    if (!world.simulation) return static_cast<int>(::syscall(SYS_nanosleep, time, left));
    world.simulation->sleep_ns(time->tv_sec * kSecond + time->tv_nsec);
    return 0;
}
int usleep(useconds_t time) {
    const timespec spec{time / 1'000'000, static_cast<long>(time % 1'000'000) * 1000};
    return nanosleep(&spec, nullptr);
}
ssize_t getrandom(void* into, size_t size, unsigned flags) {
    if (!world.simulation) return ::syscall(SYS_getrandom, into, size, flags);
    for (size_t i = 0; i < size; ++i)
        static_cast<char*>(into)[i] = static_cast<char>(world.simulation->random(256));
    return static_cast<ssize_t>(size);
}

int open(const char* path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = va_arg(list, mode_t);
    va_end(list);
    return open_file(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = va_arg(list, mode_t);
    va_end(list);
    return open_file(AT_FDCWD, path, flags, mode);
}
int openat(int dir, const char* path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = va_arg(list, mode_t);
    va_end(list);
    return open_file(dir, path, flags, mode);
}
int openat64(int dir, const char* path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = va_arg(list, mode_t);
    va_end(list);
    return open_file(dir, path, flags, mode);
}
int close(int fd) {
    if (world.simulation) world.open.erase(fd);
    return static_cast<int>(::syscall(SYS_close, fd));
}

ssize_t write(int fd, const void* from, size_t size) {
    const iovec part{const_cast<void*>(from), size};
    if (const int error = before_write(fd, &part, 1, -1)) return fails(error);
    return ::syscall(SYS_write, fd, from, size);
}
ssize_t pwrite(int fd, const void* from, size_t size, off_t offset) {
    const iovec part{const_cast<void*>(from), size};
    if (const int error = before_write(fd, &part, 1, offset)) return fails(error);
    return ::syscall(SYS_pwrite64, fd, from, size, offset);
}
ssize_t pwrite64(int fd, const void* from, size_t size, off64_t offset) {
    return pwrite(fd, from, size, offset);
}
ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
    if (const int error = before_write(fd, parts, count, offset)) return fails(error);
    return ::syscall(SYS_pwritev, fd, parts, count, offset, offset >> 32);
}
ssize_t pwritev64(int fd, const iovec* parts, int count, off64_t offset) {
    return pwritev(fd, parts, count, offset);
}
int ftruncate(int fd, off_t size) noexcept {
    if (const std::string* path = path_of(fd)) {
        const std::string known = *path;
        struct stat st{};
        (void)::fstat(fd, &st);
        if (const int error = step(known, size > st.st_size)) return fails(error);
        touched(st.st_ino);
        told(known);
        // The previous content beyond the new size is unknown.
        world.unsynced.erase(st.st_ino);
    }
    return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}
int ftruncate64(int fd, off64_t size) noexcept { return ftruncate(fd, size); }
int posix_fallocate(int fd, off_t offset, off_t length) {
    if (const std::string* path = path_of(fd))
        if (const int error = step(std::string(*path), true)) return error;
    if (world.simulation) {
        // Does not allocate blocks: unused space would cost memory and time, and no simulated disk
        // is too small for it.
        struct stat st{};
        if (::fstat(fd, &st) != 0) return errno;
        return st.st_size >= offset + length || ::syscall(SYS_ftruncate, fd, offset + length) == 0
                   ? 0
                   : errno;
    }
    return ::syscall(SYS_fallocate, fd, 0, offset, length) == 0 ? 0 : errno;
}
int posix_fallocate64(int fd, off64_t offset, off64_t length) {
    return posix_fallocate(fd, offset, length);
}
static int sync_file(int fd) {
    if (const std::string* path = path_of(fd)) {
        const std::string known = *path;
        if (const int error = step(known, false)) return fails(error);
        struct stat st{};
        if (::fstat(fd, &st) == 0) world.unsynced.erase(st.st_ino);
        return 0;
    }
    // A simulation does not wait for the real disk.
    return world.simulation ? 0 : static_cast<int>(::syscall(SYS_fsync, fd));
}
int fsync(int fd) { return sync_file(fd); }
int fdatasync(int fd) { return sync_file(fd); }

int rename(const char* from, const char* to) noexcept {
    const auto call = [&] {
        return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
    };
    const int out = change_folder(to, false, call);
    if (out == 0 && active() && below_root(to)) {
        touched(folder_of(from));
        touched(to, false);
        told(from);
    }
    return out;
}
int unlink(const char* path) noexcept {
    return change_folder(
        path, false, [&] { return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0)); });
}
int rmdir(const char* path) noexcept {
    return change_folder(path, false, [&] {
        return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
    });
}
int chmod(const char* path, mode_t mode) noexcept {
    const auto call = [&] {
        return static_cast<int>(::syscall(SYS_fchmodat, AT_FDCWD, path, mode));
    };
    if (!active() || !below_root(path)) return call();
    if (const int error = step(path, false)) return fails(error);
    const int out = call();
    if (out == 0) touched(path, false);
    return out;
}
int mkdir(const char* path, mode_t mode) noexcept {
    const int out = change_folder(
        path, true, [&] { return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode)); });
    if (out == 0 && active() && below_root(path)) touched(path);
    return out;
}
int symlink(const char* target, const char* path) noexcept {
    const int out = change_folder(path, true, [&] {
        return static_cast<int>(::syscall(SYS_symlinkat, target, AT_FDCWD, path));
    });
    if (out == 0 && active() && below_root(path)) touched(path);
    return out;
}
int mkostemp(char* pattern, int flags) {
    if (!active() || !below_root(pattern)) {
        REAL(mkostemp);
        return real_mkostemp(pattern, flags);
    }
    const size_t end = std::strlen(pattern) - 6;
    for (int tries = 0; tries < 100; ++tries) {
        for (size_t i = 0; i < 6; ++i)
            pattern[end + i] = static_cast<char>('a' + world.simulation->random(26));
        const int fd = open_file(AT_FDCWD, pattern, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return fails(EEXIST);
}
int mkstemp(char* pattern) { return mkostemp(pattern, 0); }

int stat(const char* path, struct stat* out) noexcept {
    REAL(stat);
    const int rc = real_stat(path, out);
    if (rc == 0) describe(*out);
    return rc;
}
int lstat(const char* path, struct stat* out) noexcept {
    REAL(lstat);
    const int rc = real_lstat(path, out);
    if (rc == 0) describe(*out);
    return rc;
}
int fstat(int fd, struct stat* out) noexcept {
    REAL(fstat);
    const int rc = real_fstat(fd, out);
    if (rc == 0) describe(*out);
    return rc;
}
int fstatat(int dir, const char* path, struct stat* out, int flags) noexcept {
    REAL(fstatat);
    const int rc = real_fstatat(dir, path, out, flags);
    if (rc == 0) describe(*out);
    return rc;
}
int stat64(const char* path, struct stat64* out) noexcept {
    return stat(path, reinterpret_cast<struct stat*>(out));
}
int lstat64(const char* path, struct stat64* out) noexcept {
    return lstat(path, reinterpret_cast<struct stat*>(out));
}
int fstat64(int fd, struct stat64* out) noexcept {
    return fstat(fd, reinterpret_cast<struct stat*>(out));
}
int utimensat(int dir, const char* path, const timespec times[2], int flags) noexcept {
    const int rc = static_cast<int>(::syscall(SYS_utimensat, dir, path, times, flags));
    if (rc == 0 && active() && dir == AT_FDCWD && below_root(path)) {
        const auto inode = inode_of(path);
        touched(inode, false);
        if (!times || times[1].tv_nsec == UTIME_NOW)
            touched(inode);
        else if (times[1].tv_nsec != UTIME_OMIT)
            world.times[inode].modified = times[1].tv_sec * kSecond + times[1].tv_nsec;
    }
    return rc;
}
}
// NOLINTEND
