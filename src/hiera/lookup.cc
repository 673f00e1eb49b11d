#include "hiera/lookup.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <glob.h>
#include <set>
#include <sys/stat.h>

#include "regex/regex.h"
#include "types/mismatch.h"
#include "types/object.h"
#include "value/build.h"

namespace bunraku::hiera {

using evaluator::Callable;
using evaluator::Interpreter;
using evaluator::Scope;
using Step = Explainer::Step;
using NodeKind = ExplainNode::Kind;
using Event = ExplainNode::Event;
using Found = std::optional<Value>;

namespace {

constexpr std::string_view kLookupOptions = "lookup_options";

/// Thrown by Puppet::LookupContext#not_found, caught where the data function was called.
struct NotFound {};

struct Location {
    std::string original;
    std::string path;  ///< or the URI
    bool exists = false;
    bool uri = false;
};

/// What a function sees of one location: its options, and a cache of its own.
struct ContextState {
    Value object;
    std::string module;
    std::vector<std::pair<Value, Value>> cache;
    std::map<std::string, Found> answers;  ///< of lookup_key and data_dig functions
    std::optional<Value> hash;             ///< of data_hash functions
};

/// An entry of the hierarchy with everything interpolated.
struct Resolved {
    const Entry* entry = nullptr;
    std::vector<Location> locations;
    bool has_locations = false;
    Value options;
    std::vector<std::unique_ptr<ContextState>> contexts;  ///< one a location, or one
};

struct Provider {
    Config config;
    std::string module;  ///< empty: not the module layer
    struct Resolution {
        bool done = false;
        std::vector<Resolved> entries;
        std::vector<std::pair<std::string, Found>> variables;  ///< what the interpolation read
    };
    Resolution main, fallback;
    std::string name() const {
        std::string out = config.layer == Layer::Global        ? "Global "
                          : config.layer == Layer::Environment ? "Environment "
                                                               : "Module \"" + module + "\" ";
        return out + "Data Provider (" + config.name() + ")";
    }
};

/// One call of lookup and everything nested in it.
struct Invocation {
    Interpreter& in;
    Scope& scope;
    const value::HashRep* overrides = nullptr;
    const value::HashRep* defaults = nullptr;
    Explainer* explainer = nullptr;
    std::string module;  ///< of the key looked up
    std::string top_key;
    bool global_only = false;
    bool hiera_call = false;
    bool hiera3_scope = false;
    bool hiera3_merge = false;
    bool quiet_variables = false;  ///< unset variables in hiera.yaml's paths are no error
    std::vector<std::string> location_overrides;
    std::vector<std::pair<std::string, Found>>* record = nullptr;  ///< variables read
};

}  // namespace

struct Lookup::Impl {
    std::shared_ptr<const environment::Environment> environment;
    std::shared_ptr<DataCache> cache;
    LookupOptions options;

    std::vector<std::string> name_stack;  ///< keys being looked up, for the recursion check
    std::unique_ptr<Provider> global, environment_provider;
    bool environment_loaded = false;
    std::map<std::string, std::unique_ptr<Provider>, std::less<>> modules;

    struct KeyOptions {
        Value by_key;  ///< a hash, or undef
        std::vector<std::pair<std::shared_ptr<const regex::Regex>, Value>> patterns;
    };
    std::map<std::string, std::optional<KeyOptions>, std::less<>>
        lookup_options;  ///< by module; "" is none
    std::map<std::string, std::optional<KeyOptions>, std::less<>> default_options;
    std::optional<Found> global_options, environment_options;
    std::vector<std::shared_ptr<const DataCache::File>> kept;  ///< data that values point into
    std::set<std::string> warned;
    std::vector<std::pair<const value::Extension*, std::pair<ContextState*, Invocation*>>> contexts;

    // ---- recursion ----

    struct NameGuard {
        std::vector<std::string>& stack;
        ~NameGuard() { stack.pop_back(); }
    };
    NameGuard check(std::string name) {
        if (std::find(name_stack.begin(), name_stack.end(), name) != name_stack.end()) {
            throw base::PuppetError(
                fmt::format("Recursive lookup detected in [{}]", fmt::join(name_stack, ", ")));
        }
        if (name_stack.size() > 200) throw base::PuppetError("Lookups are nested too deeply");
        name_stack.push_back(std::move(name));
        return {name_stack};
    }

    // ---- merging over several places ----

    template <class F>
    Found over(const MergeStrategy& strategy, std::size_t n, Invocation& inv, F&& find) {
        if (strategy.first_found()) {
            for (std::size_t i = 0; i < n; ++i) {
                if (Found v = find(i)) return v;
            }
            return std::nullopt;
        }
        auto& ctx = inv.in.types();
        if (n == 0) return std::nullopt;
        if (n == 1) {
            Found v = find(0);
            if (v) v = strategy.only_one(ctx, *v);
            return v;
        }
        Step step(inv.explainer, NodeKind::Merge, std::string(strategy.name()));
        if (step.node()) step.node()->options = strategy.extra_options(ctx.arena);
        Found result;
        for (std::size_t i = 0; i < n; ++i) {
            Found v = find(i);
            if (!v) continue;
            result = result ? strategy.merge(ctx, *result, *v) : strategy.first_of_many(ctx, *v);
        }
        if (result && inv.explainer) inv.explainer->result(*result);
        return result;
    }

    // ---- digging ----

    Found dig(const Key& key, Invocation& inv, const Found& value) {
        if (!value || key.segments.empty()) return value;
        return sub_lookup(key.text, inv, key.segments, *value);
    }

    Found sub_lookup(std::string_view key, Invocation& inv, std::span<const Value> segments,
                     Value data) {
        Step step(inv.explainer, NodeKind::SubLookup, join_segments(segments));
        for (const Value& segment : segments) {
            const std::string text = value::to_text(segment);
            Step inner(inv.explainer, NodeKind::Segment, text);
            const Value* next = nullptr;
            if (!data.is_undef()) {
                if (segment.is_integer() && data.is_array()) {
                    const auto i = segment.as_integer();
                    if (i >= 0 && i < static_cast<std::int64_t>(data.as_array().size())) {
                        next = &data.as_array()[static_cast<std::size_t>(i)];
                    }
                } else if (data.is_hash()) {
                    next = data.as_hash().find(segment);
                } else {
                    throw base::PuppetError(
                        fmt::format("Data Provider type mismatch: Got {} when a hash-like object "
                                    "was expected to access value "
                                    "using '{}' from key '{}'",
                                    data.is_string()    ? "String"
                                    : data.is_integer() ? "Integer"
                                    : data.is_array()   ? "Array"
                                    : data.is_float()   ? "Float"
                                    : data.truthy()     ? "TrueClass"
                                                        : "FalseClass",
                                    text, key));
                }
            }
            if (!next) {
                if (inv.explainer) inv.explainer->not_found(text);
                return std::nullopt;
            }
            data = *next;
            if (inv.explainer) inv.explainer->found(text, data);
        }
        return data;
    }

