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

#include "core/base/text.h"

namespace bunraku::sys {

namespace {

constexpr std::uint32_t kChildren = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr std::uint32_t kFolder = kChildren | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
/// A file that was written through memory tells only when it is closed.
constexpr std::uint32_t kContents = IN_MODIFY | IN_CLOSE_WRITE;
constexpr std::size_t kMostWatches = 65'536;
constexpr int kMostLinks = 40;
constexpr std::chrono::seconds kTimeout{5};
/// Nothing is known that would need it.
constexpr std::chrono::minutes kLookAnyway{10};

/// File systems on which nothing changes behind this kernel's back.
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

/// It is told once.
void FileChanges::hear_of_mounts() {
    pollfd one{.fd = mounts_.get(), .events = POLLPRI, .revents = 0};
    if (mounts_.good() && ::poll(&one, 1, 0) > 0) mounted_ = true;
}

bool FileChanges::wait(int other, std::chrono::milliseconds time) {
    if (mounted_) time = std::min<std::chrono::milliseconds>(time, kTimeout);
    pollfd all[] = {{.fd = other, .events = POLLIN, .revents = 0},
                    {.fd = blind_ ? -1 : descriptor_, .events = POLLIN, .revents = 0},
                    {.fd = mounts_.get(), .events = POLLPRI, .revents = 0}};
    (void)retrying([&] { return ::poll(all, 3, static_cast<int>(time.count())); });
    mounted_ |= all[2].revents != 0;
    return all[0].revents != 0;
}

std::optional<std::uint64_t> FileChanges::moment() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ >= kTimeout) {
        asked_ = now;
        hear_of_mounts();
        const bool anew = mounted_ || blind_ || !mounts_.good() || now - begun_ >= kLookAnyway;
        if (anew && (blind_ || watches_.size() > kMostWatches)) {
            close();
            open();
        }
        if (anew) {
            begin_anew();
            begun_ = now;
            mounted_ = false;
        }
    }
    hear();
    if (blind_) return std::nullopt;
    return number_;
}

void FileChanges::open() {
    descriptor_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    blind_ = descriptor_ < 0;
}

void FileChanges::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
    watches_.clear();
}

/// Watches stay, but which paths they are good for has to be found again.
void FileChanges::begin_anew() {
    number_ = next_number();
    known_.clear();
    folders_.clear();
}

void FileChanges::hear() {
    if (blind_) return;
    alignas(inotify_event) char buffer[32 * 1024];
    bool moved = false;
    while (true) {
        const auto n = retrying([&] { return ::read(descriptor_, buffer, sizeof buffer); });
        if (n < 0 && errno != EAGAIN) blind_ = true;
        if (n <= 0) break;
        for (const char* at = buffer; at < buffer + n;) {
            moved = matters(at) || moved;
            at += sizeof(inotify_event) + reinterpret_cast<const inotify_event*>(at)->len;
        }
    }
    if (moved) begin_anew();
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

/// The watch of a folder or file; null: it is gone meanwhile, or nothing can be heard of it.
FileChanges::Watch* FileChanges::listen(const std::string& path, std::uint32_t to) {
    // The same folder by another way must not hear less.
    const int number = ::inotify_add_watch(descriptor_, path.c_str(), to | IN_MASK_ADD);
    if (number >= 0) return &watches_[number];
    // Whoever took it away is heard of at the folder above.
    if (errno != ENOENT && errno != ENOTDIR) blind_ = true;
    return nullptr;
}

FileChanges::Watch* FileChanges::folder(const std::string& path) {
    if (const auto it = folders_.find(path); it != folders_.end()) return it->second;
    if (!reports_changes(path)) {
        blind_ = true;
        return nullptr;
    }
    auto* out = listen(path, kFolder | IN_ONLYDIR | IN_DONT_FOLLOW);
    if (out) folders_.emplace(path, out);
    return out;
}

/// Every folder on the way to what a path stands for, links followed, from the top: what is changed
/// while this goes on is heard of above.
void FileChanges::add(const std::string& path) {
    if (blind_ || path.empty() || !known_.insert(path).second) return;
    std::string here;  // "" is the top
    std::deque<std::string> left;
    const auto go = [&left](std::string_view way) {
        const auto names = base::words(way, "/");
        left.insert(left.begin(), names.begin(), names.end());
    };
    go(path);
    if (!path.starts_with('/')) {
        std::error_code error;
        go(std::filesystem::current_path(error).string());
        if (error) blind_ = true;
    }
    int links = 0;
    if (left.empty()) {
        if (auto* top = folder("/")) top->everything = true;
    }
    while (!left.empty()) {
        const std::string name = std::move(left.front());
        left.pop_front();
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
            if (errno != ENOENT && errno != ENOTDIR) blind_ = true;
            return;
        }
        if (S_ISLNK(st.st_mode)) {
            char target[PATH_MAX];
            const auto n = ::readlink(full.c_str(), target, sizeof target);
            if (n <= 0 || ++links > kMostLinks) return;
            const std::string_view way(target, static_cast<std::size_t>(n));
            if (way.starts_with('/')) here.clear();
            go(way);
            if (left.empty()) left.emplace_back(".");
        } else if (S_ISDIR(st.st_mode)) {
            here = full;
        } else {
            if (!left.empty()) return;
            // What was written before this is heard of here: whoever asks looks afterwards.
            if (!above->contents)
                above->contents =
                    listen(above_path, kContents | IN_ONLYDIR | IN_DONT_FOLLOW) != nullptr;
            // Another name of the same file may lie where nobody listens.
            if (st.st_nlink > 1) (void)listen(full, kFolder | kContents);
            return;
        }
        if (!left.empty()) continue;
    }
    // A folder: what it holds is its stamp.
    if (auto* all = folder(here.empty() ? "/" : here)) all->everything = true;
}

}  // namespace bunraku::sys
