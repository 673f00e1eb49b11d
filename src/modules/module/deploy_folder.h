// SPDX-License-Identifier: Apache-2.0
// The folders of deployed environments. BASEDIR/NAME is a link to a version in
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

/// The inputs of a version; stored next to its folder.
struct VersionState {
    std::string source, branch, commit;
    /// path in the environment to identity of the module
    std::map<std::string, std::string> modules;
    /// Maps the same paths, and "." for the environment's own files, to names in the cache's
    /// trees/.
    std::map<std::string, std::string> trees;
    std::string files;  ///< digest of the manifest; empty if there is no manifest
    /// Returns the id of the version. The same commit and modules have the same id on every server.
    std::string id() const;
};

/// The folders of one environment. A version is complete once it has its final name.
class VersionFolders {
public:
    VersionFolders(sys::System& system, std::string basedir, std::string name);
    const std::string& path() const { return link_; }  ///< the path that Puppet reads
    /// Returns the folder in which a new version is built.
    std::string fresh() const;
    /// Returns the folder in use, with its link resolved. Empty if the environment does not exist.
    std::string current();
    /// Returns the inputs of the current version. For a folder created by r10k, only the commit is
    /// known. Empty if nothing is known.
    VersionState state();
    /// Returns the inputs of any version.
    VersionState state_of(const std::string& version);
    /// Renames the `fresh` folder to its final name and returns the path.
    base::Result<std::string> finish(VersionState state, const VersionManifest& manifest);
    /// Returns the manifest of a version, or nullopt if an earlier release or r10k created the
    /// version.
    base::Result<std::optional<VersionManifest>> manifest(const std::string& version);
    base::Result<void> write_manifest(const std::string& version, const VersionManifest& manifest);
    /// Switches the environment to this version in one step.
    base::Result<void> use(const std::string& version);
    /// Marks a version as in use now, so that `tidy` retains it.
    base::Result<void> retain(const std::string& version);
    /// Returns the version that was in use before the current one. Fails if there is none.
    base::Result<std::string> before();
    /// Removes the remains of killed runs. Removes versions beyond `keep` that have been unused for
    /// at least `unused_for` seconds, because running agents may still need a version that was
    /// replaced recently.
    void tidy(int keep, std::int64_t unused_for);
    /// Removes all versions, after removing the environment itself in one step.
    base::Result<void> remove();

private:
    sys::System* system_;
    std::string basedir_, name_, link_, home_;
};

/// Returns the folders of all retained versions of the environment in `directory`. Empty if
/// `deploy` did not create the environment.
std::vector<std::string> versions_beside(sys::FileSystem& files, const std::string& directory);

/// Returns the name of the version in a folder that `deploy` created, given with links resolved.
/// Returns the whole path for other folders.
std::string version_name(const std::string& real_folder);
/// Returns the folder of a version next to `real_folder`, which version_name() named. If there is
/// no folder of that name, returns one with the same id, that is with the same commit and modules.
/// Returns nullopt if there is none.
std::optional<std::string> version_folder(sys::FileSystem& files, const std::string& real_folder,
                                          const std::string& name);

/// Reports whether a path leads into a version that `deploy` created.
bool in_version(sys::FileSystem& files, const std::string& path);

/// Rules for carry_over, which copies unmanaged files of the old folder that the new folder lacks.
/// `managed` lists the paths that the control repository contained. With `keep_modules`, module
/// folders are copied too; without it, the Puppetfile manages them (purge level "puppetfile").
struct CarryRules {
    std::vector<std::string> managed;  ///< sorted file paths
    /// folders that contain the modules of a Puppetfile, such as "modules"
    std::vector<std::string> module_folders;
    std::vector<std::string> module_paths;  ///< such as "modules/web"
    bool keep_modules = false;
    bool purge_environment = false, purge_puppetfile = true;
    std::vector<std::string> allowlist;
};
base::Result<void> carry_over(sys::FileSystem& files, const std::string& from,
                              const std::string& to, const CarryRules& rules);

/// Returns the paths in a version that carry_over would not copy to the next one, which are those
/// that the purge levels remove.
base::Result<std::vector<std::string>> not_carried(sys::FileSystem& files,
                                                   const std::string& version,
                                                   const VersionManifest& manifest,
                                                   const CarryRules& rules);

/// Reports whether a path below the environment matches a pattern of purge_allowlist. Patterns are
/// shell globs per folder. "**" matches any number of folders, and leading dots are not special
/// (File.fnmatch).
bool purge_pattern_matches(std::string_view pattern, std::string_view path);

}  // namespace bunraku::module
