// SPDX-License-Identifier: Apache-2.0
// Resolves the facts that match the queries, from all kinds of sources, and decides which source
// takes precedence.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <map>

#include "core/base/assert.h"
#include "core/value/rich_data.h"
#include "resources/facts/blocked.h"
#include "resources/facts/custom.h"
#include "resources/facts/normalize.h"

namespace bunraku::facts {

namespace {

using base::Level;

/// Parts of facts that Facter resolves one by one on Linux. Facts without parts are not listed.
constexpr std::string_view kParts[] = {
    "augeas.version",
    "cloud.provider",
    "dmi.bios.release_date",
    "dmi.bios.vendor",
    "dmi.bios.version",
    "dmi.board.asset_tag",
    "dmi.board.manufacturer",
    "dmi.board.product",
    "dmi.board.serial_number",
    "dmi.chassis.asset_tag",
    "dmi.chassis.type",
    "dmi.manufacturer",
    "dmi.product.name",
    "dmi.product.serial_number",
    "dmi.product.uuid",
    "dmi.product.version",
    "hypervisors.docker",
    "hypervisors.hyperv",
    "hypervisors.kvm",
    "hypervisors.lxc",
    "hypervisors.openvz",
    "hypervisors.systemd_nspawn",
    "hypervisors.virtualbox",
    "hypervisors.vmware",
    "hypervisors.xen",
    "identity.gid",
    "identity.group",
    "identity.privileged",
    "identity.uid",
    "identity.user",
    "memory.swap.available",
    "memory.swap.available_bytes",
    "memory.swap.capacity",
    "memory.swap.total",
    "memory.swap.total_bytes",
    "memory.swap.used",
    "memory.swap.used_bytes",
    "memory.system.available",
    "memory.system.available_bytes",
    "memory.system.capacity",
    "memory.system.total",
    "memory.system.total_bytes",
    "memory.system.used",
    "memory.system.used_bytes",
    "networking.dhcp",
    "networking.domain",
    "networking.fqdn",
    "networking.hostname",
    "networking.interfaces",
    "networking.ip",
    "networking.ip6",
    "networking.mac",
    "networking.mtu",
    "networking.netmask",
    "networking.netmask6",
    "networking.network",
    "networking.network6",
    "networking.primary",
    "networking.scope6",
    "os.architecture",
    "os.distro.codename",
    "os.distro.description",
    "os.distro.id",
    "os.distro.release",
    "os.distro.specification",
    "os.family",
    "os.hardware",
    "os.name",
    "os.release",
    "os.selinux.config_mode",
    "os.selinux.config_policy",
    "os.selinux.current_mode",
    "os.selinux.enabled",
    "os.selinux.enforced",
    "os.selinux.policy_version",
    "os.support.end",
    "processors.cores",
    "processors.count",
    "processors.extensions",
    "processors.isa",
    "processors.models",
    "processors.physicalcount",
    "processors.speed",
    "processors.threads",
    "ruby.platform",
    "ruby.sitedir",
    "ruby.version",
    "system_uptime.days",
    "system_uptime.hours",
    "system_uptime.seconds",
    "system_uptime.uptime",
};
static_assert(std::ranges::is_sorted(kParts));

std::string_view root_of(std::string_view name) { return name.substr(0, name.find('.')); }

bool within(std::string_view name, std::string_view outer) {
    return name == outer ||
           (name.size() > outer.size() && name.starts_with(outer) && name[outer.size()] == '.');
}

struct Known {
    std::string name;
    Origin origin;
    std::string path;  // for a legacy fact: the structured fact that provides its value
    std::string file;
};

class Run {
public:
    Run(base::Arena& arena, sys::System& system, const Options& options)
        : context_{arena, system, options.level},
          options_(options),
          groups_(options.conf, system.files, options.external_directories, options.log),
          cache_(context_, options_, groups_) {
        if (options_.block) {
            blocked_ = Blocked(groups_.blocked_facts(), options_.log);
            legacy_blocked_ = groups_.blocks_legacy();
        }
    }

