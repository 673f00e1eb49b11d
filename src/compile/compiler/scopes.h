// SPDX-License-Identifier: Apache-2.0
// Data attached to the scopes of classes, defines and nodes and to the top scope: their resource
// and definition, and their resource defaults. Defaults also apply in scopes that are declared from
// there (Puppet's dynamic scope).
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
    /// Resource defaults of this scope, by capitalised type.
    std::vector<std::pair<std::string_view, std::vector<Param>>> defaults;
    /// Defaults for every type, with priority over `defaults`. Set by the function noop().
    std::vector<Param> every_type;
};

class Scopes {
public:
    /// Returns the data of the scope, created on first use. For a lambda, this is the data of the
    /// surrounding class scope.
    ScopeData& of(Scope& scope);
    /// Returns the data of exactly this scope, or null if it has none.
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

    /// Sets a default of a capitalised type. Throws if the scope already has one.
    void set_default(Scope& scope, std::string_view type, const Param& param);
    /// Returns the defaults that apply to resources of a type. Inner scopes override outer ones,
    /// but an overridden entry keeps its position (Scope#lookupdefaults).
    static std::vector<Param> defaults(Scope* scope, const ResourceType& type);
    /// Reports whether `value` is the default that this scope or an outer one sets.
    static bool is_default(Scope* scope, std::string_view type, std::string_view param,
                           const Value& value);

private:
    std::vector<std::unique_ptr<ScopeData>> all_;
};

}  // namespace bunraku::compiler
