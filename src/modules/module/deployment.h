// A deploy, pass by pass. Internal to deploy*.cc.
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

/// One module of one environment.
struct ModulePlan {
    std::size_t index = 0;  ///< in the Puppetfile
    std::string path;       ///< in the environment, "modules/web"
    std::string identity;   ///< what it is to be, tests left out or not
    ResolvedModule resolved;
    std::string tree;
    bool keeps = false;    ///< as it stands
    bool skipped = false;  ///< it cannot be reached, and that does not matter
};

struct EnvironmentPlan {
    const DeploySource* source = nullptr;
    DeployedEnvironment out;
    std::optional<VersionFolders> folders;
    std::string old_folder;
    VersionState old;
    bool with_modules = false;
    PuppetfileModule content;  ///< where its own files come from; Local: it has none
    ResolvedModule resolved;   ///< the same, of svn and archives
    std::string tree;          ///< its own files
    std::vector<PuppetfileModule> own_modules;  ///< that the environment's definition names
    std::string conflicts;                      ///< EnvironmentDefinition::conflicts
    std::string puppetfile;                     ///< name of the file
    Puppetfile file;
    std::string forge;
    LockFile lock;
    std::vector<ModulePlan> modules;
    std::vector<std::string> module_folders;
    VersionManifest old_manifest;
    std::string version;
    std::time_t started = 0;
    /// Nothing of the old version may be linked: its files are not what they were.
    bool anew = false;
    bool failed() const { return out.what == DeployedEnvironment::What::Failed; }
};

/// A deploy, pass by pass (`run`).
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
    /// For every plan that is not lost.
    void for_all(int most, const std::function<base::Result<void>(EnvironmentPlan&)>& work);
    static int few();
    base::Result<void> check_lock() const;
    base::Result<void> take_turns();
    /// Makes a plan for each environment that there is to be.
    base::Result<void> learn_environments(bool fetch);
    base::Result<std::vector<EnvironmentDefinition>> environments_of(const DeploySource& source,
                                                                     bool fetch);
    base::Result<std::vector<EnvironmentDefinition>> git_branches(const DeploySource& source,
                                                                  bool fetch);
    base::Result<std::vector<EnvironmentDefinition>> svn_branches(const DeploySource& source);
    void add_plan(const DeploySource& source, EnvironmentDefinition definition);
    /// Finds the commits or digests of the environments' own files.
    void resolve_contents(bool fetch);
    base::Result<void> resolve_content(EnvironmentPlan& p, bool fetch);
    /// The environment's own files, in the cache.
    base::Result<std::string> content_tree(EnvironmentPlan& p);
    base::Result<void> join_modules(EnvironmentPlan& p);
    bool filtered(const DeploySource& source, const std::string& branch);
    std::string mirror_path(const std::string& url);
    /// Where it is kept which repositories this deploy's modules come from.
    std::string asked_path() const;
    void remember_asked();
    class Prefetcher;
    base::Result<void> no_collisions();
    base::Result<void> choose();
    bool wants_modules(const EnvironmentPlan& p) const;
    void read_puppetfiles();
    /// The version of a forge's module that stands at a path.
    static std::string existing_version(const EnvironmentPlan& p, const ModulePlan& m);
    void resolve_modules();
    bool leaves_tests_out(const PuppetfileModule& m) const;
    /// Names and restores what was edited or deleted in the versions that stand: the target is
    /// judged, not only what it is made of. Later steps may link what is left.
    void check_old_versions();
    base::Result<void> undo_changes(EnvironmentPlan& p, VersionCheck& check);
    void drop_unchanged();
    /// Removes from versions that stay what the purge levels would leave out of new ones.
    void purge_unchanged();
    bool changes(const EnvironmentPlan& p) const { return !p.failed() && !unchanged_.contains(&p); }
    void fetch_trees();
    void build();
    /// Where what the version before has of a content may be linked (copy_tree).
    std::string alike(const EnvironmentPlan& p, const std::string& path) const;
    /// Is no module's folder in another's?
    static bool copy_on_write(const std::vector<ModulePlan>& modules);
    base::Result<void> place(const EnvironmentPlan& p, const ModulePlan& m,
                             const std::string& fresh);
    CarryRules carry_rules(const EnvironmentPlan& p);
    base::Result<void> build_one(EnvironmentPlan& p);
    /// Adds a module to the manifest. In one that was carried over somebody may have files of their
    /// own, which are none of the version's.
    base::Result<void> list_module(const EnvironmentPlan& p, const std::string& path,
                                   const std::string& fresh, VersionManifest& manifest);
    static DeployInfo::Module deployed(const PuppetfileModule& requested, const ResolvedModule& s);
    /// r10k's own record. A module that this deploy does not touch is listed as it was.
    std::string deploy_info(const EnvironmentPlan& p) const;
    void switch_over();
    void purge();
    /// r10k's postrun. Of `deploy module` only where something was changed.
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
