// SPDX-License-Identifier: Apache-2.0
// The provider redhat: init scripts that chkconfig enables and `service` runs.
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/providers/service/init.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

constexpr const char* kChkconfig = "/sbin/chkconfig";
constexpr const char* kService = "/sbin/service";

class Redhat final : public Init {
public:
    using Init::Init;

    std::string enabled() override {
        std::string output;
        try {
            output = execute(context_, {kChkconfig, name()}).output;
        } catch (const PuppetError& e) {
            if (e.issue_code() != "EXECUTION_FAILURE") throw;
            return "false";
        }
        if (platform(context_).family != "suse") return "true";
        const auto w = base::words(output, " \t\r\n");
        return w.size() > 1 && w[0] == name() && (w[1] == "on" || w[1] == "B") ? "true" : "false";
    }

    void enable(const std::string& wanted) override {
        const bool on = wanted == "true";
        try {
            if (on) {
                execute(context_, {kChkconfig, "--add", name()});
                execute(context_, {kChkconfig, name(), "on"});
            } else {
                execute(context_, {kChkconfig, "--level", "0123456", name(), "off"});
            }
        } catch (const PuppetError& e) {
            if (e.issue_code() != "EXECUTION_FAILURE") throw;
            throw PuppetError(
                fmt::format("Could not {} {}: {}", on ? "enable" : "disable", name(), e.message()));
        }
    }

protected:
    std::vector<std::string> own_command(std::string_view what) override {
        if (what == "status" && !resource_.flag("hasstatus")) return {};
        if (what == "restart" && !resource_.flag("hasrestart")) return {};
        return {kService, name(), std::string(what)};
    }
};

int default_for(Context& c) {
    const Platform& os = platform(c);
    const auto major = [&](std::initializer_list<std::string_view> of) {
        for (std::string_view m : of) {
            if (os.major == m) return true;
        }
        return false;
    };
    if (os.name == "amazon" && major({"2017", "2018"})) return 2;
    if (os.name == "redhat" && major({"4", "5", "6"})) return 2;
    return os.family == "suse" && major({"10", "11"}) ? 2 : 0;
}

}  // namespace

const ProviderClass& provider_service_redhat() {
    static constexpr ServiceProviderClass kClass{
        {.name = "redhat",
         .suitable =
             [](Context& c) { return has_command(c, kChkconfig) && has_command(c, kService); },
         .features = "refreshable enableable",
         .default_for = default_for,
         .depth = 7},
        make_service_provider<Redhat>,
        list_init_scripts,
        "/etc/init.d"};
    return kClass;
}

}  // namespace bunraku::apply
