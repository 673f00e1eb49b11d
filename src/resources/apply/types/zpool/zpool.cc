// SPDX-License-Identifier: Apache-2.0
// The type zpool: ZFS pools (zfs_core 2.0.0). The devices of a pool are compared but never changed.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/parsed_file.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool zpool_suitable(Context& context) { return has_command(context, "zpool"); }
constexpr ProviderClass kZpoolClass{.name = "zpool", .suitable = zpool_suitable};
constexpr const ProviderClass* kZpoolProviders[] = {&kZpoolClass};

constexpr std::string_view kSettings = " ashift autoexpand failmode ";

std::vector<std::string> devices_of(std::span<const Value> values) {
    std::vector<std::string> out;
    for (const Value& v : values) {
        const std::string text = plain(v);
        for (std::string_view w : base::words(text)) out.emplace_back(w);
    }
    return out;
}

std::vector<std::string> sorted_devices(std::span<const Value> values) {
    auto out = devices_of(values);
    std::ranges::sort(out);
    return out;
}

class Zpool final : public Resource {
public:
    using Resource::Resource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kZpoolProviders;
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if ((a.name == "mirror" || a.name == "raidz") && plain(v).contains(',')) {
            throw PuppetError(fmt::format(
                "{} names must be provided as string separated, not a comma-separated list",
                a.name == "mirror" ? "mirror" : "raid"));
        }
        Resource::validate_value(a, v);
    }
    Value default_for(const Attribute& a) override {
        return a.name == "ensure" && managed() ? Value::string("present") : Value::undef();
    }
    void validate() override {
        std::string given;
        int count = 0;
        for (const char* kind : {"disk", "mirror", "raidz"}) {
            if (should(kind).is_undef()) continue;
            given += (count++ ? " and " : "") + std::string(kind);
        }
        if (count > 1)
            throw PuppetError(fmt::format("You cannot specify {} on this type (only one)", given));
    }

    Value retrieve_property(const Param& p) override {
        const std::string property(p.spec->name);
        if (property == "ensure") return Value::string(pool().empty() ? "absent" : "present");
        if (kSettings.contains(" " + property + " ")) return setting(property);
        const auto it = pool().find(property);
        if (it == pool().end()) return Value::undef();
        std::vector<Value> out;
        for (const std::string& one : it->second) out.push_back(context_.string(one));
        return Value::array(context_.arena.copy(out));
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "ensure" || !p.spec->array_matching_all) {
            return Resource::insync(p, is);
        }
        if (is_absent(is)) return p.should.size() == 1 && is_absent(p.should[0]);
        const auto now = is.is_array() ? is.as_array() : std::span<const Value>();
        if (p.spec->name != "mirror" && p.spec->name != "raidz") {
            return sorted_devices(now) == sorted_devices(p.should);
        }
        return std::ranges::equal(now, p.should, [](const Value& a, const Value& b) {
            return sorted_devices(std::span(&a, 1)) == sorted_devices(std::span(&b, 1));
        });
    }

    void sync(Param& p) override {
        const std::string property(p.spec->name);
        if (property == "ensure") {
            if (is_absent(should(p))) {
                zpool({"destroy", name()});
            } else {
                create();
            }
        } else if (kSettings.contains(" " + property + " ")) {
            zpool({"set", fmt::format("{}={}", property, plain(should(p))), name()},
                  property != "ashift");
        } else {
            const auto it = pool().find(property);
            std::vector<Value> now;
            if (it != pool().end())
                for (const std::string& one : it->second) now.push_back(context_.string(one));
            fail(fmt::format("zpool {} can't be changed. should be {}, currently is {}", property,
                             shown(p.should), shown(now)));
        }
    }
    void flush() override { pool_.reset(); }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        const std::string listed = zpool({"list", "-H"}).output;
        for (std::string_view line : base::lines(listed)) {
            const auto w = base::words(line);
            if (!w.empty()) out.push_back(make_instance("pool", w[0]));
        }
        return out;
    }