    std::vector<Resolved> resolve(const std::vector<std::string>& queries) {
        if (!blocked_.empty() || legacy_blocked_)
            log_from(Level::Debug, "Facter",
                     fmt::format("blocking collection of {} facts",
                                 fmt::join(options_.conf.blocklist, " ")));
        log_from(Level::Debug, "Facter::FactManager", "Resolving facts sequentially");
        BUNRAKU_ASSERT(known_.empty() && roots_.empty());
        load_known();
        load_external_facts();
        load_custom_facts();
        block();
        std::vector<FactQuery> searched = search(queries);
        std::vector<Resolved> cached = cache_.answer(searched);
        std::vector<Resolved> found = resolve_core(searched);
        std::vector<Resolved> own = resolve_own(searched);
        // A custom or external fact replaces the whole of a built-in fact.
        std::erase_if(found, [&](const Resolved& fact) {
            return std::ranges::any_of(
                own, [&](const Resolved& o) { return o.name == root_of(fact.name); });
        });
        std::ranges::move(own, std::back_inserter(found));
        std::ranges::move(cached, std::back_inserter(found));
        cache_.store(found);
        filter(found, queries.empty());
        if (debugging()) {
            for (const Resolved& fact : found)
                if (!fact.value.is_undef())
                    log_from(Level::Debug, "Facter::FactManager",
                             fmt::format("fact \"{}\" has resolved to: {}", fact.name,
                                         fact.value.is_string() ? value::to_text(fact.value)
                                                                : value::to_json(fact.value)));
        }
        return found;
    }

private:
    bool debugging() const { return options_.log && options_.log->enabled(Level::Debug); }
    void log_from(Level level, std::string_view source, std::string text) {
        log_record(options_.log, level, source, std::move(text));
    }

    void load_known() {
        log_from(Level::Debug, "Facter::FactLoader", "Loading all internal facts");
        for (std::string_view name : core_names())
            if (name != "puppetversion" || options_.puppet)
                known_.push_back({std::string(name), Origin::Core, {}, {}});
        for (const auto& [name, path, own] : legacy_names())
            known_.push_back(
                {std::string(name), Origin::Legacy, own ? std::string() : std::string(path), {}});
    }

    void load_external_facts() {
        if (options_.external_directories.empty() && options_.environment.empty()) return;
        log_from(Level::Debug, "Facter::FactLoader", "Loading external facts");
        if (std::getenv("INSIDE_FACTER")) {
            log_from(
                Level::Debug, "Facter::FactLoader",
                "INSIDE_FACTER env var detected, not loading external facts to prevent recursion");
            if (!options_.external_directories.empty())
                log_from(
                    Level::Warning, "Facter::FactLoader",
                    "Recursion detected, skipping external facts. Silence this warning by adding "
                    "--no-external-facts");
            return;
        }
        external_ = load_external(context_, options_, cache_, blocked_.names());
        for (const ExternalFact& fact : external_) {
            if (fact.file.empty())
                std::erase_if(known_, [&](const Known& k) { return k.name == fact.name; });
            if (std::ranges::none_of(known_, [&](const Known& k) {
                    return k.origin == Origin::External && k.name == fact.name;
                }))
                known_.push_back({fact.name, Origin::External, {}, fact.file});
        }
    }

    void load_custom_facts() {
        auto folders = custom_fact_folders(context_, options_);
        if (folders.empty()) return;
        log_from(Level::Debug, "Facter::FactLoader", "Loading custom facts");
        BUNRAKU_ASSERT(!custom_);
        custom_ = std::make_unique<CustomFacts>(
            context_, options_, std::move(folders), external_,
            [this](std::string_view query) { return core_value(query); });
        for (std::string& name : custom_->load()) {
            std::erase_if(known_, [&](const Known& k) {
                return k.origin == Origin::External && k.name == name;
            });
            known_.push_back({std::move(name), Origin::Custom, {}, {}});
        }
    }

    void block() {
        std::erase_if(known_, [&](const Known& k) {
            if (k.origin == Origin::Legacy)
                return legacy_blocked_ || blocked_.has(k.name) || blocked_.has(k.path);
            return blocked_.has(k.name);
        });
    }

    std::vector<FactQuery> search(const std::vector<std::string>& queries) {
        std::vector<FactQuery> out;
        if (queries.empty()) {
            // Cached groups are complete, including their flat facts.
            const bool legacy = options_.legacy || !options_.conf.ttls.empty();
            for (const Known& k : known_)
                if (legacy || k.origin != Origin::Legacy) out.push_back({k.name, k.origin, {}, {}});
            return out;
        }
        for (const std::string& query : queries) {
            const auto before = out.size();
            // Find the longest prefix of the query that is a fact.
            for (std::string_view part = query; out.size() == before && !part.empty();) {
                for (const Known& k : known_) {
                    const bool wild = k.name.find(".*") != std::string::npos &&
                                      part.find('.') == std::string_view::npos;
                    if (wild ? fits_pattern(k.name, part) : within(k.name, part))
                        out.push_back({k.name, k.origin, query, k.file});
                }
                const auto dot = part.rfind('.');
                part = dot == std::string_view::npos ? std::string_view() : part.substr(0, dot);
            }
            if (out.size() == before) out.push_back({query, Origin::None, query, {}});
            BUNRAKU_ASSERT(out.size() > before);
        }
        return out;
    }

    template <typename Code>
    Value timed(const std::string& name, Code code) {
        if (!options_.timing) return code();
        const auto begin = context_.system.clock.monotonic_ns();
        const Value v = code();
        options_.timing(fmt::format("fact '{}'", name),
                        static_cast<double>(context_.system.clock.monotonic_ns() - begin) / 1e9);
        return v;
    }

