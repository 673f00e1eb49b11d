// Environments out of the branches of control repositories (r10k.yaml), each a folder by version
// behind a link: who reads an environment sees the old one whole, then the new one whole.
#pragma once

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
    int parallel = 32;
    int keep = 2;  ///< versions of an environment that stay, the one in use among them
    std::function<bool()> stopped;
};

struct DeployedEnvironment {
    enum class What { Unchanged, Deployed, Failed, Removed } what = What::Unchanged;
    std::string source, branch, name, path, commit;
    int modules = 0;
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
/// Back to the version before the one in use: its commit. Once more: forth again.
base::Result<std::string> rollback_environment(const DeployOptions& options,
                                               const std::string& name, sys::System& system);

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
