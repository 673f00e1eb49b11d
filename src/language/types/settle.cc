// SPDX-License-Identifier: Apache-2.0
#include "language/types/settle.h"

#include <vector>

#include "language/types/internal.h"

namespace bunraku::types {

bool settle(Context& ctx, const Type* t) {
    struct Walk {
        std::vector<const TypeAliasType*> aliases;
        bool shareable = true;
    } walk;
    const auto look = [](void* closure, const Type* inner) {
        auto& w = *static_cast<Walk*>(closure);
        switch (inner->kind) {
            case TypeKind::Init:
            case TypeKind::Object:
            case TypeKind::TypeSet:
            case TypeKind::TypeReference: w.shareable = false; break;
            case TypeKind::TypeAlias: w.aliases.push_back(as<TypeAliasType>(inner)); break;
            default: break;
        }
    };
    // The content of an alias is visited after the alias is resolved.
    std::vector<const Type*> pending{t};
    while (!pending.empty() && walk.shareable) {
        const Type* next = pending.back();
        pending.pop_back();
        Guard guard;
        walk.aliases.clear();
        accept(next, &walk, look, &guard);
        for (const TypeAliasType* alias : walk.aliases) {
            if (!alias->resolved) {
                resolved(ctx, *alias);
                pending.push_back(alias);
            }
            if (alias->self_recursive) walk.shareable = false;
        }
    }
    return walk.shareable;
}

}  // namespace bunraku::types
