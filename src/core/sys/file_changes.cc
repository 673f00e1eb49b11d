// SPDX-License-Identifier: Apache-2.0
#include "core/sys/file_changes.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <linux/magic.h>
#include <poll.h>
#include <string_view>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace bunraku::sys {

namespace {

constexpr std::uint32_t kChildren = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr std::uint32_t kFolder = kChildren | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
/// The kernel reports writes through a memory mapping only when the file is closed.
constexpr std::uint32_t kContents = IN_MODIFY | IN_CLOSE_WRITE;
constexpr std::size_t kMostWatches = 65'536;
constexpr int kMostLinks = 40;
constexpr std::chrono::seconds kTimeout{5};
/// A safety interval; no known case needs it.
constexpr std::chrono::minutes kMaxRestartInterval{10};

/// Reports whether `folder` is on a file system that changes only through this kernel.
bool reports_changes(const std::string& folder) {
    struct statfs st{};
    if (::statfs(folder.c_str(), &st) != 0) return false;
    switch (static_cast<std::uint32_t>(st.f_type)) {
        case EXT4_SUPER_MAGIC:
        case XFS_SUPER_MAGIC:
        case BTRFS_SUPER_MAGIC:
        case F2FS_SUPER_MAGIC:
        case TMPFS_MAGIC:
        case RAMFS_MAGIC:
        case OVERLAYFS_SUPER_MAGIC:
        case SQUASHFS_MAGIC:
        case 0x2fc12fc1:  // ZFS
        case 0xca451a4e:  // bcachefs
            return true;
        default: return false;
    }
}

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

}  // namespace

FileChanges::FileChanges()
    : mounts_(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)),
      number_(next_number()),
      begun_(std::chrono::steady_clock::now()),
      asked_(begun_) {
    open();
}

FileChanges::~FileChanges() { close(); }

/// The kernel reports a mount only once.
void FileChanges::check_for_mounts() {
    pollfd one{.fd = mounts_.get(), .events = POLLPRI, .revents = 0};
    if (mounts_.good() && ::poll(&one, 1, 0) > 0) mounted_ = true;
}

bool FileChanges::wait(int other, std::chrono::milliseconds time) {
    if (mounted_) time = std::min<std::chrono::milliseconds>(time, kTimeout);
    pollfd all[] = {{.fd = other, .events = POLLIN, .revents = 0},
                    {.fd = unobservable_ ? -1 : descriptor_, .events = POLLIN, .revents = 0},
                    {.fd = mounts_.get(), .events = POLLPRI, .revents = 0}};
    (void)retrying([&] { return ::poll(all, 3, static_cast<int>(time.count())); });
    mounted_ |= all[2].revents != 0;
    return all[0].revents != 0;
}

std::optional<std::uint64_t> FileChanges::moment() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ >= kTimeout) {
        asked_ = now;
        check_for_mounts();
        const bool restart =
            mounted_ || unobservable_ || !mounts_.good() || now - begun_ >= kMaxRestartInterval;
        if (restart && (unobservable_ || watches_.size() > kMostWatches)) {
            close();
            open();
        }
        if (restart) {
            forget_paths();
            begun_ = now;
            mounted_ = false;
        }
    }
    read_events();
    if (unobservable_) return std::nullopt;
    return number_;
}

void FileChanges::open() {
    BUNRAKU_ASSERT(descriptor_ < 0 && watches_.empty());
    descriptor_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    unobservable_ = descriptor_ < 0;
}

void FileChanges::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
    watches_.clear();
}

/// Drops the mapping from paths to watches, which must be determined again. The watches themselves
/// remain.
void FileChanges::forget_paths() {
    const std::uint64_t next = next_number();
    BUNRAKU_ASSERT(next > number_);
    number_ = next;
    known_.clear();
    folders_.clear();
}

void FileChanges::read_events() {
    if (unobservable_) return;
    alignas(inotify_event) char buffer[32 * 1024];
    BUNRAKU_ASSERT(descriptor_ >= 0);
    bool moved = false;
    while (true) {
        const auto n = retrying([&] { return ::read(descriptor_, buffer, sizeof buffer); });
        if (n < 0 && errno != EAGAIN) unobservable_ = true;
        if (n <= 0) break;
        for (const char* at = buffer; at < buffer + n;) {
            moved = matters(at) || moved;
            at += sizeof(inotify_event) + reinterpret_cast<const inotify_event*>(at)->len;
        }
    }
    if (moved) forget_paths();
}

