// SPDX-License-Identifier: Apache-2.0
// File access for a process with more rights than the owners of the folders that it enters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/sys/file_system.h"

namespace bunraku::sys {

/// The user whose rights a thread uses (ActingAs).
struct Account {
    std::string name;
    std::uint32_t uid = 0, gid = 0;
};

/// Returns the machine's files for a privileged process. A link that another user could have made
/// is followed only to files of that user.
std::unique_ptr<FileSystem> make_guarded_file_system();

/// Operations that only guarded files have. The classes and functions below look for this interface
/// and work without it for other files, such as in tests.
class GuardedFiles {
public:
    virtual ~GuardedFiles() = default;
    /// Refuses every link below `top` until the next call. An empty `top` ends this. Returns the
    /// previous value.
    virtual std::string forbid_links_below(std::string top) = 0;
    /// Makes the calling thread access files with the rights of a user. nullopt restores its own
    /// rights. Does nothing if the process does not run as root.
    virtual Result<void> act_as(const std::optional<Account>& user) = 0;
    virtual Result<void> remove_tree(const std::string& path) = 0;
};

/// Forbids links below a folder during its lifetime. An empty `top` forbids none. Has no effect if
/// an outer object already forbids links there.
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

/// Uses the rights of a user during its lifetime.
class ActingAs {
public:
    ActingAs(FileSystem& files, const Account& user);
    ~ActingAs() {
        if (files_) (void)files_->act_as(std::nullopt);
    }
    ActingAs(const ActingAs&) = delete;
    ActingAs& operator=(const ActingAs&) = delete;
    /// An error if the rights could not be taken. The caller must then not access any files.
    const Result<void>& begun() const { return begun_; }

private:
    GuardedFiles* files_;
    Result<void> begun_;
};

/// Does FileSystem::remove_all. Guarded files do it through descriptors, so that a folder that is
/// replaced with a link is not entered.
Result<void> remove_tree(FileSystem& files, const std::string& path);

/// Reports whether `path` is inside the folder `top`, at any depth.
bool is_below(std::string_view path, std::string_view top);

}  // namespace bunraku::sys
