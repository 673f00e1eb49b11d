// SPDX-License-Identifier: Apache-2.0
// The configurations of the layers, and their hierarchies for the current variables (HieraConfig,
// LocationResolver, ConfiguredDataProvider and the providers of LookupAdapter, 8.11).
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "core/base/assert.h"
#include "language/hiera/impl.h"
#include "language/hiera/paths.h"

namespace bunraku::hiera {

std::string Provider::name() const {
    std::string out = layer == Layer::Global        ? "Global "
                      : layer == Layer::Environment ? "Environment "
                                                    : "Module \"" + module + "\" ";
    return out + "Data Provider (" + config->name() + ")";
}

namespace {

/// Extends the lifetime of a shared object to that of the compile's values.
template <class T>
const T* keep(base::Arena& arena, std::shared_ptr<const T> object) {
    const T* raw = object.get();
    arena.own(std::make_unique<std::shared_ptr<const T>>(std::move(object)));
    return raw;
}

/// Returns the name of the variable that `message` reports as unset; empty for other messages.
std::string undefined_name(const std::string& message) {
    constexpr std::string_view kStart = "Undefined variable '";
    if (!message.starts_with(kStart)) return {};
    const auto end = message.find('\'', kStart.size());
    return end == std::string::npos ? std::string()
                                    : message.substr(kStart.size(), end - kStart.size());
}

}  // namespace

// ---- configurations ----

DataCache::Loaded Lookup::Impl::load_file(const std::string& path, DataCache::Format format,
                                          bool keep_text) {
    auto loaded = cache->load(environment->files(), path, format, keep_text);
    if (loaded.file)
        for (const auto& [kind, name] : loaded.file->further_reads) environment->note(kind, name);
    return loaded;
}

std::unique_ptr<Provider> Lookup::Impl::load(Invocation& inv, Layer layer, const std::string& path,
                                             const std::string& root) {
    auto provider = std::make_unique<Provider>();
    provider->layer = layer;
    environment->note(environment::Read::File, path);
    const auto loaded = load_file(path, DataCache::Format::Yaml, true);
    if (!loaded.file) {
        if (loaded.error != ENOENT && loaded.error != ENOTDIR && exists(path)) {
            throw ArgumentError(loaded.error == EISDIR
                                    ? fmt::format("Is a directory @ io_fread - {}", path)
                                    : fmt::format("Permission denied @ rb_sysopen - {}", path));
        }
        static const auto kDefaults = [] {
            std::shared_ptr<const Config> out[3];
            for (int i = 0; i < 3; ++i) {
                out[i] = std::make_shared<const Config>(
                    make_config(static_cast<Layer>(i), "", "", Value::undef(), "", ""));
            }
            return std::array{out[0], out[1], out[2]};
        }();
        BUNRAKU_ASSERT(static_cast<std::size_t>(layer) < kDefaults.size());
        auto own = std::make_shared<Config>(*kDefaults[static_cast<std::size_t>(layer)]);
        own->root = root;
        provider->config = std::move(own);
        return provider;
    }
    const auto* file = keep(inv.arena(), loaded.file);
    if (!file->error.empty()) throw base::PuppetError(file->error);
    provider->text = file->text;
    const bool hash = file->data.is_hash();
    if (!hash) {
        inv.in.log().log(
            base::Level::Warning,
            fmt::format("{}: File exists but does not contain a valid YAML hash. Falling back to "
                        "Hiera version 3 default config",
                        path));
    }
    auto make = [&] {
        base::Arena empty(256);
        return make_config(layer, path, root, hash ? file->data : value::HashBuilder(empty).build(),
                           file->text, options.codedir, inv.in.options().level);
    };
    // Ruby logs this warning during the check.
    const Value* version = hash ? file->data.as_hash().find("version") : nullptr;
    const int number = !version || version->is_undef() ? 3
                       : version->is_integer()         ? static_cast<int>(version->as_integer())
                                               : std::atoi(value::to_text(*version).c_str());
    if ((number == 3 || number == 4) && options.warn_deprecated) {
        warn_once(inv, "hiera.yaml",
                  fmt::format("{}: Use of 'hiera.yaml' version {} is deprecated. It should be "
                              "converted to version 5",
                              path, number),
                  path, true);
    }
    provider->config = file->config(layer, make);
    return provider;
}

Provider& Lookup::Impl::global_provider(Invocation& inv) {
    if (!global) {
        auto made =
            load(inv, Layer::Global, options.hiera_config, join_path(options.hiera_config, ".."));
        if (made->config->version == 4) {
            throw LookupError("hiera.yaml version 4 cannot be used in the global layer",
                              "HIERA_UNSUPPORTED_VERSION_IN_GLOBAL", {made->config->path, 0, 0});
        }
        global = std::move(made);
    }
    BUNRAKU_ASSERT(global->layer == Layer::Global && global->config);
    return *global;
}

/// Version 3 is allowed in the global layer only.
bool Lookup::Impl::usable(const Provider& provider, Invocation& inv, std::string_view where,
                          std::string_view at) {
    if (provider.config->version > 3) return true;
    const std::string& path = provider.config->path;
    if (options.strict_error) {
        throw LookupError(fmt::format("hiera.yaml version 3 cannot be used in {} {}",
                                      where == "environment" ? "an" : "a", where),
                          "HIERA_VERSION_3_NOT_GLOBAL", {path, 0, 0});
    }
    warn_once(inv, path, fmt::format("hiera.yaml version 3 found at {} root was ignored", at), path,
              false);
    return false;
}

Provider* Lookup::Impl::env_provider(Invocation& inv) {
    if (!environment_known) {
        environment_provider = make_env_provider(inv);
        environment_known = true;
    }
    return environment_provider.get();
}

std::unique_ptr<Provider> Lookup::Impl::make_env_provider(Invocation& inv) {
    const std::string& root = environment->directory();
    if (root.empty()) return nullptr;
    auto kind = environment->conf("environment_data_provider");
    if (kind && kind->empty()) kind.reset();
    const std::string path = join_path(root, "hiera.yaml");
    const std::string conf = join_path(root, "environment.conf");
    std::unique_ptr<Provider> provider;
    if (exists(path)) {
        provider = load(inv, Layer::Environment, path, root);
        if (!usable(*provider, inv, "environment", "the environment")) {
            provider.reset();
        } else if (provider->config->version >= 5) {
            if (kind && options.warn_deprecated) {
                warn_once(inv, "environment.conf#data_provider",
                          fmt::format("Defining environment_data_provider='{}' in environment.conf "
                                      "is deprecated",
                                      *kind),
                          conf, true);
                if (*kind != "hiera") {
                    warn_once(
                        inv, "environment.conf#data_provider_overridden",
                        fmt::format("The environment_data_provider='{}' setting is ignored since "
                                    "'{}' version >= 5",
                                    *kind, path),
                        conf, true);
                }
            }
            kind.reset();
        }
    }
    if (!kind) return provider;
    if (options.warn_deprecated) {
        std::string message = fmt::format(
            "Defining environment_data_provider='{}' in environment.conf is deprecated.", *kind);
        if (!provider) message += " A 'hiera.yaml' file should be used instead";
        warn_once(inv, "environment.conf#data_provider", message, conf, true);
    }
    if (*kind == "none") return nullptr;
    if (*kind == "hiera")
        return provider ? std::move(provider) : load(inv, Layer::Environment, path, root);
    if (*kind == "function") {
        auto made = std::make_unique<Provider>();
        made->layer = Layer::Environment;
        if (options.warn_deprecated) {
            warn_once(inv, "legacy_provider_function",
                      "Using of legacy data provider function 'environment::data'. Please convert "
                      "to a 'data_hash' function",
                      "", true);
        }
        made->config = std::make_shared<const Config>(
            legacy_function_config(Layer::Environment, root, "environment::data"));
        return made;
    }
    throw base::PuppetError(
        fmt::format("Environment '{}', cannot find environment_data_provider '{}'",
                    environment->name(), *kind));
}

ModuleState& Lookup::Impl::module_state(std::string_view name) {
    if (last_module && last_module->name == name) return *last_module;
    auto it = modules.find(name);
    if (it == modules.end()) {
        it = modules.emplace(std::string(name), ModuleState{}).first;
        it->second.name = std::string(name);
    }
    BUNRAKU_ASSERT(it->second.name == name);
    return *(last_module = &it->second);
}

Provider* Lookup::Impl::module_provider(Invocation& inv, std::string_view name) {
    ModuleState& state = module_state(name);
    if (!state.provider_known) {
        state.provider = make_module_provider(inv, state.name);
        state.provider_known = true;
    }
    BUNRAKU_ASSERT(!state.provider || state.provider->layer == Layer::Module);
    return state.provider.get();
}

std::unique_ptr<Provider> Lookup::Impl::make_module_provider(Invocation& inv,
                                                             const std::string& name) {
    const auto* module = environment->module(name);
    if (!module) return nullptr;
    std::optional<std::string> kind;
    const std::string metadata = join_path(module->path, "metadata.json");
    if (module->has_metadata) {
        environment->note(environment::Read::File, metadata);
        if (auto loaded = load_file(metadata, DataCache::Format::Json);
            loaded.file && loaded.file->data.is_hash()) {
            const Value* v = loaded.file->data.as_hash().find("data_provider");
            if (v && !v->is_undef()) kind = value::to_text(*v);
        }
    }
    const std::string path = join_path(module->path, "hiera.yaml");
    std::unique_ptr<Provider> provider;
    if (exists(path)) {
        provider = load(inv, Layer::Module, path, module->path);
        provider->module = name;
        if (!usable(*provider, inv, "module", "module")) {
            provider.reset();
        } else if (provider->config->version >= 5) {
            if (kind && options.warn_deprecated) {
                warn_once(inv, "metadata.json#data_provider-" + name,
                          fmt::format("Defining \"data_provider\": \"{}\" in metadata.json is "
                                      "deprecated. It is ignored since a 'hiera.yaml' with version "
                                      ">= 5 is present",
                                      *kind),
                          metadata, true);
            }
            kind.reset();
        }
    }
    if (!kind) return provider;
    if (options.warn_deprecated) {
        std::string message = fmt::format(
            "Defining \"data_provider\": \"{}\" in metadata.json is deprecated.", *kind);
        if (!provider) message += " A 'hiera.yaml' file should be used instead";
        warn_once(inv, "metadata.json#data_provider-" + name, message, metadata, true);
    }
    if (*kind == "none") return nullptr;
    if (*kind == "hiera") {
        if (!provider) {
            provider = load(inv, Layer::Module, path, module->path);
            provider->module = name;
        }
        return provider;
    }
    if (*kind == "function") {
        auto made = std::make_unique<Provider>();
        made->layer = Layer::Module;
        made->module = name;
        if (options.warn_deprecated) {
            warn_once(inv, "legacy_provider_function",
                      fmt::format("Using of legacy data provider function '{}::data'. Please "
                                  "convert to a 'data_hash' function",
                                  name),
                      "", true);
        }
        made->config = std::make_shared<const Config>(
            legacy_function_config(Layer::Module, module->path, name + "::data"));
        return made;
    }
    throw base::PuppetError(fmt::format("Environment '{}', cannot find module_data_provider '{}'",
                                        environment->name(), *kind));
}

// ---- resolving a hierarchy for the current variables ----

namespace {

/// Returns the part of the root variable that is read: "os.family" for "facts.os.family".
std::string_view path_below(const Variable& variable) {
    std::string_view key = variable.key;
    return key.size() > variable.root.size() + 1 && key.starts_with(variable.root)
               ? key.substr(variable.root.size() + 1)
               : std::string_view();
}

}  // namespace

bool Lookup::Impl::stable(const Resolution& resolution, Invocation& inv) {
    for (const Variable& each : resolution.variables) {
        Found now = variable(each.root, inv, path_below(each));
        if (now && !now->is_undef() && !each.segments.empty()) {
            Invocation quiet = inv;
            quiet.explainer = nullptr;
            now = sub_lookup(each.key, quiet, each.segments, *now);
        }
        const Value was = each.value.value_or(Value::undef());
        if (!value::equal(now.value_or(Value::undef()), was)) return false;
    }
    return true;
}

Resolution& Lookup::Impl::resolve(Provider& provider, Invocation& inv) {
    auto& known = provider.known;
    if (!known.empty() && stable(*known.front(), inv)) return *known.front();
    if (!known.empty() && inv.explainer) {
        inv.explainer->text(
            "Hiera configuration recreated due to change of scope variables used in interpolation "
            "expressions");
    }
    // Plain files give the same results again, so an earlier resolution for the same variables is
    // reused. Functions are called again.
    for (std::size_t i = 1; i < known.size(); ++i) {
        if (!known[i]->flat || !stable(*known[i], inv)) continue;
        std::rotate(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(i),
                    known.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return *known.front();
    }
    constexpr std::size_t kMostKnown = 16;
    // An outer lookup may still use the last one; in that case a later change removes it.
    if (known.size() > kMostKnown && name_stack.size() <= 1) known.pop_back();
    known.insert(known.begin(), make_resolution(provider, inv));
    BUNRAKU_ASSERT(known.front());
    return *known.front();
}

std::unique_ptr<Resolution> Lookup::Impl::make_resolution(Provider& provider, Invocation& inv) {
    BUNRAKU_ASSERT(provider.config);
    auto out = std::make_unique<Resolution>();
    const Config& config = *provider.config;
    if (!config.fault.empty())
        throw LookupError(config.fault, config.fault_issue, {config.path, config.fault_line, 0});
    Invocation own = inv;
    own.explainer = nullptr;
    own.overrides = own.defaults = nullptr;
    own.record = &out->variables;
    own.config = &config;
    own.hiera3_scope = own.hiera3_scope || config.version == 3;
    try {
        auto add = [&](const std::vector<Entry>& from, std::vector<Resolved>& to) {
            for (const Entry& entry : from) {
                Resolved r = resolve_entry(provider, entry, own);
                if (config.is_default() && r.has_locations && r.locations.empty()) continue;
                to.push_back(std::move(r));
            }
        };
        add(config.hierarchy, out->entries);
        if (config.has_default_hierarchy) add(config.default_hierarchy, out->fallback);
    } catch (const base::PuppetError& error) {
        const std::string name = undefined_name(error.message());
        if (name.empty()) throw;
        throw LookupError(
            fmt::format("Undefined variable '{}'", name), "HIERA_UNDEFINED_VARIABLE",
            {config.path, line_matching(provider.text, fmt::format("%\\{{['\"]?{}['\"]?}}", name)),
             0});
    }
    // No code can set $facts, $trusted and $server_facts, so they cannot change.
    std::erase_if(out->variables, [](const Variable& v) {
        return v.value && !v.value->is_undef() &&
               (v.root == "facts" || v.root == "trusted" || v.root == "server_facts");
    });
    out->flat = true;
    for (const Resolved& r : out->entries) {
        out->flat = out->flat && r.native && r.has_locations;
        for (const Location& l : r.locations) {
            if (!l.exists) continue;
            if (l.file && l.file->error.empty()) {
                out->files.push_back(l.file);
                out->reads.push_back(l.read);
            } else {
                out->flat = false;
            }
        }
    }
    BUNRAKU_ASSERT(out->files.size() == out->reads.size());
    return out;
}

Resolved Lookup::Impl::resolve_entry(const Provider& provider, const Entry& entry,
                                     Invocation& own) {
    const Config& config = *provider.config;
    Resolved r;
    r.entry = &entry;
    r.has_locations = entry.kind != LocationKind::None;
    r.native = entry.access == Access::DataHash;
    if (entry.function == "yaml_data") {
        r.format = DataCache::Format::Yaml;
    } else if (entry.function == "json_data") {
        r.format = DataCache::Format::Json;
    } else if (entry.function == "hocon_data") {
        r.format = DataCache::Format::Hocon;
    } else {
        r.native = false;
    }
    own.quiet_variables = false;
    // Version 3 resolves folders relative to the working directory, the others relative to
    // hiera.yaml.
    const std::string declared =
        config.version == 3 ? entry.datadir : join_path(config.root, entry.datadir);
    r.datadir = interpolate_string(declared, own);
    own.quiet_variables = config.version >= 5;
    if (entry.kind == LocationKind::MappedPaths) {
        mapped_paths(r, r.datadir, entry, own);
    } else {
        for (const auto& location : entry.locations)
            add_location(r, r.datadir, entry.kind, location, own, config.is_default());
    }
    own.quiet_variables = false;
    r.options = entry.options.is_hash() ? interpolate(entry.options, own, false)
                                        : value::HashBuilder(own.arena()).build();
    // The built-in functions accept a path and no other options.
    if (r.native && !r.options.as_hash().empty()) r.native = false;
    BUNRAKU_ASSERT(r.options.is_hash() && r.contexts.empty());
    const std::size_t count = r.has_locations ? r.locations.size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
        r.contexts.push_back(std::make_unique<ContextState>());
        r.contexts.back()->module = provider.module;
    }
    return r;
}

/// Checks whether the location exists, and loads the files of built-in backends.
void Lookup::Impl::check_location(Location& location, const Resolved& r, Invocation& inv) {
    if (location.uri) {
        location.exists = true;
        return;
    }
    if (!r.native) {
        location.exists = exists(location.path);
        return;
    }
    location.read = environment->reads()->id(environment::Read::Data, location.path);
    environment->note(environment::Read::Exists, location.path);
    auto loaded = load_file(location.path, r.format);
    location.error = loaded.error;
    BUNRAKU_ASSERT(!loaded.file || loaded.error == 0);
    location.exists = loaded.file || exists(location.path);
    if (loaded.file) location.file = keep(inv.arena(), std::move(loaded.file));
}

void Lookup::Impl::add_location(Resolved& r, const std::string& datadir, LocationKind kind,
                                const std::string& declared, Invocation& inv, bool only_existing) {
    std::string text = interpolate_string(declared, inv);
    if (kind == LocationKind::Uris) {
        if (text.find_first_of(" \"<>\\^`{|}") != std::string::npos)
            throw ArgumentError(fmt::format("bad URI(is not URI?): {}", value::quote_double(text)));
        r.locations.push_back({declared, text, true, true});
        return;
    }
    const std::string& extension = r.entry->extension;
    if (!extension.empty() && !text.ends_with(extension)) text += extension;
    const std::string path = join_path(datadir, text);
    if (kind == LocationKind::Globs) {
        for (auto& match : glob_paths(*environment, path)) {
            if (environment->stat(match).directory) continue;
            Location location{path, std::move(match)};
            check_location(location, r, inv);
            location.exists = true;
            r.locations.push_back(std::move(location));
        }
        return;
    }
    Location location{declared, path};
    check_location(location, r, inv);
    if (location.exists || !only_existing) r.locations.push_back(std::move(location));
}

/// Expands [variable, name, template] to one path for every element of the variable.
void Lookup::Impl::mapped_paths(Resolved& r, const std::string& datadir, const Entry& entry,
                                Invocation& inv) {
    const Found mapped = scope_lookup(entry.locations[0], inv, "mapped_path[0]");
    if (!mapped || mapped->is_undef()) return;
    std::vector<Value> values;
    if (mapped->is_array()) {
        values.assign(mapped->as_array().begin(), mapped->as_array().end());
    } else if (mapped->is_hash()) {
        for (const auto& e : mapped->as_hash())
            values.push_back(value::make_array(inv.arena(), {e.key, e.value}));
    } else if (mapped->is_string()) {
        if (!mapped->as_string().empty()) values.push_back(*mapped);
    } else {
        std::string shown = value::to_text(*mapped);
        throw ArgumentError(fmt::format("undefined method `empty?' for {}:{}", shown,
                                        mapped->is_integer() ? "Integer"
                                        : mapped->is_float() ? "Float"
                                        : mapped->truthy()   ? "TrueClass"
                                                             : "FalseClass"));
    }
    const std::string& name = entry.locations[1];
    for (const Value& v : values) {
        Scope* local = inv.in.new_scope(evaluator::ScopeKind::Local, &inv.scope);
        local->set_local(base::Symbol::intern(name), v);
        Invocation with{inv.in, *local};
        with.config = inv.config;
        with.quiet_variables = inv.quiet_variables;
        with.hiera3_scope = inv.hiera3_scope;
        std::vector<Variable> read;
        with.record = &read;
        Location location{entry.locations[2],
                          join_path(datadir, interpolate_string(entry.locations[2], with))};
        for (auto& item : read) {
            if (item.root != name && inv.record) inv.record->push_back(std::move(item));
        }
        check_location(location, r, inv);
        r.locations.push_back(std::move(location));
    }
}

}  // namespace bunraku::hiera
