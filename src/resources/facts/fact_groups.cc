// SPDX-License-Identifier: Apache-2.0
#include "resources/facts/fact_groups.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/hocon.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

const std::string kFacterConfPath = "/etc/puppetlabs/facter/facter.conf";

namespace {

using codec::YamlNode;

struct NamedGroup {
    std::string_view name, facts;
};

// In the order of `facter --list-block-groups` of 4.11.
constexpr NamedGroup kGroups[] = {
    {"AIX NIM type", "nim_type"},
    {"EC2", "ec2_metadata ec2_userdata"},
    {"GCE", "gce"},
    {"Xen", "xen xendomains"},
    {"augeas", "augeas augeasversion"},
    {"desktop management interface",
     "dmi bios_vendor bios_version bios_release_date boardassettag boardmanufacturer "
     "boardproductname boardserialnumber chassisassettag manufacturer productname "
     "serialnumber uuid chassistype"},
    {"disks", "blockdevices disks"},
    {"file system", "mountpoints filesystems partitions"},
    {"fips", "fips_enabled"},
    {"hypervisors", "hypervisors"},
    {"id", "id gid identity"},
    {"kernel", "kernel kernelversion kernelrelease kernelmajversion"},
    {"load_average", "load_averages"},
    {"memory",
     "memory memoryfree memoryfree_mb memorysize memorysize_mb swapfree swapfree_mb "
     "swapsize swapsize_mb swapencrypted"},
    {"networking",
     "networking hostname ipaddress ipaddress6 netmask netmask6 network network6 scope6 "
     "macaddress interfaces domain fqdn dhcp_servers"},
    {"operating system",
     "os operatingsystem osfamily operatingsystemrelease operatingsystemmajrelease "
     "hardwaremodel architecture lsbdistid lsbdistrelease lsbdistcodename "
     "lsbdistdescription lsbmajdistrelease lsbminordistrelease lsbrelease "
     "macosx_buildversion macosx_productname macosx_productversion "
     "macosx_productversion_major macosx_productversion_minor macosx_productversion_patch "
     "windows_display_version windows_edition_id windows_installation_type "
     "windows_product_name windows_release_id system32 selinux selinux_enforced "
     "selinux_policyversion selinux_current_mode selinux_config_mode selinux_config_policy"},
    {"path", "path"},
    {"processor", "processors processorcount physicalprocessorcount hardwareisa"},
    {"ssh",
     "ssh sshdsakey sshrsakey sshecdsakey sshed25519key sshfp_dsa sshfp_rsa sshfp_ecdsa "
     "sshfp_ed25519"},
    {"system profiler",
     "system_profiler sp_boot_mode sp_boot_rom_version sp_boot_volume sp_cpu_type "
     "sp_current_processor_speed sp_kernel_version sp_l2_cache_core sp_l3_cache "
     "sp_local_host_name sp_machine_model sp_machine_name sp_number_processors "
     "sp_os_version sp_packages sp_physical_memory sp_platform_uuid sp_secure_vm "
     "sp_serial_number sp_smc_version_system sp_uptime sp_user_name"},
    {"timezone", "timezone"},
    {"uptime", "system_uptime uptime uptime_days uptime_hours uptime_seconds"},
    {"virtualization", "virtual is_virtual cloud"},
    {"ldom", "ldom"},
    {"Solaris zone", "zones zonename solaris_zones"},
    {"ZFS", "zfs_version zfs_featurenumbers"},
    {"ZFS storage pool", "zpool_version zpool_featureflags zpool_featurenumbers"},
    {"legacy",
     "architecture augeasversion bios_release_date bios_vendor bios_version "
     "blockdevice_*_model blockdevice_*_size blockdevice_*_vendor blockdevices "
     "boardassettag boardmanufacturer boardproductname boardserialnumber chassisassettag "
     "chassistype dhcp_servers domain fqdn gid hardwareisa hardwaremodel hostname id "
     "interfaces ipaddress ipaddress_.* ipaddress_* ipaddress6 ipaddress6_.* ipaddress6_* "
     "ldom_* lsbdistcodename lsbdistdescription lsbdistid lsbdistrelease lsbmajdistrelease "
     "lsbminordistrelease lsbrelease macaddress macaddress_.* macaddress_* "
     "macosx_buildversion macosx_productname macosx_productversion "
     "macosx_productversion_major macosx_productversion_minor macosx_productversion_patch "
     "manufacturer memoryfree memoryfree_mb memorysize memorysize_mb mtu_.* mtu_* netmask "
     "netmask_.* netmask_* netmask6 netmask6_.* netmask6_* network network_.* network_* "
     "network6 network6_.* network6_* operatingsystem operatingsystemmajrelease "
     "operatingsystemrelease osfamily physicalprocessorcount processor[0-9]+.* "
     "processorcount productname rubyplatform rubysitedir rubyversion scope6 scope6_.* "
     "selinux selinux_config_mode selinux_config_policy selinux_current_mode "
     "selinux_enforced selinux_policyversion serialnumber sp_* sp_boot_mode "
     "sp_boot_rom_version sp_boot_volume sp_cpu_type sp_current_processor_speed "
     "sp_kernel_version sp_l2_cache_core sp_l3_cache sp_local_host_name sp_machine_model "
     "sp_machine_name sp_number_processors sp_os_version sp_packages sp_physical_memory "
     "sp_platform_uuid sp_secure_vm sp_serial_number sp_smc_version_system sp_uptime "
     "sp_user_name ssh.*key ssh*key sshfp_.* sshfp_* swapencrypted swapfree swapfree_mb "
     "swapsize swapsize_mb system32 uptime uptime_days uptime_hours uptime_seconds uuid "
     "windows_edition_id windows_installation_type windows_product_name windows_release_id "
     "xendomains zone_*_brand zone_*_id zone_*_iptype zone_*_name zone_*_path "
     "zone_*_status zone_*_uuid zonename zones"},
};

const YamlNode* member(const YamlNode* node, std::string_view name) {
    if (!node || node->kind != YamlNode::Kind::Mapping) return nullptr;
    for (const auto& [key, value] : node->entries)
        if (key.text == name) return &value;
    return nullptr;
}

std::string text_of(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::Boolean: return node.boolean ? "true" : "false";
        case YamlNode::Kind::Integer: return std::to_string(node.integer);
        case YamlNode::Kind::Float: return fmt::format("{}", node.number);
        default: return node.text;
    }
}

