// SPDX-License-Identifier: Apache-2.0
// Looks keys up in the entries of a hierarchy: files, and functions written by users (the
// FunctionProviders, 8.11).
#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/assert.h"
#include "core/value/text.h"
#include "language/hiera/impl.h"
#include "language/hiera/paths.h"
#include "language/types/kinds.h"
#include "language/types/mismatch.h"
#include "language/types/object.h"

namespace bunraku::hiera {

Found Lookup::Impl::provider_lookup(Provider& provider, const Key& key, Invocation& inv,
                                    const MergeStrategy& strategy, bool fallback) {
    Step step(inv.explainer, NodeKind::DataProvider,
              inv.explainer ? provider.name() : std::string(), provider.config->path);
    Resolution& resolution = resolve(provider, inv);
    BUNRAKU_ASSERT(provider.known.front().get() == &resolution);
    auto& entries = fallback ? resolution.fallback : resolution.entries;
    if (entries.empty()) {
        if (inv.explainer) inv.explainer->not_found(key.text);
        return std::nullopt;
    }
    return over(strategy, entries.size(), inv, [&](std::size_t i) {
        return entry_lookup(provider, entries[i], key, inv, strategy);
    });
}

Found Lookup::Impl::entry_lookup(Provider& provider, Resolved& entry, const Key& key,
                                 Invocation& inv, const MergeStrategy& strategy) {
    std::string name;
    if (inv.explainer) {
        name = entry.entry->access == Access::V4DataHash
                   ? fmt::format("Deprecated API function \"{}\"", entry.entry->function)
                   : fmt::format("Hierarchy entry \"{}\"", entry.entry->name);
    }
    Step step(inv.explainer, NodeKind::DataProvider, name);
    inv.strategy = &strategy;
    if (!entry.has_locations) {
        return over(strategy, 1, inv,
                    [&](std::size_t) { return ask(provider, entry, 0, nullptr, key, inv); });
    }
    if (inv.location_overrides.empty() || provider.config->version != 3) {
        return over(strategy, entry.locations.size(), inv,
                    [&](std::size_t i) { return ask_location(provider, entry, i, key, inv); });
    }
    // The override levels of hiera(key, default, 'override') precede all others.
    Resolved more;
    more.entry = entry.entry;
    more.has_locations = true;
    more.native = entry.native;
    more.format = entry.format;
    more.options = entry.options;
    Invocation own = inv;
    own.hiera3_scope = true;
    own.explainer = nullptr;
    for (const auto& text : inv.location_overrides)
        add_location(more, entry.datadir, LocationKind::Paths, text, own, false);
    for (std::size_t i = 0; i < more.locations.size(); ++i)
        more.contexts.push_back(std::make_unique<ContextState>());
    const std::size_t first = more.locations.size();
    BUNRAKU_ASSERT(more.contexts.size() == first);
    return over(strategy, first + entry.locations.size(), inv, [&](std::size_t i) {
        return i < first ? ask_location(provider, more, i, key, inv)
                         : ask_location(provider, entry, i - first, key, inv);
    });
}

Found Lookup::Impl::ask_location(Provider& provider, Resolved& entry, std::size_t i, const Key& key,
                                 Invocation& inv) {
    BUNRAKU_ASSERT(entry.has_locations && i < entry.locations.size());
    Location& location = entry.locations[i];
    Step step(inv.explainer, location.uri ? NodeKind::Uri : NodeKind::Path, location.path,
              location.original);
    // Hiera 3 backends find their own data sources. Puppet calls them once for every path.
    if (!location.exists && entry.entry->access != Access::Hiera3Backend) {
        if (inv.explainer) inv.explainer->event(Event::LocationNotFound);
        return std::nullopt;
    }
    return ask(provider, entry, i, &location, key, inv);
}

std::string Lookup::Impl::described(const Resolved& entry, const Location* location,
                                    std::string_view what) {
    std::string out(what);
    if (entry.entry->access == Access::V4DataHash) {
        out += fmt::format("deprecated API function '{}'", entry.entry->function);
    } else {
        out += fmt::format("{} function '{}'", entry.entry->tag, entry.entry->function);
    }
    if (location) out += fmt::format(", when using location '{}',", location->path);
    return out;
}

Value Lookup::Impl::call_options(const Resolved& entry, const Location* location, Invocation& inv) {
    if (!location) return entry.options;
    value::HashBuilder out(inv.arena());
    out.merge(entry.options.as_hash());
    out.set(location->uri ? "uri" : "path", value::make_string(inv.arena(), location->path));
    return out.build();
}

/// The result of a function must be Puppet data. The result of a function with a declared return
/// type is already checked.
void Lookup::Impl::validate(const Resolved& entry, const Location* location, std::string_view what,
                            const Value& v, Invocation& inv) {
    if (entry.validated || !(v.is_array() || v.is_hash() || v.kind() >= value::Kind::Type)) return;
    auto& ctx = inv.in.types();
    const auto* rich = types::parse_type(ctx, "RichData");
    if (types::is_instance(ctx, rich, v)) return;
    throw LookupError(fmt::format("{} has wrong type, expects Puppet::LookupValue, got {}",
                                  described(entry, location, what),
                                  types::infer(ctx, v)->to_string()));
}

Found Lookup::Impl::ask(Provider& provider, Resolved& entry, std::size_t i,
                        const Location* location, const Key& key, Invocation& inv) {
    BUNRAKU_ASSERT(entry.entry && i < entry.contexts.size());
    BUNRAKU_ASSERT(entry.has_locations == (location != nullptr));
    ContextState& state = *entry.contexts[i];
    auto not_found = [&](std::string_view k) -> Found {
        if (inv.explainer) inv.explainer->not_found(k);
        return std::nullopt;
    };
    auto found = [&](std::string_view k, const Value& v) -> Found {
        if (inv.explainer) inv.explainer->found(k, v);
        return v;
    };
    switch (entry.entry->access) {
        case Access::DataHash:
        case Access::V4DataHash: {
            if (entry.native && location && !location->uri)
                return ask_file(provider, entry, *location, state, key, inv);
            if (!state.hash) state.hash = data_hash(provider, entry, location, state, inv);
            BUNRAKU_ASSERT(state.hash->is_hash());
            const Value* v = state.hash->as_hash().find(key.root);
            if (!v) return not_found(key.root);
            validate(entry, location,
                     fmt::format("Value for key '{}', in hash returned from ", key.root), *v, inv);
            return found(key.root, interpolate(*v, inv, true));
        }
        case Access::LookupKey: {
            auto it = state.answers.find(key.root);
            if (it == state.answers.end()) {
                const Value options_given = call_options(entry, location, inv);
                Found answer;
                if (entry.entry->function == "eyaml_lookup_key") {
                    answer = eyaml(options_given.as_hash(), key.root, state, inv);
                } else {
                    const Value args[] = {value::make_string(inv.arena(), key.root), options_given,
                                          context(state, inv)};
                    answer = call(provider, entry, args, state, inv);
                }
                if (!answer) return not_found(key.root);
                validate(entry, location,
                         fmt::format("Value for key '{}', returned from ", key.root), *answer, inv);
                it = state.answers.emplace(std::string(key.root), *answer).first;
            }
            if (inv.secret && deciphered && inv.explainer) {
                inv.explainer->found(key.root, value::make_sensitive(inv.arena(), it->second));
                return it->second;
            }
            return found(key.root, it->second);
        }
        case Access::DataDig: {
            auto it = state.answers.find(key.text);
            if (it == state.answers.end()) {
                std::vector<Value> path{value::make_string(inv.arena(), key.root)};
                path.insert(path.end(), key.segments.begin(), key.segments.end());
                const Value args[] = {value::make_array(inv.arena(), path),
                                      call_options(entry, location, inv), context(state, inv)};
                const Found answer = call(provider, entry, args, state, inv);
                if (!answer) return not_found(key.text);
                it = state.answers.emplace(std::string(key.text), *answer).first;
            }
            validate(entry, location, fmt::format("Value for key '{}', returned from ", key.text),
                     it->second, inv);
            found(key.text, it->second);
            return undig(key, it->second, inv);
        }
        case Access::Hiera3Backend: break;
    }
    const Found answer = ask_hiera3(provider, entry, key, inv);
    if (!answer) return std::nullopt;
    if (answer->is_array() || answer->is_hash() || answer->kind() >= value::Kind::Type) {
        auto& ctx = inv.in.types();
        if (!types::is_instance(ctx, types::parse_type(ctx, "RichData"), *answer)) {
            throw LookupError(fmt::format(
                "Value for key '{}', returned from hiera version 3 backend '{}'{} has wrong type, "
                "expects Puppet::LookupValue, got {}",
                key.text, entry.entry->function,
                location ? fmt::format(", when using location '{}',", location->path) : "",
                types::infer(ctx, *answer)->to_string()));
        }
    }
    found(key.text, *answer);
    return undig(key, *answer, inv);
}

// ---- backends of Hiera 3 (V3BackendFunctionProvider) ----

namespace {

/// Returns what Hiera 3 calls a resolution type: undef, "array", or a hash with "behavior".
Value resolution_type(base::Arena& arena, const MergeStrategy& strategy) {
    using Merge = MergeStrategy::Kind;
    value::HashBuilder out(arena);
    switch (strategy.kind) {
        case Merge::Default:
        case Merge::First: return Value::undef();
        case Merge::Unique: return Value::string("array");
        case Merge::Hash: out.set("behavior", Value::string("native")); return out.build();
        case Merge::Deep:
        case Merge::UnconstrainedDeep: out.set("behavior", Value::string("deeper")); break;
        case Merge::ReverseDeep: out.set("behavior", Value::string("deep")); break;
    }
    if (const Value more = strategy.extra_options(arena); more.is_hash()) out.merge(more.as_hash());
    return out.build();
}

/// Converts one entry of a version 5 hiera.yaml to a version 3 configuration.
Value hiera3_config(base::Arena& arena, const Resolved& entry) {
    auto text = [&](std::string_view s) { return value::make_string(arena, s); };
    const std::string& backend = entry.entry->function;
    std::vector<Value> levels;
    const std::string extension = "." + backend;
    for (const Location& location : entry.locations) {
        std::string_view path = location.original;
        if (path.ends_with(extension)) path.remove_suffix(extension.size());
        levels.push_back(text(path));
    }
    value::HashBuilder own(arena);
    own.set(":datadir", text(entry.datadir));
    if (entry.options.is_hash()) {
        for (const auto& e : entry.options.as_hash())
            own.set(text(":" + value::to_text(e.key)), e.value);
    }
    value::HashBuilder out(arena);
    out.set(":hierarchy", value::make_array(arena, levels));
    out.set(text(":" + backend), own.build());
    out.set(":backends", value::make_array(arena, {text(backend)}));
    out.set(":logger", Value::string("puppet"));
    return out.build();
}

}  // namespace

Found Lookup::Impl::ask_hiera3(const Provider& provider, const Resolved& entry, const Key& key,
                               Invocation& inv) {
    if (!options.hiera3) throw LookupError("Hiera 3 is not installed");
    auto& arena = inv.arena();
    const int version = provider.config->version;
    value::HashBuilder request(arena);
    request.set("backend", value::make_string(arena, entry.entry->function));
    request.set("key", value::make_string(arena, key.text));
    request.set("version", Value::integer(version));
    request.set("config", version == 3 ? provider.config->raw : hiera3_config(arena, entry));
    std::vector<Value> levels;
    for (const auto& level : inv.location_overrides)
        levels.push_back(value::make_string(arena, level));
    request.set("override", value::make_array(arena, levels));
    request.set("resolution", inv.hiera3_merge ? Value::string("hash")
                              : inv.strategy   ? resolution_type(arena, *inv.strategy)
                                               : Value::undef());
    // Requests of the backend to the compile belong to this lookup.
    const CurrentLookup innermost(current, inv);
    Value answer;
    try {
        answer = options.hiera3(inv.in, inv.scope, request.build());
    } catch (const LookupError&) {
        throw;
    } catch (const base::PuppetError& error) {
        // An exception that Ruby itself raised leaves the lookup unchanged.
        if (error.located() || error.verbatim || error.message() == failure) throw;
        throw ArgumentError(error.message());
    }
    if (!answer.is_array() || answer.as_array().empty()) return std::nullopt;
    const auto parts = answer.as_array();
    const auto kind = parts[0].is_string() ? parts[0].as_string() : std::string_view();
    if (kind == "found" && parts.size() == 2) return parts[1];
    if (kind == "problem" && parts.size() == 2 && inv.explainer)
        inv.explainer->text(value::to_text(parts[1]));
    return std::nullopt;
}

Value Lookup::Impl::hiera3_lookup(Interpreter& in, Scope& scope, std::span<const Value> args) {
    Invocation inv = invocation(in, scope);
    inv.global_only = true;
    if (args.size() > 1 && !args[1].is_undef()) {
        std::vector<Value> flat;
        value::flatten_into(flat, args.subspan(1, 1));
        inv.location_overrides.clear();
        for (const Value& v : flat) inv.location_overrides.push_back(value::to_text(v));
    }
    const std::string key = value::to_text(args[0]);
    const Found found = search(key, inv, Value::undef());
    return found ? *found : args.size() > 2 ? args[2] : Value::undef();
}

Found Lookup::Impl::ask_file(Provider& provider, Resolved& entry, const Location& location,
                             ContextState& state, const Key& key, Invocation& inv) {
    BUNRAKU_ASSERT(entry.native && !location.uri && key.hash == hash_text(key.root));
    // Recorded before the check, because a broken file is a read, too.
    note_key(std::span(&location.read, 1), key.root);
    const auto* file =
        checked_file(const_cast<Location&>(location), entry.format, entry.entry->function, inv);
    if (file && provider.layer == Layer::Module && !state.checked) {
        state.checked = true;
        note_key(std::span(&location.read, 1), "*");
        check_module_keys(provider, entry, &location, file->data.as_hash(), inv);
    }
    const int i = file ? file->find(key.root, key.hash) : -1;
    if (i < 0) {
        if (inv.explainer) inv.explainer->not_found(key.root);
        return std::nullopt;
    }
    if (const std::string* unsupported = file->unsupported(i)) {
        throw LookupError(fmt::format(
            "{} has wrong type, expects Puppet::LookupValue, got {}",
            described(entry, &location,
                      fmt::format("Value for key '{}', in hash returned from ", key.root)),
            *unsupported));
    }
    Value v = file->value_at(i);
    if (file->interpolates(i)) v = interpolate(v, inv, true);
    if (inv.explainer) inv.explainer->found(key.root, v);
    return v;
}

const DataCache::File* Lookup::Impl::checked_file(Location& location, DataCache::Format format,
                                                  std::string_view function, Invocation& inv) {
    const auto* file = location.file;
    const std::string& path = location.path;
    if (!file) {
        throw ArgumentError(location.error == EISDIR
                                ? fmt::format("Is a directory @ io_fread - {}", path)
                            : location.error == ENOENT
                                ? fmt::format("No such file or directory @ rb_sysopen - {}", path)
                                : fmt::format("Permission denied @ rb_sysopen - {}", path));
    }
    const bool yaml = format == DataCache::Format::Yaml;
    if (!file->error.empty()) {
        throw LookupError(yaml ? fmt::format("Unable to parse {}", file->error)
                               : fmt::format("Unable to parse ({}): {}", path, file->error));
    }
    if (file->data.is_hash()) return file;
    if (!yaml) {
        auto& ctx = inv.in.types();
        throw LookupError(types::describe_mismatch(
            ctx,
            fmt::format("Value returned from data_hash function '{}', when using location '{}', "
                        "has wrong type,",
                        function, path),
            types::parse_type(ctx, "Hash"), file->data));
    }
    // `nil` and `false` cause a warning only, even if `strict` is error.
    const std::string message = fmt::format("{}: file does not contain a valid yaml hash", path);
    if (options.strict_error && file->data.truthy()) throw LookupError(message);
    if (warned.insert(message).second) inv.in.log().log(base::Level::Warning, message);
    return nullptr;
}

/// The data of a module may contain only the module's own keys.
void Lookup::Impl::check_module_keys(const Provider& provider, const Resolved& entry,
                                     const Location* location, const value::HashRep& data,
                                     Invocation& inv) {
    BUNRAKU_ASSERT(provider.layer == Layer::Module);
    for (const auto& e : data) {
        if (e.key.is_string()) {
            const std::string_view name = e.key.as_string();
            if (name == kLookupOptions) continue;
            if (name.starts_with(provider.module) &&
                name.substr(provider.module.size()).starts_with("::"))
                continue;
        }
        inv.in.log().log(
            base::Level::Warning,
            fmt::format(
                "Module '{}': {} must use keys qualified with the name of the module; got {}",
                provider.module, described(entry, location, "Value returned from "),
                value::to_text(e.key)));
    }
}

Value Lookup::Impl::data_hash(Provider& provider, Resolved& entry, const Location* location,
                              ContextState& state, Invocation& inv) {
    const std::string& function = entry.entry->function;
    if (function == "yaml_data" || function == "json_data" || function == "hocon_data") {
        throw ArgumentError(
            fmt::format("'{}' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be "
                        "declared in hiera.yaml when using this data_hash function",
                        function));
    }
    Found v;
    if (entry.entry->access == Access::V4DataHash) {
        v = call(provider, entry, {}, state, inv);
    } else {
        const Value args[] = {call_options(entry, location, inv), context(state, inv)};
        v = call(provider, entry, args, state, inv);
    }
    // not_found() in a data_hash function means an empty hash.
    if (!v) return value::HashBuilder(inv.arena()).build();
    if (!v->is_hash()) {
        throw LookupError(types::describe_mismatch(
            inv.in.types(), described(entry, location, "Value returned from ") + " has wrong type,",
            types::parse_type(inv.in.types(), "Hash"), *v));
    }
    if (provider.layer == Layer::Module)
        check_module_keys(provider, entry, location, v->as_hash(), inv);
    return *v;
}

Value Lookup::Impl::undig(const Key& key, Value v, Invocation& inv) {
    for (auto it = key.segments.rbegin(); it != key.segments.rend(); ++it) {
        if (it->is_integer() && it->as_integer() >= 0 && it->as_integer() < 100000) {
            std::vector<Value> items(static_cast<std::size_t>(it->as_integer()) + 1);
            items.back() = v;
            v = value::make_array(inv.arena(), items);
        } else {
            value::HashBuilder hash(inv.arena());
            hash.set(*it, v);
            v = hash.build();
        }
    }
    return v;
}

// ---- functions written by users ----

Value Lookup::Impl::context(ContextState& state, Invocation& inv) {
    if (state.object.is_undef()) {
        auto& ctx = inv.in.types();
        const Value values[] = {state.module.empty() ? Value::undef()
                                                     : value::make_string(ctx.arena, state.module)};
        const auto* type =
            types::as_object_type(types::builtin_object_type("puppet::lookupcontext"));
        state.object = types::make_object_unchecked(ctx, type, values);
    }
    return state.object;
}

void Lookup::Impl::find_function(const Provider& provider, Resolved& entry, Invocation& inv) {
    const std::string& name = entry.entry->function;
    const Callable* function = inv.in.find_callable(name);
    if (!function) {
        throw LookupError(
            fmt::format("Unable to find '{}' function named '{}'", entry.entry->tag, name),
            "HIERA_DATA_PROVIDER_FUNCTION_NOT_FOUND", {provider.config->path, 0, 0});
    }
    auto& ctx = inv.in.types();
    std::vector<const types::CallableType*> signatures;
    const types::Type* signature = function->signature(inv.in);
    auto add = [&](const types::Type* t) {
        if (t && t->kind == types::TypeKind::Callable)
            signatures.push_back(static_cast<const types::CallableType*>(t));
    };
    if (signature && signature->kind == types::TypeKind::Variant) {
        for (const auto* each : static_cast<const types::VariantType*>(signature)->types) add(each);
    } else {
        add(signature);
    }
    bool all = !signatures.empty();
    for (const auto* each : signatures) {
        if (!each->returns) {
            all = false;
            continue;
        }
        const auto* rich = types::parse_type(ctx, "RichData");
        if (!types::is_assignable(ctx, rich, each->returns)) {
            throw LookupError(types::describe_type_mismatch(
                ctx,
                fmt::format("Return type of '{}' function named '{}' is incorrect,",
                            entry.entry->tag, name),
                rich, each->returns));
        }
    }
    BUNRAKU_ASSERT(!all || !signatures.empty());
    entry.validated = all;
    entry.function = function;
}

Found Lookup::Impl::call(const Provider& provider, Resolved& entry, std::span<const Value> args,
                         ContextState& state, Invocation& inv) {
    if (!entry.function) find_function(provider, entry, inv);
    BUNRAKU_ASSERT(entry.function);
    contexts.push_back({state.object.as_extension(), &state, &inv});
    struct Pop {
        decltype(contexts)& list;
        ~Pop() {
            BUNRAKU_ASSERT(!list.empty());
            list.pop_back();
        }
    } pop{contexts};
    try {
        return inv.in.call_function(entry.entry->function, args, inv.scope);
    } catch (const NotFound&) {
        return std::nullopt;
    } catch (const LookupError&) {
        throw;
    } catch (const base::PuppetError& error) {
        // Ruby code may throw the symbol itself.
        if (error.message().find("uncaught throw :no_such_key") != std::string::npos)
            return std::nullopt;
        // Arguments that do not match are an ArgumentError of Ruby.
        if (!error.located() && !error.verbatim && !error.message().starts_with("value returned"))
            throw ArgumentError(error.message());
        throw;
    }
}

/// Returns the result of yaml_data, json_data or hocon_data for a path.
Value Lookup::Impl::file_data(std::string_view function, const std::string& path, Invocation& inv) {
    const auto format = function == "json_data"    ? DataCache::Format::Json
                        : function == "hocon_data" ? DataCache::Format::Hocon
                                                   : DataCache::Format::Yaml;
    environment->note(environment::Read::File, path);
    auto loaded = load_file(path, format);
    Location location{path, path, true};
    location.error = loaded.error;
    location.file = loaded.file.get();
    if (loaded.file) {
        inv.arena().own(std::make_unique<std::shared_ptr<const DataCache::File>>(loaded.file));
        if (format != DataCache::Format::Yaml && loaded.file->error.empty())
            return loaded.file->data;
    }
    const auto* file = checked_file(location, format, function, inv);
    return file ? file->data : value::HashBuilder(inv.arena()).build();
}

}  // namespace bunraku::hiera
