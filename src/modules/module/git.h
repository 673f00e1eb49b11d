// What modules need of git: a mirror of a repository, a commit's files, and whether a checkout
// holds work that is nowhere else.
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

/// A whole commit id, 40 small hexadecimal digits.
bool is_commit(std::string_view text);

/// When a git that talks to a server is given up.
struct GitTimeouts {
    std::chrono::milliseconds silence = std::chrono::minutes(2);  ///< without a sign of progress
    std::function<bool()> stopped;
};

/// A lock that others may hold for long: it is waited for until `stopped`.
base::Result<sys::FileLock> wait_for_lock(const std::string& path,
                                          const std::function<bool()>& stopped);

/// A bare copy of a repository in a cache folder; locked as long as the object lives.
class GitMirror {
public:
    /// Nothing is fetched yet.
    static base::Result<GitMirror> open(sys::System& system, const std::string& cache,
                                        const std::string& url, const GitTimeouts& timeout = {});
    /// The commit of a branch, a tag or a (short) commit id as far as the mirror knows; error:
    /// none.
    base::Result<std::string> resolve(const std::string& ref);
    /// "refs/heads/main", "refs/tags/v1" and "HEAD" -> commit, all that the mirror has.
    base::Result<std::map<std::string, std::string>> refs();
    /// Brings the mirror up to date, or makes it.
    base::Result<void> fetch();
    /// Asks the repository what it has. Where that is what the mirror has, it is what `refs` tells;
    /// nullopt: something is to be fetched.
    base::Result<std::optional<std::map<std::string, std::string>>> refs_if_current();
    bool exists() const;
    const std::string& path() const { return path_; }
    /// The paths of a commit's files and links.
    base::Result<std::vector<std::string>> paths(const std::string& commit);
    /// The commit's files as a checkout has them (links too), in `folder`, which is made.
    base::Result<void> write_files(const std::string& commit, const std::string& folder);

private:
    GitMirror(sys::System& system, std::string url, std::string path, sys::FileLock lock,
              GitTimeouts timeout)
        : system_(&system),
          url_(std::move(url)),
          path_(std::move(path)),
          lock_(std::move(lock)),
          timeout_(std::move(timeout)) {}
    /// Runs a git that asks a server, again where that is short of time; `makes` is what it leaves
    /// behind.
    base::Result<std::string> talk(std::string_view verb, const std::vector<std::string>& arguments,
                                   const std::string& makes = {});
    base::Result<std::string> talk_once(std::string_view verb,
                                        const std::vector<std::string>& arguments);
    base::Result<std::string> ask_once(std::string_view verb,
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

/// A folder with a `.git` of its own: somebody's checkout, or one that r10k made.
class GitCheckout {
public:
    GitCheckout(sys::System& system, std::string path) : system_(system), path_(std::move(path)) {}
    static bool is_one(sys::System& system, const std::string& path);
    base::Result<std::string> head();
    base::Result<std::string> origin();
    /// What would be lost, in words; empty: nothing. Changed and new files; commits that no remote
    /// branch has; and all there is to lose if the folder went away (stashes, ignored files).
    base::Result<std::string> changes();
    base::Result<std::string> unpushed();
    base::Result<std::string> unsaved();
    /// Learns the mirror's branches and tags.
    base::Result<void> learn(const GitMirror& mirror);
    base::Result<void> move_to(const std::string& commit, bool force);

private:
    base::Result<std::string> run(std::vector<std::string> arguments);
    sys::System& system_;
    std::string path_;
};

}  // namespace bunraku::module
