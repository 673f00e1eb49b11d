// SPDX-License-Identifier: Apache-2.0
// Types as values: Ruby's == and hash for each kind of type.
#include <algorithm>

#include "core/base/semver.h"
#include "core/base/work_limit.h"
#include "language/types/factory.h"
#include "language/types/internal.h"

namespace bunraku::types {

namespace {

bool equal_lists(Types a, Types b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!equal(a[i], b[i])) return false;
    return true;
}

/// Reports whether both have the same number of types and `b` contains every type of `a`.
template <class T>
bool equal_sets(std::span<const T* const> a, std::span<const T* const> b) {
    if (a.size() != b.size()) return false;
    return std::all_of(a.begin(), a.end(), [&](const T* x) {
        return std::any_of(b.begin(), b.end(), [&](const T* y) {
            return equal(static_cast<const Type*>(x), static_cast<const Type*>(y));
        });
    });
}

bool equal_ranges(const SemVerType& a, const SemVerType& b) {
    return std::equal(a.ranges.begin(), a.ranges.end(), b.ranges.begin(), b.ranges.end(),
                      [](const auto* x, const auto* y) { return *x == *y; });
}

bool equal_args(std::span<const Value> a, std::span<const Value> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Value& x, const Value& y) { return value::equal(x, y); });
}

bool equal_runtime(const RuntimeType& a, const RuntimeType& b) {
    if (a.runtime != b.runtime || a.name != b.name || a.replacement != b.replacement) return false;
    if (!a.pattern || !b.pattern) return a.pattern == b.pattern;
    return a.pattern->source == b.pattern->source && a.pattern->options == b.pattern->options;
}

std::uint64_t hash_text(std::string_view text) { return std::hash<std::string_view>()(text); }
std::uint64_t hash_range(const Range& r) {
    return mix(static_cast<std::uint64_t>(r.min), static_cast<std::uint64_t>(r.max));
}
std::uint64_t hash_size(const Size& s) { return s ? hash_range(*s) : 17; }
std::uint64_t hash_type(const Type* t) { return t ? t->hash() : 3; }

std::uint64_t hash_inside(const Type* t) {
    base::step();
    switch (t->kind) {
        case TypeKind::Integer: return hash_range(to<IntegerType>(t).range);
        case TypeKind::Timestamp: return hash_range(to<TimestampType>(t).range);
        case TypeKind::Timespan: return hash_range(to<TimespanType>(t).range);
        case TypeKind::Float:
            return mix(std::hash<double>()(to<FloatType>(t).min),
                       std::hash<double>()(to<FloatType>(t).max));
        case TypeKind::Boolean: {
            const auto v = to<BooleanType>(t).value;
            return v ? (*v ? 2 : 1) : 0;
        }
        case TypeKind::String: {
            const auto& s = to<StringType>(t);
            return s.value ? hash_text(*s.value) : hash_size(s.size);
        }
        case TypeKind::Enum: {
            std::uint64_t h = to<EnumType>(t).case_insensitive ? 7 : 5;
            for (std::string_view v : to<EnumType>(t).values) h = mix(h, hash_text(v));
            return h;
        }
        case TypeKind::Regexp: return hash_text(to<RegexpType>(t).pattern);
        case TypeKind::Pattern: {
            std::uint64_t h = 0;  // independent of the order
            for (const RegexpType* p : to<PatternType>(t).patterns) h += hash_text(p->pattern);
            return h;
        }
        case TypeKind::Variant: {
            std::uint64_t h = 0;  // independent of the order
            for (const Type* v : to<VariantType>(t).types) h += hash_type(v);
            return h;
        }
        case TypeKind::Collection: return hash_size(to<CollectionType>(t).size);
        case TypeKind::Array:
            return mix(hash_type(to<ArrayType>(t).element), hash_size(to<ArrayType>(t).size));
        case TypeKind::Hash:
            return mix(mix(hash_type(to<HashType>(t).key), hash_type(to<HashType>(t).value)),
                       hash_size(to<HashType>(t).size));
        case TypeKind::Tuple: {
            std::uint64_t h = hash_size(to<TupleType>(t).size);
            for (const Type* e : to<TupleType>(t).types) h = mix(h, hash_type(e));
            return h;
        }
        case TypeKind::Struct: {
            std::uint64_t h = 0;
            for (const StructElement& e : to<StructType>(t).elements)
                h = mix(h, mix(hash_type(e.key), hash_type(e.value)));
            return h;
        }
        case TypeKind::Optional:
        case TypeKind::NotUndef:
        case TypeKind::Iterable:
        case TypeKind::Iterator:
        case TypeKind::Sensitive:
        case TypeKind::Type: return hash_type(static_cast<const ContainedType*>(t)->type);
        case TypeKind::TypeAlias: return hash_text(to<TypeAliasType>(t).name);
        case TypeKind::TypeReference: return hash_text(to<TypeReferenceType>(t).type_string);
        case TypeKind::Callable: {
            const auto& c = to<CallableType>(t);
            return mix(mix(hash_type(c.params), hash_type(c.block)), hash_type(c.returns));
        }
        case TypeKind::SemVer: return to<SemVerType>(t).ranges.size();
        case TypeKind::Uri: {
            const auto* p = to<UriType>(t).parameters;
            return p ? value::hash_of(Value::hash(p)) : 0;
        }
        case TypeKind::Init: return hash_type(to<InitType>(t).type);
        case TypeKind::Runtime:
            return mix(hash_text(to<RuntimeType>(t).runtime), hash_text(to<RuntimeType>(t).name));
        case TypeKind::Resource: {
            const auto& r = to<ResourceType>(t);
            return mix(hash_text(r.downcased), r.title ? hash_text(*r.title) : 1);
        }
        case TypeKind::Class: {
            const auto& c = to<ClassType>(t);
            return c.class_name ? hash_text(*c.class_name) : 1;
        }
        case TypeKind::Object:
        case TypeKind::TypeSet: return static_cast<const OpenType*>(t)->hash_type();
        default: return 0;
    }
}

}  // namespace

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdULL;
}

