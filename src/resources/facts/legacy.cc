// SPDX-License-Identifier: Apache-2.0
// The flat facts of Facter 3 and earlier ("osfamily", "ipaddress_eth0"). Each is derived from the
// structured fact that replaced it, as Facter 4.11 still does.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "language/lint/legacy_facts.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

struct Alias {
    std::string_view name, path;
};

/// In mebibytes, with a fraction.
constexpr Alias kMegabytes[] = {
    {"memoryfree_mb", "memory.system.available_bytes"},
    {"memorysize_mb", "memory.system.total_bytes"},
    {"swapfree_mb", "memory.swap.available_bytes"},
    {"swapsize_mb", "memory.swap.total_bytes"},
};
/// For every interface: "NAME_eth0".
constexpr Alias kOfInterfaces[] = {
    {"ipaddress", "ip"},    {"ipaddress6", "ip6"},    {"macaddress", "mac"},
    {"mtu", "mtu"},         {"netmask", "netmask"},   {"netmask6", "netmask6"},
    {"network", "network"}, {"network6", "network6"}, {"scope6", "scope6"},
};
/// For every disk: "blockdevice_sda_NAME".
constexpr Alias kOfDisks[] = {{"model", "model"}, {"size", "size_bytes"}, {"vendor", "vendor"}};

bool is_reported(const lint::LegacyFact& fact) {
    return fact.known != lint::LegacyFact::Known::Lint;
}

class Legacy {
public:
    Legacy(base::Arena& arena, const Value& facts) : arena_(arena), facts_(facts), out_(arena) {}

    Value all() {
        for (const lint::LegacyFact& fact : lint::legacy_fact_table())
            if (is_reported(fact)) add(std::string(fact.name), dig(facts_, fact.path));
        for (const auto& [name, path] : kMegabytes) {
            const Value bytes = dig(facts_, path);
            if (bytes.is_integer())
                add(std::string(name),
                    Value::floating(static_cast<double>(bytes.as_integer()) / (1024.0 * 1024.0)));
        }
        interfaces();
        disks();
        processors();
        keys();
        domains();
        return out_.build();
    }

private:
    void add(const std::string& name, const Value& v) {
        BUNRAKU_ASSERT(!name.empty());
        if (!v.is_undef()) out_.set(value::make_string(arena_, name), v);
    }

    static const Value* at(const Value& hash, std::string_view key) {
        return hash.is_hash() ? hash.as_hash().find(key) : nullptr;
    }

    /// Returns the keys of a hash in order, separated by commas.
    Value names_of(const Value& hash) {
        std::vector<std::string_view> names;
        for (const auto& e : hash.as_hash()) names.push_back(e.key.as_string());
        std::ranges::sort(names);
        return value::make_string(arena_, fmt::format("{}", fmt::join(names, ",")));
    }

    void interfaces() {
        const Value all = dig(facts_, "networking.interfaces");
        if (!all.is_hash() || all.as_hash().size() == 0) return;
        add("interfaces", names_of(all));
        HashBuilder servers(arena_);
        servers.set("system", dig(facts_, "networking.dhcp"));
        for (const auto& e : all.as_hash()) {
            for (const auto& [name, key] : kOfInterfaces) {
                if (const Value* v = at(e.value, key))
                    add(fmt::format("{}_{}", name, e.key.as_string()), *v);
            }
            if (const Value* server = at(e.value, "dhcp")) servers.set(e.key, *server);
        }
        add("dhcp_servers", servers.build());
    }

    void disks() {
        const Value all = dig(facts_, "disks");
        if (!all.is_hash() || all.as_hash().size() == 0) return;
        add("blockdevices", names_of(all));
        for (const auto& e : all.as_hash()) {
            for (const auto& [name, key] : kOfDisks) {
                if (const Value* v = at(e.value, key))
                    add(fmt::format("blockdevice_{}_{}", e.key.as_string(), name), *v);
            }
        }
    }

    void processors() {
        const Value models = dig(facts_, "processors.models");
        if (!models.is_array()) return;
        std::size_t number = 0;
        for (const Value& model : models.as_array())
            add(fmt::format("processor{}", number++), model);
    }

    void keys() {
        const Value all = dig(facts_, "ssh");
        if (!all.is_hash()) return;
        for (const auto& e : all.as_hash()) {
            if (const Value* key = at(e.value, "key"))
                add(fmt::format("ssh{}key", e.key.as_string()), *key);
            const Value sha1 = dig(e.value, "fingerprints.sha1");
            const Value sha256 = dig(e.value, "fingerprints.sha256");
            if (!sha1.is_string() || !sha256.is_string()) continue;
            add(fmt::format("sshfp_{}", e.key.as_string()),
                value::make_string(arena_,
                                   fmt::format("{}\n{}", sha1.as_string(), sha256.as_string())));
        }
    }

    void domains() {
        const Value all = dig(facts_, "xen.domains");
        if (!all.is_array()) return;
        std::vector<std::string> names;
        for (const Value& name : all.as_array()) names.push_back(value::to_text(name));
        add("xendomains", value::make_string(arena_, fmt::format("{}", fmt::join(names, ","))));
    }

    base::Arena& arena_;
    const Value& facts_;
    HashBuilder out_;
};

}  // namespace

Value legacy_facts(base::Arena& arena, const Value& facts) { return Legacy(arena, facts).all(); }

std::vector<LegacyName> legacy_names() {
    static constexpr LegacyName kMade[] = {
        {"blockdevice_.*_model", "disks"},
        {"blockdevice_.*_size", "disks"},
        {"blockdevice_.*_vendor", "disks"},
        {"blockdevices", "disks"},
        {"dhcp_servers", "networking.dhcp", true},
        {"interfaces", "networking.interfaces", true},
        {"ipaddress6_.*", "networking.interfaces", true},
        {"ipaddress_.*", "networking.interfaces", true},
        {"macaddress_.*", "networking.interfaces", true},
        {"mtu_.*", "networking.interfaces", true},
        {"netmask6_.*", "networking.interfaces", true},
        {"netmask_.*", "networking.interfaces", true},
        {"network6_.*", "networking.interfaces", true},
        {"network_.*", "networking.interfaces", true},
        {"processor.*", "processors.models", true},
        {"scope6_.*", "networking.interfaces", true},
        {"ssh.*key", "ssh", true},
        {"sshfp_.*", "ssh", true},
        {"xendomains", "xen"},
    };
    std::vector<LegacyName> out;
    constexpr std::string_view kOwn[] = {"lsbdistcodename", "lsbdistdescription", "lsbdistid"};
    for (const lint::LegacyFact& fact : lint::legacy_fact_table())
        if (is_reported(fact))
            out.push_back(
                {fact.name, fact.path, std::ranges::find(kOwn, fact.name) != std::end(kOwn)});
    for (const auto& [name, path] : kMegabytes) out.push_back({name, path});
    out.insert(out.end(), std::begin(kMade), std::end(kMade));
    return out;
}

bool fits_pattern(std::string_view pattern, std::string_view name) {
    const auto star = pattern.find(".*");
    if (star == std::string_view::npos) return pattern == name;
    const auto head = pattern.substr(0, star), tail = pattern.substr(star + 2);
    BUNRAKU_ASSERT(head.size() + tail.size() + 2 == pattern.size());
    return name.size() >= head.size() + tail.size() && name.starts_with(head) &&
           name.ends_with(tail);
}

}  // namespace bunraku::facts