    // ---- interpolation ----

    Value interpolate(const Value& v, Invocation& inv, bool methods) {
        if (v.is_string()) {
            return v.as_string().find("%{") == std::string_view::npos
                       ? v
                       : interpolate_text(v.as_string(), inv, methods);
        }
        if (v.is_array()) {
            std::vector<Value> out;
            out.reserve(v.as_array().size());
            for (const Value& item : v.as_array()) out.push_back(interpolate(item, inv, methods));
            return value::make_array(inv.in.arena(), out);
        }
        if (v.is_hash()) {
            value::HashBuilder out(inv.in.arena(), v.as_hash().size());
            for (const auto& [key, item] : v.as_hash()) {
                out.set(interpolate(key, inv, methods), interpolate(item, inv, methods));
            }
            return out.build();
        }
        return v;
    }

    std::string interpolate_string(std::string_view s, Invocation& inv) {
        return value::to_text(interpolate(Value::string(s), inv, false));
    }

    Value interpolate_text(std::string_view subject, Invocation& inv, bool methods) {
        Step step(inv.explainer, NodeKind::Interpolate, std::string(subject));
        std::string out;
        std::size_t at = 0;
        while (at < subject.size()) {
            const auto start = subject.find("%{", at);
            const auto end = start == std::string_view::npos ? start : subject.find('}', start);
            if (end == std::string_view::npos) break;
            out += subject.substr(at, start - at);
            std::string_view expr = subject.substr(start + 2, end - start - 2);
            while (!expr.empty() && (expr.front() == ' ' || expr.front() == '\t'))
                expr.remove_prefix(1);
            while (!expr.empty() && (expr.back() == ' ' || expr.back() == '\t'))
                expr.remove_suffix(1);
            at = end + 1;
            if (expr.empty() || expr == "::" || expr == "\"\"" || expr == "''" ||
                expr == "\"::\"" || expr == "'::'") {
                continue;
            }
            auto [method, key] = method_of(expr, methods);
            Value v;
            if (method == "alias") {
                if (start != 0 || end + 1 != subject.size()) {
                    throw base::PuppetError(
                        "'alias' interpolation is only permitted if the expression is equal to the "
                        "entire string",
                        "HIERA_INTERPOLATION_ALIAS_NOT_ENTIRE_STRING");
                }
                return global_lookup(key, inv);
            }
            if (method == "scope") {
                v = scope_lookup(key, inv, subject).value_or(Value::undef());
            } else if (method == "lookup" || method == "hiera") {
                v = global_lookup(key, inv);
            } else if (method == "literal") {
                v = value::make_string(inv.in.arena(), key);
            } else {
                throw base::PuppetError(fmt::format("Unknown interpolation method '{}'", method),
                                        "HIERA_INTERPOLATION_UNKNOWN_INTERPOLATION_METHOD");
            }
            {
                auto guard =
                    check(method == "scope" ? fmt::format("scope:{}", key) : std::string(key));
                v = interpolate(v, inv, methods);
            }
            value::print(out, v);
        }
        out += subject.substr(std::min(at, subject.size()));
        return value::make_string(inv.in.arena(), out);
    }

    /// "lookup('a')" is a method with its argument, anything else a variable.
    std::pair<std::string_view, std::string_view> method_of(std::string_view expr, bool allowed) {
        const auto open = expr.find('(');
        if (open != std::string_view::npos && open > 0 && expr.ends_with(')') &&
            expr.size() > open + 4) {
            const char quote = expr[open + 1];
            const std::string_view name = expr.substr(0, open);
            const std::string_view inner = expr.substr(open + 2, expr.size() - open - 4);
            const bool word = std::all_of(name.begin(), name.end(), [](char c) {
                return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
            });
            if (word && (quote == '\'' || quote == '"') && expr[expr.size() - 2] == quote &&
                inner.find(quote) == std::string_view::npos) {
                if (!allowed) {
                    throw base::PuppetError(
                        "Interpolation using method syntax is not allowed in this context",
                        "HIERA_INTERPOLATION_METHOD_SYNTAX_NOT_ALLOWED");
                }
                return {name, inner};
            }
        }
        return {"scope", expr};
    }

    Value global_lookup(std::string_view key, Invocation& outer) {
        Invocation inv = outer;
        inv.record = nullptr;
        inv.quiet_variables = false;
        if (!inv.global_only) inv.hiera3_scope = false;
        if (inv.overrides) {
            if (const Value* v = inv.overrides->find(key)) return *v;
        }
        if (Found v = search(key, inv, Value::undef())) return *v;
        if (inv.defaults) {
            if (const Value* v = inv.defaults->find(key)) return *v;
        }
        return Value::string("");
    }

    Found variable(std::string_view name, Invocation& inv) {
        if (inv.hiera3_scope) {
            if (name == "calling_class" || name == "calling_class_path") {
                std::string text(inv.scope.base().name);
                if (text.empty()) return std::nullopt;
                if (name == "calling_class_path") {
                    for (auto at = text.find("::"); at != std::string::npos; at = text.find("::"))
                        text.replace(at, 2, "/");
                }
                return value::make_string(inv.in.arena(), text);
            }
            if (name == "calling_module") name = "module_name";
        }
        return inv.in.lookup_variable(inv.scope, name);
    }

