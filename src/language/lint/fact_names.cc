// SPDX-License-Identifier: Apache-2.0
#include "language/lint/fact_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "language/lint/characters.h"

namespace bunraku::lint {

namespace {

/// Facts with a fixed replacement, ordered by name.
constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
    {"architecture", "os.architecture"},
    {"augeasversion", "augeas.version"},
    {"bios_release_date", "dmi.bios.release_date"},
    {"bios_vendor", "dmi.bios.vendor"},
    {"bios_version", "dmi.bios.version"},
    {"boardassettag", "dmi.board.asset_tag"},
    {"boardmanufacturer", "dmi.board.manufacturer"},
    {"boardproductname", "dmi.board.product"},
    {"boardserialnumber", "dmi.board.serial_number"},
    {"chassisassettag", "dmi.chassis.asset_tag"},
    {"chassistype", "dmi.chassis.type"},
    {"domain", "networking.domain"},
    {"fqdn", "networking.fqdn"},
    {"gid", "identity.group"},
    {"hardwareisa", "processors.isa"},
    {"hardwaremodel", "os.hardware"},
    {"hostname", "networking.hostname"},
    {"id", "identity.user"},
    {"ipaddress", "networking.ip"},
    {"ipaddress6", "networking.ip6"},
    {"lsbdistcodename", "os.distro.codename"},
    {"lsbdistdescription", "os.distro.description"},
    {"lsbdistid", "os.distro.id"},
    {"lsbdistrelease", "os.distro.release.full"},
    {"lsbmajdistrelease", "os.distro.release.major"},
    {"lsbminordistrelease", "os.distro.release.minor"},
    {"lsbrelease", "os.distro.release.specification"},
    {"macaddress", "networking.mac"},
    {"macosx_buildversion", "os.macosx.build"},
    {"macosx_productname", "os.macosx.product"},
    {"macosx_productversion", "os.macosx.version.full"},
    {"macosx_productversion_major", "os.macosx.version.major"},
    {"macosx_productversion_minor", "os.macosx.version.minor"},
    {"manufacturer", "dmi.manufacturer"},
    {"memoryfree", "memory.system.available"},
    {"memorysize", "memory.system.total"},
    {"netmask", "networking.netmask"},
    {"netmask6", "networking.netmask6"},
    {"network", "networking.network"},
    {"network6", "networking.network6"},
    {"operatingsystem", "os.name"},
    {"operatingsystemmajrelease", "os.release.major"},
    {"operatingsystemrelease", "os.release.full"},
    {"osfamily", "os.family"},
    {"physicalprocessorcount", "processors.physicalcount"},
    {"processorcount", "processors.count"},
    {"productname", "dmi.product.name"},
    {"rubyplatform", "ruby.platform"},
    {"rubysitedir", "ruby.sitedir"},
    {"rubyversion", "ruby.version"},
    {"selinux", "os.selinux.enabled"},
    {"selinux_config_mode", "os.selinux.config_mode"},
    {"selinux_config_policy", "os.selinux.config_policy"},
    {"selinux_current_mode", "os.selinux.current_mode"},
    {"selinux_enforced", "os.selinux.enforced"},
    {"selinux_policyversion", "os.selinux.policy_version"},
    {"serialnumber", "dmi.product.serial_number"},
    {"swapencrypted", "memory.swap.encrypted"},
    {"swapfree", "memory.swap.available"},
    {"swapsize", "memory.swap.total"},
    {"system32", "os.windows.system32"},
    {"uptime", "system_uptime.uptime"},
    {"uptime_days", "system_uptime.days"},
    {"uptime_hours", "system_uptime.hours"},
    {"uptime_seconds", "system_uptime.seconds"},
    {"uuid", "dmi.product.uuid"},
    {"xendomains", "xen.domains"},
    {"zonename", "solaris_zones.current"},
};

/// Facts without a replacement.
constexpr std::string_view kWithoutReplacement[] = {
    "memoryfree_mb", "memorysize_mb", "swapfree_mb", "swapsize_mb",   "blockdevices", "interfaces",
    "zones",         "sshfp_dsa",     "sshfp_ecdsa", "sshfp_ed25519", "sshfp_rsa",
};

/// Facts whose names contain a device, an interface or another name of the machine.
struct NamedFact {
    std::string_view prefix, suffix;
    /// The path of the replacement; "*" stands for the name.
    std::string_view path;
};
constexpr NamedFact kNamedFacts[] = {
    {"blockdevice_", "_model", "disks.*.model"},
    {"blockdevice_", "_size", "disks.*.size"},
    {"blockdevice_", "_vendor", "disks.*.vendor"},
    {"ipaddress_", "", "networking.interfaces.*.ip"},
    {"ipaddress6_", "", "networking.interfaces.*.ip6"},
    {"macaddress_", "", "networking.interfaces.*.mac"},
    {"mtu_", "", "networking.interfaces.*.mtu"},
    {"netmask_", "", "networking.interfaces.*.netmask"},
    {"netmask6_", "", "networking.interfaces.*.netmask6"},
    {"network_", "", "networking.interfaces.*.network"},
    {"network6_", "", "networking.interfaces.*.network6"},
    {"sp_", "", "system_profiler.*"},
    {"ldom_", "", "ldom.*"},
    {"zone_", "_brand", "solaris_zones.zones.*.brand"},
    {"zone_", "_iptype", "solaris_zones.zones.*.iptype"},
    {"zone_", "_name", "solaris_zones.zones.*.name"},
    {"zone_", "_uuid", "solaris_zones.zones.*.uuid"},
    {"zone_", "_id", "solaris_zones.zones.*.id"},
    {"zone_", "_path", "solaris_zones.zones.*.path"},
    {"zone_", "_status", "solaris_zones.zones.*.status"},
};
constexpr std::string_view kKeyAlgorithms[] = {"dsa", "ecdsa", "ed25519", "rsa"};
constexpr std::string_view kProcessor = "processor";

std::string fact_expression(std::string_view path, std::string_view name = {}) {
    std::string out = "facts";
    for (const std::string_view part : base::split(path, '.'))
        out += fmt::format("['{}']", part == "*" ? name : part);
    return out;
}

const std::pair<std::string_view, std::string_view>* find_replacement(std::string_view name) {
    const auto found = std::ranges::lower_bound(
        kReplacements, name, {}, &std::pair<std::string_view, std::string_view>::first);
    return found != std::end(kReplacements) && found->first == name ? found : nullptr;
}

std::optional<std::string> named_fact(std::string_view name) {
    for (const NamedFact& fact : kNamedFacts) {
        if (name.size() >= fact.prefix.size() + fact.suffix.size() &&
            name.starts_with(fact.prefix) && name.ends_with(fact.suffix)) {
            name.remove_prefix(fact.prefix.size());
            name.remove_suffix(fact.suffix.size());
            return fact_expression(fact.path, name);
        }
    }
    if (name.starts_with(kProcessor) && name.size() > kProcessor.size() &&
        std::ranges::all_of(name.substr(kProcessor.size()), is_digit))
        return fmt::format("facts['processors']['models'][{}]", name.substr(kProcessor.size()));
    for (const std::string_view algorithm : kKeyAlgorithms)
        if (name == fmt::format("ssh{}key", algorithm))
            return fact_expression("ssh.*.key", algorithm);
    return std::nullopt;
}

}  // namespace

bool is_legacy_fact(std::string_view name) {
    return structured_fact(name).has_value() ||
           std::ranges::find(kWithoutReplacement, name) != std::end(kWithoutReplacement);
}

std::optional<std::string> structured_fact(std::string_view name) {
    if (const auto* replacement = find_replacement(name))
        return fact_expression(replacement->second);
    return named_fact(name);
}

bool begins_with_legacy_fact(std::string_view name) {
    return std::ranges::any_of(kReplacements,
                               [&](const auto& row) { return name.starts_with(row.first); });
}

}  // namespace bunraku::lint
