// SPDX-License-Identifier: Apache-2.0
// The passes of a deploy. Internal to deploy*.cc.
#pragma once

#include <atomic>
#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/sys/lock.h"
#include "modules/module/deploy.h"
#include "modules/module/deploy_definitions.h"
#include "modules/module/deploy_folder.h"
#include "modules/module/deploy_info.h"
#include "modules/module/sources.h"
#include "modules/module/version_repair.h"

namespace bunraku::module {

/// The plan for one module of one environment.
struct ModulePlan {
    std::size_t index = 0;  ///< index in the Puppetfile
    std::string path;       ///< path in the environment, such as "modules/web"
    /// identity of the wanted content, including whether tests are excluded
    std::string identity;
    ResolvedModule resolved;
    std::string tree;
    bool keeps = false;    ///< true if the installed module remains unchanged
    bool skipped = false;  ///< true if the source is unreachable and the Puppetfile permits that
};

struct EnvironmentPlan {
    const DeploySource* source = nullptr;
    DeployedEnvironment out;
    std::optional<VersionFolders> folders;
    std::string old_folder;
    VersionState old;
    bool with_modules = false;
    PuppetfileModule content;  ///< source of the environment's own files; Local if it has none
    ResolvedModule resolved;   ///< resolved content of svn and archive sources
    std::string tree;          ///< tree of the environment's own files
    std::vector<PuppetfileModule> own_modules;  ///< modules in the environment's definition
    std::string conflicts;                      ///< see EnvironmentDefinition::conflicts
    std::string puppetfile;                     ///< name of the Puppetfile
    Puppetfile file;
    std::string forge;
    LockFile lock;
    std::vector<ModulePlan> modules;
    std::vector<std::string> module_folders;
    VersionManifest old_manifest;
    std::string version;
    std::time_t started = 0;
    /// True if no files of the old version may be linked, because they are not known to be
    /// unmodified.
    bool anew = false;
    bool failed() const { return out.what == DeployedEnvironment::What::Failed; }
};

/// A deploy, divided into passes that `run` calls.
class Deployment {
public:
    Deployment(const DeployOptions& options, sys::System& system, base::LogSink& log)
        : options_(options),
          config_(options.config),
          system_(system),
          log_(log),
          sources_(system, options.cache, forge_of(options), {.stopped = options.stopped}) {}
    base::Result<std::vector<DeployedEnvironment>> run();
    base::Result<std::vector<DeployedEnvironment>> run_modules();
    base::Result<std::vector<DeployListing>> list(bool fetch);

private:
    static ForgeClientOptions forge_of(const DeployOptions& options);
    void note(base::Level level, std::string text);
    void fail(EnvironmentPlan& p, const std::string& why);
    bool stopped() const { return options_.stopped && options_.stopped(); }
    /// Runs `work` for every plan that has not failed.
    void for_all(int most, const std::function<base::Result<void>(EnvironmentPlan&)>& work);
    static int few();
    base::Result<void> check_lock() const;
    base::Result<void> take_turns();
    /// Creates a plan for each environment to deploy.
    base::Result<void> learn_environments(bool fetch);
    base::Result<std::vector<EnvironmentDefinition>> environments_of(const DeploySource& source,
                                                                     bool fetch);
    base::Result<std::vector<EnvironmentDefinition>> git_branches(const DeploySource& source,
                                                                  bool fetch);
    base::Result<std::vector<EnvironmentDefinition>> svn_branches(const DeploySource& source);
    void add_plan(const DeploySource& source, EnvironmentDefinition definition);
    /// Resolves the commits or digests of the environments' own files.
    void resolve_contents(bool fetch);
    base::Result<void> resolve_content(EnvironmentPlan& p, bool fetch);
    /// Returns the cached tree of the environment's own files.
    base::Result<std::string> content_tree(EnvironmentPlan& p);
    base::Result<void> join_modules(EnvironmentPlan& p);
    bool filtered(const DeploySource& source, const std::string& branch);
    std::string mirror_path(const std::string& url);
    /// Returns the path of the file that lists the module repositories of this deploy.
    std::string asked_path() const;
    void remember_asked();
    class Prefetcher;
    base::Result<void> no_collisions();
    base::Result<void> choose();
    bool wants_modules(const EnvironmentPlan& p) const;
    void read_puppetfiles();
    /// Returns the version of the forge module that is installed at the module's path.
    static std::string existing_version(const EnvironmentPlan& p, const ModulePlan& m);
    void resolve_modules();
    bool leaves_tests_out(const PuppetfileModule& m) const;
    /// Reports and restores edited or deleted files in the existing versions. Checks the files
    /// themselves, not only the inputs of the version. Later passes may link the remaining files.
    void check_old_versions();
    base::Result<void> undo_changes(EnvironmentPlan& p, VersionCheck& check);
    void drop_unchanged();
    /// Removes from unchanged versions the files that the purge levels would exclude from new ones.
    void purge_unchanged();
    bool changes(const EnvironmentPlan& p) const { return !p.failed() && !unchanged_.contains(&p); }
    void fetch_trees();
    void build();
    /// Returns the path in the previous version whose files may be linked (see copy_tree).
    std::string alike(const EnvironmentPlan& p, const std::string& path) const;
    /// Reports whether no module's folder is inside another's.
    static bool copy_on_write(const std::vector<ModulePlan>& modules);
    base::Result<void> place(const EnvironmentPlan& p, const ModulePlan& m,
                             const std::string& fresh);
    CarryRules carry_rules(const EnvironmentPlan& p);
    base::Result<void> build_one(EnvironmentPlan& p);
    /// Adds a module to the manifest. A module that was carried over may contain files of users,
    /// which are not added.
    base::Result<void> list_module(const EnvironmentPlan& p, const std::string& path,
                                   const std::string& fresh, VersionManifest& manifest);
    static DeployInfo::Module deployed(const PuppetfileModule& requested, const ResolvedModule& s);
    /// Returns the text of r10k's own record. A module that this deploy does not touch is listed
    /// unchanged.
    std::string deploy_info(const EnvironmentPlan& p) const;
    void switch_over();
    void purge();
    /// Runs r10k's postrun command. For `deploy module`, only if something changed.
    void run_after(bool changed_only);
    std::vector<DeployedEnvironment> results();

    const DeployOptions& options_;
    const DeployConfig& config_;
    sys::System& system_;
    base::LogSink& log_;
    ModuleSources sources_;
    std::mutex mutex_;
    std::vector<sys::FileLock> locks_;
    std::vector<EnvironmentPlan> plans_;
    std::set<const EnvironmentPlan*> unchanged_;
    std::set<std::string> desired_;  ///< paths of all environments
    std::vector<DeployedEnvironment> missing_;
};

}  // namespace bunraku::module