    Found scope_lookup(std::string_view key, Invocation& inv, std::string_view subject) {
        std::vector<Value> parts;
        if (!split_dotted(inv.in.arena(), key, parts)) {
            throw base::PuppetError(fmt::format("Syntax error in string: {}", subject));
        }
        const std::string root = value::to_text(parts.front());
        Found v;
        {
            Step step(inv.explainer, NodeKind::Scope, "Global Scope");
            const Value* given = inv.overrides ? inv.overrides->find(root) : nullptr;
            if (given) {
                v = *given;
                if (inv.explainer) inv.explainer->found(root, *v, Event::FoundInOverrides);
            } else {
                v = variable(root, inv);
                const Value* fallback = inv.defaults ? inv.defaults->find(root) : nullptr;
                if (v) {
                    if (inv.explainer) inv.explainer->found(root, *v);
                } else if (fallback) {
                    v = *fallback;
                    if (inv.explainer) inv.explainer->found(root, *v, Event::FoundInDefaults);
                } else if (root.empty() || !std::isdigit(static_cast<unsigned char>(root[0]))) {
                    unset_variable(root, inv);
                }
            }
        }
        if (v && !v->is_undef() && parts.size() > 1) {
            v = sub_lookup(key, inv, std::span(parts).subspan(1), *v);
        }
        if (inv.record) inv.record->push_back({std::string(key), v});
        return v;
    }

    void unset_variable(const std::string& name, Invocation& inv) {
        if (name == "module_name" || name == "caller_module_name") return;
        if (!options.warn_deprecated) return;
        if (options.strict_error && !inv.quiet_variables) {
            throw base::PuppetError(fmt::format("Undefined variable '{}'; ", name));
        }
        const std::string message =
            options.strict_error
                ? fmt::format("Interpolation failed with '{}', but compilation continuing; ", name)
                : fmt::format("Undefined variable '{}'; ", name);
        if (warned.insert(message).second) inv.in.log().log(base::Level::Warning, message);
    }

    // ---- configurations ----

    std::unique_ptr<Provider> load(Invocation& inv, Layer layer, const std::string& path,
                                   const std::string& root) {
        auto provider = std::make_unique<Provider>();
        auto file = cache->load(path, DataCache::Format::Yaml, true);
        if (file) {
            kept.push_back(file);
            if (!file->error.empty())
                throw base::PuppetError(fmt::format("Unable to parse {}", file->error));
        }
        auto& ctx = inv.in.types();
        if (file && !file->data.is_hash()) {
            inv.in.log().log(
                base::Level::Warning,
                fmt::format(
                    "{}: File exists but does not contain a valid YAML hash. Falling back to "
                    "Hiera version 3 default config",
                    path));
            value::HashBuilder empty(ctx.arena);
            provider->config =
                make_config(ctx, layer, path, root, empty.build(), "", options.codedir);
        } else {
            provider->config = make_config(
                ctx, layer, file ? path : "", root, file ? file->data : Value::undef(),
                file ? std::string_view(file->text) : std::string_view(), options.codedir);
        }
        if (provider->config.version < 5 && options.warn_deprecated) {
            const std::string message = fmt::format(
                "{}: Use of 'hiera.yaml' version {} is deprecated. It should be converted to "
                "version 5",
                path, provider->config.version);
            if (warned.insert(message).second) {
                inv.in.log().log({.level = base::Level::Warning,
                                  .message = message,
                                  .where = {path, 0, 0},
                                  .deprecation = true});
            }
        }
        return provider;
    }

    Provider& global_provider(Invocation& inv) {
        if (!global) {
            const auto slash = options.hiera_config.rfind('/');
            global = load(inv, Layer::Global, options.hiera_config,
                          slash == std::string::npos ? "." : options.hiera_config.substr(0, slash));
        }
        return *global;
    }

    /// Versions 3 belong to the global layer alone.
    bool usable(const Provider& provider, Invocation& inv, std::string_view where,
                std::string_view at) {
        if (provider.config.version > 3) return true;
        if (options.strict_error) {
            base::PuppetError error(fmt::format("hiera.yaml version 3 cannot be used in {} {}",
                                                where == "environment" ? "an" : "a", where),
                                    "HIERA_VERSION_3_NOT_GLOBAL", base::PuppetError::Class::Plain);
            error.at({provider.config.path, 0, 0});
            throw error;
        }
        const std::string message =
            fmt::format("hiera.yaml version 3 found at {} root was ignored", at);
        if (warned.insert(message).second) inv.in.log().log(base::Level::Warning, message);
        return false;
    }

    Provider* env_provider(Invocation& inv) {
        if (environment_loaded) return environment_provider.get();
        environment_loaded = true;
        if (environment->directory().empty()) return nullptr;
        const std::string path = environment->directory() + "/hiera.yaml";
        const auto kind = environment->conf("environment_data_provider");
        struct stat st{};
        if (::stat(path.c_str(), &st) != 0 && !(kind && *kind == "hiera")) return nullptr;
        auto provider = load(inv, Layer::Environment, path, environment->directory());
        if (usable(*provider, inv, "environment", "the environment"))
            environment_provider = std::move(provider);
        return environment_provider.get();
    }

    Provider* module_provider(Invocation& inv, const std::string& name) {
        if (auto it = modules.find(name); it != modules.end()) return it->second.get();
        auto& slot = modules[name];
        const auto* module = environment->module(name);
        if (!module) return nullptr;
        const std::string path = module->path + "/hiera.yaml";
        struct stat st{};
        if (::stat(path.c_str(), &st) != 0) return nullptr;
        auto provider = load(inv, Layer::Module, path, module->path);
        provider->module = name;
        if (usable(*provider, inv, "module", "module")) slot = std::move(provider);
        return slot.get();
    }

    // ---- resolving a hierarchy for the present variables ----

    bool stable(const Provider::Resolution& resolution, Invocation& inv) {
        Invocation quiet = inv;
        quiet.explainer = nullptr;
        quiet.quiet_variables = true;
        quiet.record = nullptr;
        for (const auto& [key, old] : resolution.variables) {
            const Found now = scope_lookup(key, quiet, key);
            if (now.has_value() != old.has_value() || (now && !value::equal(*now, *old)))
                return false;
        }
        return true;
    }

