// SPDX-License-Identifier: Apache-2.0
// The type resources: removes resources that exist on the machine but not in the catalog.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/value/text.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

constexpr std::string_view kSystemUsers[] = {"root", "nobody", "bin", "noaccess", "daemon", "sys"};

class Resources final : public Resource {
public:
    using Resource::Resource;

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "name") {
            if (!make_resource(context_, base::lower(plain(v)))) {
                throw PuppetError(fmt::format("Could not find resource type '{}'", plain(v)));
            }
            return;
        }
        if (a.name == "unless_uid") return;
        if (a.name != "purge") return Resource::validate_value(a, v);
        if (!boolean_word(v).value_or(false)) return;
        auto sample = make_resource(context_, base::lower(name()));
        if (!sample->spec().find("ensure")) {
            throw PuppetError("Purging is only supported on types that accept 'ensure'");
        }
        if (!sample->can_list()) {
            throw PuppetError(fmt::format(
                "Purging resources of type {} is not supported, since they cannot be queried from "
                "the system",
                name()));
        }
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "unless_system_user") {
            std::string text = plain(v);
            if (text == "true") return Value::integer(system_users_max_uid());
            if (text == "false") return Value::boolean(false);
            return Value::integer(std::atoll(text.c_str()));
        }
        if (a.name == "purge") return munged_switch(a, v);
        if (a.name == "unless_uid") {
            std::vector<Value> out;
            collect_uids(a, v, v, out);
            return Value::array(context_.arena.copy(out));
        }
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "purge") return Value::boolean(false);
        if (a.name == "unless_system_user" && name() == "user") {
            return Value::integer(system_users_max_uid());
        }
        return Value::undef();
    }

    bool generates() const override { return true; }
    std::vector<std::unique_ptr<Resource>> generate() override {
        std::vector<std::unique_ptr<Resource>> out;
        if (!flag("purge")) return out;
        for (auto& r : make_resource(context_, base::lower(name()))->instances()) {
            r->catalog = catalog;
            if (catalog->has_ref(*r) || !may_purge(*r) || !r->spec().find("ensure")) continue;
            try {
                r->set("ensure", Value::string("absent"));
            } catch (const PuppetError&) {
                err(
                    fmt::format("The 'ensure' attribute on {} resources does not accept 'absent' "
                                "as a value",
                                name()));
                continue;
            }
            copy_metaparameters(*r);
            r->purging = true;
            out.push_back(std::move(r));
        }
        return out;
    }

private:
    void copy_metaparameters(Resource& to) const {
        for (const Param* p : params()) {
            if (p->spec->kind == AttributeKind::Metaparameter && p->name() != "alias") {
                to.set(p->name(), p->value);
            }
        }
        for (Relation kind :
             {Relation::Require, Relation::Subscribe, Relation::Before, Relation::Notify}) {
            for (const Reference& ref : relations(kind)) to.add_relation(kind, ref);
        }
    }

    /// Appends the ids in `v`, which is `whole` or a part of it.
    static void collect_uids(const Attribute& a, const Value& whole, const Value& v,
                             std::vector<Value>& out) {
        if (v.is_array()) {
            for (const Value& one : v.as_array()) collect_uids(a, whole, one, out);
            return;
        }
        std::string shown;
        value::print_inspect(shown, v);
        if (!v.is_integer() && !v.is_string())
            munging_failed(a, whole, fmt::format("Invalid value {}.", shown));
        const auto uid = base::parse_integer<std::int64_t>(plain(v));
        if (!uid) munging_failed(a, whole, fmt::format("invalid value for Integer(): {}", shown));
        out.push_back(Value::integer(*uid));
    }

    bool may_purge(Resource& r) {
        if (name() != "user") return true;
        Value limit = get("unless_system_user");
        if (!limit.is_integer()) return true;
        // Puppet reads the uid by auditing it, so it also appears in the report and in the state
        // file.
        r.set("audit", Value::string("uid"));
        if (std::find(std::begin(kSystemUsers), std::end(kSystemUsers), r.name()) !=
            std::end(kSystemUsers)) {
            return false;
        }
        auto user = context_.system.users.user(r.name());
        if (!user) return false;
        if (Value excluded_uids = get("unless_uid"); excluded_uids.is_array()) {
            for (const Value& v : excluded_uids.as_array()) {
                if (v.is_integer() && v.as_integer() == user->uid) return false;
            }
        }
        return user->uid > limit.as_integer();
    }

    // Returns UID_MIN of /etc/login.defs minus one.
    std::int64_t system_users_max_uid() const {
        const std::string text =
            unwrap(context_.system.files.read_if_there("/etc/login.defs")).value_or("");
        std::size_t at = 0;
        while (at < text.size()) {
            std::size_t end = text.find('\n', at);
            std::string line = text.substr(at, end == std::string::npos ? end : end - at);
            std::size_t start = line.find_first_not_of(" \t");
            if (start != std::string::npos && line.compare(start, 7, "UID_MIN") == 0) {
                return std::atoll(line.c_str() + start + 7) - 1;
            }
            if (end == std::string::npos) break;
            at = end + 1;
        }
        return 499;
    }
};

}  // namespace

std::unique_ptr<Resource> make_resources(Context& context, const TypeSpec& spec) {
    return std::make_unique<Resources>(context, spec);
}

}  // namespace bunraku::apply