    const Value& root(std::string_view name) {
        const auto found = roots_.find(name);
        if (found != roots_.end()) return found->second;
        const auto& all = all_facts();
        const auto spec = std::ranges::find(all, name, &FactSpec::name);
        const Value v =
            spec == all.end() ? Value::undef() : scrubbed(context_.arena, spec->resolve(context_));
        return roots_.emplace(std::string(name), v).first->second;
    }

    Value core_part(std::string_view name) {
        const Value& whole = root(root_of(name));
        if (name.find('.') == std::string_view::npos) return whole;
        return whole.is_hash() ? dig(whole, name.substr(root_of(name).size() + 1)) : Value::undef();
    }

    /// Returns the flat facts derived from a structured fact.
    Value legacy_of(std::string_view name) {
        if (const auto found = legacy_.find(name); found != legacy_.end()) return found->second;
        HashBuilder one(context_.arena);
        one.set(context_.text(name), root(name));
        const Value v = legacy_facts(context_.arena, one.build());
        legacy_.emplace(std::string(name), v);
        return v;
    }
    /// Returns the flat facts that match a name or pattern.
    std::vector<std::pair<std::string, Value>> legacy_values(const std::string& name) {
        std::vector<std::pair<std::string, Value>> out;
        const auto names = legacy_names();
        const auto spec = std::ranges::find(names, std::string_view(name), &LegacyName::name);
        if (spec == names.end()) return out;
        const Value all = legacy_of(root_of(spec->path));
        BUNRAKU_ASSERT(all.is_hash());
        for (const value::Entry& e : all.as_hash()) {
            const auto key = e.key.as_string();
            if (key != name && (name.find(".*") == std::string::npos || !fits_pattern(name, key) ||
                                std::ranges::find(names, key, &LegacyName::name) != names.end())) {
                continue;
            }
            out.emplace_back(key, e.value);
        }
        return out;
    }

    std::vector<Resolved> resolve_core(const std::vector<FactQuery>& searched) {
        std::vector<Resolved> out;
        for (const FactQuery& s : searched) {
            if (s.origin == Origin::Core) {
                const Value v = timed(s.name, [&] { return core_part(s.name); });
                if (!v.is_undef()) out.push_back({s.name, v, s.origin, s.query, {}});
            } else if (s.origin == Origin::Legacy) {
                for (auto& [name, v] : legacy_values(s.name))
                    if (!v.is_undef()) out.push_back({std::move(name), v, s.origin, s.query, {}});
            }
        }
        for (const FactQuery& s : searched)
            if (s.origin == Origin::None)
                out.push_back({s.name, Value::undef(), s.origin, s.name, {}});
        return out;
    }

    std::vector<Resolved> resolve_own(const std::vector<FactQuery>& searched) {
        std::vector<Resolved> out;
        for (const FactQuery& s : searched) {
            BUNRAKU_ASSERT(s.origin != Origin::File);
            if (s.origin != Origin::Custom && s.origin != Origin::External) continue;
            const auto file = [&] {
                const auto first = std::ranges::find(external_, s.name, &ExternalFact::name);
                return first == external_.end() ? std::string() : first->file;
            };
            const Value v = timed(s.name, [&] { return own_value(s); });
            if (s.query.empty() && v.is_undef()) continue;
            out.push_back({s.name, v, Origin::Custom, s.query, file()});
        }
        return out;
    }

    Value own_value(const FactQuery& s) {
        // Ruby compares the weights of custom and external facts.
        if (custom_ && s.origin == Origin::Custom) return custom_->value(s.name);
        BUNRAKU_ASSERT(s.origin == Origin::Custom || s.origin == Origin::External);
        std::vector<const ExternalFact*> named;
        for (const ExternalFact& fact : external_)
            if (fact.name == s.name) named.push_back(&fact);
        std::ranges::stable_sort(named, std::greater{}, &ExternalFact::weight);
        for (const ExternalFact* fact : named)
            if (valid(*fact) && !fact->value.is_undef()) return fact->value;
        return Value::undef();
    }

    /// Reports an external fact whose value Facter does not accept. The next fact of the same name
    /// is then used.
    bool valid(const ExternalFact& fact) {
        const std::string why = invalid_reason(fact.value);
        if (!why.empty())
            log_from(
                Level::Err, "Facter",
                fmt::format("Fact resolution fact='{}', resolution='<anonymous>' resolved to an "
                            "invalid value: {}",
                            fact.name, why));
        return why.empty();
    }

