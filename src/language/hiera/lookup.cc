// SPDX-License-Identifier: Apache-2.0
// The functions lookup and hiera*, and the automatic lookup of class parameters.
#include "language/hiera/lookup.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/value/text.h"
#include "language/hiera/impl.h"

namespace bunraku::hiera {

Lookup::Impl::NameGuard Lookup::Impl::check(std::string_view name) {
    if (!name_stack.empty()) {
        if (std::find(name_stack.begin(), name_stack.end(), name) != name_stack.end()) {
            throw LookupError(
                fmt::format("Recursive lookup detected in [{}]", fmt::join(name_stack, ", ")));
        }
        if (name_stack.size() > 200) throw LookupError("Lookups are nested too deeply");
    }
    BUNRAKU_ASSERT(name_stack.size() <= 201);
    name_stack.push_back(name);
    return {name_stack};
}

void Lookup::Impl::warn_once(Invocation& inv, std::string key, std::string message,
                             const std::string& file, bool deprecation) {
    if (!warned.insert(std::move(key)).second) return;
    message +=
        file.empty() ? "\n   (file & line not available)" : fmt::format("\n   (file: {})", file);
    base::Diagnostic d;
    d.level = base::Level::Warning;
    d.message = std::move(message);
    d.deprecation = deprecation;
    inv.in.log().log(d);
}

Invocation Lookup::Impl::invocation(Interpreter& in, Scope& scope) {
    Invocation inv{in, scope};
    if (const Invocation* outer = current) {
        inv.explainer = outer->explainer;
        inv.global_only = outer->global_only;
        inv.hiera_call = outer->hiera_call;
        inv.hiera3_merge = outer->hiera3_merge;
        inv.location_overrides = outer->location_overrides;
    }
    return inv;
}

Value Lookup::Impl::run(const Arguments& a, Invocation& inv, const Callable* block) {
    auto& ctx = inv.in.types();
    if (a.overrides.is_hash() && !a.overrides.as_hash().empty())
        inv.overrides = &a.overrides.as_hash();
    if (a.defaults.is_hash() && !a.defaults.as_hash().empty()) inv.defaults = &a.defaults.as_hash();
    auto asserted = [&](std::string_view subject, const Value& v) {
        if (a.type) {
            if (!types::is_instance(ctx, a.type, v))
                types::assert_instance(ctx, fmt::format("{} has wrong type,", subject), a.type, v);
        }
        return v;
    };
    for (const Value& name : a.names) {
        const std::string key = value::to_text(name);
        if (inv.overrides) {
            if (const Value* v = inv.overrides->find(key)) {
                return asserted(fmt::format("Value found for key '{}' in override hash", key), *v);
            }
        }
        if (Found v = search(key, inv, a.merge)) return asserted("Found value", *v);
    }
    for (const Value& name : a.names) {
        if (!inv.defaults) break;
        const std::string key = value::to_text(name);
        if (const Value* v = inv.defaults->find(key)) {
            return asserted(fmt::format("Value found for key '{}' in default values hash", key),
                            *v);
        }
    }
    if (block) {
        const Value args[] = {a.single ? a.names[0] : value::make_array(ctx.arena, a.names)};
        return asserted("Value returned from default block",
                        block->call(inv.in, inv.scope, args, nullptr, nullptr));
    }
    if (a.fallback) return asserted("Default value", *a.fallback);
    if (a.names.size() == 1) {
        throw LookupError(fmt::format("Function lookup() did not find a value for the name '{}'",
                                      value::to_text(a.names[0])));
    }
    std::string names;
    for (const Value& name : a.names)
        names += (names.empty() ? "'" : ", '") + value::to_text(name) + "'";
    throw LookupError(
        fmt::format("Function lookup() did not find a value for any of the names [{}]", names));
}

namespace {

void set_names(std::vector<Value>& names, bool& single, const Value& v) {
    single = !v.is_array();
    if (single) {
        names.push_back(v);
    } else {
        names.assign(v.as_array().begin(), v.as_array().end());
    }
}

}  // namespace

Lookup::Lookup(std::shared_ptr<const environment::Environment> environment,
               std::shared_ptr<DataCache> cache, LookupOptions options)
    : impl_(std::make_unique<Impl>()) {
    impl_->environment = std::move(environment);
    impl_->cache = std::move(cache);
    impl_->options = std::move(options);
}

Lookup::~Lookup() = default;

Value Lookup::lookup(Interpreter& in, Scope& scope, std::span<const Value> args,
                     const Callable* block) {
    Invocation inv = impl_->invocation(in, scope);
    Impl::Arguments a;
    auto read_options = [&](const value::HashRep& hash) {
        auto get = [&](std::string_view key) {
            const Value* v = hash.find(key);
            return v ? *v : Value::undef();
        };
        if (const Value t = get("value_type"); t.is_type()) a.type = t.as_type();
        if (const Value* v = hash.find("default_value")) a.fallback = *v;
        a.overrides = get("override");
        a.defaults = get("default_values_hash");
        a.merge = get("merge");
    };
    BUNRAKU_ASSERT(!args.empty());
    if (args[0].is_hash()) {
        const Value* name = args[0].as_hash().find("name");
        if (!name) throw base::PuppetError("lookup(): the options hash must have a name");
        set_names(a.names, a.single, *name);
        read_options(args[0].as_hash());
    } else {
        set_names(a.names, a.single, args[0]);
        if (args.size() == 2 && args[1].is_hash()) {
            read_options(args[1].as_hash());
        } else {
            if (args.size() > 1 && args[1].is_type()) a.type = args[1].as_type();
            if (args.size() > 2) a.merge = args[2];
            if (args.size() > 3) a.fallback = args[3];
        }
    }
    return impl_->run(a, inv, block);
}

std::optional<Value> Lookup::class_parameter(Interpreter& in, Scope& scope,
                                             std::string_view class_name,
                                             std::string_view parameter, const types::Type*) {
    // Most parameters have no data, so this case allocates no memory.
    char buffer[256];
    const std::size_t size = class_name.size() + 2 + parameter.size();
    if (size <= sizeof buffer) {
        char* p = std::copy(class_name.begin(), class_name.end(), buffer);
        *p++ = ':';
        *p++ = ':';
        p = std::copy(parameter.begin(), parameter.end(), p);
        BUNRAKU_ASSERT(p == buffer + size);
        if (impl_->surely_absent(plain_key({buffer, size}), in, scope)) return std::nullopt;
    }
    Invocation inv = impl_->invocation(in, scope);
    std::string key;
    key.reserve(size);
    key.append(class_name).append("::").append(parameter);
    return impl_->search(key, inv, Value::undef());
}

Value Lookup::hiera(Interpreter& in, Scope& scope, std::string_view merge,
                    std::span<const Value> args, const Callable* block) {
    Invocation inv = impl_->invocation(in, scope);
    if (impl_->options.warn_deprecated) {
        const std::string name = merge == "first"     ? "hiera"
                                 : merge == "unique"  ? "hiera_array"
                                 : merge == "include" ? "hiera_include"
                                                      : "hiera_hash";
        impl_->warn_once(inv, name,
                         fmt::format("The function '{}' is deprecated in favor of using 'lookup'. "
                                     "See https://puppet.com/docs/puppet/8.11/"
                                     "deprecated_language.html",
                                     name),
                         "", true);
    }
    std::vector<Value> given(args.begin(), args.end());
    if (given.size() == 1 && given[0].is_array())
        given.assign(given[0].as_array().begin(), given[0].as_array().end());
    inv.hiera_call = true;
    Provider* env = impl_->env_provider(inv);
    if (!(env && env->config->version >= 5)) inv.global_only = true;
    Impl::Arguments a;
    a.names.push_back(given[0]);
    a.merge = Value::string(merge == "include" ? "unique" : merge);
    Value override_level;
    if (block) {
        if (given.size() > 1) override_level = given[1];
    } else {
        if (given.size() > 1) a.fallback = given[1];
        if (given.size() > 2) override_level = given[2];
    }
    if (!override_level.is_undef() &&
        !(override_level.is_array() && override_level.as_array().empty())) {
        std::vector<Value> flat;
        value::flatten_into(flat, std::span<const Value>(&override_level, 1));
        inv.location_overrides.clear();
        for (const Value& v : flat) inv.location_overrides.push_back(value::to_text(v));
    }
    return impl_->run(a, inv, block);
}

Value Lookup::ask(Interpreter& in, Scope& scope, const Question& question, Explainer* explainer) {
    Invocation inv{in, scope};
    inv.explainer = explainer;
    Impl::Arguments a;
    for (const auto& name : question.names) a.names.push_back(value::make_string(in.arena(), name));
    a.single = a.names.size() == 1;
    a.type = question.type;
    a.merge = question.merge;
    a.fallback = question.fallback;
    return impl_->run(a, inv, nullptr);
}

}  // namespace bunraku::hiera