bool FileChanges::matters(const void* what) {
    const auto& event = *static_cast<const inotify_event*>(what);
    if (event.mask & IN_Q_OVERFLOW) return true;
    const auto it = watches_.find(event.wd);
    if (it == watches_.end()) return false;
    if (event.mask & IN_IGNORED) {
        watches_.erase(it);
        return true;
    }
    if (event.len == 0) return true;
    return it->second.names.contains(event.name) ||
           (it->second.everything && (event.mask & kChildren) != 0);
}

/// Adds a watch for a folder or file. Returns null if it no longer exists or cannot be watched.
FileChanges::Watch* FileChanges::add_watch(const std::string& path, std::uint32_t to) {
    // Adding the same folder through another path must not remove events.
    BUNRAKU_ASSERT(descriptor_ >= 0 && path.starts_with('/'));
    const int number = ::inotify_add_watch(descriptor_, path.c_str(), to | IN_MASK_ADD);
    if (number >= 0) return &watches_[number];
    // The watch on the parent folder reports the removal.
    if (errno != ENOENT && errno != ENOTDIR) unobservable_ = true;
    return nullptr;
}

FileChanges::Watch* FileChanges::folder(const std::string& path) {
    if (const auto it = folders_.find(path); it != folders_.end()) return it->second;
    if (!reports_changes(path)) {
        unobservable_ = true;
        return nullptr;
    }
    auto* out = add_watch(path, kFolder | IN_ONLYDIR | IN_DONT_FOLLOW);
    if (out) folders_.emplace(path, out);
    return out;
}

/// Watches every folder on the path, from the root on, and follows links. The folders above report
/// changes that happen meanwhile.
void FileChanges::add(const std::string& path) {
    if (unobservable_ || path.empty() || !known_.insert(path).second) return;
    std::string here;  // "" is the root
    std::deque<std::string> left;
    const auto go = [&left](std::string_view way) {
        const auto names = base::words(way, "/");
        left.insert(left.begin(), names.begin(), names.end());
    };
    go(path);
    if (!path.starts_with('/')) {
        std::error_code error;
        go(std::filesystem::current_path(error).string());
        if (error) unobservable_ = true;
    }
    BUNRAKU_ASSERT(known_.contains(path));
    int links = 0;
    if (left.empty()) {
        if (auto* top = folder("/")) top->everything = true;
    }
    while (!left.empty()) {
        const std::string name = std::move(left.front());
        left.pop_front();
        BUNRAKU_ASSERT(!name.empty() && name.find('/') == std::string::npos);
        BUNRAKU_ASSERT(here.empty() || (here.front() == '/' && here.back() != '/'));
        if (name == ".") continue;
        if (name == "..") {
            here.resize(here.empty() ? 0 : here.rfind('/'));
            continue;
        }
        const std::string above_path = here.empty() ? "/" : here;
        auto* above = folder(above_path);
        if (!above) return;
        above->names.insert(name);
        const std::string full = here + "/" + name;
        if (!left.empty() && folders_.contains(full)) {
            here = full;
            continue;
        }
        struct stat st{};
        if (::lstat(full.c_str(), &st) != 0) {
            if (errno != ENOENT && errno != ENOTDIR) unobservable_ = true;
            return;
        }
        if (S_ISLNK(st.st_mode)) {
            char target[PATH_MAX];
            const auto n = ::readlink(full.c_str(), target, sizeof target);
            BUNRAKU_ASSERT(links >= 0 && links <= kMostLinks);
            if (n <= 0 || ++links > kMostLinks) return;
            const std::string_view way(target, static_cast<std::size_t>(n));
            if (way.starts_with('/')) here.clear();
            go(way);
            if (left.empty()) left.emplace_back(".");
        } else if (S_ISDIR(st.st_mode)) {
            here = full;
        } else {
            if (!left.empty()) return;
            // Earlier writes are not reported, but the caller reads the files after this call.
            if (!above->contents)
                above->contents =
                    add_watch(above_path, kContents | IN_ONLYDIR | IN_DONT_FOLLOW) != nullptr;
            // The file may change through another name in a folder that is not watched.
            if (st.st_nlink > 1) (void)add_watch(full, kFolder | kContents);
            return;
        }
        if (!left.empty()) continue;
    }
    // The stamp of a folder depends on its entries.
    if (auto* all = folder(here.empty() ? "/" : here)) all->everything = true;
}

}  // namespace bunraku::sys
