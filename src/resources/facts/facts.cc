// SPDX-License-Identifier: Apache-2.0
#include "resources/facts/facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

constexpr std::array kFacts = {
    FactSpec{"aio_agent_version", "Version of the all-in-one agent package, if it is installed.",
             resolve_aio_agent_version},
    FactSpec{"augeas", "Version of Augeas.", resolve_augeas},
    FactSpec{"az_metadata", "Metadata of this machine from Azure.", resolve_az_metadata},
    FactSpec{"cloud", "The provider of the cloud that this machine runs in.", resolve_cloud},
    FactSpec{"disks", "Block devices: size, vendor, model, type, serial, wwn.", resolve_disks},
    FactSpec{"dmi", "Manufacturer, product, board and chassis, from the firmware.", resolve_dmi},
    FactSpec{"ec2_metadata", "Metadata of this instance from Amazon EC2.", resolve_ec2_metadata},
    FactSpec{"ec2_userdata", "User data of this Amazon EC2 instance.", resolve_ec2_userdata},
    FactSpec{"facterversion", "Version of Facter whose facts are reproduced.",
             resolve_facterversion},
    FactSpec{"filesystems", "File systems that the kernel can use, separated by commas.",
             resolve_filesystems},
    FactSpec{"fips_enabled", "Whether the kernel is in FIPS mode.", resolve_fips},
    FactSpec{"gce", "Metadata of this machine from Google Compute Engine.", resolve_gce},
    FactSpec{"hypervisors", "Details of the hypervisors that run this machine.",
             resolve_hypervisors},
    FactSpec{"identity", "The user and group of this process.", resolve_identity},
    FactSpec{"is_virtual", "Whether this is a virtual machine or a container.", resolve_is_virtual},
    FactSpec{"kernel", "Name of the kernel.", resolve_kernel},
    FactSpec{"kernelmajversion", "Major version of the kernel.", resolve_kernelmajversion},
    FactSpec{"kernelrelease", "Release of the kernel.", resolve_kernelrelease},
    FactSpec{"kernelversion", "Version of the kernel.", resolve_kernelversion},
    FactSpec{"load_averages", "System load over 1, 5 and 15 minutes.", resolve_load_averages},
    FactSpec{"memory", "Memory and swap: total, used, available.", resolve_memory},
    FactSpec{"mountpoints", "Mounted file systems: device, type, options, sizes.",
             resolve_mountpoints},
    FactSpec{"networking", "Host name, domain, interfaces and their addresses.",
             resolve_networking},
    FactSpec{"os", "Operating system: name, family, release, architecture, SELinux.", resolve_os},
    FactSpec{"partitions", "Partitions, device mapper and loop devices.", resolve_partitions},
    FactSpec{"path", "The PATH of this process.", resolve_path},
    FactSpec{"processors", "Processors: models, counts, speed.", resolve_processors},
    FactSpec{"puppetversion", "Version of Puppet that this program is compatible with.",
             resolve_puppetversion},
    FactSpec{"ruby", "Version, platform and folder of the Ruby that runs custom facts.",
             resolve_ruby},
    FactSpec{"ssh", "Public host keys of the SSH server with their fingerprints.", resolve_ssh},
    FactSpec{"system_uptime", "Time since the system started.", resolve_system_uptime},
    FactSpec{"timezone", "Name of the time zone.", resolve_timezone},
    FactSpec{"virtual", "Kind of virtual machine or container, or physical.", resolve_virtual},
    FactSpec{"xen", "The domains of a Xen host.", resolve_xen},
    FactSpec{"zfs_featurenumbers", "Versions of ZFS file systems that this machine supports.",
             resolve_zfs_featurenumbers},
    FactSpec{"zfs_version", "Newest version of ZFS file systems that this machine supports.",
             resolve_zfs_version},
    FactSpec{"zpool_featureflags", "Features of ZFS pools that this machine supports.",
             resolve_zpool_featureflags},
    FactSpec{"zpool_featurenumbers", "Versions of ZFS pools that this machine supports.",
             resolve_zpool_featurenumbers},
    FactSpec{"zpool_version", "Newest version of ZFS pools that this machine supports.",
             resolve_zpool_version},
};

static_assert(std::ranges::is_sorted(kFacts, {}, &FactSpec::name));

}  // namespace

std::span<const FactSpec> all_facts() { return kFacts; }

std::vector<std::string> default_external_directories(bool root) {
    if (root) {
        return {"/etc/puppetlabs/facter/facts.d", "/etc/facter/facts.d",
                "/opt/puppetlabs/facter/facts.d"};
    }
    const char* home = std::getenv("HOME");
    if (!home || !*home) return {};
    return {std::string(home) + "/.facter/facts.d",
            std::string(home) + "/.puppetlabs/opt/facter/facts.d"};
}

