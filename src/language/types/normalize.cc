// SPDX-License-Identifier: Apache-2.0
// generalize removes values, ranges and sizes. normalize returns a simpler type with the same set
// of values.
#include <algorithm>

#include "core/base/assert.h"
#include "core/base/semver.h"
#include "core/base/text.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"

namespace bunraku::types {

namespace {

using List = std::vector<const Type*>;

bool accepts_undef(Context& ctx, const Type* t) { return is_assignable(ctx, t, defaults().undef); }

/// Applies `f` to each type. Returns nullopt if none of them changed.
template <class F>
std::optional<List> altered(Types types, F f) {
    List out;
    bool changed = false;
    out.reserve(types.size());
    for (const Type* t : types) {
        const Type* n = f(t);
        changed = changed || n != t;
        out.push_back(n);
    }
    BUNRAKU_ASSERT(out.size() == types.size());
    if (!changed) return std::nullopt;
    return out;
}

template <class F>
const Type* alter_struct(Context& ctx, const StructType& s, F f) {
    std::vector<StructElement> out;
    bool changed = false;
    for (const StructElement& e : s.elements) {
        out.push_back({e.name, e.key, f(e.value)});
        changed = changed || out.back().value != e.value;
    }
    return changed ? make_struct(ctx, out) : &s;
}

template <class F>
const Type* alter_callable(Context& ctx, const CallableType& c, F f) {
    const auto g = [&](const Type* t) { return t ? f(t) : nullptr; };
    const Type *params = g(c.params), *block = g(c.block), *returns = g(c.returns);
    if (params == c.params && block == c.block && returns == c.returns) return &c;
    return make_callable(ctx, as<TupleType>(params), block, returns);
}

/// Makes a contained type of the same kind with another inner type.
const Type* wrap(Context& ctx, TypeKind kind, const Type* inner) {
    switch (kind) {
        case TypeKind::Optional: return make_optional(ctx, inner);
        case TypeKind::NotUndef: return make_not_undef(ctx, inner);
        case TypeKind::Iterable: return make_iterable(ctx, inner);
        case TypeKind::Iterator: return make_iterator(ctx, inner);
        case TypeKind::Sensitive: return make_sensitive_type(ctx, inner);
        default: return make_type_type(ctx, inner);
    }
}

List flatten(Types types) {
    List out;
    for (const Type* t : types) {
        if (const auto* v = as<VariantType>(t))
            out.insert(out.end(), v->types.begin(), v->types.end());
        else
            out.push_back(t);
    }
    return out;
}

/// Removes the types that `pick` selects from `types` and returns them.
template <class P>
List take(List& types, P pick) {
    List taken, rest;
    for (const Type* t : types) (pick(t) ? taken : rest).push_back(t);
    BUNRAKU_ASSERT(taken.size() + rest.size() == types.size());
    if (taken.size() > 1) types = std::move(rest);
    return taken;
}

void swap_not_undefs(Context& ctx, List& types) {
    const List picked = take(types, [](const Type* t) { return is(t, TypeKind::NotUndef); });
    if (picked.size() < 2) return;
    List inner;
    for (const Type* t : picked) {
        const Type* type = to<NotUndefType>(t).type;
        inner.push_back(type ? type : defaults().any);
    }
    types.push_back(make_not_undef(ctx, normalize(ctx, make_variant(ctx, inner))));
}

void merge_enums(Context& ctx, List& types) {
    const List exact = take(types, [](const Type* t) {
        if (const auto* e = as<EnumType>(t)) return !e->values.empty() && !e->case_insensitive;
        const auto* s = as<StringType>(t);
        return s && s->value.has_value();
    });
    if (exact.size() > 1) {
        std::vector<std::string_view> values;
        for (const Type* t : exact) {
            if (const auto* s = as<StringType>(t))
                values.push_back(*s->value);
            else
                for (std::string_view v : to<EnumType>(t).values) values.push_back(v);
        }
        types.push_back(make_enum(ctx, std::move(values)));
    }
    const List folded = take(types, [](const Type* t) {
        const auto* e = as<EnumType>(t);
        return e && !e->values.empty() && e->case_insensitive;
    });
    if (folded.size() > 1) {
        std::vector<std::string_view> values;
        for (const Type* t : folded)
            for (std::string_view v : to<EnumType>(t).values)
                values.push_back(ctx.arena.copy(base::lower(v)));
        types.push_back(make_enum(ctx, std::move(values), true));
    }
}

void merge_patterns(Context& ctx, List& types) {
    const List picked = take(types, [](const Type* t) { return is(t, TypeKind::Pattern); });
    if (picked.size() < 2) return;
    std::vector<const RegexpType*> all;
    for (const Type* t : picked)
        all.insert(all.end(), to<PatternType>(t).patterns.begin(),
                   to<PatternType>(t).patterns.end());
    types.push_back(make_pattern(ctx, all));
}

void merge_versions(Context& ctx, List& types) {
    const List picked = take(types, [](const Type* t) { return is(t, TypeKind::SemVer); });
    if (picked.size() < 2) return;
    std::vector<const base::SemVerRange*> all;
    for (const Type* t : picked)
        all.insert(all.end(), to<SemVerType>(t).ranges.begin(), to<SemVerType>(t).ranges.end());
    types.insert(types.begin(), make_sem_ver(ctx, all));
}

/// Merges two ranges if they overlap or, for integers, are adjacent.
/// Merges the last item of `items` with each item before it that `merge` accepts (null means that
/// the two cannot be merged). Removes these items and returns the result.
template <class Item, class Merge>
Item merge_last(std::vector<Item>& items, const Merge& merge) {
    BUNRAKU_ASSERT(!items.empty());
    Item memo = items.back();
    items.pop_back();
    std::vector<Item> apart;
    for (const Item item : items) {
        if (const auto merged = merge(memo, item))
            memo = merged;
        else
            apart.push_back(item);
    }
    items = std::move(apart);
    return memo;
}

const Type* merge_two(Context& ctx, const Type* a, const Type* b) {
    if (const auto* x = as<FloatType>(a)) {
        const auto& y = to<FloatType>(b);
        if (x->max < y.min || y.max < x->min) return nullptr;
        return make_float(ctx, std::min(x->min, y.min), std::max(x->max, y.max));
    }
    const auto range = [](const Type* t) {
        if (const auto* i = as<IntegerType>(t)) return i->range;
        if (const auto* s = as<TimestampType>(t)) return s->range;
        return to<TimespanType>(t).range;
    };
    const Range x = range(a), y = range(b);
    const bool apart = x.max < y.min || y.max < x.min;
    const bool adjacent = is(a, TypeKind::Integer) && ((x.max != kMax && x.max + 1 == y.min) ||
                                                       (y.max != kMax && y.max + 1 == x.min));
    if (apart && !adjacent) return nullptr;
    const Range merged{std::min(x.min, y.min), std::max(x.max, y.max)};
    BUNRAKU_ASSERT(a->kind == b->kind);
    if (is(a, TypeKind::Integer)) return make_integer(ctx, merged);
    if (is(a, TypeKind::Timestamp)) return make_timestamp(ctx, merged);
    return make_timespan(ctx, merged);
}

void merge_numbers(Context& ctx, TypeKind kind, List& types) {
    List ranges = take(types, [&](const Type* t) { return is(t, kind); });
    if (ranges.size() < 2) return;
    List result;
    const auto merge = [&](const Type* a, const Type* b) { return merge_two(ctx, a, b); };
    while (!ranges.empty()) result.push_back(merge_last(ranges, merge));
    types.insert(types.begin(), result.begin(), result.end());
}

const Type* normalize_variant(Context& ctx, const VariantType& v) {
    if (v.types.empty()) return &v;
    const auto f = [&](const Type* t) { return normalize(ctx, t); };
    const auto changed = altered(v.types, f);
    List types = changed ? *changed : List(v.types.begin(), v.types.end());
    if (types.size() == 1) return types[0];
    const bool optional = std::any_of(types.begin(), types.end(), [](const Type* t) {
        return is(t, TypeKind::Undef) || is(t, TypeKind::Optional);
    });
    if (optional) {
        List inner;
        for (const Type* t : types) {
            if (is(t, TypeKind::Undef)) continue;
            const auto* o = as<OptionalType>(t);
            if (!o)
                inner.push_back(t);
            else if (o->type)
                inner.push_back(o->type);
            else
                inner.push_back(defaults().any);
        }
        return normalize(ctx, make_optional(ctx, make_variant(ctx, inner)));
    }
    types = flatten(types);
    const std::size_t before = types.size();
    swap_not_undefs(ctx, types);
    merge_enums(ctx, types);
    merge_patterns(ctx, types);
    merge_versions(ctx, types);
    for (TypeKind kind :
         {TypeKind::Integer, TypeKind::Float, TypeKind::Timespan, TypeKind::Timestamp})
        merge_numbers(ctx, kind, types);
    if (types.size() == 1) return types[0];
    return changed || types.size() != before ? make_variant(ctx, types) : &v;
}

}  // namespace

const Type* generalize(Context& ctx, const Type* t) {
    base::step();
    DepthCheck depth;
    const Defaults& d = defaults();
    const auto f = [&](const Type* inner) { return generalize(ctx, inner); };
    switch (t->kind) {
        case TypeKind::Integer: return d.integer;
        case TypeKind::Float: return d.floating;
        case TypeKind::String: return d.string;
        case TypeKind::Boolean: return d.boolean;
        case TypeKind::Timestamp: return d.timestamp;
        case TypeKind::Timespan: return d.timespan;
        case TypeKind::Uri: return d.uri;
        case TypeKind::Collection: return d.collection;
        case TypeKind::Enum: {
            const auto& values = to<EnumType>(t).values;
            if (values.empty()) return d.string;
            Range size{kMax, 0};
            for (std::string_view v : values) {
                size.min = std::min(size.min, char_count(v));
                size.max = std::max(size.max, char_count(v));
            }
            return make_string(ctx, size);
        }
        case TypeKind::Array: {
            const auto& a = to<ArrayType>(t);
            if (is(a.element, TypeKind::Any)) return d.array;
            const Type* element = f(a.element);
            return !a.size && element == a.element ? t : make_array_type(ctx, element);
        }
        case TypeKind::Hash: {
            const auto& h = to<HashType>(t);
            if (equal(t, d.hash) || equal(t, d.hash_empty)) return t;
            const Type *key = f(h.key), *value = f(h.value);
            return !h.size && key == h.key && value == h.value ? t
                                                               : make_hash_type(ctx, key, value);
        }
        case TypeKind::Tuple: {
            const auto changed = altered(to<TupleType>(t).types, f);
            return changed ? make_tuple_type(ctx, *changed, to<TupleType>(t).size) : t;
        }
        case TypeKind::Struct: return alter_struct(ctx, to<StructType>(t), f);
        case TypeKind::Variant: {
            const auto changed = altered(to<VariantType>(t).types, f);
            return changed ? make_variant(ctx, *changed) : t;
        }
        case TypeKind::Optional:
        case TypeKind::NotUndef:
        case TypeKind::Iterable:
        case TypeKind::Iterator:
        case TypeKind::Sensitive:
        case TypeKind::Type: {
            const Type* inner = static_cast<const ContainedType*>(t)->type;
            if (!inner) return t;
            const Type* changed = f(inner);
            return changed == inner ? t : wrap(ctx, t->kind, changed);
        }
        case TypeKind::Callable: return alter_callable(ctx, to<CallableType>(t), f);
        case TypeKind::Init: {
            const auto& i = to<InitType>(t);
            if (!i.type) return t;
            const Type* inner = f(i.type);
            return inner == i.type ? t : make_init(ctx, inner, i.args);
        }
        case TypeKind::Object:
        case TypeKind::TypeSet: return static_cast<const OpenType*>(t)->generalized(ctx);
        default: return t;
    }
}

const Type* normalize(Context& ctx, const Type* t) {
    base::step();
    DepthCheck depth;
    const Defaults& d = defaults();
    const auto f = [&](const Type* inner) { return normalize(ctx, inner); };
    switch (t->kind) {
        case TypeKind::Collection: return d.collection;
        case TypeKind::Array: {
            const auto& a = to<ArrayType>(t);
            // 8.11 drops the size of an array of Any here.
            if (is(a.element, TypeKind::Any)) return d.array;
            const Type* element = f(a.element);
            return element == a.element ? t : make_array_type(ctx, element, a.size);
        }
        case TypeKind::Hash: {
            const auto& h = to<HashType>(t);
            const Type *key = f(h.key), *value = f(h.value);
            return key == h.key && value == h.value ? t : make_hash_type(ctx, key, value, h.size);
        }
        case TypeKind::Tuple: {
            const auto changed = altered(to<TupleType>(t).types, f);
            return changed ? make_tuple_type(ctx, *changed, to<TupleType>(t).size) : t;
        }
        case TypeKind::Struct: return alter_struct(ctx, to<StructType>(t), f);
        case TypeKind::Variant: return normalize_variant(ctx, to<VariantType>(t));
        case TypeKind::Callable: return alter_callable(ctx, to<CallableType>(t), f);
        case TypeKind::Optional: {
            const Type* inner = to<OptionalType>(t).type;
            if (!inner) return t;
            const Type* n = f(inner);
            if (const auto* nu = as<NotUndefType>(n)) {
                if (!nu->type) return d.optional;
                return normalize(ctx, make_optional(ctx, nu->type));
            }
            if (accepts_undef(ctx, n)) return n;
            return n == inner ? t : make_optional(ctx, n);
        }
        case TypeKind::NotUndef: {
            const Type* inner = to<NotUndefType>(t).type;
            if (!inner) return t;
            const Type* n = f(inner);
            if (const auto* o = as<OptionalType>(n))
                return normalize(ctx, make_not_undef(ctx, o->type));
            if (!accepts_undef(ctx, n)) return n;
            return n == inner ? t : make_not_undef(ctx, n);
        }
        case TypeKind::Iterable:
        case TypeKind::Iterator:
        case TypeKind::Sensitive:
        case TypeKind::Type: {
            const Type* inner = static_cast<const ContainedType*>(t)->type;
            if (!inner) return t;
            const Type* n = f(inner);
            return n == inner ? t : wrap(ctx, t->kind, n);
        }
        case TypeKind::Init: {
            const auto& i = to<InitType>(t);
            if (!i.type) return t;
            const Type* inner = f(i.type);
            return inner == i.type ? t : make_init(ctx, inner, i.args);
        }
        default: return t;
    }
}

// --- SemVer ranges are merged when the type is made
// -----------------------------------------------

namespace {

using Part = base::SemVerRange::Part;

bool below(const std::optional<base::SemVer>& min, const base::SemVer& v, bool exclude) {
    return !min || *min < v || (!exclude && *min == v);
}

/// Reports whether v is in the interval.
bool has(const Part& p, const base::SemVer& v) {
    if (!below(p.min, v, p.exclude_min)) return false;
    return !p.max || v < *p.max || (!p.exclude_max && v == *p.max);
}

const base::SemVerRange* merge_ranges(Context& ctx, const base::SemVerRange& a,
                                      const base::SemVerRange& b) {
    if (a.parts.size() != 1 || b.parts.size() != 1) return nullptr;
    const Part &x = a.parts[0], &y = b.parts[0];
    if (x.exclude_min || y.exclude_min) return nullptr;
    const auto starts_in = [](const Part& p, const Part& q) {
        return q.min ? has(p, *q.min) : !p.min;
    };
    const bool touch = (x.max && x.exclude_max && y.min && *x.max == *y.min) ||
                       (y.max && y.exclude_max && x.min && *y.max == *x.min);
    if (!starts_in(x, y) && !starts_in(y, x) && !touch) return nullptr;
    std::optional<base::SemVer> min, max;
    if (x.min && y.min) min = std::min(*x.min, *y.min);
    bool exclude = false;
    if (x.max && y.max) {
        if (*x.max == *y.max) {
            max = x.max;
            exclude = x.exclude_max && y.exclude_max;
        } else {
            const Part& higher = *x.max > *y.max ? x : y;
            max = higher.max;
            exclude = higher.exclude_max;
        }
    }
    const Value v =
        value::make_semver_range(ctx.arena, base::SemVerRange::between(min, max, exclude));
    return &v.as_semver_range();
}

}  // namespace

const SemVerType* make_sem_ver(Context& ctx, std::span<const base::SemVerRange* const> ranges) {
    if (ranges.empty()) return defaults().sem_ver;
    std::vector<const base::SemVerRange*> todo(ranges.begin(), ranges.end()), result;
    const auto merge = [&](const base::SemVerRange* a, const base::SemVerRange* b) {
        return merge_ranges(ctx, *a, *b);
    };
    while (todo.size() > 1 || (!todo.empty() && !result.empty())) {
        result.push_back(merge_last(todo, merge));
    }
    result.insert(result.end(), todo.begin(), todo.end());
    std::reverse(result.begin(), result.end());
    return ctx.arena.make<SemVerType>(ctx.arena.copy(result));
}

}  // namespace bunraku::types
