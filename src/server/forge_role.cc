// The forge as a role: repositories in STATE/forge, the same that `bunraku forge` works on.
#include <fmt/format.h>

#include "catalog/json_text.h"
#include "forge/http_api.h"
#include "forge/service.h"
#include "server/role.h"

namespace bunraku::server {

namespace {

class ForgeRole final : public Role {
public:
    explicit ForgeRole(const Context& context)
        : version_(context.version), service_(options_of(context)) {}
    std::string_view name() const override { return "forge"; }
    void mount(http::Router& router) override { forge::mount(router, service_); }
    std::vector<ServiceStatus> status() override {
        return {{"forge-service", version_, "running", "{}"}};
    }

private:
    static forge::ServiceOptions options_of(const Context& context) {
        forge::ServiceOptions options;
        options.root = context.state_directory + "/forge";
        options.default_repository = context.settings.text("forge_default_repository");
        options.token = context.settings.text("forge_token");
        return options;
    }
    std::string version_;
    forge::ForgeService service_;
};

}  // namespace

base::Result<std::unique_ptr<Role>> make_forge_role(const Context& context) {
    return std::unique_ptr<Role>(new ForgeRole(context));
}

}  // namespace bunraku::server
