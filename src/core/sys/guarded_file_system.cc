// SPDX-License-Identifier: Apache-2.0
// File access for a process with more rights than the owners of the folders that it enters. A
// folder's owner can replace a file with a link, so every change and read goes through a
// descriptor. A link that belongs to another user, or that is in a folder of another user, may lead
// only to files of that user (CHASE_SAFE in systemd-tmpfiles has the same rule). A path without
// links, which is the normal case, costs one openat2(2).
#include "core/sys/guarded_file_system.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fmt/format.h>
#include <grp.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/sys/real_file_system.h"

namespace bunraku::sys {

namespace {

constexpr int kPath = O_PATH | O_CLOEXEC;

Descriptor open_without_links(int at, const std::string& path, int flags, std::uint32_t mode,
                              std::uint64_t also = 0) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    if ((flags & O_CREAT) != 0) how.mode = mode;
    how.resolve = RESOLVE_NO_SYMLINKS | also;
    return Descriptor(static_cast<int>(
        retrying([&] { return ::syscall(SYS_openat2, at, path.c_str(), &how, sizeof how); })));
}

Descriptor open_at(int at, const std::string& name, int flags, std::uint32_t mode = 0) {
    return Descriptor(
        retrying([&] { return ::openat(at, name.c_str(), flags | O_CLOEXEC, mode); }));
}

/// Reports whether openat2 only failed to decide: the path contains a link, the kernel is old, or a
/// seccomp filter is active.
bool undecided(int error) { return error == ELOOP || error == ENOSYS || error == EPERM; }

/// Follows the links of one path step by step.
class Chase {
public:
    Chase(const std::string& path, bool follow_last, bool allow_links)
        : path_(path), follow_last_(follow_last), allow_links_(allow_links) {}

    /// Returns the folder and the name of the target of `path`. A relative path begins at `from`.
    Result<Place> run(Descriptor from, std::string_view call) {
        call_ = call;
        folder_ = std::move(from);
        if (path_.starts_with('/')) folder_ = open_at(AT_FDCWD, "/", kPath | O_DIRECTORY);
        push(path_);
        if (todo_.empty()) todo_.push_back({.name = ".", .owners = {}});
        while (!todo_.empty()) {
            if (!folder_.good()) return system_failure(errno, call_, path_);
            Step step = std::move(todo_.back());
            todo_.pop_back();
            if (!step.owners.empty()) {
                struct ::stat st{};
                if (::fstat(folder_.get(), &st) != 0) return system_failure(errno, call_, path_);
                BUNRAKU_TRY_VOID(check(step, st));
                continue;
            }
            if (BUNRAKU_TRY(resolve_name(step.name))) break;
        }
        BUNRAKU_ASSERT(!last_.empty() && last_.find('/') == std::string::npos);
        return Place{std::move(folder_), std::move(last_)};
    }

private:
    /// Either the next name, or a check of the owner of the target.
    struct Step {
        std::string name;
        std::vector<uid_t> owners;
    };

    void push(std::string_view path) {
        std::vector<std::string_view> names;
        while (!path.empty()) {
            const std::size_t slash = path.find('/');
            if (slash != 0) names.push_back(path.substr(0, slash));
            path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
        }
        for (auto it = names.rbegin(); it != names.rend(); ++it)
            todo_.push_back({.name = std::string(*it), .owners = {}});
    }

    bool names_left() const {
        for (const Step& s : todo_)
            if (s.owners.empty()) return true;
        return false;
    }

    Result<void> check(const Step& step, const struct ::stat& st) const {
        for (const uid_t owner : step.owners) {
            if (st.st_uid == owner) continue;
            return base::failure(
                fmt::format("Refusing to follow a link of user {} to a file of user {} @ {} - {}",
                            owner, st.st_uid, call_, path_),
                ELOOP);
        }
        return {};
    }

    /// Resolves one more name. Returns true at the end of the path.
    Result<bool> resolve_name(const std::string& name) {
        BUNRAKU_ASSERT(folder_.good() && !name.empty());
        const bool last = !names_left();
        Descriptor next = open_at(folder_.get(), name, kPath | O_NOFOLLOW);
        struct ::stat st{};
        if (!next.good()) {
            if (!last || errno != ENOENT) return system_failure(errno, call_, path_);
            // The file to create will be in this folder.
            if (::fstat(folder_.get(), &st) != 0) return system_failure(errno, call_, path_);
            return finish(name, st);
        }
        if (::fstat(next.get(), &st) != 0) return system_failure(errno, call_, path_);
        if (S_ISLNK(st.st_mode) && (!last || follow_last_)) {
            BUNRAKU_TRY_VOID(follow(name, next, st, last));
            return false;
        }
        if (last) return finish(name, st);
        if (!S_ISDIR(st.st_mode)) return system_failure(ENOTDIR, call_, path_);
        folder_ = std::move(next);
        return false;
    }

