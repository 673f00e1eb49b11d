// SPDX-License-Identifier: Apache-2.0
// The shared part of the lookup's source files: the state of one compile, and the functions by
// topic.
#pragma once

#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "core/base/text_view.h"
#include "core/regex/regex.h"
#include "core/value/build.h"
#include "language/hiera/config.h"
#include "language/hiera/errors.h"
#include "language/hiera/key.h"
#include "language/hiera/lookup.h"
#include "language/hiera/merge.h"

namespace bunraku::hiera {

using evaluator::Callable;
using evaluator::Interpreter;
using evaluator::Scope;
using Step = Explainer::Step;
using NodeKind = ExplainNode::Kind;
using Event = ExplainNode::Event;
using Found = std::optional<Value>;

inline constexpr std::string_view kLookupOptions = "lookup_options";

/// Thrown by Puppet::LookupContext#not_found and caught at the call of the data function.
struct NotFound {};

/// An interpolated location of a hierarchy entry.
struct Location {
    std::string original;
    std::string path;  ///< Or the URI.
    bool exists = false;
    bool uri = false;
    const DataCache::File* file = nullptr;  ///< For built-in backends.
    int error = 0;                          ///< Reason why `file` is null although the path exists.
    environment::ReadId read = 0;           ///< Read::Data of a file with data.
};

/// The state of a function for one location: its options and its cache (FunctionContext).
struct ContextState {
    Value object;
    std::string module;
    std::vector<std::pair<Value, Value>> cache;
    /// Cached results of lookup_key and data_dig functions.
    std::map<std::string, Value, std::less<>> answers;
    std::optional<Value> hash;  ///< Cached result of a data_hash function.
    bool checked = false;       ///< Module layer: its keys were checked.
};

/// An entry of the hierarchy after interpolation.
struct Resolved {
    const Entry* entry = nullptr;
    std::vector<Location> locations;
    bool has_locations = false;
    bool native = false;  ///< True for yaml_data, json_data or hocon_data with file locations.
    DataCache::Format format{};
    Value options;
    /// Version 3: folder of overriding levels.
    std::string datadir;
    std::vector<std::unique_ptr<ContextState>> contexts;  ///< One per location, or a single one.
    const Callable* function = nullptr;
    bool validated = false;  ///< True if the function declares its return type.
};

/// A variable that the paths of a hierarchy depend on.
struct Variable {
    std::string key, root;
    std::vector<Value> segments;
    Found value;
};

/// A hierarchy resolved for one set of variables.
struct Resolution {
    std::vector<Resolved> entries, fallback;
    std::vector<Variable> variables;
    /// True if every location of `entries` is a loaded file. `files` then shows immediately whether
    /// any of them has a key.
    bool flat = false;
    std::vector<const DataCache::File*> files;
    std::vector<environment::ReadId> reads;  ///< Reads of `files`.
};

struct Provider {
    std::shared_ptr<const Config> config;
    Layer layer = Layer::Global;
    std::string module;     ///< Empty outside the module layer.
    std::string_view text;  ///< Text of hiera.yaml.
    /// Resolutions for recent variables, the current one first.
    std::vector<std::unique_ptr<Resolution>> known;
    std::string name() const;
};

/// The merged lookup_options, divided into keys and patterns (LookupAdapter#compile_patterns).
struct KeyOptions {
    Value by_key;  ///< A hash, or undef.
    std::vector<std::pair<std::shared_ptr<const regex::Regex>, Value>> patterns;
    Value find(std::string_view root) const;
};

/// Cached state of one module, or of keys without a module.
struct ModuleState {
    std::string name;
    bool options_known = false, defaults_known = false, provider_known = false;
    std::optional<KeyOptions> options, default_options;
    std::unique_ptr<Provider> provider;
};

/// One call of lookup with all nested lookups.
struct Invocation {
    Interpreter& in;
    Scope& scope;
    const value::HashRep* overrides = nullptr;
    const value::HashRep* defaults = nullptr;
    Explainer* explainer = nullptr;
    std::string_view module;  ///< Module of the key.
    bool has_module = false;
    std::string_view top_key;
    bool global_only = false;
    bool hiera_call = false;
    bool hiera3_scope = false;
    bool hiera3_merge = false;
    bool quiet_variables = false;  ///< Unset variables in paths of hiera.yaml are not errors.
    std::vector<std::string> location_overrides;
    bool secret = false;  ///< True if results become Sensitive because they are decrypted.
    std::vector<Variable>* record = nullptr;  ///< Variables that are read, if recorded.
    const MergeStrategy* strategy = nullptr;  ///< For Hiera 3 backends.
    const Config* config = nullptr;           ///< The hiera.yaml under interpolation.

