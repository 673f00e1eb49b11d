// Files for a process with more rights than the users whose folders it enters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/sys/file_system.h"

namespace bunraku::sys {

/// Whose rights a thread acts with (ActingAs).
struct Account {
    std::string name;
    std::uint32_t uid = 0, gid = 0;
};

/// The machine's own files for a privileged process: a link that another user could have made is
/// followed only to what that user owns.
std::unique_ptr<FileSystem> make_guarded_file_system();

/// What guarded files can do beyond others. The classes and functions below ask for it, and do
/// without it in tests with other files.
class GuardedFiles {
public:
    virtual ~GuardedFiles() = default;
    /// Refuses every link below `top`, from now until the next call; an empty `top` ends it.
    /// Returns what was refused before.
    virtual std::string forbid_links_below(std::string top) = 0;
    /// Makes the calling thread reach files with the rights of a user; none gives it its own back.
    /// Does nothing if the process is not root's.
    virtual Result<void> act_as(const std::optional<Account>& user) = 0;
    virtual Result<void> remove_tree(const std::string& path) = 0;
};

/// Forbids links below a folder for as long as it lives; an empty `top` forbids none. What lies
/// below a folder where they are forbidden already changes nothing.
class LinkFreeWalk {
public:
    LinkFreeWalk(FileSystem& files, std::string top);
    ~LinkFreeWalk() {
        if (files_) (void)files_->forbid_links_below(std::move(before_));
    }
    LinkFreeWalk(const LinkFreeWalk&) = delete;
    LinkFreeWalk& operator=(const LinkFreeWalk&) = delete;

private:
    GuardedFiles* files_ = nullptr;
    std::string before_;
};

/// Acts as a user for as long as it lives.
class ActingAs {
public:
    ActingAs(FileSystem& files, const Account& user);
    ~ActingAs() {
        if (files_) (void)files_->act_as(std::nullopt);
    }
    ActingAs(const ActingAs&) = delete;
    ActingAs& operator=(const ActingAs&) = delete;
    /// Whether the rights were taken; nothing may be done otherwise.
    const Result<void>& begun() const { return begun_; }

private:
    GuardedFiles* files_;
    Result<void> begun_;
};

/// Does FileSystem::remove_all, in guarded files by descriptors: no folder that becomes a link is
/// entered.
Result<void> remove_tree(FileSystem& files, const std::string& path);

/// Whether `path` is in the folder `top`, at any depth.
bool is_below(std::string_view path, std::string_view top);

}  // namespace bunraku::sys