    Result<bool> finish(const std::string& name, const struct ::stat& st) {
        for (const Step& step : todo_) BUNRAKU_TRY_VOID(check(step, st));
        last_ = name;
        return true;
    }

    Result<void> follow(const std::string& name, const Descriptor& link, const struct ::stat& st,
                        bool last) {
        BUNRAKU_ASSERT(S_ISLNK(st.st_mode) && folder_.good());
        BUNRAKU_ASSERT(links_ <= 41);
        struct ::stat above{};
        if (!allow_links_ || ++links_ > 40) return system_failure(ELOOP, call_, path_);
        if (::fstat(folder_.get(), &above) != 0) return system_failure(errno, call_, path_);
        // The links in /proc/PID/fd have no usable text, so the kernel follows them.
        struct ::statfs where{};
        if (!last && ::fstatfs(folder_.get(), &where) == 0 && where.f_type == PROC_SUPER_MAGIC) {
            folder_ = open_at(folder_.get(), name, kPath | O_DIRECTORY);
            return {};
        }
        std::array<char, PATH_MAX> text{};
        const ssize_t n = ::readlinkat(link.get(), "", text.data(), text.size());
        if (n < 0) return system_failure(errno, call_, path_);
        Step guard;
        for (const uid_t uid : {st.st_uid, above.st_uid}) {
            if (uid != 0 && uid != ::geteuid()) guard.owners.push_back(uid);
        }
        if (!guard.owners.empty()) todo_.push_back(std::move(guard));
        const std::string_view target(text.data(), static_cast<std::size_t>(n));
        if (target.starts_with('/')) folder_ = open_at(AT_FDCWD, "/", kPath | O_DIRECTORY);
        push(target);
        // "/" alone has no last name.
        if (target.find_first_not_of('/') == std::string_view::npos && last)
            todo_.push_back({.name = ".", .owners = {}});
        return {};
    }

    const std::string& path_;
    bool follow_last_, allow_links_;
    std::string_view call_;
    Descriptor folder_{-1};
    std::vector<Step> todo_;  ///< the next step is the last element
    std::string last_;
    int links_ = 0;
};

class GuardedFileSystem final : public RealFileSystem, public GuardedFiles {
public:
    Result<std::string> real_path(const std::string& path) override {
        if (acting_) return RealFileSystem::real_path(path);
        constexpr std::string_view kCall = "rb_realpath_internal";
        const Place p = BUNRAKU_TRY(place(path, Last::Follow, kCall));
        // The path of the file that was checked. Resolving `path` a second time could reach another
        // file if its links change meanwhile.
        const Descriptor file = open_at(p.at(), p.name, kPath | O_NOFOLLOW);
        struct ::stat st{};
        if (!file.good() || ::fstat(file.get(), &st) != 0)
            return system_failure(errno, kCall, path);
        if (S_ISLNK(st.st_mode)) return system_failure(ELOOP, kCall, path);
        std::array<char, PATH_MAX> real{};
        const std::string self = fmt::format("/proc/self/fd/{}", file.get());
        const ssize_t length = ::readlink(self.c_str(), real.data(), real.size());
        if (length < 0) return system_failure(errno, kCall, path);
        return std::string(real.data(), static_cast<std::size_t>(length));
    }