value::Value collect(base::Arena& arena, sys::System& system, const Options& options) {
    std::vector<Resolved> found = resolve(arena, system, options, options.names);
    std::erase_if(found, [](const Resolved& fact) {
        return fact.value.is_undef() &&
               (fact.origin == Origin::Custom || fact.origin == Origin::None);
    });
    return assemble(arena, found, options);
}

void apply_conf(Options& options) {
    const FacterConf& conf = options.conf;
    if (!conf.external_directories.empty())
        options.external_directories = conf.external_directories;
    options.custom_directories.insert(options.custom_directories.end(),
                                      conf.custom_directories.begin(),
                                      conf.custom_directories.end());
    options.custom_dots = conf.force_dot_resolution.value_or(options.custom_dots);
    options.time_limit = conf.fact_timeout.value_or(options.time_limit);
}

value::Value collect_local(base::Arena& arena, const config::Settings& settings) {
    sys::RealSystem real;
    Options options;
    options.external_directories = default_external_directories(::geteuid() == 0);
    options.environment = environment_facts();
    options.custom_directories = facterlib_directories();
    options.legacy = settings.boolean("include_legacy_facts");
    options.level = settings.compatibility();
    options.conf = read_facter_conf(real.system().files, kFacterConfPath, nullptr);
    apply_conf(options);
    return with_local_facts(arena, collect(arena, real.system(), options), settings);
}

std::vector<std::pair<std::string, std::string>> environment_facts() {
    std::vector<std::pair<std::string, std::string>> facts;
    for (char** e = environ; e && *e; ++e) {
        const std::string_view entry = *e;
        const std::size_t eq = entry.find('=');
        if (eq == std::string_view::npos) continue;
        // /^facter_?(\w+)$/i: the variable FACTERLIB defines the fact "lib".
        std::string name = base::lower(entry.substr(0, eq));
        if (!name.starts_with("facter")) continue;
        name.erase(0, name.starts_with("facter_") && name.size() > 7 ? 7 : 6);
        constexpr std::string_view kWord = "abcdefghijklmnopqrstuvwxyz0123456789_";
        if (name.empty() || name.find_first_not_of(kWord) != std::string::npos) continue;
        BUNRAKU_ASSERT(!name.empty() && eq < entry.size());
        facts.emplace_back(std::move(name), entry.substr(eq + 1));
    }
    return facts;
}

void log_record(base::LogSink* log, base::Level level, std::string_view source, std::string text) {
    if (!log || !log->enabled(level)) return;
    log->log(base::Diagnostic{
        .level = level, .message = std::move(text), .source = std::string(source)});
}

void PuppetLog::log(const base::Diagnostic& diagnostic) {
    base::Diagnostic record = diagnostic;
    record.message = "Facter: " + record.message;
    record.source = "Puppet";
    to_.log(record);
}

value::Value with_local_facts(base::Arena& arena, const value::Value& facts,
                              const config::Settings& settings) {
    HashBuilder all(arena, 40);
    if (facts.is_hash()) all.merge(facts.as_hash());
    all.set("clientcert", value::make_string(arena, settings.text("certname")));
    const config::Compatibility level = settings.compatibility();
    if (const auto name = config::implementation(level); !name.empty())
        all.set("implementation", Value::string(name));
    all.set("clientversion", Value::string(config::puppet_version(level)));
    all.set("clientnoop", Value::boolean(settings.boolean("noop")));
    return all.build();
}

value::Value dig(const value::Value& facts, std::string_view path) {
    Value at = facts;
    if (at.is_hash()) {
        // A fact whose own name contains dots takes precedence.
        if (const Value* whole = at.as_hash().find(path)) return *whole;
    }
    while (!path.empty()) {
        std::size_t dot = path.find('.');
        std::string_view key = path.substr(0, dot);
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
        if (at.is_hash()) {
            const Value* found = at.as_hash().find(key);
            if (!found) return Value::undef();
            at = *found;
        } else if (at.is_array()) {
            std::int64_t i = to_integer(key);
            auto items = at.as_array();
            if (key.empty() || key.size() > 18 ||
                key.find_first_not_of("0123456789") != std::string_view::npos ||
                i >= static_cast<std::int64_t>(items.size())) {
                return Value::undef();
            }
            at = items[static_cast<std::size_t>(i)];
        } else {
            return Value::undef();
        }
    }
    return at;
}

}  // namespace bunraku::facts