    Provider::Resolution& resolve(Provider& provider, Invocation& inv, bool fallback) {
        auto& resolution = fallback ? provider.fallback : provider.main;
        if (resolution.done && stable(resolution, inv)) return resolution;
        if (resolution.done && inv.explainer) {
            inv.explainer->text(
                "Hiera configuration recreated due to change of scope variables used in "
                "interpolation expressions");
        }
        resolution = {};
        Invocation own = inv;
        own.explainer = nullptr;
        own.record = &resolution.variables;
        own.hiera3_scope = own.hiera3_scope || provider.config.version == 3;
        const auto& entries =
            fallback ? provider.config.default_hierarchy : provider.config.hierarchy;
        for (const Entry& entry : entries) {
            Resolved r;
            r.entry = &entry;
            own.quiet_variables = false;
            const std::string declared = entry.datadir.starts_with('/')
                                             ? entry.datadir
                                             : provider.config.root + "/" + entry.datadir;
            std::string datadir = interpolate_string(declared, own);
            while (datadir.size() > 1 && datadir.ends_with('/')) datadir.pop_back();
            own.quiet_variables = true;
            r.has_locations = entry.kind != LocationKind::None;
            for (std::size_t i = 0; i < entry.locations.size(); ++i) {
                if (entry.kind == LocationKind::MappedPaths) {
                    mapped_paths(r, datadir, entry, own);
                    break;
                }
                add_location(r, datadir, entry.kind, entry.locations[i], entry.extension, own,
                             provider.config.is_default());
            }
            own.quiet_variables = false;
            if (provider.config.is_default() && r.has_locations && r.locations.empty()) continue;
            r.options = entry.options.is_hash() ? interpolate(entry.options, own, false)
                                                : value::HashBuilder(inv.in.arena()).build();
            const std::size_t contexts = r.has_locations ? r.locations.size() : 1;
            for (std::size_t i = 0; i < contexts; ++i) {
                r.contexts.push_back(std::make_unique<ContextState>());
                r.contexts.back()->module = provider.module;
            }
            resolution.entries.push_back(std::move(r));
        }
        resolution.done = true;
        return resolution;
    }

    static bool exists(const std::string& path) {
        struct stat st{};
        return ::stat(path.c_str(), &st) == 0;
    }

    void add_location(Resolved& r, const std::string& datadir, LocationKind kind,
                      const std::string& declared, const std::string& extension, Invocation& inv,
                      bool only_existing) {
        std::string text = interpolate_string(declared, inv);
        if (kind == LocationKind::Uris) {
            r.locations.push_back({declared, text, true, true});
            return;
        }
        if (!extension.empty() && !text.ends_with(extension)) text += extension;
        const std::string path = text.starts_with('/') ? text : datadir + "/" + text;
        if (kind == LocationKind::Globs) {
            glob_t matches{};
            if (::glob(path.c_str(), GLOB_BRACE, nullptr, &matches) == 0) {
                for (std::size_t i = 0; i < matches.gl_pathc; ++i) {
                    struct stat st{};
                    if (::stat(matches.gl_pathv[i], &st) == 0 && !S_ISDIR(st.st_mode)) {
                        r.locations.push_back({path, matches.gl_pathv[i], true, false});
                    }
                }
            }
            ::globfree(&matches);
            return;
        }
        const bool there = exists(path);
        if (there || !only_existing) r.locations.push_back({declared, path, there, false});
    }

    /// [variable, name, template]: one path for every element of the variable.
    void mapped_paths(Resolved& r, const std::string& datadir, const Entry& entry,
                      Invocation& inv) {
        const Found mapped = scope_lookup(entry.locations[0], inv, "mapped_path[0]");
        if (!mapped || mapped->is_undef()) return;
        std::vector<Value> values;
        if (mapped->is_array())
            values.assign(mapped->as_array().begin(), mapped->as_array().end());
        else if (!(mapped->is_string() && mapped->as_string().empty()))
            values.push_back(*mapped);
        for (const Value& v : values) {
            Scope* local = inv.in.new_scope(evaluator::ScopeKind::Local, &inv.scope);
            local->set_local(base::Symbol::intern(entry.locations[1]), v);
            Invocation with{inv.in, *local};
            with.overrides = inv.overrides;
            with.defaults = inv.defaults;
            with.quiet_variables = true;
            std::vector<std::pair<std::string, Found>> read;
            with.record = &read;
            const std::string text = interpolate_string(entry.locations[2], with);
            if (inv.record) {
                for (auto& item : read) {
                    if (item.first != entry.locations[1] &&
                        !item.first.starts_with(entry.locations[1] + ".")) {
                        inv.record->push_back(item);
                    }
                }
            }
            const std::string path = text.starts_with('/') ? text : datadir + "/" + text;
            r.locations.push_back({entry.locations[2], path, exists(path), false});
        }
    }

    // ---- one provider ----

    Found provider_lookup(Provider& provider, const Key& key, Invocation& inv,
                          const MergeStrategy& strategy, bool fallback = false) {
        Step step(inv.explainer, NodeKind::DataProvider, provider.name(), provider.config.path);
        auto& resolution = resolve(provider, inv, fallback);
        if (resolution.entries.empty()) {
            if (inv.explainer) inv.explainer->not_found(key.text);
            return std::nullopt;
        }
        return over(strategy, resolution.entries.size(), inv, [&](std::size_t i) {
            return entry_lookup(provider, resolution.entries[i], key, inv, strategy);
        });
    }

    Found entry_lookup(Provider& provider, Resolved& entry, const Key& key, Invocation& inv,
                       const MergeStrategy& strategy) {
        Step step(inv.explainer, NodeKind::DataProvider,
                  "Hierarchy entry \"" + entry.entry->name + "\"");
        if (!entry.has_locations) return ask(provider, entry, 0, nullptr, key, inv, strategy);
        if (inv.location_overrides.empty() || provider.config.version != 3) {
            return over(strategy, entry.locations.size(), inv, [&](std::size_t i) {
                return ask_location(provider, entry, i, entry.locations[i], key, inv, strategy);
            });
        }
        // hiera(key, default, 'override'): that level comes before all others.
        Resolved more;
        more.entry = entry.entry;
        Invocation own = inv;
        own.hiera3_scope = true;
        own.explainer = nullptr;
        const std::string datadir = interpolate_string(entry.entry->datadir, own);
        for (const auto& text : inv.location_overrides) {
            add_location(more, datadir, LocationKind::Paths, text, entry.entry->extension, own,
                         false);
        }
        more.options = entry.options;
        for (std::size_t i = 0; i < more.locations.size(); ++i)
            more.contexts.push_back(std::make_unique<ContextState>());
        const std::size_t first = more.locations.size();
        return over(strategy, first + entry.locations.size(), inv, [&](std::size_t i) {
            return i < first
                       ? ask_location(provider, more, i, more.locations[i], key, inv, strategy)
                       : ask_location(provider, entry, i - first, entry.locations[i - first], key,
                                      inv, strategy);
        });
    }

