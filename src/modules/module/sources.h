// Where the modules of Puppetfiles come from: which content a line means now, and that content in a
// folder. Archives, mirrors of repositories and unpacked trees are kept for all who ask.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "modules/module/forge_client.h"
#include "modules/module/git.h"
#include "modules/module/puppetfile.h"

namespace bunraku::module {

/// What the lock file holds of a module: the wish, and what it came to.
struct Locked {
    std::string requested;  ///< changes with the Puppetfile's line
    std::string version, sha256, git, commit;
};
std::string request_of(const PuppetfileModule& module);
using LockFile = std::map<std::string, Locked>;
/// Nothing is known of what cannot be read.
LockFile read_lock_file(const std::string& text);
std::string lock_file_text(const LockFile& lock);

/// What a line of a Puppetfile means, once somebody was asked.
struct ResolvedModule {
    std::string identity;         ///< "forge acme-web-1.0.0", "git COMMIT", "tarball SHA256", ..
    std::string version, commit;  ///< commit: of Svn the revision
    std::string sha256;           ///< of an archive; known at the latest when it was fetched
    std::string forge;            ///< address
    std::string ref;              ///< of Git: the branch, tag or commit that was found
};

/// What else decides.
struct ResolveOptions {
    const Locked* lock = nullptr;  ///< to be taken
    std::string installed;         ///< version that stands there, of a module without a version
    std::string forge;             ///< address
    bool update = false;
    std::string control_branch;   ///< of the environment; empty: it has none
    std::string branch_override;  ///< tried where a module's own reference is not there
};

/// Used by many threads at once. Each repository is fetched at most once in its life, each archive
/// downloaded by one thread while others wait for it.
class ModuleSources {
public:
    ModuleSources(sys::System& system, std::string cache, ForgeClientOptions forge,
                  GitTimeouts timeout = {})
        : system_(system),
          cache_(std::move(cache)),
          forge_(std::move(forge)),
          timeout_(std::move(timeout)) {}

    base::Result<ResolvedModule> resolve_module(const PuppetfileModule& module,
                                                const ResolveOptions& by);
    /// Makes `folder` hold the content. REVISION in what comes from a repository says which commit
    /// it is to the next run, and to people.
    base::Result<void> fill(const PuppetfileModule& module, ResolvedModule& resolved,
                            const std::string& folder);
    /// A folder in the cache with that content, not to be changed.
    base::Result<std::string> tree(const PuppetfileModule& module, ResolvedModule& resolved);

    /// Brings a repository up to date, once; its branches and tags (GitMirror::refs).
    base::Result<std::map<std::string, std::string>> refs(const std::string& url);
    /// The folder of a tree by its name in the cache, whether it is there or not.
    std::string cached_tree(const std::string& name) const { return cache_ + "/trees/" + name; }
    /// The content of a commit as in `tree`, without a REVISION.
    base::Result<std::string> commit_tree(const std::string& url, const std::string& commit);
    /// A folder in the cache with nothing in it.
    base::Result<std::string> empty_tree();
    /// The names of the folders at a Subversion address.
    base::Result<std::vector<std::string>> svn_folders(const PuppetfileModule& at);
    /// The paths of a commit's files and links, in order.
    base::Result<std::vector<std::string>> commit_paths(const std::string& url,
                                                        const std::string& commit);
    /// Runs `work` with the mirror of a repository, which nobody else uses meanwhile.
    base::Result<void> with_mirror(const std::string& url,
                                   const std::function<base::Result<void>(GitMirror&)>& work);
    /// Asks a repository that will probably be wanted, until `stopped`; what comes of it is there
    /// for who wants it then.
    void prefetch(const std::string& url, const std::function<bool()>& stopped);
    /// The repositories that a module's line made it ask.
    std::set<std::string> asked();
    /// The address that settings name, as people may see it.
    const ForgeClientOptions& forge() const { return forge_; }
    /// Removes trees that nobody asked for in as many days, and what deploys remember of
    /// themselves.
    void prune(int days);

private:
    struct Repository {
        std::mutex mutex;
        bool known = false, fetched = false;
        bool ahead = false;                 ///< fetched before it was known what is wanted
        bool wanted = false;                ///< by a line, of its newest state
        std::optional<base::Error> failed;  ///< to fetch: it is not tried again
        std::map<std::string, std::string> refs;
    };
    class PooledClient;
    std::shared_ptr<Repository> repository(const std::string& url);
    std::shared_ptr<std::mutex> turn(const std::string& key);
    /// Is there something new? Where that is unlikely the repository is asked before anything is
    /// fetched, with one process of git instead of several.
    enum class Learn : std::uint8_t { WhatIsThere, Unlikely, Likely };
    base::Result<void> learn(Repository& repository, GitMirror& mirror, Learn how);
    /// The first of `wishes` that the repository has, and its commit.
    base::Result<std::pair<std::string, std::string>> commit_of(
        const std::string& url, const std::vector<std::string>& requests);
    base::Result<ResolvedModule> resolve_forge(const PuppetfileModule& module,
                                               const ResolveOptions& by);
    base::Result<ResolvedModule> resolve_git(const PuppetfileModule& module,
                                             const ResolveOptions& by);
    base::Result<ResolvedModule> resolve_tarball(const PuppetfileModule& module,
                                                 const ResolveOptions& by);
    base::Result<ResolvedModule> resolve_svn(const PuppetfileModule& module,
                                             const ResolveOptions& by);
    base::Result<std::string> release(const std::string& slug, ResolvedModule& resolved);
    base::Result<std::string> ask_release(ForgeClient& client, const std::string& slug,
                                          const std::string& version);
    base::Result<std::string> tarball(const PuppetfileModule& module, ResolvedModule& resolved);
    base::Result<std::string> svn(const PuppetfileModule& module, const std::string& verb,
                                  std::vector<std::string> arguments);
    base::Result<std::string> made_once(
        const std::string& key,
        const std::function<base::Result<void>(const std::string& folder)>& fill);
    std::string tree_path(const std::string& key) const;
    void prune_folder(const std::string& folder, int days);

    /// An archive by its digest, and the digest by a name it had; empty: not kept.
    std::string kept_archive(const std::string& sha256);
    std::string kept_digest(const std::string& key);
    void keep_archive(const std::string& key, const std::string& sha256, const std::string& bytes);

    sys::System& system_;
    std::string cache_;
    ForgeClientOptions forge_;
    GitTimeouts timeout_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Repository>> repositories_;
    std::map<std::string, std::shared_ptr<std::mutex>> turns_;
    std::map<std::string, std::vector<std::unique_ptr<ForgeClient>>> idle_;  ///< by address
    std::map<std::string, std::string> resolved_;  ///< of :latest and ranges: asked once
};

/// What files may be used for after copy_tree.
enum class CopyMode : std::uint8_t {
    Frozen,  ///< nobody may write; executable bits stay
    Same     ///< as the original
};
/// Copies a tree of files, folders and links. `to` is made, and must not be there. Names in
/// `without` are left out at the top. `like` is an earlier copy, or nothing: its files that nobody
/// has changed are linked instead of copied.
base::Result<void> copy_tree(const std::string& from, const std::string& to,
                             const std::set<std::string>& without = {},
                             const std::string& like = {}, CopyMode mode = CopyMode::Frozen);

}  // namespace bunraku::module