std::vector<std::string> texts_of(const YamlNode* node) {
    std::vector<std::string> out;
    if (!node || node->kind == YamlNode::Kind::Null) return out;
    if (node->kind != YamlNode::Kind::Sequence) return {text_of(*node)};
    for (const auto& item : node->items) out.push_back(text_of(item));
    return out;
}

std::optional<bool> switch_of(const YamlNode* node) {
    if (!node || node->kind == YamlNode::Kind::Null) return std::nullopt;
    if (node->kind == YamlNode::Kind::Boolean) return node->boolean;
    return node->text != "false";
}

}  // namespace

FacterConf read_facter_conf(sys::FileSystem& files, const std::string& path, base::LogSink* log) {
    FacterConf conf;
    const auto text = files.read(path);
    if (!text) {
        if (!sys::is_absence(text.error().code))
            log_record(log, base::Level::Warning, "Facter::ConfigReader", text.error().message);
        return conf;
    }
    const auto parsed = codec::parse_hocon(*text);
    if (!parsed) {
        log_record(log, base::Level::Warning, "Facter::ConfigReader",
                   fmt::format("Facter failed to read config file {} with the following error: {}",
                               path, parsed.error().message));
        return conf;
    }
    const YamlNode* global = member(&*parsed, "global");
    conf.external_directories = texts_of(member(global, "external-dir"));
    conf.custom_directories = texts_of(member(global, "custom-dir"));
    conf.no_external_facts = switch_of(member(global, "no-external-facts"));
    conf.no_custom_facts = switch_of(member(global, "no-custom-facts"));
    conf.no_ruby = switch_of(member(global, "no-ruby"));
    conf.show_legacy = switch_of(member(global, "show-legacy"));
    conf.sequential = switch_of(member(global, "sequential"));
    conf.force_dot_resolution = switch_of(member(global, "force-dot-resolution"));
    if (const YamlNode* limit = member(global, "fact-timeout")) {
        if (limit->kind == YamlNode::Kind::Integer)
            conf.fact_timeout = static_cast<double>(limit->integer);
        if (limit->kind == YamlNode::Kind::Float) conf.fact_timeout = limit->number;
    }
    const YamlNode* cli = member(&*parsed, "cli");
    conf.debug = switch_of(member(cli, "debug"));
    conf.trace = switch_of(member(cli, "trace"));
    conf.verbose = switch_of(member(cli, "verbose"));
    if (const YamlNode* level = member(cli, "log-level")) conf.log_level = text_of(*level);
    const YamlNode* facts = member(&*parsed, "facts");
    conf.blocklist = texts_of(member(facts, "blocklist"));
    if (const YamlNode* ttls = member(facts, "ttls")) {
        for (const auto& item : ttls->items)
            for (const auto& [key, value] : item.entries)
                conf.ttls.emplace_back(key.text, text_of(value));
    }
    if (const YamlNode* groups = member(&*parsed, "fact-groups"))
        for (const auto& [key, value] : groups->entries)
            conf.groups.emplace_back(key.text, texts_of(&value));
    return conf;
}