    base::Arena& arena() const { return in.arena(); }
};

/// Makes `now` the innermost lookup for as long as the guard lives.
class CurrentLookup {
public:
    CurrentLookup(Invocation*& current, Invocation& now) : CurrentLookup(current, now, current) {}
    /// Makes `after` the innermost lookup when the guard ends.
    CurrentLookup(Invocation*& current, Invocation& now, Invocation* after)
        : current_(current), after_(after) {
        current_ = &now;
    }
    ~CurrentLookup() { current_ = after_; }
    CurrentLookup(const CurrentLookup&) = delete;
    CurrentLookup& operator=(const CurrentLookup&) = delete;

private:
    Invocation*& current_;
    Invocation* after_;
};

struct Lookup::Impl {
    std::shared_ptr<const environment::Environment> environment;
    std::shared_ptr<DataCache> cache;
    LookupOptions options;

    /// Keys of the nested lookups, for the recursion check.
    std::vector<std::string_view> name_stack;
    Invocation* current = nullptr;  ///< The innermost lookup in progress.
    std::unique_ptr<Provider> global, environment_provider;
    bool environment_known = false;
    std::map<std::string, ModuleState, std::less<>> modules;
    ModuleState* last_module = nullptr;
    std::optional<Found> global_options, environment_options;
    std::set<std::string, std::less<>> warned;
    std::string failure;      ///< Text of the last failed global lookup.
    bool deciphered = false;  ///< The current lookup has read an encrypted value.
    struct ActiveContext {
        const value::Extension* object;
        ContextState* state;
        Invocation* invocation;
    };
    std::vector<ActiveContext> contexts;
    std::map<const value::Extension*, std::unique_ptr<ContextState>> own_contexts;

    // ---- lookup.cc: recursion and the wording of errors ----

    struct NameGuard {
        std::vector<std::string_view>& stack;
        ~NameGuard() {
            BUNRAKU_ASSERT(!stack.empty());
            stack.pop_back();
        }
    };
    NameGuard check(std::string_view name);
    /// Invocation#check: inside it, every Puppet error becomes a LookupError.
    template <class F>
    auto guarded(std::string_view name, F&& f) {
        auto guard = check(name);
        try {
            return f();
        } catch (const LookupError&) {
            throw;
        } catch (const ArgumentError&) {
            throw;
        } catch (const base::PuppetError& error) {
            throw LookupError(error.located() ? error.full_text() : error.message());
        }
    }
    void warn_once(Invocation& inv, std::string key, std::string message, const std::string& file,
                   bool deprecation);
    /// Creates an invocation for a call from Puppet code. A call inside of a lookup continues that
    /// lookup.
    Invocation invocation(Interpreter& in, Scope& scope);

    // ---- merging over several locations ----

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
        Step step(inv.explainer, NodeKind::Merge, strategy.name());
        if (step.node()) step.node()->options = strategy.extra_options(ctx.arena);
        Found result;
        for (std::size_t i = 0; i < n; ++i) {
            Found v = find(i);
            if (!v) continue;
            result = result ? strategy.merge(ctx, *result, *v) : strategy.first_of_many(ctx, *v);
        }
        if (result && inv.explainer) {
            const bool hide = inv.secret && deciphered;
            inv.explainer->result(hide ? value::make_sensitive(ctx.arena, *result) : *result);
        }
        return result;
    }

    // ---- interpolate.cc ----

    Found dig(const Key& key, Invocation& inv, const Found& value);
    Found sub_lookup(std::string_view key, Invocation& inv, std::span<const Value> segments,
                     Value data);
    Value interpolate(const Value& v, Invocation& inv, bool methods);
    std::string interpolate_string(std::string_view s, Invocation& inv);
    Value interpolate_text(std::string_view subject, Invocation& inv, bool methods);
    std::pair<std::string_view, std::string_view> method_of(
        base::TextView expr BUNRAKU_LIFETIMEBOUND, bool allowed, Invocation& inv);
    Value global_lookup(std::string_view key, Invocation& outer);
    /// `path` is the part of a fact that is read; "" means all of it.
    Found variable(std::string_view name, Invocation& inv, std::string_view path = {});
    Found scope_lookup(std::string_view key, Invocation& inv, std::string_view subject);
    void unset_variable(std::string_view name, Invocation& inv);
    [[noreturn]] void interpolation_failure(std::string message, std::string_view code,
                                            Invocation& inv);

    // ---- layers.cc: configurations and their hierarchies ----

    /// Records the lookup of `key` in data files.
    void note_key(std::span<const environment::ReadId> files, std::string_view key) {
        if (auto* trace = environment::Trace::current(); trace && !files.empty())
            trace->note_data(files, environment->reads()->id(environment::Read::Data, "", key));
    }
    /// Returns a parsed file and records the reads that it depends on.
    DataCache::Loaded load_file(const std::string& path, DataCache::Format format,
                                bool keep_text = false);
    bool exists(const std::string& path) { return environment->stat(path).exists; }
    std::unique_ptr<Provider> load(Invocation& inv, Layer layer, const std::string& path,
                                   const std::string& root);
    Provider& global_provider(Invocation& inv);
    bool usable(const Provider& provider, Invocation& inv, std::string_view where,
                std::string_view at);
    Provider* env_provider(Invocation& inv);
    std::unique_ptr<Provider> make_env_provider(Invocation& inv);
    ModuleState& module_state(std::string_view name);
    Provider* module_provider(Invocation& inv, std::string_view name);
    std::unique_ptr<Provider> make_module_provider(Invocation& inv, const std::string& name);
    bool stable(const Resolution& resolution, Invocation& inv);
    Resolution& resolve(Provider& provider, Invocation& inv);
    std::unique_ptr<Resolution> make_resolution(Provider& provider, Invocation& inv);
    Resolved resolve_entry(const Provider& provider, const Entry& entry, Invocation& own);
    void add_location(Resolved& r, const std::string& datadir, LocationKind kind,
                      const std::string& declared, Invocation& inv, bool only_existing);
    void mapped_paths(Resolved& r, const std::string& datadir, const Entry& entry, Invocation& inv);
    void check_location(Location& location, const Resolved& r, Invocation& inv);

