// SPDX-License-Identifier: Apache-2.0
// The provider debian: init scripts that update-rc.d enables.
#include <algorithm>
#include <fmt/format.h>

#include "resources/apply/providers/service/init.h"

namespace bunraku::apply {
namespace {

constexpr const char* kUpdate = "/usr/sbin/update-rc.d";
constexpr const char* kInvoke = "/usr/sbin/invoke-rc.d";
constexpr const char* kService = "/usr/sbin/service";

// Reports whether a script is started at boot, according to invoke-rc.d or else to its links.
bool debian_starts(Context& context, const std::string& name) {
    Execute o;
    o.fail_on_error = false;
    const int code = execute(context, {kInvoke, "--quiet", "--query", name, "start"}, o).status;
    if (code == 104 || code == 106) return true;
    if (code != 101 && code != 105) return false;
    // 101 and 105 mean that invoke-rc.d has no policy or does not know it. The command `defaults`
    // creates four start links.
    std::ptrdiff_t links = 0;
    for (char level : std::string_view("0123456S")) {
        const auto names = context.system.files.list(fmt::format("/etc/rc{}.d", level));
        if (!names) continue;
        links += std::count_if(names->begin(), names->end(), [&](const std::string& n) {
            return n.size() == name.size() + 3 && n[0] == 'S' && n.ends_with(name);
        });
    }
    return links >= 4;
}

class Debian final : public Init {
public:
    using Init::Init;

    std::string enabled() override { return debian_starts(context_, name()) ? "true" : "false"; }
    void enable(const std::string& wanted) override {
        if (wanted == "true") {
            execute(context_, {kUpdate, "-f", name(), "remove"});
            execute(context_, {kUpdate, name(), "defaults"});
        } else {
            execute(context_, {kUpdate, name(), "disable"});
        }
    }

protected:
    std::vector<std::string> own_command(std::string_view what) override {
        if (what != "status" || !resource_.flag("hasstatus")) return Init::own_command(what);
        return {kService, name(), "status"};
    }
};

bool old(Context& c) {
    const Platform& os = platform(c);
    return os.name == "debian" && os.major.size() == 1 && os.major >= "5" && os.major <= "7";
}

}  // namespace

const ProviderClass& provider_service_debian() {
    static constexpr ServiceProviderClass kClass{
        {.name = "debian",
         .suitable =
             [](Context& c) {
                 const auto comm = c.system.files.read("/proc/1/comm");
                 return !(comm && comm->find("systemd") != std::string::npos) &&
                        has_command(c, kUpdate) && has_command(c, kInvoke) &&
                        has_command(c, kService);
             },
         .features = "refreshable enableable",
         .default_for =
             [](Context& c) { return old(c)                         ? 2
                                     : platform(c).name == "devuan" ? 1
                                                                    : 0; },
         .depth = 7},
        make_service_provider<Debian>,
        list_init_scripts,
        "/etc/init.d"};
    return kClass;
}

}  // namespace bunraku::apply