    Found ask_location(Provider& provider, Resolved& entry, std::size_t i, const Location& location,
                       const Key& key, Invocation& inv, const MergeStrategy& strategy) {
        Step step(inv.explainer, location.uri ? NodeKind::Uri : NodeKind::Path, location.path,
                  location.original);
        if (!location.exists) {
            if (inv.explainer) inv.explainer->event(Event::LocationNotFound);
            return std::nullopt;
        }
        return ask(provider, entry, i, &location, key, inv, strategy);
    }

    std::string described(const Resolved& entry, const Location* location, std::string_view what) {
        std::string out = fmt::format("{}{} function '{}'", what, access_name(entry.entry->access),
                                      entry.entry->function);
        if (location) out += fmt::format(", when using location '{}',", location->path);
        return out;
    }

    Value call_options(const Resolved& entry, const Location* location, Invocation& inv) {
        value::HashBuilder out(inv.in.arena());
        out.merge(entry.options.as_hash());
        if (location)
            out.set(location->uri ? "uri" : "path",
                    value::make_string(inv.in.arena(), location->path));
        return out.build();
    }

    Found ask(Provider& provider, Resolved& entry, std::size_t i, const Location* location,
              const Key& key, Invocation& inv, const MergeStrategy&) {
        ContextState& state = *entry.contexts[i];
        auto not_found = [&](std::string_view k) -> Found {
            if (inv.explainer) inv.explainer->not_found(k);
            return std::nullopt;
        };
        switch (entry.entry->access) {
            case Access::DataHash: {
                if (!state.hash) state.hash = data_hash(provider, entry, location, state, inv);
                const Value* v = state.hash->as_hash().find(key.root);
                if (!v) return not_found(key.root);
                const Value result = interpolate(*v, inv, true);
                if (inv.explainer) inv.explainer->found(key.root, result);
                return result;
            }
            case Access::LookupKey: {
                auto it = state.answers.find(key.root);
                if (it == state.answers.end()) {
                    const Value args[] = {value::make_string(inv.in.arena(), key.root),
                                          call_options(entry, location, inv), context(state, inv)};
                    it = state.answers
                             .emplace(key.root, call(entry, location, args, state, inv, key.root))
                             .first;
                }
                if (!it->second) return not_found(key.root);
                if (inv.explainer) inv.explainer->found(key.root, *it->second);
                return it->second;
            }
            case Access::DataDig: {
                auto it = state.answers.find(key.text);
                if (it == state.answers.end()) {
                    std::vector<Value> path{value::make_string(inv.in.arena(), key.root)};
                    path.insert(path.end(), key.segments.begin(), key.segments.end());
                    const Value args[] = {value::make_array(inv.in.arena(), path),
                                          call_options(entry, location, inv), context(state, inv)};
                    it = state.answers
                             .emplace(key.text, call(entry, location, args, state, inv, key.text))
                             .first;
                }
                if (!it->second) return not_found(key.text);
                if (inv.explainer) inv.explainer->found(key.text, *it->second);
                return undig(key, *it->second, inv);
            }
            case Access::Hiera3Backend: break;
        }
        if (inv.explainer)
            inv.explainer->text(fmt::format("Unable to load backend '{}'", entry.entry->function));
        return std::nullopt;
    }

    /// The value put back under its segments: what found it will dig again.
    Value undig(const Key& key, Value v, Invocation& inv) {
        for (auto it = key.segments.rbegin(); it != key.segments.rend(); ++it) {
            if (it->is_integer() && it->as_integer() >= 0 && it->as_integer() < 100000) {
                std::vector<Value> items(static_cast<std::size_t>(it->as_integer()) + 1);
                items.back() = v;
                v = value::make_array(inv.in.arena(), items);
            } else {
                value::HashBuilder hash(inv.in.arena());
                hash.set(*it, v);
                v = hash.build();
            }
        }
        return v;
    }

    Value data_hash(Provider& provider, const Resolved& entry, const Location* location,
                    ContextState& state, Invocation& inv) {
        const std::string& function = entry.entry->function;
        Value data;
        if (function == "yaml_data" || function == "json_data") {
            data = file_data(entry, location, inv);
        } else if (function == "hocon_data") {
            throw base::PuppetError(
                "Lookup using Hocon data_hash function is not supported without hocon library");
        } else {
            const Value args[] = {call_options(entry, location, inv), context(state, inv)};
            const Found v = call(entry, location, args, state, inv, {});
            data = v.value_or(value::HashBuilder(inv.in.arena()).build());
            if (!data.is_hash()) {
                throw base::PuppetError(types::describe_mismatch(
                    inv.in.types(),
                    described(entry, location, "Value returned from ") + " has wrong type,",
                    types::parse_type(inv.in.types(), "Hash"), data));
            }
        }
        if (provider.config.layer != Layer::Module) return data;
        // A module's data may speak of the module's own keys only.
        const std::string prefix = provider.module + "::";
        value::HashBuilder own(inv.in.arena(), data.as_hash().size());
        for (const auto& e : data.as_hash()) {
            const std::string name = value::to_text(e.key);
            if (name == kLookupOptions || name.starts_with(prefix)) {
                own.set(e.key, e.value);
                continue;
            }
            inv.in.log().log(
                base::Level::Warning,
                fmt::format(
                    "Module '{}': {} must use keys qualified with the name of the module; got {}",
                    provider.module, described(entry, location, "Value returned from "), name));
        }
        return own.build();
    }

    Value file_data(const Resolved& entry, const Location* location, Invocation& inv) {
        const std::string& function = entry.entry->function;
        if (!location || location->uri) {
            throw base::PuppetError(fmt::format(
                "'{}' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in "
                "hiera.yaml when using this data_hash function",
                function));
        }
        const bool yaml = function == "yaml_data";
        auto file =
            cache->load(location->path, yaml ? DataCache::Format::Yaml : DataCache::Format::Json);
        if (!file) throw base::PuppetError(fmt::format("Unable to read {}", location->path));
        kept.push_back(file);
        if (!file->error.empty()) {
            throw base::PuppetError(
                yaml ? fmt::format("Unable to parse {}", file->error)
                     : fmt::format("Unable to parse ({}): {}", location->path, file->error));
        }
        if (file->data.is_hash()) return file->data;
        const bool empty =
            file->data.is_undef() || (file->data.is(value::Kind::Boolean) && !file->data.truthy());
        const std::string message = fmt::format("{}: file does not contain a valid {} hash",
                                                location->path, yaml ? "yaml" : "json");
        if (options.strict_error && !empty) throw base::PuppetError(message);
        if (warned.insert(message).second) inv.in.log().log(base::Level::Warning, message);
        return value::HashBuilder(inv.in.arena()).build();
    }