bool equal(const Type* a, const Type* b) {
    base::step();
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind) return false;
    switch (a->kind) {
        case TypeKind::Integer: return to<IntegerType>(a).range == to<IntegerType>(b).range;
        case TypeKind::Timestamp: return to<TimestampType>(a).range == to<TimestampType>(b).range;
        case TypeKind::Timespan: return to<TimespanType>(a).range == to<TimespanType>(b).range;
        case TypeKind::Float:
            return to<FloatType>(a).min == to<FloatType>(b).min &&
                   to<FloatType>(a).max == to<FloatType>(b).max;
        case TypeKind::Boolean: return to<BooleanType>(a).value == to<BooleanType>(b).value;
        case TypeKind::String:
            return to<StringType>(a).size == to<StringType>(b).size &&
                   to<StringType>(a).value == to<StringType>(b).value;
        case TypeKind::Enum:
            return to<EnumType>(a).case_insensitive == to<EnumType>(b).case_insensitive &&
                   std::ranges::equal(to<EnumType>(a).values, to<EnumType>(b).values);
        case TypeKind::Regexp: {
            const auto &x = to<RegexpType>(a), &y = to<RegexpType>(b);
            return (x.rep == nullptr) == (y.rep == nullptr) && x.pattern == y.pattern;
        }
        case TypeKind::Pattern:
            return equal_sets(to<PatternType>(a).patterns, to<PatternType>(b).patterns);
        case TypeKind::Variant:
            return equal_sets(to<VariantType>(a).types, to<VariantType>(b).types);
        case TypeKind::Collection: return to<CollectionType>(a).size == to<CollectionType>(b).size;
        case TypeKind::Array:
            return to<ArrayType>(a).size == to<ArrayType>(b).size &&
                   equal(to<ArrayType>(a).element, to<ArrayType>(b).element);
        case TypeKind::Hash:
            return to<HashType>(a).size == to<HashType>(b).size &&
                   equal(to<HashType>(a).key, to<HashType>(b).key) &&
                   equal(to<HashType>(a).value, to<HashType>(b).value);
        case TypeKind::Tuple:
            return to<TupleType>(a).size == to<TupleType>(b).size &&
                   equal_lists(to<TupleType>(a).types, to<TupleType>(b).types);
        case TypeKind::Struct:
            return std::ranges::equal(to<StructType>(a).elements, to<StructType>(b).elements,
                                      [](const StructElement& x, const StructElement& y) {
                                          return equal(x.key, y.key) && equal(x.value, y.value);
                                      });
        case TypeKind::Optional:
        case TypeKind::NotUndef:
        case TypeKind::Iterable:
        case TypeKind::Iterator:
        case TypeKind::Sensitive:
        case TypeKind::Type:
            return equal(static_cast<const ContainedType*>(a)->type,
                         static_cast<const ContainedType*>(b)->type);
        case TypeKind::TypeAlias: return to<TypeAliasType>(a).name == to<TypeAliasType>(b).name;
        case TypeKind::TypeReference:
            return to<TypeReferenceType>(a).type_string == to<TypeReferenceType>(b).type_string;
        case TypeKind::Callable: {
            const auto &x = to<CallableType>(a), &y = to<CallableType>(b);
            return equal(x.params, y.params) && equal(x.block, y.block) &&
                   equal(x.returns, y.returns);
        }
        case TypeKind::SemVer: return equal_ranges(to<SemVerType>(a), to<SemVerType>(b));
        case TypeKind::Uri: {
            const auto *x = to<UriType>(a).parameters, *y = to<UriType>(b).parameters;
            if (!x || !y) return x == y;
            return value::equal(Value::hash(x), Value::hash(y));
        }
        case TypeKind::Init:
            return equal(to<InitType>(a).type, to<InitType>(b).type) &&
                   equal_args(to<InitType>(a).args, to<InitType>(b).args);
        case TypeKind::Runtime: return equal_runtime(to<RuntimeType>(a), to<RuntimeType>(b));
        case TypeKind::Resource:
            return to<ResourceType>(a).downcased == to<ResourceType>(b).downcased &&
                   to<ResourceType>(a).title == to<ResourceType>(b).title;
        case TypeKind::Class: return to<ClassType>(a).class_name == to<ClassType>(b).class_name;
        case TypeKind::Object:
        case TypeKind::TypeSet: return static_cast<const OpenType*>(a)->equal_type(*b);
        default: return true;  // kinds without parameters
    }
}

// `other` is always a type, because value::equal compares the kinds of the values first.
bool Type::equal(const value::Extension& other) const {
    return types::equal(this, &static_cast<const Type&>(other));
}

std::uint64_t Type::hash() const {
    return mix(static_cast<std::uint64_t>(kind) + 101, hash_inside(this));
}

}  // namespace bunraku::types
