// Deploys that a git server asks for: a queue, one worker, and a page that says how it went.
#pragma once

#include <memory>
#include <string>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "net/http/router.h"

namespace bunraku::forge {

/// What webhook.conf says ("key = value" lines).
struct DeployHookOptions {
    std::string secret;
    std::string r10k;         ///< r10k.yaml
    std::string post_deploy;  ///< a program and its arguments; environments are added
    bool modules = true;      ///< the Puppetfile's too
    std::string state;        ///< folder of what must be remembered
    static base::Result<DeployHookOptions> read(const std::string& path);
};

class DeployHook {
public:
    DeployHook(DeployHookOptions options, const config::Settings& settings, base::LogSink& log);
    /// What is under way is let finish.
    ~DeployHook();
    DeployHook(const DeployHook&) = delete;
    /// POST /deploy/webhook, GET /deploy/status (JSON) and /deploy (a page).
    void mount(http::Router& router);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::forge