    // ---- functions written by users ----

    Value context(ContextState& state, Invocation& inv) {
        if (state.object.is_undef()) {
            auto& ctx = inv.in.types();
            const Value values[] = {state.module.empty()
                                        ? Value::undef()
                                        : value::make_string(ctx.arena, state.module)};
            const auto* type =
                types::as_object_type(types::builtin_object_type("Puppet::LookupContext"));
            state.object = types::make_object_unchecked(ctx, type, values);
        }
        return state.object;
    }

    Found call(const Resolved& entry, const Location*, std::span<const Value> args,
               ContextState& state, Invocation& inv, std::string_view) {
        const std::string& function = entry.entry->function;
        if (function == "eyaml_lookup_key") {
            throw base::PuppetError(
                "Lookup using eyaml lookup_key function is only supported when the hiera_eyaml "
                "library is present");
        }
        if (!inv.in.function_exists(function)) {
            throw base::PuppetError(fmt::format("Unable to find '{}' function named '{}'",
                                                access_name(entry.entry->access), function),
                                    "HIERA_DATA_PROVIDER_FUNCTION_NOT_FOUND");
        }
        contexts.push_back({state.object.as_extension(), {&state, &inv}});
        struct Pop {
            decltype(contexts)& list;
            ~Pop() { list.pop_back(); }
        } pop{contexts};
        try {
            return inv.in.call_function(function, args, inv.scope);
        } catch (const NotFound&) {
            return std::nullopt;
        }
    }

    // ---- the three layers ----

    Found lookup_global(const Key& key, Invocation& outer, const MergeStrategy& strategy) {
        try {
            Provider& provider = global_provider(outer);
            auto guard = check(key.text);
            if (provider.config.version != 3 || outer.hiera3_scope)
                return provider_lookup(provider, key, outer, strategy);
            Invocation inv = outer;
            inv.hiera3_scope = true;
            Provider* env = env_provider(outer);
            if (!(env && env->config.version >= 5)) inv.global_only = true;
            MergeStrategy own = strategy;
            if (!provider.config.merge_behavior.is_undef() && inv.hiera_call &&
                strategy.kind == MergeStrategy::Kind::Hash) {
                own = MergeStrategy::from(inv.in.types(), provider.config.merge_behavior);
                inv.hiera3_merge = true;
            }
            return provider_lookup(provider, key, inv, own);
        } catch (base::PuppetError& error) {
            if (!error.issue_code().empty() || error.located()) throw;
            if (error.message().starts_with("Lookup of key '")) throw;
            throw base::PuppetError(
                fmt::format("Lookup of key '{}' failed: {}", outer.top_key, error.message()));
        }
    }

    Found lookup_environment(const Key& key, Invocation& inv, const MergeStrategy& strategy) {
        Provider* provider = env_provider(inv);
        if (!provider) return std::nullopt;
        auto guard = check(key.text);
        return provider_lookup(*provider, key, inv, strategy);
    }

    Found lookup_module(const Key& key, Invocation& inv, const MergeStrategy& strategy) {
        if (inv.module.empty()) return std::nullopt;
        Provider* provider = module_provider(inv, inv.module);
        if (!provider) {
            if (inv.explainer) {
                inv.explainer->module(inv.module, environment->module(inv.module)
                                                      ? Event::ModuleProviderNotFound
                                                      : Event::ModuleNotFound);
            }
            return std::nullopt;
        }
        auto guard = check(key.text);
        return provider_lookup(*provider, key, inv, strategy);
    }

    Found do_lookup(const Key& key, Invocation& inv, const Value& merge) {
        const MergeStrategy strategy = MergeStrategy::from(inv.in.types(), merge);
        if (inv.global_only) return dig(key, inv, lookup_global(key, inv, strategy));
        return dig(key, inv, over(strategy, 3, inv, [&](std::size_t i) {
                       return i == 0   ? lookup_global(key, inv, strategy)
                              : i == 1 ? lookup_environment(key, inv, strategy)
                                       : lookup_module(key, inv, strategy);
                   }));
    }

    // ---- lookup_options ----

    void validate_options(const Found& given, const std::string& module) {
        if (!given) return;
        if (!given->is_hash()) throw base::PuppetError("value of lookup_options must be a hash");
        if (module.empty()) return;
        const std::string prefix = module + "::";
        for (const auto& e : given->as_hash()) {
            const std::string key = value::to_text(e.key);
            if (key.starts_with('^')) {
                if (!std::string_view(key).substr(1).starts_with(prefix)) {
                    throw base::PuppetError(
                        fmt::format("all lookup_options patterns must match a key starting with "
                                    "module name '{}'",
                                    module));
                }
            } else if (!key.starts_with(prefix)) {
                throw base::PuppetError(fmt::format(
                    "all lookup_options keys must start with module name '{}'", module));
            }
        }
    }

    std::optional<KeyOptions> compile_options(const Found& given, Invocation& inv) {
        if (!given || !given->is_hash()) return std::nullopt;
        KeyOptions out;
        value::HashBuilder by_key(inv.in.arena());
        for (const auto& e : given->as_hash()) {
            const std::string key = value::to_text(e.key);
            if (!key.starts_with('^')) {
                by_key.set(e.key, e.value);
                continue;
            }
            auto re = regex::Regex::cached(key);
            if (!re) throw base::PuppetError(re.error().message);
            out.patterns.emplace_back(*re, e.value);
        }
        if (by_key.size()) out.by_key = by_key.build();
        return out;
    }

    static Value option_of(const std::optional<KeyOptions>& all, const std::string& root) {
        if (!all) return Value::undef();
        if (all->by_key.is_hash()) {
            if (const Value* v = all->by_key.as_hash().find(root); v && !v->is_undef()) return *v;
        }
        for (const auto& [re, v] : all->patterns) {
            if (re->matches(root)) return v;
        }
        return Value::undef();
    }

