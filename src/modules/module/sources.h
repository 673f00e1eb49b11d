// SPDX-License-Identifier: Apache-2.0
// Sources of the modules in Puppetfiles: resolves an entry to concrete content and provides this
// content as a folder. Archives, mirrors of repositories and unpacked trees are cached for all
// callers.
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

/// The lock file entry of a module: the request and the resolved version.
struct Locked {
    std::string requested;  ///< changes if the line in the Puppetfile changes
    std::string version, sha256, git, commit;
};
std::string request_of(const PuppetfileModule& module);
using LockFile = std::map<std::string, Locked>;
/// Parses a lock file. Returns an empty result if it is invalid.
LockFile read_lock_file(const std::string& text);
std::string lock_file_text(const LockFile& lock);

/// A Puppetfile entry resolved to concrete content.
struct ResolvedModule {
    std::string identity;         ///< "forge acme-web-1.0.0", "git COMMIT", "tarball SHA256", ...
    std::string version, commit;  ///< commit: for Svn the revision
    std::string sha256;           ///< digest of an archive; set once it has been fetched
    std::string forge;            ///< address of the forge
    std::string ref;              ///< for Git: the branch, tag or commit that exists
};

/// Further inputs of the resolution.
struct ResolveOptions {
    const Locked* lock = nullptr;  ///< lock entry to use; may be null
    std::string installed;         ///< installed version, for a module without a version
    std::string forge;             ///< address of the forge
    bool update = false;
    std::string control_branch;   ///< branch of the environment; may be empty
    std::string branch_override;  ///< branch to try if the module's own reference does not exist
};

/// Resolver and cache for module contents. Thread-safe. Fetches each repository at most once in its
/// lifetime. Only one thread downloads an archive while others wait for it.
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
    /// Fills `folder` with the content. For a repository, the file REVISION records the commit for
    /// the next run and for users.
    base::Result<void> fill(const PuppetfileModule& module, ResolvedModule& resolved,
                            const std::string& folder);
    /// Returns a folder in the cache with that content. The caller must not change it.
    base::Result<std::string> tree(const PuppetfileModule& module, ResolvedModule& resolved);

    /// Updates a repository once and returns its branches and tags (see GitMirror::refs).
    base::Result<std::map<std::string, std::string>> refs(const std::string& url);
    /// Returns the cache folder of a tree, which may not exist.
    std::string cached_tree(const std::string& name) const { return cache_ + "/trees/" + name; }
    /// Returns the content of a commit like `tree`, but without REVISION.
    base::Result<std::string> commit_tree(const std::string& url, const std::string& commit);
    /// Returns an empty folder in the cache.
    base::Result<std::string> empty_tree();
    /// Returns the names of the folders at a Subversion address.
    base::Result<std::vector<std::string>> svn_folders(const PuppetfileModule& at);
    /// Returns the sorted paths of the files and links of a commit.
    base::Result<std::vector<std::string>> commit_paths(const std::string& url,
                                                        const std::string& commit);
    /// Runs `work` with exclusive access to the mirror of a repository.
    base::Result<void> with_mirror(const std::string& url,
                                   const std::function<base::Result<void>(GitMirror&)>& work);
    /// Fetches a repository that will probably be needed, until `stopped`. Later calls use the
    /// result.
    void prefetch(const std::string& url, const std::function<bool()>& stopped);
    /// Returns the repositories whose newest state was needed to resolve a module.
    std::set<std::string> asked();
    /// The forge options from the settings, with an address that is safe to display.
    const ForgeClientOptions& forge() const { return forge_; }
    /// Removes trees that have not been used for this number of days, and the records of deploys.
    void prune(int days);

private:
    struct Repository {
        std::mutex mutex;
        bool known = false, fetched = false;
        /// true if fetched before the requested references were known
        bool ahead = false;
        bool wanted = false;                ///< true if an entry needs its newest state
        std::optional<base::Error> failed;  ///< error of a fetch; it is not tried again
        std::map<std::string, std::string> refs;
    };
    class PooledClient;
    std::shared_ptr<Repository> repository(const std::string& url);
    std::shared_ptr<std::mutex> turn(const std::string& key);
    /// How likely the repository has new content. If unlikely, the references are queried before
    /// fetching, which needs one git process instead of several.
    enum class Learn : std::uint8_t { WhatIsThere, Unlikely, Likely };
    base::Result<void> learn(Repository& repository, GitMirror& mirror, Learn how);
    /// Returns the first of `requests` that exists in the repository, and its commit.
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

    /// Returns a cached archive by its digest, and the digest by a key. Empty if not cached.
    std::string cached_archive(const std::string& sha256);
    std::string cached_digest(const std::string& key);
    void cache_archive(const std::string& key, const std::string& sha256, const std::string& bytes);

    sys::System& system_;
    std::string cache_;
    ForgeClientOptions forge_;
    GitTimeouts timeout_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Repository>> repositories_;
    std::map<std::string, std::shared_ptr<std::mutex>> turns_;
    std::map<std::string, std::vector<std::unique_ptr<ForgeClient>>> idle_;  ///< by address
    /// results for :latest and ranges, which are resolved only once
    std::map<std::string, std::string> resolved_;
};

/// Permissions of the copied files.
enum class CopyMode : std::uint8_t {
    Frozen,  ///< read-only; executable bits are preserved
    Same     ///< the same as the original
};
/// Copies a tree of files, folders and links to `to`, which must not exist. Omits the names in
/// `without` at the top level. `like` is an earlier copy, or empty. Its unmodified files are linked
/// instead of copied.
base::Result<void> copy_tree(const std::string& from, const std::string& to,
                             const std::set<std::string>& without = {},
                             const std::string& like = {}, CopyMode mode = CopyMode::Frozen);

}  // namespace bunraku::module
