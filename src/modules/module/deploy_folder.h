// The folders of deployed environments: BASEDIR/NAME is a link to a version in
// BASEDIR/.bunraku/NAME.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/sys/system.h"
#include "modules/module/deploy_config.h"
#include "modules/module/git.h"
#include "modules/module/version_manifest.h"

namespace bunraku::module {

/// What a version was made of; kept beside it.
struct VersionState {
    std::string source, branch, commit;
    std::map<std::string, std::string> modules;  ///< path in the environment -> identity
    /// The same paths, and "." for the environment's own files -> name in the cache's trees/
    std::map<std::string, std::string> trees;
    std::string files;  ///< digest of the manifest; empty: there is none
    /// Names the version: the same commit and modules have the same id on every server.
    std::string id() const;
};

/// One environment's folders. A version is complete once it has its name.
class VersionFolders {
public:
    VersionFolders(sys::System& system, std::string basedir, std::string name);
    const std::string& path() const { return link_; }  ///< what Puppet reads
    /// Where a new version is made.
    std::string fresh() const;
    /// The folder that stands, its link followed; empty: none.
    std::string current();
    /// What it was made of; of a folder that r10k made its commit alone. Nothing known: empty.
    VersionState state();
    /// The same of any version's folder.
    VersionState state_of(const std::string& version);
    /// Gives what stands in `fresh` its name.
    base::Result<std::string> finish(VersionState state, const VersionManifest& manifest);
    /// The manifest of a version; nullopt: an earlier release or r10k made it.
    base::Result<std::optional<VersionManifest>> manifest(const std::string& version);
    base::Result<void> write_manifest(const std::string& version, const VersionManifest& manifest);
    /// Makes it the environment, in one step.
    base::Result<void> use(const std::string& version);
    /// The version before the one in use; error: there is none.
    base::Result<std::string> before();
    /// Removes what killed runs left, and versions beyond `keep` that nobody has used for as many
    /// seconds: agents' runs may still need one that was replaced a moment ago.
    void tidy(int keep, std::int64_t unused_for);
    /// Away with all of it; the environment itself first, in one step.
    base::Result<void> remove();

private:
    sys::System* system_;
    std::string basedir_, name_, link_, home_;
};

/// The folders of all versions that are kept of the environment whose folder is `directory`; none
/// where `deploy` did not make it.
std::vector<std::string> versions_beside(sys::FileSystem& files, const std::string& directory);

/// Whether a path leads into a version that `deploy` made.
bool in_version(sys::FileSystem& files, const std::string& path);

/// Copies from the old folder what nobody manages and the new one has not: `managed` says which
/// paths the control repository had. Folders of modules stay with `keep_modules`; without it they
/// are the Puppetfile's (purge level "puppetfile").
struct CarryRules {
    std::vector<std::string> managed;         ///< sorted paths of files
    std::vector<std::string> module_folders;  ///< "modules": where modules of a Puppetfile stood
    std::vector<std::string> module_paths;    ///< "modules/web"
    bool keep_modules = false;
    bool purge_environment = false, purge_puppetfile = true;
    std::vector<std::string> allowlist;
};
base::Result<void> carry_over(sys::FileSystem& files, const std::string& from,
                              const std::string& to, const CarryRules& rules);

/// The paths in a version that carry_over would not take to the next one: what the purge levels
/// remove.
base::Result<std::vector<std::string>> not_carried(sys::FileSystem& files,
                                                   const std::string& version,
                                                   const VersionManifest& manifest,
                                                   const CarryRules& rules);

/// Does a path below the environment match a pattern of purge_allowlist? Shell globs by folders, **
/// any number of them, leading dots like other characters (File.fnmatch).
bool purge_pattern_matches(std::string_view pattern, std::string_view path);

}  // namespace bunraku::module
