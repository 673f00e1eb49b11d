// SPDX-License-Identifier: Apache-2.0
// Infers the type of a value, and the most specific common type of two types.
#include <algorithm>

#include "core/base/semver.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "core/value/time.h"
#include "language/types/factory.h"
#include "language/types/internal.h"

namespace bunraku::types {

using value::Kind;

namespace {

Range only(const Value& time) {
    return {value::clamped_nanoseconds(time), value::clamped_nanoseconds(time)};
}

Range exactly(std::size_t n) {
    return {static_cast<std::int64_t>(n), static_cast<std::int64_t>(n)};
}

/// Returns common_type over the types of all items. Strings are collected in one step, because
/// adding them one by one makes a larger Enum each time.
template <class It, class Get>
const Type* infer_and_reduce(Context& ctx, It begin, It end, Get get) {
    if (std::all_of(begin, end, [&](const auto& e) { return get(e).is_string(); })) {
        std::vector<std::string_view> values;
        for (It it = begin; it != end; ++it) values.push_back(get(*it).as_string());
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        if (values.size() == 1) return make_string(ctx, values[0]);
        return make_enum(ctx, std::move(values));
    }
    const Type* memo = nullptr;
    for (It it = begin; it != end; ++it) {
        if (is(memo, TypeKind::Any)) return memo;
        const Type* t = infer(ctx, get(*it));
        memo = memo ? common_type(ctx, memo, t) : t;
    }
    return memo;
}

const Type* infer_extension(Context& ctx, const Value& v) {
    const Type* t = static_cast<const TypedExtension*>(v.as_extension())->value_type(ctx);
    if (t) return t;
    switch (v.kind()) {
        case Kind::Closure: return defaults().callable;
        case Kind::Iterator: return defaults().iterator;
        default: return default_object_type();
    }
}

}  // namespace

const Type* infer(Context& ctx, const Value& v) {
    base::step();
    const Defaults& d = defaults();
    switch (v.kind()) {
        case Kind::Undef: return d.undef;
        case Kind::Default: return d.default_type;
        case Kind::Boolean: return v.as_boolean() ? d.true_type : d.false_type;
        case Kind::Integer: return make_integer(ctx, v.as_integer(), v.as_integer());
        case Kind::Float: return ctx.arena.make<FloatType>(v.as_float(), v.as_float());
        case Kind::String: return ctx.arena.make<StringType>(v.as_string());
        case Kind::Array: {
            const auto items = v.as_array();
            if (items.empty()) return d.array_empty;
            const Type* element = infer_and_reduce(
                ctx, items.begin(), items.end(), [](const Value& e) -> const Value& { return e; });
            return make_array_type(ctx, element, exactly(items.size()));
        }
        case Kind::Hash: {
            const value::HashRep& h = v.as_hash();
            if (h.empty()) return d.hash_empty;
            const Type* key =
                infer_and_reduce(ctx, h.begin(), h.end(),
                                 [](const value::Entry& e) -> const Value& { return e.key; });
            const Type* element =
                infer_and_reduce(ctx, h.begin(), h.end(),
                                 [](const value::Entry& e) -> const Value& { return e.value; });
            return make_hash_type(ctx, key, element, exactly(h.size()));
        }
        case Kind::Regexp: return make_regexp_type(ctx, v.as_regexp());
        case Kind::Sensitive: return make_sensitive_type(ctx, infer(ctx, v.unwrap()));
        case Kind::Timestamp: return make_timestamp(ctx, only(v));
        case Kind::Timespan: return make_timespan(ctx, only(v));
        case Kind::SemVer: return d.sem_ver;
        case Kind::SemVerRange: return d.sem_ver_range;
        case Kind::Binary: return d.binary;
        case Kind::Uri: {
            const Value parts = uri_parts(ctx, v.as_string());
            return parts.is_undef() ? d.uri : ctx.arena.make<UriType>(&parts.as_hash());
        }
        case Kind::Type: return make_type_type(ctx, v.as_type());
        case Kind::Object:
        case Kind::Closure:
        case Kind::Iterator: return infer_extension(ctx, v);
    }
    return d.any;
}

const Type* infer_set(Context& ctx, const Value& v) {
    base::step();
    const Defaults& d = defaults();
    if (v.is_array()) {
        const auto items = v.as_array();
        if (items.empty()) return d.array_empty;
        std::vector<const Type*> types;
        types.reserve(items.size());
        for (const Value& e : items) types.push_back(infer_set(ctx, e));
        return make_tuple_type(ctx, types);
    }
    if (v.is_hash()) {
        const value::HashRep& h = v.as_hash();
        if (h.empty()) return d.hash_empty;
        const bool names = std::all_of(h.begin(), h.end(), [](const value::Entry& e) {
            return e.key.is_string() && !e.key.as_string().empty();
        });
        if (names) {
            std::vector<StructElement> elements;
            elements.reserve(h.size());
            for (const value::Entry& e : h)
                elements.push_back({e.key.as_string(),
                                    ctx.arena.make<StringType>(e.key.as_string()),
                                    infer_set(ctx, e.value)});
            return make_struct(ctx, elements);
        }
        std::vector<const Type*> keys, values;
        for (const value::Entry& e : h) {
            keys.push_back(infer_set(ctx, e.key));
            values.push_back(infer_set(ctx, e.value));
        }
        return make_hash_type(ctx, make_variant(ctx, keys), make_variant(ctx, values),
                              exactly(h.size()));
    }
    if (v.is(Kind::SemVer)) {
        const base::SemVer& version = v.as_semver();
        const Value range = value::make_semver_range(
            ctx.arena, base::SemVerRange::between(version, version, false));
        const base::SemVerRange* r = &range.as_semver_range();
        return ctx.arena.make<SemVerType>(
            ctx.arena.copy(std::span<const base::SemVerRange* const>(&r, 1)));
    }
    return infer(ctx, v);
}

const Type* type_of(Context& ctx, const Value& v) {
    if (v.is_type()) return v.as_type();
    if (v.is_string()) return make_runtime(ctx, "ruby", v.as_string());
    return generalize(ctx, infer(ctx, v));
}

namespace {

template <class T>
std::vector<const T*> united(std::span<const T* const> a, std::span<const T* const> b) {
    std::vector<const T*> out(a.begin(), a.end());
    for (const T* t : b)
        if (std::none_of(out.begin(), out.end(), [&](const T* o) {
                return equal(static_cast<const Type*>(o), static_cast<const Type*>(t));
            }))
            out.push_back(t);
    return out;
}

const Type* common_string(Context& ctx, const StringType& a, const Type* b) {
    if (const auto* e = as<EnumType>(b)) {
        if (!a.value) return defaults().enumeration;
        std::vector<std::string_view> values(e->values.begin(), e->values.end());
        values.push_back(*a.value);
        return make_enum(ctx, std::move(values));
    }
    const auto& s = to<StringType>(b);
    if (!a.size || !s.size) {
        if (!a.value || !s.value) return defaults().string;
        return make_enum(ctx, {*a.value, *s.value});
    }
    return make_string(
        ctx, Range{std::min(a.size->min, s.size->min), std::max(a.size->max, s.size->max)});
}

const Type* common_enum(Context& ctx, const EnumType& a, const Type* b) {
    std::vector<std::string_view> values(a.values.begin(), a.values.end());
    if (const auto* e = as<EnumType>(b)) {
        values.insert(values.end(), e->values.begin(), e->values.end());
    } else {
        const auto& s = to<StringType>(b);
        if (!s.value) return defaults().enumeration;
        values.push_back(*s.value);
    }
    return make_enum(ctx, std::move(values));
}

}  // namespace

const Type* common_type(Context& ctx, const Type* a, const Type* b) {
    base::step();
    const Defaults& d = defaults();
    if (!a || is(a, TypeKind::Undef)) return b;
    if (!b || is(b, TypeKind::Undef)) return a;
    if (is(a, TypeKind::Unit)) return b;
    if (is(b, TypeKind::Unit)) return a;
    if (is_assignable(ctx, a, b)) return a;
    if (is_assignable(ctx, b, a)) return b;
    DepthCheck depth;
    if (a->kind == b->kind) {
        switch (a->kind) {
            case TypeKind::Array:
                return make_array_type(
                    ctx, common_type(ctx, to<ArrayType>(a).element, to<ArrayType>(b).element));
            case TypeKind::Hash:
                return make_hash_type(
                    ctx, common_type(ctx, to<HashType>(a).key, to<HashType>(b).key),
                    common_type(ctx, to<HashType>(a).value, to<HashType>(b).value));
            case TypeKind::Class: return d.class_type;
            case TypeKind::Resource: {
                const auto &x = to<ResourceType>(a), &y = to<ResourceType>(b);
                if (x.type_name != y.type_name) return d.resource;
                return make_resource(ctx, x.type_name);
            }
            case TypeKind::Integer: {
                const Range &x = to<IntegerType>(a).range, &y = to<IntegerType>(b).range;
                return make_integer(ctx, std::min(x.min, y.min), std::max(x.max, y.max));
            }
            case TypeKind::Float: {
                const auto &x = to<FloatType>(a), &y = to<FloatType>(b);
                return make_float(ctx, std::min(x.min, y.min), std::max(x.max, y.max));
            }
            case TypeKind::Pattern:
                return make_pattern(
                    ctx, united(to<PatternType>(a).patterns, to<PatternType>(b).patterns));
            case TypeKind::Variant:
                return make_variant(ctx,
                                    united(to<VariantType>(a).types, to<VariantType>(b).types));
            case TypeKind::Regexp: return d.regexp;
            case TypeKind::Callable: return d.callable;
            default: break;
        }
    }
    const auto is_text = [](const Type* t) {
        return is(t, TypeKind::String) || is(t, TypeKind::Enum);
    };
    if (is(a, TypeKind::String) && is_text(b)) return common_string(ctx, to<StringType>(a), b);
    if (is(a, TypeKind::Enum) && is_text(b)) return common_enum(ctx, to<EnumType>(a), b);
    const auto both = [&](const Type* t) {
        return is_assignable(ctx, t, a) && is_assignable(ctx, t, b);
    };
    if (both(d.numeric)) return d.numeric;
    if (both(d.scalar_data)) return d.scalar_data;
    if (both(d.scalar)) return d.scalar;
    if (both(d.data)) return d.data;
    if (is(a, TypeKind::Type) && is(b, TypeKind::Type))
        return make_type_type(ctx, common_type(ctx, to<TypeType>(a).type, to<TypeType>(b).type));
    if (both(d.rich_data)) return d.rich_data;
    return d.any;
}

}  // namespace bunraku::types