private:
    using Pool = std::map<std::string, std::vector<std::string>, std::less<>>;

    // Formats an array as Ruby does in a string.
    static std::string shown(std::span<const Value> values) {
        std::string out = "[";
        for (const Value& v : values) {
            out += fmt::format("{}\"{}\"", out.size() > 1 ? ", " : "", plain(v));
        }
        return out + "]";
    }

    Executed zpool(std::vector<std::string> args, bool must = true) const {
        args.insert(args.begin(), command_path(context_, "zpool"));
        return execute(context_, args, {.fail_on_error = must});
    }

    Value setting(const std::string& property) const {
        const Executed done = zpool({"get", property, name()}, property != "ashift");
        Value found = Value::string("-");
        if (done.status != 0) return found;
        for (std::string_view line : base::lines(done.output)) {
            const auto w = base::words(line);
            if (w.size() > 2 && w[0] == name()) found = context_.string(w[2]);
        }
        return found;
    }

    /// Returns the tree of `zpool status`. It is read from the end, so that each heading takes the
    /// lines below it.
    const Pool& pool() {
        if (pool_) return *pool_;
        Pool out;
        const Executed done =
            execute(context_, {command_path(context_, "zpool"), "status", "-P", name()},
                    {.fail_on_error = false, .combine = false});
        std::vector<std::string> names;
        for (std::string_view line : base::lines(done.output)) {
            if (!line.starts_with('\t')) continue;
            if (const auto w = base::words(line); !w.empty()) names.emplace_back(w[0]);
        }
        // Skip "NAME STATE .." and the pool; its devices follow.
        if (names.size() > 1) {
            out["pool"] = {names[1]};
            names.erase(names.begin(), names.begin() + 2);
            read_devices(names, out);
        }
        pool_ = std::move(out);
        return *pool_;
    }
    void read_devices(const std::vector<std::string>& names, Pool& out) const {
        std::vector<std::string> below;
        for (std::size_t i = names.size(); i-- > 0;) {
            const std::string& one = names[i];
            std::string kind;
            if (one == "spares") {
                kind = "spare";
            } else if (one == "logs") {
                kind = "log";
            } else if (one == "cache") {
                kind = "cache";
            } else if (one.starts_with("mirror")) {
                kind = "mirror";
            } else if (one.starts_with("raidz1") || one.starts_with("raidz2")) {
                kind = "raidz";
            } else {
                below.push_back(whole_disk(one));
                if (one == names.front()) kind = "disk";
            }
            if (kind.empty()) continue;
            std::string devices;
            for (auto it = below.rbegin(); it != below.rend(); ++it) {
                devices += (devices.empty() ? "" : " ") + *it;
            }
            auto& list = out[kind];
            list.insert(list.begin(), std::move(devices));
            below.clear();
        }
    }
    /// Returns the drive that contains the partition which ZFS has created.
    std::string whole_disk(const std::string& device) const {
        if (!line_match("/dev/(:?[a-z]+([0-9]+n[0-9]+p)?1|disk/by-id/.+-part1)$", device)) {
            return device;
        }
        return std::string(
            base::trim(execute(context_, {"lsblk", "-p", "-no", "pkname", device}).output));
    }

    void create() {
        std::vector<std::string> args{"create"};
        for (const char* property : {"ashift", "autoexpand", "failmode"}) {
            if (const std::string value = text(property); !value.empty())
                args.insert(args.end(), {"-o", fmt::format("{}={}", property, value)});
        }
        args.push_back(name());
        const auto add = [&](std::string_view property) {
            if (const Param* p = find(property))
                for (std::string& d : devices_of(p->should)) args.push_back(std::move(d));
        };
        const auto add_groups = [&](std::string_view property, const std::string& heading) {
            const Param* p = find(property);
            if (!p) return;
            for (const Value& v : p->should) {
                args.push_back(heading);
                for (std::string& d : devices_of(std::span(&v, 1))) args.push_back(std::move(d));
            }
        };
        const std::string parity = text("raid_parity");
        add("disk");
        add_groups("mirror", "mirror");
        add_groups("raidz", parity.empty() ? "raidz1" : parity);
        for (const char* property : {"spare", "log", "cache"}) {
            if (!find(property)) continue;
            args.emplace_back(property);
            add(property);
        }
        zpool(std::move(args));
    }

    std::optional<Pool> pool_;
};

}  // namespace

std::unique_ptr<Resource> make_zpool(Context& context, const TypeSpec& spec) {
    return std::make_unique<Zpool>(context, spec);
}

}  // namespace bunraku::apply
