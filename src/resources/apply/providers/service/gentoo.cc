// SPDX-License-Identifier: Apache-2.0
// The provider gentoo: init scripts that rc-update enables.
#include <algorithm>

#include "core/base/text.h"
#include "resources/apply/providers/service/init.h"

namespace bunraku::apply {
namespace {

constexpr const char* kUpdate = "/sbin/rc-update";

class Gentoo final : public Init {
public:
    using Init::Init;

    std::string enabled() override {
        const std::string output = execute(context_, {kUpdate, "show"}).output;
        for (std::string_view line : base::lines(output)) {
            const std::size_t bar = line.find('|');
            if (base::trim(line.substr(0, bar)) != name()) continue;
            // The runlevels follow the bar.
            const auto levels = base::words(line.substr(std::min(bar, line.size() - 1) + 1), " \t");
            return !levels.empty() && (levels[0] == "boot" || levels[0] == "default") ? "true"
                                                                                      : "false";
        }
        return "false";
    }

    void enable(const std::string& wanted) override {
        if (wanted == "true") {
            execute(context_, {kUpdate, "add", name(), "default"});
        } else {
            execute(context_, {kUpdate, "del", name(), "default"});
        }
    }
};

}  // namespace

const ProviderClass& provider_service_gentoo() {
    static constexpr ServiceProviderClass kClass{
        {.name = "gentoo",
         .suitable =
             [](Context& c) { return platform(c).name == "gentoo" && has_command(c, kUpdate); },
         .features = "refreshable enableable",
         .depth = 7},
        make_service_provider<Gentoo>,
        list_init_scripts,
        "/etc/init.d"};
    return kClass;
}

}  // namespace bunraku::apply
