// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/scopes.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/value/text.h"

namespace bunraku::compiler {

ScopeData& Scopes::of(Scope& scope) {
    Scope& base = scope.base();
    if (!base.host) base.host = all_.emplace_back(std::make_unique<ScopeData>()).get();
    return *static_cast<ScopeData*>(base.host);
}

void Scopes::set_default(Scope& scope, std::string_view type, const Param& param) {
    auto& defaults = of(scope).defaults;
    auto it = std::ranges::find(defaults, type, [](const auto& e) { return e.first; });
    if (it == defaults.end()) it = defaults.emplace(it, type, std::vector<Param>());
    if (std::ranges::find(it->second, param.name, &Param::name) != it->second.end()) {
        throw base::plain_error(
            fmt::format("Default already defined for {} {{ {} }}; cannot redefine", type,
                        param.name))
            .at({std::string(param.file), param.line, 0});
    }
    it->second.push_back(param);
}

std::vector<Param> Scopes::defaults(Scope* scope, const ResourceType& type) {
    std::vector<const std::vector<Param>*> chain;
    for (Scope* s = scope ? &scope->base() : nullptr; s; s = s->dynamic_parent) {
        const auto* data = on(*s);
        if (!data) continue;
        if (!data->every_type.empty()) chain.push_back(&data->every_type);
        for (const auto& [name, params] : data->defaults) {
            if (name == type.name) chain.push_back(&params);
        }
    }
    std::vector<Param> out;
    for (std::size_t i = chain.size(); i-- > 0;) {
        for (const auto& p : *chain[i]) {
            const auto it = std::ranges::find(out, p.name, &Param::name);
            if (it == out.end()) {
                out.push_back(p);
            } else {
                *it = p;
            }
        }
    }
    return out;
}

bool Scopes::is_default(Scope* scope, std::string_view type, std::string_view param,
                        const Value& value) {
    for (Scope* s = scope ? &scope->base() : nullptr; s; s = s->dynamic_parent) {
        const auto* data = on(*s);
        if (!data) continue;
        for (const auto& [name, params] : data->defaults) {
            if (name != type) continue;
            for (const auto& p : params) {
                if (p.name == param && value::equal(p.value, value)) return true;
            }
        }
    }
    return false;
}

}  // namespace bunraku::compiler
