// SPDX-License-Identifier: Apache-2.0
// Hints for a module that is missing: where the compiler looked, and the command that installs it.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "compile/compiler/explain.h"
#include "core/base/text.h"

namespace bunraku::compiler::explaining {

namespace {

/// Authors of widely used modules on the Puppet Forge, by the name of the module.
struct KnownModule {
    std::string_view module, author;
};
constexpr std::array kKnownModules = std::to_array<KnownModule>({
    {"accounts", "puppetlabs"},
    {"alternatives", "puppet"},
    {"apache", "puppetlabs"},
    {"apt", "puppetlabs"},
    {"archive", "puppet"},
    {"augeasproviders_core", "puppet"},
    {"chrony", "puppet"},
    {"concat", "puppetlabs"},
    {"cron_core", "puppetlabs"},
    {"docker", "puppetlabs"},
    {"elasticsearch", "puppet"},
    {"epel", "puppet"},
    {"extlib", "puppet"},
    {"firewall", "puppetlabs"},
    {"gitlab", "puppet"},
    {"grafana", "puppet"},
    {"haproxy", "puppetlabs"},
    {"hosts_core", "puppetlabs"},
    {"inifile", "puppetlabs"},
    {"java", "puppetlabs"},
    {"keepalived", "puppet"},
    {"kmod", "puppet"},
    {"letsencrypt", "puppet"},
    {"logrotate", "puppet"},
    {"lvm", "puppetlabs"},
    {"mongodb", "puppet"},
    {"mount_core", "puppetlabs"},
    {"mysql", "puppetlabs"},
    {"nginx", "puppet"},
    {"nodejs", "puppet"},
    {"ntp", "puppetlabs"},
    {"php", "puppet"},
    {"postgresql", "puppetlabs"},
    {"prometheus", "puppet"},
    {"puppetdb", "puppetlabs"},
    {"python", "puppet"},
    {"rabbitmq", "puppet"},
    {"redis", "puppet"},
    {"rsyslog", "puppet"},
    {"selinux", "puppet"},
    {"snmp", "puppet"},
    {"sshkeys_core", "puppetlabs"},
    {"stdlib", "puppetlabs"},
    {"systemd", "puppet"},
    {"tomcat", "puppetlabs"},
    {"unattended_upgrades", "puppet"},
    {"vcsrepo", "puppetlabs"},
    {"yum", "puppet"},
    {"yumrepo_core", "puppetlabs"},
    {"zabbix", "puppet"},
});

/// Returns "AUTHOR-MODULE" if the last part of a module's full name is `module`.
std::optional<std::string> full_name(std::string_view name, std::string_view module) {
    const auto separator = name.find_first_of("/-");
    if (separator == std::string_view::npos || name.substr(separator + 1) != module)
        return std::nullopt;
    return fmt::format("{}-{}", name.substr(0, separator), module);
}

/// Finds the module in a `mod` line of the environment's Puppetfile.
std::optional<std::string> in_puppetfile(const Case& mistake, std::string_view module) {
    if (mistake.environment().directory().empty()) return std::nullopt;
    const auto text =
        mistake.environment().files().read(mistake.environment().directory() + "/Puppetfile");
    if (!text) return std::nullopt;
    for (const auto line : base::lines(*text)) {
        auto words = base::trim(line);
        if (!words.starts_with("mod ") && !words.starts_with("mod\t") && !words.starts_with("mod("))
            continue;
        const auto open = words.find_first_of("'\"");
        if (open == std::string_view::npos) continue;
        words.remove_prefix(open + 1);
        const auto name = words.substr(0, words.find_first_of("'\""));
        if (name == module) return std::string(name);
        if (auto full = full_name(name, module)) return full;
    }
    return std::nullopt;
}

}  // namespace

void hint_missing_module(const Case& mistake, std::string_view module) {
    const auto& path = mistake.environment().modulepath();
    for (const auto& folder : path) {
        const auto place = fmt::format("{}/{}", folder, module);
        if (!mistake.environment().files().stat(place).exists) continue;
        mistake.hint(
            fmt::format("{} is not a module, because its metadata.json cannot be read", place));
        return;
    }
    mistake.hint(path.empty()
                     ? fmt::format("There is no module {}, because the modulepath is empty", module)
                     : fmt::format("There is no module {} in {}", module, fmt::join(path, ", ")));
    if (!mistake.out.suggestions.empty()) return;
    if (const auto name = in_puppetfile(mistake, module)) {
        mistake.hint(
            fmt::format("The Puppetfile lists {}: `bunraku module sync` installs it", *name));
        return;
    }
    for (const auto& one : mistake.environment().modules()) {
        for (const auto& dependency : one.dependencies) {
            const auto name = full_name(dependency.name, module);
            if (!name) continue;
            mistake.hint(
                fmt::format("The module {} depends on it: `bunraku module install {}` installs it",
                            one.name, *name));
            return;
        }
    }
    const auto known = std::ranges::find(kKnownModules, module, &KnownModule::module);
    if (known != kKnownModules.end()) {
        mistake.hint(
            fmt::format("`bunraku module install {}-{}` installs it", known->author, module));
        return;
    }
    mistake.hint(
        fmt::format("`bunraku module search {0}` lists modules of the forge, and `bunraku "
                    "module install AUTHOR-{0}` installs one",
                    module));
}

}  // namespace bunraku::compiler::explaining