std::optional<std::int64_t> ttl_seconds(std::string_view text, base::LogSink* log) {
    struct Unit {
        std::string_view name;
        double seconds;
    };
    static constexpr Unit kUnits[] = {
        {"ns", 1e-9},
        {"nanos", 1e-9},
        {"nanoseconds", 1e-9},
        {"us", 1e-6},
        {"micros", 1e-6},
        {"microseconds", 1e-6},
        {"", 1e-3},
        {"ms", 1e-3},
        {"milis", 1e-3},
        {"milliseconds", 1e-3},
        {"s", 1},
        {"seconds", 1},
        {"m", 60},
        {"minutes", 60},
        {"h", 3600},
        {"hours", 3600},
        {"d", 86400},
        {"days", 86400},
    };
    text = trim(text);
    const auto blank = text.find(' ');
    std::int64_t count = 0;
    std::from_chars(text.data(), text.data() + std::min(blank, text.size()), count);
    std::string unit(blank == std::string_view::npos ? std::string_view()
                                                     : trim(text.substr(blank)));
    if (unit.size() > 2 && !unit.ends_with('s')) unit += 's';
    for (const Unit& u : kUnits)
        if (u.name == unit)
            return static_cast<std::int64_t>(static_cast<double>(count) * u.seconds);
    std::string known;
    for (const Unit& u : kUnits)
        if (!u.name.empty()) known.append(known.empty() ? "" : ", ").append(u.name);
    log_record(log, base::Level::Err, "Facter::FactGroups",
               fmt::format("Could not parse time unit {} (try {})", unit, known));
    return std::nullopt;
}

