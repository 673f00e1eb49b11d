// Environments out of the branches of control repositories (r10k.yaml), each a folder by version
// behind a link: who reads an environment sees the old one whole, then the new one whole.
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
    std::string cache;                      ///< mirrors, archives, trees
    ForgeClientOptions forge;               ///< of the settings; the configuration's goes before
    std::vector<std::string> environments;  ///< the only ones; empty: all
    bool modules = false;  ///< of environments that stand too; new ones get theirs always
    std::vector<std::string> only_modules;  ///< `deploy module`
    std::string branch_override;            ///< default_branch_override
    bool force = false;                     ///< build anew what seems unchanged
    /// Leave an environment as it is where somebody edited or deleted what the deploy placed.
    bool keep_edits = false;
    int parallel = 32;
    int keep = 2;  ///< versions of an environment that stay, the one in use among them
    /// Seconds for which versions stay that are no longer in use, however many there are.
    std::int64_t keep_for = 70 * 60;
    std::function<bool()> stopped;
};

struct DeployedEnvironment {
    enum class What { Unchanged, Deployed, Failed, Removed } what = What::Unchanged;
    std::string source, branch, name, path, commit;
    int modules = 0;
    std::vector<std::string> restored;  ///< paths that had been edited or deleted
    std::string error;
};

/// Brings environments in line with their branches, all side by side. One that cannot be built (a
/// module that is not to be had, a Puppetfile that cannot be read) stays what it was, and the
/// others are deployed. An error: nothing was done.
base::Result<std::vector<DeployedEnvironment>> deploy_environments(const DeployOptions& options,
                                                                   sys::System& system,
                                                                   base::LogSink& log);
/// The modules `only_modules` of environments that stand, as their Puppetfiles want them now.
base::Result<std::vector<DeployedEnvironment>> deploy_modules(const DeployOptions& options,
                                                              sys::System& system,
                                                              base::LogSink& log);
/// Makes the version before the one in use the environment, and returns its commit; a second time
/// leads forth again. What was edited in that version is restored first; if the cache has it no
/// longer, it is an error (unless `force`).
base::Result<std::string> rollback_environment(const DeployOptions& options,
                                               const std::string& name, sys::System& system,
                                               base::LogSink& log);

/// What stands, and with `fetch` what there is upstream.
struct DeployListing {
    struct Environment {
        std::string name, dirname, signature;  ///< "" where nothing stands
        std::string status;                    ///< "absent", "insync", "outdated"
        std::vector<std::string> modules;      ///< "acme-web forge acme-web-1.0.0"
    };
    const DeploySource* source = nullptr;
    std::vector<Environment> environments;
};
base::Result<std::vector<DeployListing>> list_deployment(const DeployOptions& options, bool fetch,
                                                         sys::System& system, base::LogSink& log);

}  // namespace bunraku::module
