// SPDX-License-Identifier: Apache-2.0
// Assignability of types. Aliases, Variants, Optional and NotUndef of the given type are decomposed
// first; then one rule per kind of the expected type decides.
#include <algorithm>

#include "core/base/semver.h"
#include "core/base/text.h"
#include "core/base/work_limit.h"
#include "language/types/factory.h"
#include "language/types/internal.h"

namespace bunraku::types {

namespace {

bool is_collection(const Type* t) {
    return t->kind == TypeKind::Collection || t->kind == TypeKind::Array ||
           t->kind == TypeKind::Hash;
}

Size size_of(const Type* t) {
    switch (t->kind) {
        case TypeKind::Collection: return to<CollectionType>(t).size;
        case TypeKind::Array: return to<ArrayType>(t).size;
        case TypeKind::Hash: return to<HashType>(t).size;
        default: return {};
    }
}

bool is_scalar_data(const Type* t) {
    switch (t->kind) {
        case TypeKind::ScalarData:
        case TypeKind::Numeric:
        case TypeKind::Integer:
        case TypeKind::Float:
        case TypeKind::String:
        case TypeKind::Boolean:
        case TypeKind::Enum:
        case TypeKind::Pattern: return true;
        default: return false;
    }
}
bool is_scalar(const Type* t) {
    switch (t->kind) {
        case TypeKind::Scalar:
        case TypeKind::Regexp:
        case TypeKind::SemVer:
        case TypeKind::SemVerRange:
        case TypeKind::Timespan:
        case TypeKind::Timestamp: return true;
        default: return is_scalar_data(t);
    }
}

bool accepts_undef(Context& ctx, const Type* t, Guard* guard) {
    return assignable(ctx, t, defaults().undef, guard);
}

bool enum_has(const EnumType& e, std::string_view text) {
    return std::any_of(e.values.begin(), e.values.end(), [&](std::string_view v) {
        return e.case_insensitive ? base::same_ignoring_case(v, text) : v == text;
    });
}

bool fits_enum(const EnumType& t, const Type* o) {
    if (equal(&t, o)) return true;
    if (t.values.empty() &&
        (is(o, TypeKind::String) || is(o, TypeKind::Enum) || is(o, TypeKind::Pattern)))
        return true;
    if (const auto* s = as<StringType>(o)) return s->value && enum_has(t, *s->value);
    if (const auto* e = as<EnumType>(o))
        return !e->values.empty() && (t.case_insensitive || !e->case_insensitive) &&
               std::all_of(e->values.begin(), e->values.end(),
                           [&](std::string_view v) { return enum_has(t, v); });
    return false;
}

bool fits_string(const StringType& t, const Type* o) {
    if (t.size) {
        if (const auto* s = as<StringType>(o)) {
            if (s->size) return t.size->covers(*s->size);
            if (s->value) return t.size->contains(char_count(*s->value));
            return t.size->covers(kAnySize);
        }
        if (const auto* e = as<EnumType>(o)) {
            if (e->values.empty()) return t.size->covers(kAnySize);
            return std::all_of(e->values.begin(), e->values.end(),
                               [&](std::string_view v) { return t.size->contains(char_count(v)); });
        }
        // The length of the strings that match a pattern is unknown.
        return is(o, TypeKind::Pattern) && t.size->covers(kAnySize);
    }
    if (const auto* s = as<StringType>(o)) return !t.value || t.value == s->value;
    // 8.11 accepts any Enum with a single value for a fixed string without comparing the two.
    if (const auto* e = as<EnumType>(o))
        return !t.value || (e->values.size() == 1 && !e->case_insensitive);
    return is(o, TypeKind::Pattern) && !t.value;
}

bool fits_pattern(const PatternType& t, const Type* o) {
    if (equal(&t, o)) return true;
    const auto any = [&](std::string_view text) {
        return std::any_of(t.patterns.begin(), t.patterns.end(),
                           [&](const RegexpType* re) { return matches(*re, text); });
    };
    if (const auto* s = as<StringType>(o))
        return t.patterns.empty() || (s->value && any(*s->value));
    if (const auto* e = as<EnumType>(o))
        return t.patterns.empty() ||
               (!e->values.empty() && std::all_of(e->values.begin(), e->values.end(), any));
    return is(o, TypeKind::Pattern) && t.patterns.empty();
}

bool fits_collection(Size size, const Type* o) {
    const Range wanted = size.value_or(kAnySize);
    if (is_collection(o)) return wanted.covers(size_of(o).value_or(kAnySize));
    if (const auto* tuple = as<TupleType>(o)) {
        const auto n = static_cast<std::int64_t>(tuple->types.size());
        return wanted.covers(tuple->size.value_or(Range{n, n}));
    }
    if (const auto* s = as<StructType>(o))
        return wanted.contains(static_cast<std::int64_t>(s->elements.size()));
    return false;
}

bool fits_array(Context& ctx, const ArrayType& t, const Type* o, Guard* guard) {
    if (const auto* tuple = as<TupleType>(o))
        return fits_collection(t.size, o) &&
               std::all_of(tuple->types.begin(), tuple->types.end(),
                           [&](const Type* e) { return assignable(ctx, t.element, e, guard); });
    if (const auto* a = as<ArrayType>(o))
        return fits_collection(t.size, o) && assignable(ctx, t.element, a->element, guard);
    return false;
}

bool fits_hash(Context& ctx, const HashType& t, const Type* o, Guard* guard) {
    if (const auto* h = as<HashType>(o)) {
        if ((!t.size || t.size->min == 0) && equal(h, defaults().hash_empty)) return true;
        return assignable(ctx, t.key, h->key, guard) && assignable(ctx, t.value, h->value, guard) &&
               fits_collection(t.size, o);
    }
    if (const auto* s = as<StructType>(o))
        return fits_collection(t.size, o) &&
               std::all_of(s->elements.begin(), s->elements.end(), [&](const StructElement& e) {
                   return instance(ctx, t.key, Value::string(e.name), guard) &&
                          assignable(ctx, t.value, e.value, guard);
               });
    return false;
}

bool fits_struct(Context& ctx, const StructType& t, const Type* o, Guard* guard) {
    if (const auto* s = as<StructType>(o)) {
        std::size_t matched = 0;
        for (const StructElement& e : t.elements) {
            const StructElement* other = s->find(e.name);
            if (!other) {
                if (!accepts_undef(ctx, e.key, guard)) return false;
                continue;
            }
            ++matched;
            if (!assignable(ctx, e.key, other->key, guard) ||
                !assignable(ctx, e.value, other->value, guard))
                return false;
        }
        return matched == s->elements.size();
    }
    const auto* h = as<HashType>(o);
    if (!h) return false;
    std::int64_t required = 0;
    for (const StructElement& e : t.elements) {
        if (accepts_undef(ctx, e.key, nullptr)) continue;
        ++required;
        // The keys of the hash are unknown, so only the types of its keys and values can be
        // checked.
        if (!assignable(ctx, e.value, h->value, guard) ||
            !assignable(ctx, generalize(ctx, e.key), h->key, guard))
            return false;
    }
    return Range{required, static_cast<std::int64_t>(t.elements.size())}.covers(
        h->size.value_or(kAnySize));
}

bool fits_tuple(Context& ctx, const TupleType& t, const Type* o, Guard* guard) {
    if (equal(&t, o)) return true;
    const Range wanted = t.size_range();
    const auto type_at = [&](std::size_t i) { return t.types[std::min(i, t.types.size() - 1)]; };
    if (const auto* tuple = as<TupleType>(o)) {
        if (!wanted.covers(tuple->size_range())) return false;
        if (t.types.empty()) return true;
        if (tuple->types.empty()) return wanted.min == 0;
        for (std::size_t i = 0; i < tuple->types.size(); ++i)
            if (!assignable(ctx, type_at(i), tuple->types[i], guard)) return false;
        return true;
    }
    const auto* a = as<ArrayType>(o);
    if (!a) return false;
    const Range size = a->size.value_or(kAnySize);
    if (!wanted.covers(size)) return false;
    const auto n = std::min(static_cast<std::int64_t>(t.types.size()), size.max);
    for (std::int64_t i = 0; i < n; ++i)
        if (!assignable(ctx, type_at(static_cast<std::size_t>(i)), a->element, guard)) return false;
    return true;
}

bool fits_callable(Context& ctx, const CallableType& t, const Type* o, Guard* guard) {
    const auto* c = as<CallableType>(o);
    if (!c) return false;
    if (t.returns && !assignable(ctx, t.returns, c->returns ? c->returns : defaults().any, guard))
        return false;
    if (!t.params) return true;
    // Parameters are compared in the opposite direction: the given callable must accept the
    // arguments that the caller passes.
    if (!c->params || !assignable(ctx, c->params, t.params, guard)) return false;
    const Type* this_block = t.block ? t.block : defaults().undef;
    const Type* that_block = c->block ? c->block : defaults().undef;
    return assignable(ctx, that_block, this_block, guard);
}

bool covered_by(const base::SemVerRange& a, const base::SemVerRange& b) {
    return std::all_of(a.parts.begin(), a.parts.end(), [&](const base::SemVerRange::Part& x) {
        return std::any_of(b.parts.begin(), b.parts.end(), [&](const base::SemVerRange::Part& y) {
            const bool low =
                !y.min || (x.min && (*y.min < *x.min ||
                                     (*y.min == *x.min && (!y.exclude_min || x.exclude_min))));
            const bool high =
                !y.max || (x.max && (*y.max > *x.max ||
                                     (*y.max == *x.max && (!y.exclude_max || x.exclude_max))));
            return low && high;
        });
    });
}

bool fits_sem_ver(const SemVerType& t, const Type* o) {
    const auto* s = as<SemVerType>(o);
    if (!s) return false;
    if (t.ranges.empty()) return true;
    return !s->ranges.empty() &&
           std::all_of(s->ranges.begin(), s->ranges.end(), [&](const auto* x) {
               return std::any_of(t.ranges.begin(), t.ranges.end(),
                                  [&](const auto* y) { return covered_by(*x, *y); });
           });
}

bool fits_uri(Context& ctx, const UriType& t, const Type* o) {
    const auto* u = as<UriType>(o);
    if (!u) return false;
    if (!t.parameters) return true;
    if (!u->parameters) return false;
    return std::all_of(t.parameters->begin(), t.parameters->end(), [&](const value::Entry& e) {
        const Value* other = u->parameters->find(e.key);
        if (!other) return false;
        return parameter_matches(ctx, *other, e.value) ||
               (other->is_type() && e.value.is_type() &&
                assignable(ctx, e.value.as_type(), other->as_type(), nullptr));
    });
}

bool fits_runtime(const RuntimeType& t, const Type* o) {
    const auto* r = as<RuntimeType>(o);
    if (!r) return false;
    if (!t.runtime.empty() && t.runtime != r->runtime) return false;
    if (t.name.empty() && !t.pattern) return true;
    RuntimeType other = *r;
    RuntimeType wanted = t;
    wanted.runtime = other.runtime;
    return equal(static_cast<const Type*>(&wanted), &other);
}

bool fits_init(Context& ctx, const InitType& t, const Type* o, Guard* guard) {
    initialize(ctx, t);
    const auto test = [&](Guard* g) {
        if (const auto* i = as<InitType>(o))
            return !t.type || (i->type && assignable(ctx, t.type, i->type, g));
        if (!t.type) return assignable(ctx, defaults().rich_data, o, g);
        if (assignable(ctx, t.type, o, g)) return true;
        if (t.single_type && assignable(ctx, t.single_type, o, g)) return true;
        if (!t.other_type) return false;
        if (assignable(ctx, t.other_type, o, g)) return true;
        return t.has_optional_single &&
               assignable(ctx, t.other_type, make_tuple_type(ctx, Types(&o, 1)), nullptr);
    };
    if (!t.self_recursive) return test(guard);
    Guard own;
    Guard* g = guard ? guard : &own;
    return g->with_this(&t, [&](unsigned state) { return (state & Guard::kThis) == 0 && test(g); });
}

bool fits_iterable(Context& ctx, const IterableType& t, const Type* o, Guard* guard) {
    if (!t.type || assignable(ctx, t.type, defaults().any, guard))
        return is_iterable(ctx, o, guard);
    const auto* it = as<IterableType>(iterable_type(ctx, o, guard));
    return it && it->type && assignable(ctx, t.type, it->type, guard);
}

/// Implements Puppet's _assignable?. `o` is not an alias, Variant, Optional or Unit.
bool fits(Context& ctx, const Type* t, const Type* o, Guard* guard) {
    switch (t->kind) {
        case TypeKind::Any:
        case TypeKind::Unit: return true;
        case TypeKind::Undef:
        case TypeKind::Default:
        case TypeKind::Binary:
        case TypeKind::SemVerRange: return o->kind == t->kind;
        case TypeKind::Scalar: return is_scalar(o);
        case TypeKind::ScalarData: return is_scalar_data(o);
        case TypeKind::Numeric:
            return is(o, TypeKind::Numeric) || is(o, TypeKind::Integer) || is(o, TypeKind::Float);
        case TypeKind::Integer: {
            const auto* i = as<IntegerType>(o);
            return i && to<IntegerType>(t).range.covers(i->range);
        }
        case TypeKind::Float: {
            const auto* f = as<FloatType>(o);
            return f && to<FloatType>(t).min <= f->min && to<FloatType>(t).max >= f->max;
        }
        case TypeKind::Timestamp: {
            const auto* x = as<TimestampType>(o);
            return x && to<TimestampType>(t).range.covers(x->range);
        }
        case TypeKind::Timespan: {
            const auto* x = as<TimespanType>(o);
            return x && to<TimespanType>(t).range.covers(x->range);
        }
        case TypeKind::Boolean: {
            const auto* b = as<BooleanType>(o);
            return b && (!to<BooleanType>(t).value || to<BooleanType>(t).value == b->value);
        }
        case TypeKind::String: return fits_string(to<StringType>(t), o);
        case TypeKind::Enum: return fits_enum(to<EnumType>(t), o);
        case TypeKind::Pattern: return fits_pattern(to<PatternType>(t), o);
        case TypeKind::Regexp: {
            const auto* r = as<RegexpType>(o);
            return r && (!to<RegexpType>(t).rep || equal(t, o));
        }
        case TypeKind::Collection: return fits_collection(to<CollectionType>(t).size, o);
        case TypeKind::Array: return fits_array(ctx, to<ArrayType>(t), o, guard);
        case TypeKind::Hash: return fits_hash(ctx, to<HashType>(t), o, guard);
        case TypeKind::Tuple: return fits_tuple(ctx, to<TupleType>(t), o, guard);
        case TypeKind::Struct: return fits_struct(ctx, to<StructType>(t), o, guard);
        case TypeKind::Variant: {
            const auto& types = to<VariantType>(t).types;
            return std::any_of(types.begin(), types.end(), [&](const Type* option) {
                return assignable(ctx, option, o, guard);
            });
        }
        case TypeKind::Optional: {
            const Type* inner = to<OptionalType>(t).type;
            if (is(o, TypeKind::Undef) || !inner) return true;
            return assignable(ctx, inner, o, guard);
        }
        case TypeKind::NotUndef: {
            const Type* inner = to<NotUndefType>(t).type;
            return !accepts_undef(ctx, o, guard) && (!inner || assignable(ctx, inner, o, guard));
        }
        case TypeKind::Type: {
            const auto* x = as<TypeType>(o);
            if (!x) return false;
            const Type* inner = to<TypeType>(t).type;
            return !inner || (x->type && assignable(ctx, inner, x->type, guard));
        }
        case TypeKind::TypeAlias:
            return assignable(ctx, resolved(ctx, to<TypeAliasType>(t)), o, guard);
        case TypeKind::TypeReference: return equal(t, o);
        case TypeKind::Callable: return fits_callable(ctx, to<CallableType>(t), o, guard);
        case TypeKind::Iterable: return fits_iterable(ctx, to<IterableType>(t), o, guard);
        case TypeKind::Iterator: {
            const auto* it = as<IteratorType>(o);
            if (!it) return false;
            const Type* inner = to<IteratorType>(t).type;
            return !inner || (it->type && assignable(ctx, inner, it->type, guard));
        }
        case TypeKind::Sensitive: {
            const auto* s = as<SensitiveType>(o);
            return s && assignable(ctx, to<SensitiveType>(t).type, s->type, guard);
        }
        case TypeKind::SemVer: return fits_sem_ver(to<SemVerType>(t), o);
        case TypeKind::Uri: return fits_uri(ctx, to<UriType>(t), o);
        case TypeKind::Init: return fits_init(ctx, to<InitType>(t), o, guard);
        case TypeKind::Runtime: return fits_runtime(to<RuntimeType>(t), o);
        case TypeKind::CatalogEntry:
            return is(o, TypeKind::CatalogEntry) || is(o, TypeKind::Resource) ||
                   is(o, TypeKind::Class);
        case TypeKind::Resource: {
            const auto* r = as<ResourceType>(o);
            if (!r) return false;
            const auto& wanted = to<ResourceType>(t);
            return wanted.type_name.empty() || (wanted.downcased == r->downcased &&
                                                (!wanted.title || wanted.title == r->title));
        }
        case TypeKind::Class: {
            const auto* c = as<ClassType>(o);
            return c &&
                   (!to<ClassType>(t).class_name || to<ClassType>(t).class_name == c->class_name);
        }
        case TypeKind::Object:
        case TypeKind::TypeSet:
            return static_cast<const OpenType*>(t)->is_assignable_from(ctx, o, guard);
        case TypeKind::Data:
        case TypeKind::RichData:
        case TypeKind::Deferred:
        case TypeKind::Error: break;  // aliases and Object types: handled elsewhere
    }
    return false;
}

/// Decomposes the given type before the rules of the expected type apply.
bool assignable_base(Context& ctx, const Type* t, const Type* o, Guard* guard) {
    switch (o->kind) {
        case TypeKind::Unit: return true;
        case TypeKind::TypeAlias: {
            const auto& alias = to<TypeAliasType>(o);
            const Type* inner = resolved(ctx, alias);
            if (!alias.self_recursive) return assignable(ctx, t, inner, guard);
            Guard own;
            Guard* g = guard ? guard : &own;
            if (g->add_that(o) == Guard::kBoth) return true;
            // In a cycle, an alias adds no values.
            const Guard::CycleCheck cycle_check(*g, Guard::kThat, t, o);
            return cycle_check.in_cycle() || assignable(ctx, t, inner, g);
        }
        case TypeKind::Variant: {
            const auto& types = to<VariantType>(o).types;
            if (is(t, TypeKind::Any)) return true;
            if (is(t, TypeKind::NotUndef) && types.empty()) return fits(ctx, t, o, guard);
            return !types.empty() && std::all_of(types.begin(), types.end(), [&](const Type* v) {
                return assignable(ctx, t, v, guard);
            });
        }
        case TypeKind::Optional: {
            const Type* inner = to<OptionalType>(o).type;
            return accepts_undef(ctx, t, guard) && (!inner || assignable(ctx, t, inner, guard));
        }
        case TypeKind::NotUndef: {
            const Type* inner = to<NotUndefType>(o).type;
            if (inner && !accepts_undef(ctx, inner, guard)) return assignable(ctx, t, inner, guard);
            return fits(ctx, t, o, guard);
        }
        default: return fits(ctx, t, o, guard);
    }
}

}  // namespace

bool assignable(Context& ctx, const Type* t, const Type* o, Guard* guard) {
    base::step();
    if (t == o && !is(t, TypeKind::TypeAlias) && !is(t, TypeKind::TypeReference) &&
        !is(t, TypeKind::Variant) && !is(t, TypeKind::NotUndef) && !is(t, TypeKind::Init) &&
        !as_open(t))
        return true;
    DepthCheck depth;
    switch (t->kind) {
        case TypeKind::Unit: return true;
        case TypeKind::TypeAlias: {
            const auto& alias = to<TypeAliasType>(t);
            resolved(ctx, alias);
            if (!alias.self_recursive) return assignable_base(ctx, t, o, guard);
            Guard own;
            Guard* g = guard ? guard : &own;
            return g->with_this(t, [&](unsigned state) {
                if (state == Guard::kBoth) return true;
                // In a cycle, an alias accepts no values.
                const Guard::CycleCheck cycle_check(*g, Guard::kThis, t, o);
                return !cycle_check.in_cycle() && assignable_base(ctx, t, o, g);
            });
        }
        case TypeKind::Variant: {
            const auto& types = to<VariantType>(t).types;
            if (is(o, TypeKind::Undef) && types.empty()) return false;
            const auto* v = as<VariantType>(o);
            if (!v) return assignable_base(ctx, t, o, guard);
            if (types.empty()) return true;
            return !v->types.empty() &&
                   std::all_of(v->types.begin(), v->types.end(), [&](const Type* option) {
                       return assignable_base(ctx, t, option, guard);
                   });
        }
        default: return assignable_base(ctx, t, o, guard);
    }
}

bool is_assignable(Context& ctx, const Type* to, const Type* from) {
    return assignable(ctx, to, from, nullptr);
}

bool kind_of_callable(Context& ctx, const Type* t, bool optional, Guard* guard) {
    if (!t) return false;
    switch (t->kind) {
        case TypeKind::Callable: return true;
        case TypeKind::Variant: {
            const auto& types = to<VariantType>(t).types;
            return std::all_of(types.begin(), types.end(), [&](const Type* option) {
                return kind_of_callable(ctx, option, optional, guard);
            });
        }
        case TypeKind::Optional:
            return optional && to<OptionalType>(t).type &&
                   kind_of_callable(ctx, to<OptionalType>(t).type, optional, guard);
        case TypeKind::TypeAlias: {
            const auto& alias = to<TypeAliasType>(t);
            const Type* inner = resolved(ctx, alias);
            if (!alias.self_recursive) return kind_of_callable(ctx, inner, optional, guard);
            Guard own;
            Guard* g = guard ? guard : &own;
            return g->with_this(t, [&](unsigned state) {
                return (state & Guard::kThis) == 0 && kind_of_callable(ctx, inner, optional, g);
            });
        }
        case TypeKind::Object:
        case TypeKind::TypeSet:
            return kind_of_callable(ctx, static_cast<const OpenType*>(t)->parent_type(), optional,
                                    guard);
        default: return false;
    }
}

bool is_kind_of_callable(Context& ctx, const Type* t, bool optional) {
    return kind_of_callable(ctx, t, optional, nullptr);
}

namespace {

bool tuple_calls(Context& ctx, const TupleType& args, const CallableType& callable) {
    if (args.size)
        throw base::PuppetError("Callable tuple may not have a size constraint when used as args");
    const TupleType* params = callable.params;
    if (!params) return true;
    const Type* block = callable.block;
    if (!args.types.empty() && kind_of_callable(ctx, args.types.back(), true, nullptr)) {
        if (!block || !is_assignable(ctx, block, args.types.back())) return false;
        const auto n = static_cast<std::int64_t>(args.types.size()) - 1;
        if (!params->size_range().contains(n)) return false;
        for (std::int64_t i = 0; i < n; ++i) {
            if (params->types.empty()) break;
            const auto at =
                std::min<std::size_t>(static_cast<std::size_t>(i), params->types.size() - 1);
            if (!is_assignable(ctx, params->types[at], args.types[static_cast<std::size_t>(i)]))
                return false;
        }
        return true;
    }
    return is_assignable(ctx, params, &args) &&
           (!block || is_assignable(ctx, block, defaults().undef));
}

}  // namespace

bool is_callable_with(Context& ctx, const Type* callable, const Type* args) {
    if (!kind_of_callable(ctx, callable, true, nullptr)) return false;
    if (const auto* a = as<TypeAliasType>(args)) args = resolve(ctx, a);
    const auto* c = as<CallableType>(resolve(ctx, callable));
    switch (args->kind) {
        case TypeKind::Undef: return is_assignable(ctx, callable, args);
        case TypeKind::Callable: return is_assignable(ctx, callable, args);
        case TypeKind::Tuple: return c && tuple_calls(ctx, to<TupleType>(args), *c);
        case TypeKind::Array:
            return c && (!c->params || is_assignable(ctx, c->params, args)) &&
                   (!c->block || is_assignable(ctx, c->block, defaults().undef));
        default: return false;
    }
}

}  // namespace bunraku::types
