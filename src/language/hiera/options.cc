// SPDX-License-Identifier: Apache-2.0
// Looks one key up in all layers and applies its lookup_options (LookupAdapter, 8.11).
#include <algorithm>

#include "core/base/assert.h"
#include "language/hiera/impl.h"
#include "language/types/mismatch.h"

namespace bunraku::hiera {

Value KeyOptions::find(std::string_view root) const {
    if (by_key.is_hash()) {
        if (const Value* v = by_key.as_hash().find(root); v && !v->is_undef()) return *v;
    }
    for (const auto& [re, v] : patterns) {
        if (re->matches(root)) return v;
    }
    return Value::undef();
}

// ---- the three layers ----

Found Lookup::Impl::lookup_global(const Key& key, Invocation& inv, const MergeStrategy& strategy) {
    const std::string_view terminus =
        inv.hiera_call ? std::string_view("hiera") : options.data_binding_terminus;
    if (terminus == "none" || terminus.empty()) {
        if (inv.explainer) inv.explainer->not_found(key.text);
        return std::nullopt;
    }
    try {
        return guarded(key.text, [&] { return global_unchecked(key, inv, strategy); });
    } catch (const LookupError& error) {
        if (!error.issue_code().empty()) throw;
        failure = fmt::format("Lookup of key '{}' failed: {}", inv.top_key, error.full_text());
        throw base::PuppetError(failure);
    }
}

Found Lookup::Impl::global_unchecked(const Key& key, Invocation& outer,
                                     const MergeStrategy& strategy) {
    Provider& provider = global_provider(outer);
    if (provider.config->version != 3) return provider_lookup(provider, key, outer, strategy);
    Invocation inv = outer;
    if (!inv.hiera3_scope) {
        inv.hiera3_scope = true;
        Provider* env = env_provider(outer);
        if (!(env && env->config->version >= 5)) inv.global_only = true;
    }
    MergeStrategy own = strategy;
    if (!provider.config->merge_behavior.is_undef() && inv.hiera_call &&
        strategy.kind == MergeStrategy::Kind::Hash) {
        own = MergeStrategy::from(inv.in.types(), provider.config->merge_behavior);
        inv.hiera3_merge = true;
    }
    using Merge = MergeStrategy::Kind;
    const Found v = provider_lookup(provider, key, inv, own);
    if (!v || !inv.hiera_call) return v;
    const bool deep = own.kind == Merge::Deep || own.kind == Merge::UnconstrainedDeep ||
                      own.kind == Merge::ReverseDeep;
    if (own.kind == Merge::Hash || deep) {
        types::assert_instance(inv.in.types(), "value has wrong type,",
                               types::parse_type(inv.in.types(), "Hash"), *v);
    }
    if (!key.segments.empty() && (own.kind == Merge::Hash || own.kind == Merge::Unique)) {
        throw LookupError(
            fmt::format("Resolution type :{} is illegal when accessing values using "
                        "dotted keys. Offending key was '{}'",
                        own.kind == Merge::Hash ? "hash" : "array", key.text));
    }
    return v;
}

Found Lookup::Impl::lookup_environment(const Key& key, Invocation& inv,
                                       const MergeStrategy& strategy) {
    Provider* provider = env_provider(inv);
    if (!provider) return std::nullopt;
    return guarded(key.text, [&] { return provider_lookup(*provider, key, inv, strategy); });
}

Found Lookup::Impl::lookup_module(const Key& key, Invocation& inv, const MergeStrategy& strategy) {
    if (!inv.has_module) return std::nullopt;
    Provider* provider = module_provider(inv, inv.module);
    if (!provider) {
        if (inv.explainer) {
            inv.explainer->module(inv.module, environment->module(inv.module)
                                                  ? Event::ModuleProviderNotFound
                                                  : Event::ModuleNotFound);
        }
        return std::nullopt;
    }
    return guarded(key.text, [&] { return provider_lookup(*provider, key, inv, strategy); });
}

Found Lookup::Impl::do_lookup(const Key& key, Invocation& inv, const Value& merge) {
    const MergeStrategy strategy = MergeStrategy::from(inv.in.types(), merge);
    if (inv.global_only) return dig(key, inv, lookup_global(key, inv, strategy));
    return dig(key, inv, over(strategy, 3, inv, [&](std::size_t i) {
                   return i == 0   ? lookup_global(key, inv, strategy)
                          : i == 1 ? lookup_environment(key, inv, strategy)
                                   : lookup_module(key, inv, strategy);
               }));
}

// ---- lookup_options ----

/// Validates lookup_options and resets `given` if they are undef.
void Lookup::Impl::validate_options(Found& given, std::string_view module) {
    if (given && given->is_undef()) given.reset();
    if (!given) return;
    if (!given->is_hash()) throw LookupError("value of lookup_options must be a hash");
    if (module.empty()) return;
    const std::string prefix = fmt::format("{}::", module);
    for (const auto& e : given->as_hash()) {
        const std::string key = value::to_text(e.key);
        if (key.starts_with('^')) {
            if (!std::string_view(key).substr(1).starts_with(prefix)) {
                throw LookupError(
                    fmt::format("all lookup_options patterns must match a key starting with "
                                "module name '{}'",
                                module));
            }
        } else if (!key.starts_with(prefix)) {
            throw LookupError(
                fmt::format("all lookup_options keys must start with module name '{}'", module));
        }
    }
}

std::optional<KeyOptions> Lookup::Impl::compile_options(const Found& given, Invocation& inv) {
    if (!given || !given->is_hash()) return std::nullopt;
    KeyOptions out;
    value::HashBuilder by_key(inv.arena());
    for (const auto& e : given->as_hash()) {
        const std::string key = value::to_text(e.key);
        if (!key.starts_with('^')) {
            by_key.set(e.key, e.value);
            continue;
        }
        auto re = regex::Regex::cached(key);
        if (!re) throw ArgumentError(re.error().message);
        out.patterns.emplace_back(*re, e.value);
    }
    if (by_key.size()) out.by_key = by_key.build();
    return out;
}

Found Lookup::Impl::options_of_layers(Invocation& inv, const Key& key,
                                      const MergeStrategy& strategy) {
    if (!global_options) {
        Found own = lookup_global(key, inv, strategy);
        validate_options(own, "");
        global_options = own;
    }
    if (inv.global_only) return *global_options;
    if (!environment_options) {
        Found own = lookup_environment(key, inv, strategy);
        validate_options(own, "");
        if (!*global_options)
            environment_options = own;
        else if (!own)
            environment_options = *global_options;
        else
            environment_options = Found(strategy.merge(inv.in.types(), **global_options, *own));
    }
    return *environment_options;
}

Value Lookup::Impl::options_for(const Key& key, Invocation& outer) {
    ModuleState& state = module_state(key.has_module ? key.module : std::string_view());
    if (!state.options_known) {
        Invocation inv = outer;
        inv.overrides = inv.defaults = nullptr;
        inv.record = nullptr;
        inv.config = nullptr;
        inv.quiet_variables = false;
        inv.top_key = kLookupOptions;
        inv.module = outer.module;
        inv.has_module = outer.has_module;
        const CurrentLookup innermost(current, inv, &outer);
        Step step(inv.explainer, NodeKind::Top, kLookupOptions);
        const Key own = plain_key(kLookupOptions);
        const MergeStrategy strategy{MergeStrategy::Kind::Hash, Value::undef()};
        Found all = options_of_layers(inv, own, strategy);
        if (!inv.global_only && key.has_module) {
            Found module = lookup_module(own, inv, strategy);
            validate_options(module, key.module);
            if (!all) {
                all = module;
            } else if (module) {
                Step merge(inv.explainer, NodeKind::Merge, "hash");
                if (inv.explainer) {
                    const std::string second = fmt::format("Module {}", inv.module);
                    for (const auto& [name, v] :
                         {std::pair<std::string_view, const Value*>("Global and Environment",
                                                                    &*all),
                          std::pair<std::string_view, const Value*>(second, &*module)}) {
                        Step part(inv.explainer, NodeKind::Scope, name);
                        inv.explainer->found(kLookupOptions, *v);
                    }
                }
                all = strategy.merge(inv.in.types(), *all, *module);
                if (inv.explainer) inv.explainer->result(*all);
            }
        }
        state.options = compile_options(all, inv);
        state.options_known = true;
    }
    return state.options ? state.options->find(key.root) : Value::undef();
}

// ---- one key ----

Found Lookup::Impl::search(std::string_view text, Invocation& outer, const Value& merge) {
    if (text == kLookupOptions || text.starts_with("lookup_options.")) {
        Step step(outer.explainer, NodeKind::InvalidKey, kLookupOptions);
        return std::nullopt;
    }
    return search(parse_key(outer.arena(), text), outer, merge);
}

Found Lookup::Impl::search(const Key& key, Invocation& outer, const Value& merge_given) {
    Invocation inv = outer;
    inv.top_key = key.text;
    inv.module = key.module;
    inv.has_module = key.has_module;
    BUNRAKU_ASSERT(current != &inv);
    const CurrentLookup innermost(current, inv);
    if (inv.explainer && inv.explainer->only_options()) {
        inv.top_key = kLookupOptions;
        do_lookup(plain_key(kLookupOptions), inv, Value::string("hash"));
        return Value::undef();
    }
    const Value own = options_for(key, inv);
    Value merge = merge_given;
    if (merge.is_undef() && own.is_hash()) {
        if (const Value* v = own.as_hash().find("merge"); v && !v->is_undef()) {
            merge = *v;
            if (inv.explainer) inv.explainer->merge_source(kLookupOptions);
        }
    }
    if (inv.explainer && own.is_hash()) {
        const Value* to = own.as_hash().find("convert_to");
        if (to && to->is_array() && !to->as_array().empty()) to = &to->as_array()[0];
        inv.secret =
            inv.secret || (to && to->is_string() && to->as_string().starts_with("Sensitive"));
        if (!outer.secret) deciphered = false;
    }
    Found result;
    {
        Step step(inv.explainer, NodeKind::Top, key.text);
        result = do_lookup(key, inv, merge);
        if (!result && !inv.global_only) result = dig(key, inv, module_default(key, inv));
    }
    if (!result) return result;
    return converted(key, own, *result, inv);
}

Found Lookup::Impl::module_default(const Key& key, Invocation& inv) {
    if (!inv.has_module) return std::nullopt;
    Provider* provider = module_provider(inv, inv.module);
    if (!provider || !provider->config->has_default_hierarchy) return std::nullopt;
    Step step(inv.explainer, NodeKind::Scope,
              inv.explainer
                  ? fmt::format("Searching default_hierarchy of module \"{}\"", inv.module)
                  : std::string());
    ModuleState& state = module_state(inv.module);
    if (!state.defaults_known) {
        Step meta(inv.explainer, NodeKind::Scope, "Searching for \"lookup_options\"");
        Invocation own = inv;
        own.overrides = own.defaults = nullptr;
        own.top_key = kLookupOptions;
        const Key name = plain_key(kLookupOptions);
        const MergeStrategy strategy{MergeStrategy::Kind::Hash, Value::undef()};
        Found all = [&] {
            const CurrentLookup innermost(current, own, &inv);
            return guarded(name.text,
                           [&] { return provider_lookup(*provider, name, own, strategy, true); });
        }();
        validate_options(all, inv.module);
        state.default_options = compile_options(all, inv);
        state.defaults_known = true;
    }
    Value merge;
    if (state.default_options) {
        if (const Value own = state.default_options->find(key.root); own.is_hash()) {
            if (const Value* v = own.as_hash().find("merge")) merge = *v;
        }
    }
    Step searching(inv.explainer, NodeKind::Scope,
                   inv.explainer ? fmt::format("Searching for \"{}\"", key.text) : std::string());
    const MergeStrategy strategy = MergeStrategy::from(inv.in.types(), merge);
    return guarded(key.text, [&] { return provider_lookup(*provider, key, inv, strategy, true); });
}

Value Lookup::Impl::converted(const Key& key, const Value& own, const Value& v, Invocation& inv) {
    const Value* convert = own.is_hash() ? own.as_hash().find("convert_to") : nullptr;
    if (!convert || convert->is_undef()) return v;
    auto& ctx = inv.in.types();
    std::vector<Value> args;
    if (convert->is_array())
        args.assign(convert->as_array().begin(), convert->as_array().end());
    else
        args.push_back(*convert);
    if (args.empty()) args.push_back(Value::undef());
    if (args[0].is_string()) {
        const std::string source(args[0].as_string());
        try {
            args[0] = Value::type(types::parse_type(ctx, source));
        } catch (const base::PuppetError& error) {
            throw LookupError(
                fmt::format("Invalid data type in lookup_options for key '{}' could not parse "
                            "'{}', error: '{}",
                            key.text, source, error.message()));
        }
    }
    BUNRAKU_ASSERT(!args.empty());
    args.insert(args.begin() + 1, v);
    try {
        const Value out = inv.in.call_function("new", args, inv.scope);
        if (inv.explainer) {
            args.erase(args.begin() + 1);
            inv.explainer->text(fmt::format("Applying convert_to lookup_option with arguments {}",
                                            value::to_source(value::make_array(ctx.arena, args))));
        }
        return out;
    } catch (const base::PuppetError& error) {
        throw LookupError(fmt::format("The convert_to lookup_option for key '{}' raised error: {}",
                                      key.text, error.message()));
    }
}

bool Lookup::Impl::surely_absent(const Key& key, Interpreter& in, Scope& scope) {
    if (current || !key.has_module || !global || !environment_known) return false;
    if (options.data_binding_terminus != "hiera") return false;
    ModuleState& state = module_state(key.module);
    if (!state.options_known || !state.provider_known) return false;
    Invocation inv{in, scope};
    auto absent = [&](const Provider* provider) {
        if (!provider) return true;
        BUNRAKU_ASSERT(provider->config);
        if (provider->known.empty()) return false;
        const Resolution& r = *provider->known.front();
        if (!r.flat || !r.fallback.empty()) return false;
        inv.hiera3_scope = provider->config->version == 3;
        if (!r.variables.empty() && !stable(r, inv)) return false;
        BUNRAKU_ASSERT(r.reads.size() == r.files.size());
        note_key(r.reads, key.root);
        for (const auto* file : r.files) {
            if (file->find(key.root, key.hash) >= 0) return false;
        }
        return true;
    };
    return absent(global.get()) && absent(environment_provider.get()) &&
           absent(state.provider.get());
}

}  // namespace bunraku::hiera
