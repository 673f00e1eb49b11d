// SPDX-License-Identifier: Apache-2.0
// Deploys requested by a git server: a queue, one worker, and a status page.
#pragma once

#include <memory>
#include <string>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "net/http/router.h"

namespace bunraku::forge {

/// Settings of webhook.conf ("key = value" lines).
struct DeployHookOptions {
    std::string secret;
    std::string r10k;         ///< r10k.yaml
    std::string post_deploy;  ///< a program with its arguments; the environments are appended
    bool modules = true;      ///< whether to deploy the modules of the Puppetfile too
    std::string state;        ///< folder of the persistent state
    static base::Result<DeployHookOptions> read(const std::string& path);
};

class DeployHook {
public:
    DeployHook(DeployHookOptions options, const config::Settings& settings, base::LogSink& log);
    /// Waits until the running deploy has finished.
    ~DeployHook();
    DeployHook(const DeployHook&) = delete;
    /// Adds the routes POST /deploy/webhook, GET /deploy/status (JSON) and GET /deploy (HTML page).
    void mount(http::Router& router);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::forge