    Found options_of_layers(Invocation& inv, const Key& key, const MergeStrategy& strategy) {
        if (!global_options) {
            global_options = Found();
            *global_options = lookup_global(key, inv, strategy);
            validate_options(*global_options, "");
        }
        if (inv.global_only) return *global_options;
        if (!environment_options) {
            environment_options = Found();
            Found own = lookup_environment(key, inv, strategy);
            validate_options(own, "");
            if (!*global_options)
                *environment_options = own;
            else if (!own)
                *environment_options = *global_options;
            else
                *environment_options = strategy.merge(inv.in.types(), **global_options, *own);
        }
        return *environment_options;
    }

    Value options_for(const Key& key, Invocation& outer) {
        auto it = lookup_options.find(key.module);
        if (it == lookup_options.end()) {
            Invocation inv{outer.in, outer.scope};
            inv.explainer = outer.explainer;
            inv.global_only = outer.global_only;
            inv.hiera_call = outer.hiera_call;
            inv.hiera3_scope = outer.hiera3_scope;
            inv.top_key = std::string(kLookupOptions);
            inv.module = outer.module;
            Step step(inv.explainer, NodeKind::Top, std::string(kLookupOptions));
            const Key own = parse_key(inv.in.arena(), kLookupOptions);
            const MergeStrategy strategy{MergeStrategy::Kind::Hash, Value::undef()};
            Found all = options_of_layers(inv, own, strategy);
            if (!inv.global_only && !key.module.empty()) {
                Found module = lookup_module(own, inv, strategy);
                validate_options(module, key.module);
                if (!all) {
                    all = module;
                } else if (module) {
                    Step merge(inv.explainer, NodeKind::Merge, "hash");
                    for (const auto& [name, v] :
                         {std::pair(std::string("Global and Environment"), *all),
                          std::pair("Module " + inv.module, *module)}) {
                        Step part(inv.explainer, NodeKind::Scope, name);
                        if (inv.explainer) inv.explainer->found(kLookupOptions, v);
                    }
                    all = strategy.merge(inv.in.types(), *all, *module);
                    if (inv.explainer) inv.explainer->result(*all);
                }
            }
            it = lookup_options.emplace(key.module, compile_options(all, inv)).first;
        }
        return option_of(it->second, key.root);
    }

    // ---- one key ----

