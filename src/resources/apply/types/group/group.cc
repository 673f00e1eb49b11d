// SPDX-License-Identifier: Apache-2.0
// The type group with the provider groupadd.
#include <fmt/format.h>

#include "core/base/number.h"
#include "resources/apply/execution.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool groupadd_suitable(Context& context) {
    return has_command(context, "groupadd") && has_command(context, "groupdel") &&
           has_command(context, "groupmod");
}

constexpr ProviderClass kGroupadd{
    .name = "groupadd", .suitable = groupadd_suitable, .features = "system_groups"};
constexpr const ProviderClass* kProviders[] = {&kGroupadd};

class Group final : public Resource {
public:
    using Resource::Resource;

    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }
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
        return Value::string("absent");
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
