// SPDX-License-Identifier: Apache-2.0
// The provider openrc.
#include "core/base/text.h"
#include "resources/apply/types/service/service_provider.h"

namespace bunraku::apply {
namespace {

constexpr const char* kService = "/sbin/rc-service";
constexpr const char* kUpdate = "/sbin/rc-update";

class OpenRc final : public ServiceProvider {
public:
    using ServiceProvider::ServiceProvider;

    // A service is enabled if it is listed in a named runlevel. Dynamic runlevels do not count.
    std::string enabled() override {
        Execute o;
        // If the run is itself started by a service, this variable would restrict the output to
        // that service.
        o.environment = {{"RC_SVCNAME", std::nullopt}};
        const std::string output = execute(context_, {"/bin/rc-status", "-C", "-a"}, o).output;
        bool in_runlevel = false, found = false, answer = false;
        for (std::string_view line : base::lines(output)) {
            if (line.starts_with("Runlevel: ")) {
                in_runlevel = true;
            } else if (!line.empty() && line[0] != ' ' && line[0] != '\t') {
                in_runlevel = false;
            } else if (const std::size_t open = line.rfind('[');
                       !found && open != std::string_view::npos) {
                if (base::trim(line.substr(0, open)) != name()) continue;
                found = true;
                answer = in_runlevel;
            }
        }
        return answer ? "true" : "false";
    }

    void enable(const std::string& wanted) override {
        execute(context_, {kUpdate, "-C", wanted == "true" ? "add" : "del", name()});
    }

protected:
    std::vector<std::string> own_command(std::string_view what) override {
        if (what == "status" && !resource_.flag("hasstatus")) return {};
        if (what == "restart" && !resource_.flag("hasrestart")) return {};
        return {kService, name(), std::string(what)};
    }
};

}  // namespace

const ProviderClass& provider_service_openrc() {
    static constexpr ServiceProviderClass kClass{
        {.name = "openrc",
         .suitable =
             [](Context& c) {
                 return has_command(c, kService) && has_command(c, kUpdate) &&
                        has_command(c, "/bin/rc-status");
             },
         .features = "refreshable enableable",
         .default_for = [](Context& c) { return platform(c).named({"gentoo", "funtoo"}) ? 1 : 0; },
         .depth = 6},
        make_service_provider<OpenRc>,
        [](Context& c) {
            return base::texts(base::lines(execute(c, {kService, "-C", "--list"}).output));
        }};
    return kClass;
}

}  // namespace bunraku::apply
