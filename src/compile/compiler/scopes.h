// What hangs on the scopes of classes, defines, nodes and top: whose they are, and the resource
// defaults set in them, which reach the scopes that are declared from there (Puppet's dynamic
// scope).
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/compiler/resource.h"

namespace bunraku::compiler {

struct ScopeData final : evaluator::HostScope {
    Resource* resource = nullptr;
    const Definition* source = nullptr;
    /// Resource defaults set here, by capitalised type.
    std::vector<std::pair<std::string_view, std::vector<Param>>> defaults;
    /// Defaults for every native type, behind those of a type's own: function noop().
    std::vector<Param> every_type;
};

class Scopes {
public:
    /// What hangs on the scope (of a lambda: on the class's around it), made on first use.
    ScopeData& of(Scope& scope);
    /// The same of this very scope; null where nothing hangs on it.
    static const ScopeData* on(const Scope& scope) {
        return static_cast<const ScopeData*>(scope.host);
    }
    static Resource* resource(Scope* scope) {
        const auto* data = scope ? on(scope->base()) : nullptr;
        return data ? data->resource : nullptr;
    }
    static const Definition* source(Scope* scope) {
        const auto* data = scope ? on(scope->base()) : nullptr;
        return data ? data->source : nullptr;
    }

    /// Sets a default of a capitalised type; throws where the scope has one already.
    void set_default(Scope& scope, std::string_view type, const Param& param);
    /// The defaults in force for resources of a type: nearer scopes win, but keep the place of the
    /// outer scope's entry (Scope#lookupdefaults).
    static std::vector<Param> defaults(Scope* scope, const ResourceType& type);
    /// Whether `value` is what a scope on the way out has as the default.
    static bool is_default(Scope* scope, std::string_view type, std::string_view param,
                           const Value& value);

private:
    std::vector<std::unique_ptr<ScopeData>> all_;
};

}  // namespace bunraku::compiler
