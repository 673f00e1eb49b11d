// The folders of deployed environments: BASEDIR/NAME is a link to a version in
// BASEDIR/.bunraku/NAME.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/sys/system.h"
#include "modules/module/deploy_config.h"
#include "modules/module/git.h"

namespace bunraku::module {

/// What a version was made of; kept beside it.
struct VersionState {
    std::string source, branch, commit;
    std::map<std::string, std::string> modules;  ///< path in the environment -> identity
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
    /// Gives what stands in `fresh` its name.
    base::Result<std::string> finish(const VersionState& state);
    /// Makes it the environment, in one step.
    base::Result<void> use(const std::string& version);
    /// The version before the one in use; error: there is none.
    base::Result<std::string> before();
    /// What killed runs left, and versions beyond `keep`.
    void tidy(int keep);
    /// Away with all of it; the environment itself first, in one step.
    base::Result<void> remove();

private:
    sys::System* system_;
    std::string basedir_, name_, link_, home_;
};

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

/// Does a path below the environment match a pattern of purge_allowlist? Shell globs by folders, **
/// any number of them, leading dots like other characters (File.fnmatch).
bool purge_pattern_matches(std::string_view pattern, std::string_view path);

}  // namespace bunraku::module
