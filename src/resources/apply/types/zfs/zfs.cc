// SPDX-License-Identifier: Apache-2.0
// The type zfs: ZFS file systems (zfs_core 2.0.0).
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {
namespace {

bool zfs_suitable(Context& context) { return has_command(context, "zfs"); }
constexpr ProviderClass kZfsClass{.name = "zfs", .suitable = zfs_suitable};
constexpr const ProviderClass* kZfsProviders[] = {&kZfsClass};

/// Properties that some systems do not support. On such systems they count as unset, and setting
/// them has no effect.
constexpr std::string_view kNotEverywhere =
    " aclmode acltype shareiscsi overlay defaultuserquota relatime ";

class Zfs final : public Resource {
public:
    using Resource::Resource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kZfsProviders;
    }

    Value default_for(const Attribute& a) override {
        return a.name == "ensure" && managed() ? Value::string("present") : Value::undef();
    }
    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        const std::string path = name();
        std::size_t end = path.find('/');
        out.push_back({Relation::Require, "zpool", path.substr(0, end)});
        for (; end != std::string::npos; end = path.find('/', end + 1)) {
            const std::size_t next = path.find('/', end + 1);
            if (next == std::string::npos) break;
            out.push_back({Relation::Require, "zfs", path.substr(0, next)});
        }
    }

    Value retrieve_property(const Param& p) override {
        const std::string property(p.spec->name);
        if (property == "ensure") {
            const Executed done = zfs({"list", name()}, false);
            return Value::string(done.status == 0 ? "present" : "absent");
        }
        const bool may_lack = not_everywhere(property);
        const Executed done = zfs({"get", "-H", "-o", "value", property, name()}, !may_lack);
        if (done.status != 0) return Value::string("-");
        return context_.string(base::trim(done.output));
    }

    void sync(Param& p) override {
        const std::string property(p.spec->name);
        if (property != "ensure") {
            zfs({"set", fmt::format("{}={}", property, plain(should(p))), name()},
                !not_everywhere(property));
        } else if (is_absent(should(p))) {
            zfs({"destroy", name()}, true);
        } else {
            create();
        }
    }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        const std::string listed = zfs({"list", "-H"}, true).output;
        for (std::string_view line : base::lines(listed)) {
            const auto w = base::words(line);
            if (!w.empty()) out.push_back(make_instance("name", w[0]));
        }
        return out;
    }

private:
    static bool not_everywhere(const std::string& property) {
        return kNotEverywhere.contains(" " + property + " ");
    }
    Executed zfs(std::vector<std::string> args, bool must) const {
        args.insert(args.begin(), command_path(context_, "zfs"));
        return execute(context_, args, {.fail_on_error = must});
    }
    void create() {
        std::vector<std::string> args{"create"};
        for (const Attribute& a : spec_.attributes) {
            if (a.kind != AttributeKind::Property || a.name == "ensure") continue;
            const std::string value = text(a.name);
            if (value.empty()) continue;
            if (a.name == "volsize") {
                args.insert(args.end(), {"-V", value});
            } else {
                args.insert(args.end(), {"-o", fmt::format("{}={}", a.name, value)});
            }
        }
        args.push_back(name());
        zfs(std::move(args), true);
    }
};

}  // namespace

std::unique_ptr<Resource> make_zfs(Context& context, const TypeSpec& spec) {
    return std::make_unique<Zfs>(context, spec);
}

}  // namespace bunraku::apply