    Result<void> set_mode(const std::string& path, std::uint32_t mode) override {
        if (acting_) return RealFileSystem::set_mode(path, mode);
        const Place p = BUNRAKU_TRY(place(path, Last::Follow, "apply2files"));
        const Descriptor file = open_at(p.at(), p.name, kPath | O_NOFOLLOW);
        struct ::stat st{};
        if (!file.good() || ::fstat(file.get(), &st) != 0)
            return system_failure(errno, "apply2files", path);
        if (S_ISLNK(st.st_mode)) return system_failure(ELOOP, "apply2files", path);
        // chmod(2) does not accept a descriptor opened with O_PATH, but accepts its name in /proc.
        const std::string self = fmt::format("/proc/self/fd/{}", file.get());
        if (retrying([&] { return ::chmod(self.c_str(), mode); }) == 0) return {};
        if (errno != ENOENT) return system_failure(errno, "apply2files", path);
        const Descriptor open = open_at(p.at(), p.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        if (!open.good() || retrying([&] { return ::fchmod(open.get(), mode); }) != 0)
            return system_failure(errno, "apply2files", path);
        return {};
    }

    Result<void> remove_tree(const std::string& path) override;

    std::string forbid_links_below(std::string top) override {
        return std::exchange(top_, std::move(top));
    }

    Result<void> act_as(const std::optional<Account>& user) override {
        if (::geteuid() != 0 || (!user && !acting_)) return {};
        std::vector<gid_t> groups = groups_;
        if (user) {
            // The change must affect this thread only, so the system calls are made directly.
            groups_.resize(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
            if (::getgroups(static_cast<int>(groups_.size()), groups_.data()) < 0)
                return base::failure("Cannot read the groups of this process", errno);
            int count = 64;
            groups.resize(static_cast<std::size_t>(count));
            while (::getgrouplist(user->name.c_str(), user->gid, groups.data(), &count) < 0)
                groups.resize(static_cast<std::size_t>(count));
            groups.resize(static_cast<std::size_t>(count));
        }
        const uid_t uid = user ? user->uid : 0;
        const gid_t gid = user ? user->gid : ::getegid();
        acting_ = user.has_value();
        // Only root may set groups, so the user id is changed last and restored first.
        if (!user) ::setfsuid(0);
        const bool grouped = ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
        ::setfsgid(gid);
        if (user) ::setfsuid(uid);
        if (!grouped || static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) != uid ||
            static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))) != gid)
            return base::failure(fmt::format("Cannot act as user {}", uid), EPERM);
        return {};
    }

protected:
    int follow_flags() const override { return acting_ ? 0 : AT_SYMLINK_NOFOLLOW; }

    Result<Descriptor> open_file(const std::string& path, int flags, std::uint32_t mode,
                                 std::string_view call) override {
        if (acting_) return RealFileSystem::open_file(path, flags, mode, call);
        if (path.find('\0') != std::string::npos) return system_failure(EINVAL, call, path);
        if (forbidden(path)) {
            const Place p = BUNRAKU_TRY(place(path, Last::Keep, call));
            Descriptor file = open_at(p.at(), p.name, flags | O_NOFOLLOW, mode);
            if (!file.good()) return system_failure(errno, call, path);
            return file;
        }
        Descriptor file = open_without_links(AT_FDCWD, path, flags, mode);
        if (file.good()) return file;
        if (!undecided(errno)) return system_failure(errno, call, path);
        const Place p = BUNRAKU_TRY(place(path, Last::Follow, call));
        file = open_at(p.at(), p.name, flags | O_NOFOLLOW, mode);
        // A link in /proc cannot be resolved by its text.
        if (!file.good() && errno == ELOOP && on_proc(p)) file = open_at(p.at(), p.name, flags);
        if (!file.good()) return system_failure(errno, call, path);
        return file;
    }

    Result<Place> place(const std::string& path, Last last, std::string_view call) override {
        if (acting_) return RealFileSystem::place(path, last, call);
        if (path.find('\0') != std::string::npos) return system_failure(EINVAL, call, path);
        const std::string above(directory_name(path));
        std::string name(base_name(path));
        if (forbidden(path)) {
            Descriptor top = BUNRAKU_TRY(open_folder(top_, call));
            if (above == top_) return Place{std::move(top), std::move(name)};
            const std::string below = above.substr(top_.size() + (top_.ends_with('/') ? 0 : 1));
            Descriptor folder =
                open_without_links(top.get(), below, kPath | O_DIRECTORY, 0, RESOLVE_BENEATH);
            if (folder.good()) return Place{std::move(folder), std::move(name)};
            if (errno != ENOSYS && errno != EPERM) return system_failure(errno, call, path);
            return Chase(path.substr(path.size() - below.size() - name.size() - 1), false, false)
                .run(std::move(top), call);
        }
        if (last == Last::Keep && name != "/") {
            Descriptor folder = open_without_links(AT_FDCWD, above, kPath | O_DIRECTORY, 0);
            if (folder.good()) return Place{std::move(folder), std::move(name)};
            if (!undecided(errno)) return system_failure(errno, call, path);
        }
        return Chase(path, last == Last::Follow, true)
            .run(open_at(AT_FDCWD, ".", kPath | O_DIRECTORY), call);
    }

