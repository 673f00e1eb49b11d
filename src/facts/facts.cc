#include "facts/facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "facts/context.h"

namespace bunraku::facts {

namespace {

constexpr std::array kFacts = {
    FactSpec{"aio_agent_version", "Version of the all-in-one agent package, where it is installed.",
             resolve_aio_agent_version},
    FactSpec{"disks", "Block devices: size, vendor, model, type, serial, wwn.", resolve_disks},
    FactSpec{"dmi", "What the firmware says of maker, product, board and chassis.", resolve_dmi},
    FactSpec{"facterversion", "Version of Facter that these facts follow.", resolve_facterversion},
    FactSpec{"filesystems", "File systems that the kernel can use, separated by commas.",
             resolve_filesystems},
    FactSpec{"fips_enabled", "Whether the kernel is in FIPS mode.", resolve_fips},
    FactSpec{"hypervisors", "What is known of the hypervisors around this machine.",
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
    FactSpec{"puppetversion", "Version of Puppet whose language this program follows.",
             resolve_puppetversion},
    FactSpec{"ssh", "Public host keys of the SSH server with their fingerprints.", resolve_ssh},
    FactSpec{"system_uptime", "Time since the system started.", resolve_system_uptime},
    FactSpec{"timezone", "Name of the time zone.", resolve_timezone},
    FactSpec{"virtual", "Kind of virtual machine or container, or physical.", resolve_virtual},
};

}  // namespace

std::span<const FactSpec> all_facts() { return kFacts; }

std::vector<std::string> default_external_directories(bool root) {
    if (root) {
        return {"/etc/puppetlabs/facter/facts.d", "/etc/facter/facts.d",
                "/opt/puppetlabs/facter/facts.d"};
    }
    const char* home = std::getenv("HOME");
    if (!home || !*home) return {};
    return {std::string(home) + "/.puppetlabs/opt/facter/facts.d",
            std::string(home) + "/.facter/facts.d"};
}

value::Value collect(base::Arena& arena, sys::System& system, const Options& options) {
    Context context{arena, system};
    HashBuilder all(arena, kFacts.size());
    auto wanted = [&](std::string_view name) {
        return options.names.empty() ||
               std::find(options.names.begin(), options.names.end(), name) != options.names.end();
    };
    // Custom facts may ask for any other, and so may what is not built in: it may be a legacy fact.
    const bool custom = has_custom_facts(options);
    const bool everything =
        custom || std::ranges::any_of(options.names, [](const std::string& name) {
            return std::ranges::find(kFacts, name, &FactSpec::name) == std::end(kFacts);
        });
    for (const FactSpec& fact : kFacts) {
        if (!everything && !wanted(fact.name)) continue;
        Value v = fact.resolve(context);
        if (!v.is_undef()) all.set(fact.name, v);
    }
    Value legacy;
    if (everything || options.legacy) legacy = legacy_facts(arena, all.build());
    if (everything) {
        if (custom) {
            HashBuilder known(arena);
            known.merge(legacy.as_hash());
            known.merge(all.build().as_hash());
            collect_custom(arena, options, known.build(), all);
        }
        const auto entries = all.entries();
        for (const value::Entry& e : entries)
            if (!wanted(e.key.as_string())) all.erase(e.key);
    }
    if (legacy.is_hash()) {
        for (const value::Entry& e : legacy.as_hash()) {
            const bool shown = options.names.empty() ? options.legacy : wanted(e.key.as_string());
            if (shown && !all.find(e.key)) all.set(e.key, e.value);
        }
    }
    std::vector<value::Entry> external;
    for (const std::string& directory : options.external_directories) {
        collect_external(arena, system, directory, options.log, external);
    }
    // External facts win over the built-in ones, as in Facter (weight 10000).
    for (const value::Entry& e : external) {
        if (wanted(e.key.as_string())) all.set(e.key, e.value);
    }
    for (const auto& [name, text] : options.environment) {
        if (wanted(name)) all.set(context.text(name), context.text(text));
    }
    return all.build();
}

value::Value collect_local(base::Arena& arena, const config::Settings& settings) {
    sys::RealSystem real;
    Options options;
    options.external_directories = default_external_directories(::geteuid() == 0);
    options.environment = environment_facts();
    options.custom_directories = facterlib_directories();
    options.legacy = settings.boolean("include_legacy_facts");
    return with_local_facts(arena, collect(arena, real.system(), options), settings);
}

std::vector<std::pair<std::string, std::string>> environment_facts() {
    std::vector<std::pair<std::string, std::string>> facts;
    for (char** e = environ; e && *e; ++e) {
        std::string_view entry = *e;
        std::size_t eq = entry.find('=');
        constexpr std::string_view kPrefix = "FACTER_";
        if (eq == std::string_view::npos || eq <= kPrefix.size()) continue;
        std::string name(entry.substr(0, eq));
        base::make_lower(name);
        if (!name.starts_with("facter_")) continue;
        facts.emplace_back(name.substr(kPrefix.size()), entry.substr(eq + 1));
    }
    return facts;
}

value::Value with_local_facts(base::Arena& arena, const value::Value& facts,
                              const config::Settings& settings) {
    HashBuilder all(arena, 40);
    if (facts.is_hash()) all.merge(facts.as_hash());
    all.set("clientcert", value::make_string(arena, settings.text("certname")));
    all.set("clientversion", Value::string("8.11.0"));
    all.set("clientnoop", Value::boolean(settings.boolean("noop")));
    return all.build();
}

value::Value dig(const value::Value& facts, std::string_view path) {
    Value at = facts;
    if (at.is_hash()) {
        // A fact whose own name has dots comes first.
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
            if (key.empty() || key.find_first_not_of("0123456789") != std::string_view::npos ||
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
