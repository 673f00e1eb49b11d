// SPDX-License-Identifier: Apache-2.0
// The type group with the provider groupadd.
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/number.h"
#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/provider.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

using Names = std::vector<std::string>;

bool groupadd_suitable(Context& context) {
    return has_command(context, "groupadd") && has_command(context, "groupdel") &&
           has_command(context, "groupmod");
}

constexpr ProviderClass kGroupadd{
    .name = "groupadd", .suitable = groupadd_suitable, .features = "system_groups"};
constexpr const ProviderClass* kProviders[] = {&kGroupadd};
constexpr ProviderClass kGroupaddMembers{
    .name = "groupadd", .suitable = groupadd_suitable, .features = "system_groups manages_members"};
constexpr const ProviderClass* kMembersProviders[] = {&kGroupaddMembers};

// EL 10 and Fedora 40 have no libuser, so OpenVox 8.28 manages members there with groupmod and
// usermod.
bool manages_members(Context& context) {
    const Platform& os = platform(context);
    const auto major = base::parse_integer<std::int64_t>(os.major).value_or(0);
    if (os.name == "fedora") return major >= 40;
    return os.family == "redhat" && major >= 10;
}

Names sorted(Names names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

class Group final : public Resource {
public:
    using Resource::Resource;

    std::span<const ProviderClass* const> provider_classes() const override {
        if (manages_members(context_)) return kMembersProviders;
        return kProviders;
    }
    std::string_view foreign_providers() const override {
        return "aix directoryservice ldap pw windows_adsi";
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "gid" && v.is_string()) {
            std::string text = plain(v);
            if (text.empty() || text.find_first_not_of("-0123456789") != std::string::npos) {
                throw PuppetError(fmt::format("Invalid GID {}", text));
            }
            // A number that is out of range stays a string. The program that sets it reports the
            // error.
            const auto number = base::parse_integer<std::int64_t>(text);
            return number ? Value::integer(*number) : v;
        }
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "ensure") return Value::string("present");
        if (a.name == "auth_membership" || a.name == "allowdupe" || a.name == "system") {
            return Value::boolean(false);
        }
        if (a.name == "attribute_membership") return Value::string("minimum");
        return Value::undef();
    }

    Value retrieve_property(const Param& p) override {
        auto group = context_.system.users.group(name());
        if (p.spec->name == "ensure") {
            return group ? Value::string("present") : Value::string("absent");
        }
        if (p.spec->name == "gid" && group) return Value::integer(group->gid);
        if (p.spec->name == "members" && group) return names_value(group->members);
        return Value::string("absent");
    }

    // Compares all members. Without `auth_membership`, the current members stay.
    bool insync(Param& p, const Value& is) override {
        if (p.spec->name != "members") return Resource::insync(p, is);
        return sorted(names_of(is)) == wanted_members(p, is);
    }

    std::string is_text(const Param& p, const Value& is) const override {
        if (p.spec->name != "members") return Resource::is_text(p, is);
        return joined(names_of(is));
    }

    std::string should_text(const Param& p, const Value& should) const override {
        if (p.spec->name != "members") return Resource::should_text(p, should);
        const auto group = context_.system.users.group(name());
        return joined(wanted_members(p, group ? names_value(group->members) : Value::undef()));
    }

    void sync(Param& p) override {
        if (p.spec->name == "gid") {
            try {
                std::vector<std::string> argv{"groupmod", "-g", plain(should(p))};
                if (flag("allowdupe")) argv.emplace_back("-o");
                argv.push_back(name());
                run(std::move(argv));
            } catch (const PuppetError& e) {
                throw PuppetError(
                    fmt::format("Could not set gid on group[{}]: {}", name(), e.message()));
            }
        } else if (p.spec->name == "members") {
            set_members(p);
        } else if (is_absent(should(p))) {
            remove();
        } else {
            create();
        }
        context_.gids.erase(name());
    }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        for (const sys::Group& g : context_.system.users.all_groups()) {
            auto r = make_sibling();
            ResourceData d;
            d.title = g.name;
            d.parameters = {{"name", context_.string(g.name)}};
            r->initialize(std::move(d));
            r->watch("gid");
            out.push_back(std::move(r));
        }
        return out;
    }

private:
    static std::string joined(const Names& names) {
        return fmt::format("{}", fmt::join(names, ","));
    }

    Value names_value(const Names& names) const {
        std::vector<Value> out;
        for (const auto& name : names) out.push_back(context_.string(name));
        return Value::array(context_.arena.copy(out));
    }

    static Names names_of(const Value& list) {
        Names out;
        if (list.is_array())
            for (const Value& v : list.as_array()) out.push_back(plain(v));
        return out;
    }

    static Names given_members(const Param& p) {
        Names out;
        for (const Value& v : p.should) out.push_back(plain(v));
        return out;
    }

    /// Returns the sorted members after the change.
    Names wanted_members(const Param& p, const Value& is) const {
        Names all = given_members(p);
        if (!flag("auth_membership"))
            for (auto& name : names_of(is)) all.push_back(std::move(name));
        return sorted(std::move(all));
    }

    void set_members(const Param& p) {
        const Names given = given_members(p);
        for (const auto& name : given)
            for (const std::string_view user : base::split(name, ','))
                if (!context_.system.users.user(base::trim(user)))
                    throw PuppetError(fmt::format("can't find user for {}", base::trim(user)));
        const auto group = context_.system.users.group(name());
        // groupmod only adds members.
        if (flag("auth_membership") && group)
            for (const auto& member : group->members) run({"usermod", "-rG", name(), member});
        try {
            run({"groupmod", "-aU", joined(given), name()});
        } catch (const PuppetError& e) {
            throw PuppetError(
                fmt::format("Could not set members on group[{}]: {}", name(), e.message()));
        }
    }

    void run(std::vector<std::string> argv) {
        argv[0] = command_path(context_, argv[0]);
        execute(context_, argv);
    }

    void create() {
        if (context_.system.users.group(name())) {
            info("already exists");
            return;
        }
        try {
            std::vector<std::string> argv{"groupadd"};
            if (Value gid = should("gid"); gid.is_integer()) {
                argv.insert(argv.end(), {"-g", plain(gid)});
            }
            if (flag("allowdupe")) argv.emplace_back("-o");
            if (flag("system")) argv.emplace_back("-r");
            argv.push_back(name());
            run(std::move(argv));
        } catch (const PuppetError& e) {
            throw PuppetError(fmt::format("Could not create group {}: {}", name(), e.message()));
        }
        if (const Param* p = find("members"); p && p->has_should) set_members(*p);
    }

    void remove() {
        if (!context_.system.users.group(name())) {
            info("already absent");
            return;
        }
        try {
            run({"groupdel", name()});
        } catch (const PuppetError& e) {
            throw PuppetError(fmt::format("Could not delete group {}: {}", name(), e.message()));
        }
    }
};

}  // namespace

std::unique_ptr<Resource> make_group(Context& context, const TypeSpec& spec) {
    return std::make_unique<Group>(context, spec);
}

}  // namespace bunraku::apply
