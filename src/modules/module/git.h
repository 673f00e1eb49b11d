// SPDX-License-Identifier: Apache-2.0
// Git operations for modules: mirrors of repositories, the files of a commit, and detection of
// unsaved work in a checkout.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/lock.h"
#include "core/sys/system.h"
#include "modules/module/git_refs.h"

namespace bunraku::module {

/// Reports whether the text is a full commit id, 40 lower-case hexadecimal digits.
bool is_commit(std::string_view text);

/// Timeouts for git processes that connect to a server.
struct GitTimeouts {
    std::chrono::milliseconds silence = std::chrono::minutes(2);  ///< maximum time without progress
    std::function<bool()> stopped;
};

/// Acquires a lock that other processes may hold for a long time. Waits until `stopped`.
base::Result<sys::FileLock> wait_for_lock(const std::string& path,
                                          const std::function<bool()>& stopped);

/// A bare mirror of a repository in a cache folder. The object holds the lock of the mirror.
class GitMirror {
public:
    /// Opens the mirror without fetching anything.
    static base::Result<GitMirror> open(sys::System& system, const std::string& cache,
                                        const std::string& url, const GitTimeouts& timeout = {});
    /// Returns the commit of a branch, a tag or a (short) commit id. Fails if the mirror does not
    /// contain it.
    base::Result<std::string> resolve(const std::string& ref);
    /// Maps all references of the mirror, such as "refs/heads/main", "refs/tags/v1" and "HEAD", to
    /// their commits.
    base::Result<std::map<std::string, std::string>> refs();
    /// Updates the mirror, or creates it.
    base::Result<void> fetch();
    /// Queries the references of the remote repository. If they equal those of the mirror, returns
    /// the same as `refs`. Returns nullopt if a fetch is needed.
    base::Result<std::optional<std::map<std::string, std::string>>> refs_if_current();
    bool exists() const;
    const std::string& path() const { return path_; }
    /// Returns the paths of the files and links of a commit.
    base::Result<std::vector<std::string>> paths(const std::string& commit);
    /// Creates `folder` with the files and links of the commit, as in a checkout.
    base::Result<void> write_files(const std::string& commit, const std::string& folder);

private:
    GitMirror(sys::System& system, std::string url, std::string path, sys::FileLock lock,
              GitTimeouts timeout)
        : system_(&system),
          url_(std::move(url)),
          path_(std::move(path)),
          lock_(std::move(lock)),
          timeout_(std::move(timeout)) {}
    /// Runs a git command that connects to a server, and retries if the server is overloaded.
    /// `makes` is a path that a failed attempt leaves and that is removed before the next one.
    base::Result<std::string> run_remote(std::string_view verb,
                                         const std::vector<std::string>& arguments,
                                         const std::string& makes = {});
    base::Result<std::string> run_remote_once(std::string_view verb,
                                              const std::vector<std::string>& arguments);
    base::Result<std::string> query_remote_once(std::string_view verb,
                                                const std::vector<std::string>& arguments);
    base::Result<void> clone();
    base::Result<void> try_write_files(const std::string& commit, const std::string& folder);
    std::map<std::string, std::string> commits_of(const GitRefs& refs);
    void tidy();
    sys::System* system_;
    std::string url_, path_;
    sys::FileLock lock_;
    GitTimeouts timeout_;
};

/// Writes the index of the repository `folder`/.git, so that `git status` compares the files with
/// `commit`. It has no data of the files, which git adds when it first reads them.
base::Result<void> write_git_index(sys::System& system, const std::string& folder,
                                   const std::string& commit);

/// A folder with its own `.git`: a user's checkout, or one that r10k created.
class GitCheckout {
public:
    GitCheckout(sys::System& system, std::string path) : system_(system), path_(std::move(path)) {}
    static bool is_one(sys::System& system, const std::string& path);
    base::Result<std::string> head();
    base::Result<std::string> origin();
    /// These functions return a description of unsaved work, or an empty string. changes() covers
    /// changed and new files, unpushed() covers commits that no remote branch contains. unsaved()
    /// covers everything that removing the folder would lose, including stashes and ignored files.
    base::Result<std::string> changes();
    base::Result<std::string> unpushed();
    base::Result<std::string> unsaved();
    /// Fetches the branches and tags of the mirror.
    base::Result<void> learn(const GitMirror& mirror);
    base::Result<void> move_to(const std::string& commit, bool force);

private:
    base::Result<std::string> run(std::vector<std::string> arguments);
    sys::System& system_;
    std::string path_;
};

}  // namespace bunraku::module