private:
    bool forbidden(const std::string& path) const { return !top_.empty() && is_below(path, top_); }

    static bool on_proc(const Place& p) {
        struct ::statfs where{};
        return ::fstatfs(p.at(), &where) == 0 && where.f_type == PROC_SUPER_MAGIC;
    }

    Result<Descriptor> open_folder(const std::string& path, std::string_view call) {
        Descriptor folder = open_without_links(AT_FDCWD, path, kPath | O_DIRECTORY, 0);
        if (folder.good()) return folder;
        if (!undecided(errno)) return system_failure(errno, call, path);
        const Place p = BUNRAKU_TRY(
            Chase(path, true, true).run(open_at(AT_FDCWD, ".", kPath | O_DIRECTORY), call));
        folder = open_at(p.at(), p.name, kPath | O_DIRECTORY | O_NOFOLLOW);
        if (!folder.good()) return system_failure(errno, call, path);
        return folder;
    }

    std::string top_;
    bool acting_ = false;
    std::vector<gid_t> groups_;
};

/// Empties a folder through descriptors. It returns to the parent through "..", so that the number
/// of descriptors does not depend on the depth, and checks that it arrives in the same folder.
Result<void> GuardedFileSystem::remove_tree(const std::string& path) {
    if (acting_) return remove_all(path);
    const auto status = BUNRAKU_TRY(look(path));
    if (!status) return {};
    if (status->kind != FileKind::Directory) return remove(path);
    struct Level {
        struct ::stat status{};
        std::string name;  ///< in the parent folder
        std::vector<std::string> names;
    };
    constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    const Place top = BUNRAKU_TRY(place(path, Last::Keep, "dir_s_rmdir"));
    const auto failed = [&](int error) { return system_failure(error, "dir_s_rmdir", path); };
    const auto unlink = [](int at, const std::string& name, int flags) {
        const int result = retrying([&] { return ::unlinkat(at, name.c_str(), flags); });
        return result == 0 || errno == ENOENT ? 0 : errno;
    };
    std::vector<Level> levels;
    Descriptor current(-1);
    const auto enter = [&](int at, std::string name) -> Result<void> {
        Descriptor next = open_at(at, name, kOpenFolder);
        Level level{.status = {}, .name = std::move(name), .names = {}};
        if (!next.good() || ::fstat(next.get(), &level.status) != 0) return failed(errno);
        level.names = BUNRAKU_TRY(names_in(open_at(next.get(), ".", kOpenFolder), path));
        levels.push_back(std::move(level));
        current = std::move(next);
        return {};
    };
    BUNRAKU_TRY_VOID(enter(top.at(), top.name));
    for (;;) {
        if (!levels.back().names.empty()) {
            std::string name = std::move(levels.back().names.back());
            levels.back().names.pop_back();
            int error = unlink(current.get(), name, 0);
            if (error == EISDIR || error == EPERM)
                error = unlink(current.get(), name, AT_REMOVEDIR);
            if (error == ENOTEMPTY || error == EEXIST) {
                BUNRAKU_TRY_VOID(enter(current.get(), std::move(name)));
            } else if (error != 0) {
                return failed(error);
            }
            continue;
        }
        const std::string emptied = std::move(levels.back().name);
        levels.pop_back();
        if (levels.empty()) break;
        struct ::stat st{};
        Descriptor parent = open_at(current.get(), "..", kOpenFolder);
        if (!parent.good() || ::fstat(parent.get(), &st) != 0) return failed(errno);
        const struct ::stat& before = levels.back().status;
        if (st.st_dev != before.st_dev || st.st_ino != before.st_ino) return failed(ELOOP);
        current = std::move(parent);
        if (const int error = unlink(current.get(), emptied, AT_REMOVEDIR); error != 0)
            return failed(error);
    }
    if (const int error = unlink(top.at(), top.name, AT_REMOVEDIR); error != 0)
        return failed(error);
    return {};
}

}  // namespace

std::unique_ptr<FileSystem> make_guarded_file_system() {
    return std::make_unique<GuardedFileSystem>();
}

LinkFreeWalk::LinkFreeWalk(FileSystem& files, std::string top) {
    if (!top.empty()) files_ = dynamic_cast<GuardedFiles*>(&files);
    if (!files_) return;
    before_ = files_->forbid_links_below(top);
    if (!before_.empty() && (top == before_ || is_below(top, before_)))
        (void)files_->forbid_links_below(before_);
}

ActingAs::ActingAs(FileSystem& files, const Account& user)
    : files_(dynamic_cast<GuardedFiles*>(&files)) {
    if (files_) begun_ = files_->act_as(user);
}

Result<void> remove_tree(FileSystem& files, const std::string& path) {
    auto* guarded = dynamic_cast<GuardedFiles*>(&files);
    return guarded ? guarded->remove_tree(path) : files.remove_all(path);
}

bool is_below(std::string_view path, std::string_view top) {
    return path.size() > top.size() && path.starts_with(top) &&
           (top.ends_with('/') || path[top.size()] == '/');
}

}  // namespace bunraku::sys
