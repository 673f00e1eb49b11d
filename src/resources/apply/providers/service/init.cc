// SPDX-License-Identifier: Apache-2.0
// The provider init: init scripts, without support for `enable`.
#include "resources/apply/providers/service/init.h"

#include <algorithm>
#include <fmt/format.h>

namespace bunraku::apply {

using base::PuppetError;

std::vector<std::string> Init::own_command(std::string_view what) {
    if (what == "status" && !resource_.flag("hasstatus")) return {};
    if (what == "restart" && !resource_.flag("hasrestart")) return {};
    return {script(), std::string(what)};
}

std::string Init::script() {
    std::vector<std::string> folders;
    if (Value path = resource_.get("path"); path.is_array()) {
        for (const Value& v : path.as_array()) {
            if (context_.system.files.is_directory(plain(v))) folders.push_back(plain(v));
        }
    }
    for (std::string_view suffix : {"", ".sh"}) {
        for (const std::string& folder : folders) {
            std::string script = sys::join(folder, name() + std::string(suffix));
            if (unwrap(context_.system.files.there(script))) return script;
            resource_.provider_debug(
                fmt::format("Could not find {}{} in {}", name(), suffix, folder));
        }
    }
    throw PuppetError(fmt::format("Could not find init script for '{}'", name()));
}

std::vector<std::string> list_init_scripts(Context& context) {
    constexpr std::string_view kNot[] = {"functions.sh",
                                         "reboot.sh",
                                         "shutdown.sh",
                                         "functions",
                                         "halt",
                                         "killall",
                                         "single",
                                         "linuxconf",
                                         "reboot",
                                         "boot",
                                         "wait-for-state",
                                         "portmap-wait",
                                         "rcS",
                                         "module-init-tools",
                                         "plymouth-ready",
                                         "idmapd-mounting",
                                         "startpar-bridge",
                                         "cryptdisks-udev",
                                         "statd-mounting",
                                         "gssd-mounting"};
    std::vector<std::string> out;
    auto names = context.system.files.list("/etc/init.d");
    if (!names) return out;
    for (const std::string& n : *names) {
        std::string path = sys::join("/etc/init.d", n);
        if (n.starts_with('.') ||
            std::find(std::begin(kNot), std::end(kNot), n) != std::end(kNot) ||
            context.system.files.is_directory(path) || !context.system.files.access(path, 1)) {
            continue;
        }
        out.push_back(n);
    }
    return out;
}

const ProviderClass& provider_service_init() {
    static constexpr ServiceProviderClass kClass{{.name = "init",
                                                  .suitable =
                                                      [](Context& c) {
                                                          const Platform& os = platform(c);
                                                          return !os.named({"debian", "ubuntu"}) &&
                                                                 os.family != "redhat" &&
                                                                 has_command(c, "kill");
                                                      },
                                                  .features = "refreshable",
                                                  .depth = 6},
                                                 make_service_provider<Init>,
                                                 list_init_scripts,
                                                 "/etc/init.d"};
    return kClass;
}

}  // namespace bunraku::apply