    Found search(std::string_view text, Invocation& outer, const Value& merge_given) {
        if (text == kLookupOptions || text.starts_with("lookup_options.")) {
            Step step(outer.explainer, NodeKind::InvalidKey, std::string(kLookupOptions));
            return std::nullopt;
        }
        Invocation inv = outer;
        const Key key = parse_key(inv.in.arena(), text);
        inv.top_key = key.text;
        inv.module = key.module;
        if (inv.explainer && inv.explainer->only_options()) {
            do_lookup(parse_key(inv.in.arena(), kLookupOptions), inv, Value::string("hash"));
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
        Found result;
        {
            Step step(inv.explainer, NodeKind::Top, key.text);
            result = do_lookup(key, inv, merge);
            if (!result && !inv.global_only) result = dig(key, inv, module_default(key, inv));
        }
        if (!result) return result;
        return converted(key, own, *result, inv);
    }

    Found module_default(const Key& key, Invocation& inv) {
        if (inv.module.empty()) return std::nullopt;
        Provider* provider = module_provider(inv, inv.module);
        if (!provider || !provider->config.has_default_hierarchy) return std::nullopt;
        Step step(inv.explainer, NodeKind::Scope,
                  fmt::format("Searching default_hierarchy of module \"{}\"", inv.module));
        auto it = default_options.find(inv.module);
        if (it == default_options.end()) {
            Step meta(inv.explainer, NodeKind::Scope, "Searching for \"lookup_options\"");
            const Key own = parse_key(inv.in.arena(), kLookupOptions);
            auto guard = check(own.text);
            const MergeStrategy strategy{MergeStrategy::Kind::Hash, Value::undef()};
            Found all = provider_lookup(*provider, own, inv, strategy, true);
            validate_options(all, inv.module);
            it = default_options.emplace(inv.module, compile_options(all, inv)).first;
        }
        Value merge;
        if (const Value own = option_of(it->second, key.root); own.is_hash()) {
            if (const Value* v = own.as_hash().find("merge")) merge = *v;
        }
        Step search(inv.explainer, NodeKind::Scope, fmt::format("Searching for \"{}\"", key.text));
        auto guard = check(key.text);
        return provider_lookup(*provider, key, inv, MergeStrategy::from(inv.in.types(), merge),
                               true);
    }

    Value converted(const Key& key, const Value& own, const Value& v, Invocation& inv) {
        const Value* convert = own.is_hash() ? own.as_hash().find("convert_to") : nullptr;
        if (!convert || convert->is_undef()) return v;
        auto& ctx = inv.in.types();
        std::vector<Value> args;
        if (convert->is_array())
            args.assign(convert->as_array().begin(), convert->as_array().end());
        else
            args.push_back(*convert);
        if (args.empty()) return v;
        if (args[0].is_string()) {
            const std::string source(args[0].as_string());
            try {
                args[0] = Value::type(types::parse_type(ctx, source));
            } catch (const base::PuppetError& error) {
                throw base::PuppetError(
                    fmt::format("Invalid data type in lookup_options for key '{}' could not parse "
                                "'{}', error: '{}",
                                key.text, source, error.message()));
            }
        }
        args.insert(args.begin() + 1, v);
        try {
            const Value out = inv.in.call_function("new", args, inv.scope);
            if (inv.explainer) {
                args.erase(args.begin() + 1);
                inv.explainer->text(
                    fmt::format("Applying convert_to lookup_option with arguments {}",
                                value::to_source(value::make_array(ctx.arena, args))));
            }
            return out;
        } catch (const base::PuppetError& error) {
            throw base::PuppetError(
                fmt::format("The convert_to lookup_option for key '{}' raised error: {}", key.text,
                            error.message()));
        }
    }

    // ---- the function ----

    struct Arguments {
        std::vector<Value> names;
        bool single = true;
        const types::Type* type = nullptr;
        Value merge;
        std::optional<Value> fallback;
        Value overrides, defaults;
    };

    Value run(const Arguments& a, Invocation& inv, const Callable* block) {
        auto& ctx = inv.in.types();
        if (a.overrides.is_hash() && !a.overrides.as_hash().empty())
            inv.overrides = &a.overrides.as_hash();
        if (a.defaults.is_hash() && !a.defaults.as_hash().empty())
            inv.defaults = &a.defaults.as_hash();
        auto asserted = [&](std::string_view subject, const Value& v) {
            if (a.type)
                types::assert_instance(ctx, fmt::format("{} has wrong type,", subject), a.type, v);
            return v;
        };
        for (const Value& name : a.names) {
            const std::string key = value::to_text(name);
            if (inv.overrides) {
                if (const Value* v = inv.overrides->find(key)) {
                    return asserted(fmt::format("Value found for key '{}' in override hash", key),
                                    *v);
                }
            }
            if (Found v = search(key, inv, a.merge)) return asserted("Found value", *v);
        }
        for (const Value& name : a.names) {
            const std::string key = value::to_text(name);
            if (!inv.defaults) break;
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
            not_found(fmt::format("Function lookup() did not find a value for the name '{}'",
                                  value::to_text(a.names[0])));
        }
        std::string names;
        for (const Value& name : a.names)
            names += (names.empty() ? "'" : ", '") + value::to_text(name) + "'";
        not_found(
            fmt::format("Function lookup() did not find a value for any of the names [{}]", names));
    }

    /// Puppet's LookupError: told as it is, without the place of the call.
    [[noreturn]] static void not_found(std::string message) {
        base::PuppetError error(std::move(message));
        error.verbatim = true;
        throw error;
    }
};

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
    Invocation inv{in, scope};
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
    Invocation inv{in, scope};
    return impl_->search(fmt::format("{}::{}", class_name, parameter), inv, Value::undef());
}

Value Lookup::hiera(Interpreter& in, Scope& scope, std::string_view merge,
                    std::span<const Value> args, const Callable* block) {
    if (impl_->options.warn_deprecated) {
        const std::string_view name = merge == "first"    ? "hiera"
                                      : merge == "unique" ? "hiera_array"
                                                          : "hiera_hash";
        in.warn(fmt::format("The function '{}' is deprecated in favor of using 'lookup'. See "
                            "https://puppet.com/docs/puppet/8.11/deprecated_language.html",
                            name),
                "", nullptr, true);
    }
    std::vector<Value> given(args.begin(), args.end());
    if (given.size() == 1 && given[0].is_array())
        given.assign(given[0].as_array().begin(), given[0].as_array().end());
    Invocation inv{in, scope};
    inv.hiera_call = true;
    Provider* env = impl_->env_provider(inv);
    if (!(env && env->config.version >= 5)) inv.global_only = true;
    Impl::Arguments a;
    a.names.push_back(given[0]);
    a.merge = Value::string(merge);
    Value override_level;
    if (block) {
        if (given.size() > 1) override_level = given[1];
    } else {
        if (given.size() > 1) a.fallback = given[1];
        if (given.size() > 2) override_level = given[2];
    }
    if (override_level.is_array()) {
        for (const Value& v : override_level.as_array())
            inv.location_overrides.push_back(value::to_text(v));
    } else if (!override_level.is_undef()) {
        inv.location_overrides.push_back(value::to_text(override_level));
    }
    return impl_->run(a, inv, block);
}

std::optional<Value> Lookup::search(Interpreter& in, Scope& scope, std::string_view key,
                                    const Value& merge, Explainer* explainer) {
    Invocation inv{in, scope};
    inv.explainer = explainer;
    return impl_->search(key, inv, merge);
}

std::optional<Value> Lookup::context_method(Interpreter& in, Scope& scope, const Value& object,
                                            std::string_view method, std::span<const Value> args,
                                            const Callable* block) {
    ContextState* state = nullptr;
    Invocation* inv = nullptr;
    for (auto it = impl_->contexts.rbegin(); it != impl_->contexts.rend() && !state; ++it) {
        if (it->first == object.as_extension()) std::tie(state, inv) = it->second;
    }
    if (!state) return std::nullopt;
    auto cached = [&](const Value& key) -> const Value* {
        for (const auto& e : state->cache) {
            if (value::equal(e.first, key)) return &e.second;
        }
        return nullptr;
    };
    auto remember = [&](const Value& key, const Value& v) {
        for (auto& e : state->cache) {
            if (value::equal(e.first, key)) {
                e.second = v;
                return;
            }
        }
        state->cache.emplace_back(key, v);
    };
    if (method == "not_found") throw NotFound{};
    if (method == "environment_name")
        return value::make_string(in.arena(), impl_->environment->name());
    if (method == "module_name") {
        return state->module.empty() ? Value::undef()
                                     : value::make_string(in.arena(), state->module);
    }
    if (method == "explain") {
        if (inv->explainer && block)
            inv->explainer->text(value::to_text(block->call(in, scope, {}, nullptr, nullptr)));
        return Value::undef();
    }
    if (method == "interpolate" && args.size() == 1) return impl_->interpolate(args[0], *inv, true);
    if (method == "cache" && args.size() == 2) {
        remember(args[0], args[1]);
        return args[1];
    }
    if (method == "cache_all" && args.size() == 1 && args[0].is_hash()) {
        for (const auto& e : args[0].as_hash()) remember(e.key, e.value);
        return Value::undef();
    }
    if (method == "cache_has_key" && args.size() == 1)
        return Value::boolean(cached(args[0]) != nullptr);
    if (method == "cached_value" && args.size() == 1) {
        const Value* v = cached(args[0]);
        return v ? *v : Value::undef();
    }
    if (method == "cached_entries") {
        std::vector<Value> pairs;
        for (const auto& [k, v] : state->cache) {
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
        return block ? Value::undef() : value::make_array(in.arena(), pairs);
    }
    if (method == "cached_file_data" && args.size() == 1) {
        const auto content = in.hosts().inputs
                                 ? in.hosts().inputs->read_file(value::to_text(args[0]))
                                 : std::nullopt;
        if (!content)
            throw base::PuppetError(fmt::format("No such file or directory @ rb_sysopen - {}",
                                                value::to_text(args[0])));
        const Value text = value::make_string(in.arena(), *content);
        if (!block) return text;
        const Value one[] = {text};
        return block->call(in, scope, one, nullptr, nullptr);
    }
    return std::nullopt;
}

}  // namespace bunraku::hiera
