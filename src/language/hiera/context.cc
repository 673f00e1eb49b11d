// SPDX-License-Identifier: Apache-2.0
// The interface for data functions: the methods of Puppet::LookupContext, and the data functions
// that Puppet provides (8.11).
#include <cerrno>
#include <cstring>

#include "language/hiera/impl.h"
#include "language/types/iterator.h"
#include "language/types/object.h"

namespace bunraku::hiera {

namespace {

bool is_context(const Value& v) {
    if (!v.is(value::Kind::Object)) return false;
    const auto* object = types::as_object(v);
    static const auto* type =
        types::as_object_type(types::builtin_object_type("puppet::lookupcontext"));
    return object && object->type() == type;
}

const Value* cached(const ContextState& state, const Value& key) {
    for (const auto& e : state.cache) {
        if (value::equal(e.first, key)) return &e.second;
    }
    return nullptr;
}

void remember(ContextState& state, const Value& key, const Value& v) {
    for (auto& e : state.cache) {
        if (!value::equal(e.first, key)) continue;
        e.second = v;
        return;
    }
    state.cache.emplace_back(key, v);
}

}  // namespace

std::optional<Value> Lookup::context_method(Interpreter& in, Scope& scope, const Value& object,
                                            std::string_view method, std::span<const Value> args,
                                            const Callable* block) {
    if (!is_context(object)) return std::nullopt;
    ContextState* state = nullptr;
    Invocation* active = nullptr;
    for (auto it = impl_->contexts.rbegin(); it != impl_->contexts.rend() && !state; ++it) {
        if (it->object != object.as_extension()) continue;
        state = it->state;
        active = it->invocation;
    }
    if (!state) {  // Made by Puppet::LookupContext.new.
        auto& own = impl_->own_contexts[object.as_extension()];
        if (!own) {
            own = std::make_unique<ContextState>();
            const auto name = types::object_attribute(in.types(), object, "module_name");
            if (name && name->is_string()) own->module = std::string(name->as_string());
        }
        state = own.get();
        active = impl_->current;
    }
    Invocation fresh = impl_->invocation(in, scope);
    Invocation& inv = active ? *active : fresh;
    if (method == "not_found" && args.empty()) throw NotFound{};
    if (method == "environment_name" && args.empty())
        return value::make_string(in.arena(), impl_->environment->name());
    if (method == "module_name" && args.empty()) {
        return state->module.empty() ? Value::undef()
                                     : value::make_string(in.arena(), state->module);
    }
    if (method == "explain" && args.empty() && block) {
        if (inv.explainer)
            inv.explainer->text(value::to_text(block->call(in, scope, {}, nullptr, nullptr)));
        return Value::undef();
    }
    // The requests of Ruby code, which calls its blocks itself.
    if (method == "explaining?" && args.empty()) return Value::boolean(inv.explainer != nullptr);
    if (method == "explain" && args.size() == 1) {
        if (inv.explainer) inv.explainer->text(value::to_text(args[0]));
        return Value::undef();
    }
    if (method == "interpolate" && args.size() == 1) return impl_->interpolate(args[0], inv, true);
    if (method == "cache" && args.size() == 2) {
        remember(*state, args[0], args[1]);
        return args[1];
    }
    if (method == "cache_all" && args.size() == 1 && args[0].is_hash()) {
        for (const auto& e : args[0].as_hash()) remember(*state, e.key, e.value);
        return Value::undef();
    }
    if (method == "cache_has_key" && args.size() == 1)
        return Value::boolean(cached(*state, args[0]) != nullptr);
    if (method == "cached_value" && args.size() == 1) {
        const Value* v = cached(*state, args[0]);
        return v ? *v : Value::undef();
    }
    if (method == "cached_entries" && args.empty()) {
        std::vector<Value> pairs;
        const auto entries = state->cache;  // A copy, because the block may change the cache.
        for (const auto& [k, v] : entries) {
            const Value pair[] = {k, v};
            if (!block) {
                pairs.push_back(value::make_array(in.arena(), std::span<const Value>(pair)));
            } else if (block->arity().second == 2) {
                block->call(in, scope, pair, nullptr, nullptr);
            } else {
                const Value one[] = {value::make_array(in.arena(), std::span<const Value>(pair))};
                block->call(in, scope, one, nullptr, nullptr);
            }
        }
        if (block) return Value::undef();
        return value::make_array(in.arena(), pairs);
    }
    if (method == "cached_file_data" && args.size() == 1) {
        const std::string path = value::to_text(args[0]);
        const auto content = in.hosts().inputs ? in.hosts().inputs->read_file(path) : std::nullopt;
        if (!content) {
            throw base::PuppetError(
                fmt::format("No such file or directory @ rb_file_s_stat - {}", path));
        }
        const Value text = value::make_string(in.arena(), *content);
        if (!block) return text;
        const Value one[] = {text};
        return block->call(in, scope, one, nullptr, nullptr);
    }
    return std::nullopt;
}

Value Lookup::data_function(Interpreter& in, Scope& scope, std::string_view name,
                            std::span<const Value> args) {
    // Requests of Hiera 3 backends.
    if (name == "hiera3_lookup") return impl_->hiera3_lookup(in, scope, args);
    if (name == "deep_merge") {
        return deep_merge(in.arena(), args[0], args[1],
                          args.size() > 2 ? args[2] : value::HashBuilder(in.arena()).build());
    }
    Invocation inv = impl_->invocation(in, scope);
    if (name == "eyaml_lookup_key") {
        ContextState scratch;
        ContextState* state = &scratch;
        for (const auto& each : impl_->contexts) {
            if (args.size() > 2 && each.object == args[2].as_extension()) state = each.state;
        }
        const Found v = impl_->eyaml(args[1].as_hash(), args[0].as_string(), *state, inv);
        if (!v) throw NotFound{};
        return *v;
    }
    const Value* path = args[0].as_hash().find("path");
    return impl_->file_data(name, path ? value::to_text(*path) : std::string(), inv);
}

}  // namespace bunraku::hiera