    // ---- entries.cc: lookups in one entry ----

    Found provider_lookup(Provider& provider, const Key& key, Invocation& inv,
                          const MergeStrategy& strategy, bool fallback = false);
    Found entry_lookup(Provider& provider, Resolved& entry, const Key& key, Invocation& inv,
                       const MergeStrategy& strategy);
    Found ask_location(Provider& provider, Resolved& entry, std::size_t i, const Key& key,
                       Invocation& inv);
    Found ask(Provider& provider, Resolved& entry, std::size_t i, const Location* location,
              const Key& key, Invocation& inv);
    Found ask_file(Provider& provider, Resolved& entry, const Location& location,
                   ContextState& state, const Key& key, Invocation& inv);
    /// Returns the file's hash, or null if the file has none. Throws if the file is broken.
    const DataCache::File* checked_file(Location& location, DataCache::Format format,
                                        std::string_view function, Invocation& inv);
    void check_module_keys(const Provider& provider, const Resolved& entry,
                           const Location* location, const value::HashRep& data, Invocation& inv);
    Value data_hash(Provider& provider, Resolved& entry, const Location* location,
                    ContextState& state, Invocation& inv);
    std::string described(const Resolved& entry, const Location* location, std::string_view what);
    /// Looks a key up for a Hiera 3 backend (%{hiera('key')}); `args` is [key, override, default].
    Value hiera3_lookup(Interpreter& in, Scope& scope, std::span<const Value> args);
    Value call_options(const Resolved& entry, const Location* location, Invocation& inv);
    void validate(const Resolved& entry, const Location* location, std::string_view what,
                  const Value& v, Invocation& inv);
    Value context(ContextState& state, Invocation& inv);
    Found call(const Provider& provider, Resolved& entry, std::span<const Value> args,
               ContextState& state, Invocation& inv);
    void find_function(const Provider& provider, Resolved& entry, Invocation& inv);
    Value undig(const Key& key, Value v, Invocation& inv);
    Found ask_hiera3(const Provider& provider, const Resolved& entry, const Key& key,
                     Invocation& inv);
    /// Implements cached_file_data with a block: returns the data of a file for a built-in data
    /// function.
    Value file_data(std::string_view function, const std::string& path, Invocation& inv);

    // ---- eyaml.cc ----

    Found eyaml(const value::HashRep& options, std::string_view key, ContextState& state,
                Invocation& inv);
    Value decrypted(const Value& v, std::string_view key, const value::HashRep& options,
                    const std::string& path, Invocation& inv);
    std::string decrypt_text(std::string_view text, const value::HashRep& options);

    // ---- options.cc: lookup_options, and one key ----

    Found lookup_global(const Key& key, Invocation& inv, const MergeStrategy& strategy);
    Found global_unchecked(const Key& key, Invocation& inv, const MergeStrategy& strategy);
    Found lookup_environment(const Key& key, Invocation& inv, const MergeStrategy& strategy);
    Found lookup_module(const Key& key, Invocation& inv, const MergeStrategy& strategy);
    Found do_lookup(const Key& key, Invocation& inv, const Value& merge);
    void validate_options(Found& given, std::string_view module);
    std::optional<KeyOptions> compile_options(const Found& given, Invocation& inv);
    Found options_of_layers(Invocation& inv, const Key& key, const MergeStrategy& strategy);
    Value options_for(const Key& key, Invocation& outer);
    Found search(std::string_view text, Invocation& outer, const Value& merge);
    Found search(const Key& key, Invocation& outer, const Value& merge);
    Found module_default(const Key& key, Invocation& inv);
    Value converted(const Key& key, const Value& own, const Value& v, Invocation& inv);
    /// Returns true if certainly no layer has the key. This is the fast path for most class
    /// parameters.
    bool surely_absent(const Key& key, Interpreter& in, Scope& scope);

    // ---- lookup.cc: the function ----

    struct Arguments {
        std::vector<Value> names;
        bool single = true;
        const types::Type* type = nullptr;
        Value merge;
        std::optional<Value> fallback;
        Value overrides, defaults;
    };
    Value run(const Arguments& a, Invocation& inv, const Callable* block);
};

}  // namespace bunraku::hiera