FactGroups::FactGroups(const FacterConf& conf, sys::FileSystem& files,
                       const std::vector<std::string>& external_directories, base::LogSink* log)
    : conf_(conf) {
    for (const NamedGroup& g : kGroups) {
        Group group{std::string(g.name), {}, false};
        for (std::string_view fact : base::words(g.facts, " ")) group.facts.emplace_back(fact);
        groups_.push_back(std::move(group));
    }
    const auto put = [&](Group group) {
        const auto same = std::ranges::find(groups_, group.name, &Group::name);
        if (same != groups_.end()) {
            *same = std::move(group);
        } else {
            groups_.push_back(std::move(group));
        }
    };
    for (const auto& [name, facts] : conf.groups) put({name, facts, false});
    for (const std::string& directory : external_directories) {
        auto names = files.list(directory);
        if (!names) continue;
        for (std::string& name : *names) put({std::move(name), {}, true});
    }
    for (const auto& [name, ttl] : conf.ttls) {
        const auto seconds = ttl_seconds(ttl, log);
        if (!seconds) continue;
        group_seconds_.emplace_back(name, *seconds);
        const Group* group = find(name);
        const auto add_policy = [&](const std::string& fact) {
            const auto same =
                std::ranges::find(policies_, fact, [](const auto& k) { return k.first; });
            if (same == policies_.end()) {
                policies_.emplace_back(fact, CachePolicy{name, *seconds});
            } else if (same->second.seconds < *seconds) {
                same->second = CachePolicy{name, *seconds};
            }
        };
        if (group && !group->file) {
            for (const std::string& fact : group->facts) add_policy(fact);
        } else {
            const auto same =
                std::ranges::find(policies_, name, [](const auto& k) { return k.first; });
            if (same == policies_.end()) {
                policies_.emplace_back(name, CachePolicy{name, *seconds});
            } else {
                same->second = CachePolicy{name, *seconds};
            }
        }
    }
    // A part of a fact precedes the whole fact.
    std::ranges::sort(policies_, [](const auto& a, const auto& b) { return a.first > b.first; });
    BUNRAKU_ASSERT(std::ranges::adjacent_find(policies_, [](const auto& a, const auto& b) {
                       return a.first == b.first;
                   }) == policies_.end());
    BUNRAKU_ASSERT(group_seconds_.size() <= conf.ttls.size() &&
                   groups_.size() >= std::size(kGroups));
}

const FactGroups::Group* FactGroups::find(std::string_view name) const {
    const auto found = std::ranges::find(groups_, name, &Group::name);
    return found == groups_.end() ? nullptr : &*found;
}

std::optional<FactGroups::CachePolicy> FactGroups::cache_policy(std::string_view fact) const {
    for (const auto& [name, cache_policy] : policies_)
        if (name == fact) return cache_policy;
    for (const auto& [name, cache_policy] : policies_)
        if (fact.size() > name.size() && fact.starts_with(name) && fact[name.size()] == '.')
            return cache_policy;
    return std::nullopt;
}

std::optional<std::string> FactGroups::group_of(std::string_view fact) const {
    if (auto cache_policy = this->cache_policy(fact)) return cache_policy->group;
    for (const Group& group : groups_) {
        if (group.file && fact.starts_with(group.name)) return group.name;
        for (const std::string& name : group.facts)
            if (fact.find(".*") != std::string_view::npos ? fact == name : fact.starts_with(name))
                return group.name;
    }
    return std::nullopt;
}

std::optional<std::int64_t> FactGroups::group_seconds(std::string_view group) const {
    for (const auto& [name, seconds] : group_seconds_)
        if (name == group) return seconds;
    return std::nullopt;
}

std::vector<std::string> FactGroups::blocked_facts() const {
    std::vector<std::string> out;
    for (const std::string& name : conf_.blocklist) {
        if (name == "legacy") continue;
        const Group* group = find(name);
        if (group && !group->file) {
            out.insert(out.end(), group->facts.begin(), group->facts.end());
        } else {
            out.push_back(name);
        }
    }
    return out;
}

bool FactGroups::blocks_legacy() const {
    return std::ranges::find(conf_.blocklist, "legacy") != conf_.blocklist.end();
}

std::string FactGroups::list() const {
    std::string out;
    for (const Group& group : groups_) {
        out.append(group.name) += '\n';
        for (const std::string& fact : group.facts) out.append("- ").append(fact) += '\n';
    }
    return out;
}

}  // namespace bunraku::facts
