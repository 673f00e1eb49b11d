// SPDX-License-Identifier: Apache-2.0
#include "language/lint/fact_names.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/lint/characters.h"
#include "language/lint/legacy_facts.h"

namespace bunraku::lint {

namespace {

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

bool is_known(const LegacyFact& fact) { return fact.known != LegacyFact::Known::Facter; }

/// Returns the path of the fixed replacement, or an empty text.
std::string_view fixed_replacement(std::string_view name) {
    const auto all = legacy_fact_table();
    const auto found = std::ranges::lower_bound(all, name, {}, &LegacyFact::name);
    if (found == all.end() || found->name != name || !is_known(*found)) return {};
    return found->lint_path.empty() ? found->path : found->lint_path;
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
    if (const auto path = fixed_replacement(name); !path.empty()) return fact_expression(path);
    return named_fact(name);
}

bool begins_with_legacy_fact(std::string_view name) {
    return std::ranges::any_of(legacy_fact_table(), [&](const LegacyFact& fact) {
        return is_known(fact) && name.starts_with(fact.name);
    });
}

}  // namespace bunraku::lint
