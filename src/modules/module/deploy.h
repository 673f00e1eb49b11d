// SPDX-License-Identifier: Apache-2.0
// Deploys the branches of control repositories (r10k.yaml) as environments. Each environment is a
// link to a versioned folder, so that a reader sees either the whole old version or the whole new
// one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/sys/system.h"
#include "modules/module/deploy_config.h"
#include "modules/module/forge_client.h"

namespace bunraku::module {

struct DeployOptions {
    DeployConfig config;
    std::string cache;  ///< folder for mirrors, archives and trees
    /// from the settings; values in the configuration take precedence
    ForgeClientOptions forge;
    std::vector<std::string> environments;  ///< if not empty, only these environments
    /// true to update the modules of existing environments too; new ones always get theirs
    bool modules = false;
    std::vector<std::string> only_modules;  ///< modules of `deploy module`
    std::string branch_override;            ///< default_branch_override
    bool force = false;                     ///< true to rebuild unchanged environments too
    /// True to switch environments that have a rollout.yaml, too. Otherwise only a rollout does.
    bool now = false;
    /// True to leave an environment unchanged if deployed files were edited or deleted.
    bool keep_edits = false;
    int parallel = 32;
    int keep = 2;  ///< number of versions of an environment to retain, including the one in use
    /// Minimum number of seconds for which a replaced version is retained, regardless of `keep`.
    std::int64_t keep_for = 70 * 60;
    std::function<bool()> stopped;
};

struct DeployedEnvironment {
    /// Prepared: the version is complete, but only a rollout gives it to nodes.
    enum class What { Unchanged, Deployed, Failed, Removed, Prepared } what = What::Unchanged;
    std::string source, branch, name, path, commit;
    int modules = 0;
    std::vector<std::string> restored;  ///< paths that had been edited or deleted and were restored
    std::string error;
};

/// Updates the environments to their branches, in parallel. If an environment cannot be built (for
/// example because a module is unavailable or its Puppetfile is invalid), it remains unchanged and
/// the others are deployed. If the function returns an error, nothing was deployed.
base::Result<std::vector<DeployedEnvironment>> deploy_environments(const DeployOptions& options,
                                                                   sys::System& system,
                                                                   base::LogSink& log);
/// Updates the modules `only_modules` of existing environments to the state that their Puppetfiles
/// require.
base::Result<std::vector<DeployedEnvironment>> deploy_modules(const DeployOptions& options,
                                                              sys::System& system,
                                                              base::LogSink& log);
/// Switches the environment to the previous version and returns its commit. A second call switches
/// back. Files that were edited in that version are restored first. If the cache no longer has
/// their content, the function fails, unless `force` is set.
base::Result<std::string> rollback_environment(const DeployOptions& options,
                                               const std::string& name, sys::System& system,
                                               base::LogSink& log);

/// The existing environments and, with `fetch`, those available upstream.
struct DeployListing {
    struct Environment {
        std::string name, dirname, signature;  ///< empty if the environment does not exist
        std::string status;                    ///< "absent", "insync", "outdated"
        std::vector<std::string> modules;      ///< "acme-web forge acme-web-1.0.0"
    };
    const DeploySource* source = nullptr;
    std::vector<Environment> environments;
};
base::Result<std::vector<DeployListing>> list_deployment(const DeployOptions& options, bool fetch,
                                                         sys::System& system, base::LogSink& log);

}  // namespace bunraku::module
