// SPDX-License-Identifier: Apache-2.0
// The role of the forge: repositories in STATE/forge, which `bunraku forge` uses too.
#include <fmt/format.h>

#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "modules/forge/deploy_hook.h"
#include "modules/forge/http_api.h"
#include "modules/forge/service.h"
#include "resources/catalog/json_text.h"
#include "services/server/role.h"

namespace bunraku::server {

namespace {

class ForgeRole final : public Role {
public:
    ForgeRole(const Context& context, std::unique_ptr<forge::DeployHook> hook)
        : version_(context.version), service_(options_of(context)), hook_(std::move(hook)) {}
    std::string_view name() const override { return "forge"; }
    void mount(http::Router& router) override {
        forge::mount(router, service_);
        if (hook_) hook_->mount(router);
    }
    void stop() override { hook_.reset(); }
    std::vector<ServiceStatus> status() override {
        return {{"forge-service", version_, "running", "{}"}};
    }

private:
    static forge::ServiceOptions options_of(const Context& context) {
        forge::ServiceOptions options;
        options.root = context.state_directory + "/forge";
        options.default_repository = context.settings.text("forge_default_repository");
        options.token = context.settings.text("forge_token");
        options.trust_store = context.settings.text("ssl_trust_store");
        options.proxies = http::ProxyRules::of_settings(context.settings);
        return options;
    }
    std::string version_;
    forge::ForgeService service_;
    std::unique_ptr<forge::DeployHook> hook_;
};

}  // namespace

base::Result<std::unique_ptr<Role>> make_forge_role(const Context& context) {
    // A git server may trigger deploys if webhook.conf allows it.
    std::unique_ptr<forge::DeployHook> hook;
    const std::string path = context.settings.text("confdir") + "/webhook.conf";
    if (sys::disk().exists(path)) {
        auto options = BUNRAKU_TRY(forge::DeployHookOptions::read(path));
        options.state = context.state_directory;
        hook =
            std::make_unique<forge::DeployHook>(std::move(options), context.settings, context.log);
    }
    return std::unique_ptr<Role>(new ForgeRole(context, std::move(hook)));
}

}  // namespace bunraku::server
