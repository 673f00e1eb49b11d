// SPDX-License-Identifier: Apache-2.0
// Type aliases. They are resolved on first use, which also detects the self-recursion that the
// guards depend on.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/work_limit.h"
#include "language/types/factory.h"
#include "language/types/internal.h"

namespace bunraku::types {

namespace {

struct Inside {
    void* closure;
    Visit visit;
    Guard* guard;
};

void accept_alias(const TypeAliasType& alias, void* closure, Visit visit, Guard* guard) {
    const auto inside = [&](Guard* g) {
        visit(closure, &alias);
        if (alias.resolved) accept(alias.resolved, closure, visit, g);
        return true;
    };
    if (!alias.self_recursive) {
        inside(guard);
        return;
    }
    Guard own;
    Guard* g = guard ? guard : &own;
    g->with_this(&alias, [&](unsigned state) { return (state & Guard::kThis) != 0 || inside(g); });
}

void accept_init(const InitType& init, void* closure, Visit visit, Guard* guard) {
    const auto inside = [&](Guard* g) {
        visit(closure, &init);
        for (const Type* t : {init.type, init.single_type, init.other_type})
            if (t) accept(t, closure, visit, g);
        return true;
    };
    if (!init.self_recursive) {
        inside(guard);
        return;
    }
    Guard own;
    Guard* g = guard ? guard : &own;
    g->with_this(&init, [&](unsigned state) { return (state & Guard::kThis) != 0 || inside(g); });
}

void ignore(void*, const Type*) {}

/// Reports whether the type contains anything other than aliases and Variants.
bool has_real_type(const Type* t, Guard* guard) {
    bool found = false;
    accept(
        t, &found,
        [](void* closure, const Type* inner) {
            if (!is(inner, TypeKind::TypeAlias) && !is(inner, TypeKind::Variant))
                *static_cast<bool*>(closure) = true;
        },
        guard);
    return found;
}

bool recurses(const TypeAliasType& alias) {
    Guard guard;
    accept(&alias, nullptr, ignore, &guard);
    return guard.recursive_this(&alias);
}

void drop_unreal_variants(Context& ctx, const TypeAliasType& alias) {
    const auto* v = as<VariantType>(alias.resolved);
    if (!v) return;
    std::vector<const Type*> real;
    for (const Type* t : v->types) {
        if (t == &alias) continue;
        Guard guard;
        if (has_real_type(t, &guard)) real.push_back(t);
    }
    if (real.size() == v->types.size()) return;
    alias.resolved = make_variant(ctx, real);
    alias.self_recursive = recurses(alias);
}

struct Recheck {
    Context& ctx;
    std::vector<const TypeAliasType*> inner_aliases;
};

/// Reports whether `from` contains `to`, which is known to be recursive. Types that do not lead
/// back to `to` must not change, because other threads may read them (types/settle.h).
bool reaches(const TypeAliasType& from, const TypeAliasType& to) {
    struct Search {
        const Type* to;
        bool found;
    } search{&to, false};
    Guard guard;
    accept(
        &from, &search,
        [](void* closure, const Type* t) {
            auto& s = *static_cast<Search*>(closure);
            s.found = s.found || t == s.to;
        },
        &guard);
    return search.found;
}

void update_recursion(Context& ctx, const TypeAliasType& alias) {
    if (alias.self_recursive || !alias.resolved || is(alias.resolved, TypeKind::TypeReference))
        return;
    alias.self_recursive = true;
    alias.self_recursive = recurses(alias);
    if (alias.self_recursive) drop_unreal_variants(ctx, alias);
}

}  // namespace

void accept(const Type* t, void* closure, Visit visit, Guard* guard) {
    base::step();
    DepthCheck depth;
    const auto go = [&](const Type* inner) {
        if (inner) accept(inner, closure, visit, guard);
    };
    switch (t->kind) {
        case TypeKind::TypeAlias: accept_alias(to<TypeAliasType>(t), closure, visit, guard); return;
        case TypeKind::Init: accept_init(to<InitType>(t), closure, visit, guard); return;
        default: break;
    }
    visit(closure, t);
    switch (t->kind) {
        case TypeKind::Optional:
        case TypeKind::NotUndef:
        case TypeKind::Iterable:
        case TypeKind::Iterator:
        case TypeKind::Sensitive:
        case TypeKind::Type: go(static_cast<const ContainedType*>(t)->type); break;
        case TypeKind::Array: go(to<ArrayType>(t).element); break;
        case TypeKind::Hash:
            go(to<HashType>(t).key);
            go(to<HashType>(t).value);
            break;
        case TypeKind::Tuple:
            for (const Type* e : to<TupleType>(t).types) go(e);
            break;
        case TypeKind::Struct:
            for (const StructElement& e : to<StructType>(t).elements) {
                go(e.key);
                go(e.value);
            }
            break;
        case TypeKind::Variant:
            for (const Type* e : to<VariantType>(t).types) go(e);
            break;
        case TypeKind::Callable:
            go(to<CallableType>(t).params);
            go(to<CallableType>(t).block);
            go(to<CallableType>(t).returns);
            break;
        case TypeKind::Object:
        case TypeKind::TypeSet: {
            const Inside inside{closure, visit, guard};
            static_cast<const OpenType*>(t)->for_each_contained(
                &inside, [](const void* c, const Type* inner) {
                    const auto& in = *static_cast<const Inside*>(c);
                    if (inner) accept(inner, in.closure, in.visit, in.guard);
                });
            break;
        }
        default: break;
    }
}

const Type* resolved(Context& ctx, const TypeAliasType& alias) {
    if (alias.resolved) {
        if (is(alias.resolved, TypeKind::Object) || is(alias.resolved, TypeKind::TypeSet))
            static_cast<const OpenType*>(alias.resolved)->resolve(ctx);
        return alias.resolved;
    }
    if (!alias.expr)
        throw base::PuppetError(fmt::format("Reference to unresolved type {}", alias.name));
    // If the alias occurs again before it is resolved, it is treated as a reference and as
    // recursive.
    alias.resolved = defaults().type_reference;
    alias.self_recursive = true;
    Loader* outer = ctx.loader;
    if (alias.loader) ctx.loader = alias.loader;
    try {
        alias.resolved = normalize(ctx, interpret(ctx, alias.expr));
        Guard guard;
        if (!has_real_type(&alias, &guard))
            throw base::PuppetError(
                fmt::format("Type alias '{}' cannot be resolved to a real type", alias.name));
        alias.self_recursive = guard.recursive_this(&alias);
        if (alias.self_recursive) {
            // Aliases inside this one were resolved before it was complete, so they are checked
            // again.
            Recheck recheck{ctx, {}};
            Guard again;
            accept(
                &alias, &recheck,
                [](void* closure, const Type* t) {
                    if (const auto* a = as<TypeAliasType>(t))
                        static_cast<Recheck*>(closure)->inner_aliases.push_back(a);
                },
                &again);
            for (const TypeAliasType* a : recheck.inner_aliases)
                if (reaches(*a, alias)) update_recursion(ctx, *a);
            drop_unreal_variants(ctx, alias);
        }
    } catch (...) {
        alias.resolved = nullptr;
        alias.self_recursive = false;
        ctx.loader = outer;
        throw;
    }
    ctx.loader = outer;
    return alias.resolved;
}

const Type* ensure_resolved(Context& ctx, const Type* t) {
    if (const auto* alias = as<TypeAliasType>(t))
        resolved(ctx, *alias);
    else if (const OpenType* open = as_open(t))
        open->resolve(ctx);
    return t;
}

const Type* resolve(Context& ctx, const Type* t) {
    for (int i = 0; i < 100; ++i) {
        const auto* alias = as<TypeAliasType>(t);
        if (!alias) return t;
        t = resolved(ctx, *alias);
    }
    return t;
}

}  // namespace bunraku::types