    /// Returns the built-in facts that a custom fact requests. The plugin host already has the
    /// external facts.
    Value core_value(std::string_view query) {
        if (query.empty()) {
            std::vector<Resolved> all;
            for (const Known& k : known_)
                if (k.origin == Origin::Core)
                    all.push_back({k.name, core_part(k.name), k.origin, {}, {}});
            return assemble(context_.arena, all, options_);
        }
        if (std::ranges::find(all_facts(), root_of(query), &FactSpec::name) != all_facts().end()) {
            const bool gone = blocked_.has(query);
            return gone ? Value::undef() : core_part(query);
        }
        for (const Known& k : known_) {
            if (k.origin != Origin::Legacy || !fits_pattern(k.name, query)) continue;
            for (const auto& [name, v] : legacy_values(k.name))
                if (name == query) return v;
        }
        return Value::undef();
    }

    void filter(std::vector<Resolved>& facts, bool all) const {
        std::erase_if(facts, [&](const Resolved& fact) {
            if (fact.origin != Origin::Legacy) return false;
            if (all && !options_.legacy) return true;
            return blocked_.begins(fact.name);
        });
    }

    Context context_;
    const Options& options_;
    FactGroups groups_;
    FactCache cache_;
    Blocked blocked_;
    bool legacy_blocked_ = false;
    std::vector<Known> known_;
    std::vector<ExternalFact> external_;
    std::unique_ptr<CustomFacts> custom_;
    std::map<std::string, Value, std::less<>> roots_, legacy_;
};

/// A hash of facts during assembly from parts.
struct Tree {
    std::map<std::string, Tree, std::less<>> branches;
    Value value;
    bool leaf = false;
};

/// Sorts hashes by key at all levels; does not change lists.
Value sorted_hash(base::Arena& arena, const Value& v) {
    if (!v.is_hash()) return v;
    std::vector<value::Entry> entries(v.as_hash().begin(), v.as_hash().end());
    std::ranges::stable_sort(entries, [](const auto& a, const auto& b) {
        return value::to_text(a.key) < value::to_text(b.key);
    });
    HashBuilder out(arena, entries.size());
    for (const value::Entry& e : entries) out.set(e.key, sorted_hash(arena, e.value));
    return out.build();
}

Value value_of_tree(base::Arena& arena, const Tree& tree) {
    if (tree.leaf && tree.branches.empty()) return sorted_hash(arena, tree.value);
    HashBuilder out(arena, tree.branches.size());
    for (const auto& [name, branch] : tree.branches)
        out.set(value::make_string(arena, name), value_of_tree(arena, branch));
    return out.build();
}

}  // namespace

std::vector<std::string_view> core_names() {
    std::vector<std::string_view> out(std::begin(kParts), std::end(kParts));
    for (const FactSpec& fact : all_facts())
        if (std::ranges::none_of(kParts,
                                 [&](std::string_view part) { return root_of(part) == fact.name; }))
            out.push_back(fact.name);
    return out;
}

std::vector<Resolved> resolve(base::Arena& arena, sys::System& system, const Options& options,
                              const std::vector<std::string>& queries) {
    return Run(arena, system, options).resolve(queries);
}

Value assemble(base::Arena& arena, std::span<const Resolved> facts, const Options& options) {
    Tree tree;
    for (const Resolved& fact : facts) {
        const bool own = fact.origin == Origin::Custom || fact.origin == Origin::External ||
                         fact.origin == Origin::File;
        if ((fact.origin == Origin::Core || fact.origin == Origin::Legacy) && fact.value.is_undef())
            continue;
        const bool whole = fact.origin == Origin::Legacy || (own && !options.custom_dots);
        Tree* at = &tree;
        std::string_view rest = fact.name;
        bool fits = true;
        while (fits) {
            const auto dot = whole ? std::string_view::npos : rest.find('.');
            Tree& next = at->branches[std::string(rest.substr(0, dot))];
            at = &next;
            if (dot == std::string_view::npos) break;
            // A string cannot contain a part. The existing keys of a hash are preserved next to the
            // new part.
            BUNRAKU_ASSERT(dot < rest.size());
            if (at->leaf && at->branches.empty()) {
                if (!at->value.is_hash()) fits = false;
                if (fits)
                    for (const value::Entry& e : at->value.as_hash()) {
                        Tree& inner = at->branches[value::to_text(e.key)];
                        inner.leaf = true;
                        inner.value = e.value;
                    }
            }
            rest = rest.substr(dot + 1);
        }
        if (!fits) {
            log_record(
                options.log, Level::Err, "Facter::FactCollection",
                fmt::format("{} fact `{}` cannot be added to collection. The format of this fact "
                            "is incompatible with other facts that belong to `{}` group",
                            fact.origin == Origin::Core ? "Core" : "Custom", fact.name,
                            root_of(fact.name)));
            continue;
        }
        BUNRAKU_ASSERT(at != &tree);
        at->leaf = true;
        at->value = fact.value;
        at->branches.clear();
    }
    return value_of_tree(arena, tree);
}

}  // namespace bunraku::facts
