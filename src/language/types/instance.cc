// SPDX-License-Identifier: Apache-2.0
// Decides whether a value is an instance of a type, and which values are iterable.
#include <algorithm>
#include <array>

#include "core/base/semver.h"
#include "core/base/text.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "core/value/time.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/iterator.h"
#include "language/types/runtime_object.h"

namespace bunraku::types {

using value::Kind;

namespace {

const Type* type_of_extension(Context& ctx, const Value& v) {
    return static_cast<const TypedExtension*>(v.as_extension())->value_type(ctx);
}

/// Checks for Data or RichData by walking the value. The result is the same as for the recursive
/// alias, but without its guards.
bool is_data(const Value& v, bool rich) {
    base::step();
    switch (v.kind()) {
        case Kind::Undef:
        case Kind::Boolean:
        case Kind::Integer:
        case Kind::Float:
        case Kind::String: return true;
        case Kind::Array:
            return std::ranges::all_of(v.as_array(),
                                       [&](const Value& e) { return is_data(e, rich); });
        case Kind::Hash:
            return std::all_of(v.as_hash().begin(), v.as_hash().end(), [&](const value::Entry& e) {
                return (e.key.is_string() || (rich && e.key.is_numeric())) &&
                       is_data(e.value, rich);
            });
        case Kind::Default:
        case Kind::Regexp:
        case Kind::Sensitive:
        case Kind::Timestamp:
        case Kind::Timespan:
        case Kind::SemVer:
        case Kind::SemVerRange:
        case Kind::Binary:
        case Kind::Uri:
        case Kind::Type:
        case Kind::Object: return rich && !as_runtime_object(v);
        case Kind::Closure:
        case Kind::Iterator: return false;
    }
    return false;
}

bool in_struct(Context& ctx, const StructType& t, const Value& v, Guard* guard) {
    if (!v.is_hash()) return false;
    const value::HashRep& hash = v.as_hash();
    std::size_t matched = 0;
    for (const StructElement& e : t.elements) {
        const Value* entry = hash.find(e.name);
        if (!entry) {
            if (!assignable(ctx, e.key, defaults().undef, guard)) return false;
            continue;
        }
        ++matched;
        if (!instance(ctx, e.value, *entry, guard)) return false;
    }
    return matched == hash.size();
}

bool in_tuple(Context& ctx, const TupleType& t, const Value& v, Guard* guard) {
    if (!v.is_array()) return false;
    const auto items = v.as_array();
    if (t.size) {
        if (!t.size->contains(static_cast<std::int64_t>(items.size()))) return false;
    } else if (!t.types.empty() && t.types.size() != items.size()) {
        return false;
    }
    if (t.types.empty()) return true;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (!instance(ctx, t.types[std::min(i, t.types.size() - 1)], items[i], guard)) return false;
    return true;
}

bool in_scalar(const Value& v) {
    switch (v.kind()) {
        case Kind::String:
        case Kind::Integer:
        case Kind::Float:
        case Kind::Boolean:
        case Kind::Regexp:
        case Kind::SemVer:
        case Kind::SemVerRange:
        case Kind::Timespan:
        case Kind::Timestamp: return true;
        default: return false;
    }
}

bool in_float(const FloatType& t, const Value& v) {
    return v.is_float() && v.as_float() >= t.min && v.as_float() <= t.max;
}

bool in_string(const StringType& t, const Value& v) {
    if (!v.is_string()) return false;
    if (t.size) return t.size->contains(char_count(v.as_string()));
    return !t.value || *t.value == v.as_string();
}

bool in_enum(const EnumType& t, const Value& v) {
    if (!v.is_string()) return false;
    return std::any_of(t.values.begin(), t.values.end(), [&](std::string_view text) {
        return t.case_insensitive ? base::same_ignoring_case(text, v.as_string())
                                  : text == v.as_string();
    });
}

bool in_pattern(const PatternType& t, const Value& v) {
    if (!v.is_string()) return false;
    return t.patterns.empty() ||
           std::any_of(t.patterns.begin(), t.patterns.end(),
                       [&](const RegexpType* re) { return matches(*re, v.as_string()); });
}

bool in_regexp(const RegexpType& t, const Value& v) {
    if (!v.is(Kind::Regexp)) return false;
    return !t.rep ||
           (t.rep->source == v.as_regexp().source && t.rep->options == v.as_regexp().options);
}

bool size_fits(const Size& size, std::size_t n) {
    return !size || size->contains(static_cast<std::int64_t>(n));
}

bool in_collection(const CollectionType& t, const Value& v) {
    if (v.is_array()) return size_fits(t.size, v.as_array().size());
    return v.is_hash() && size_fits(t.size, v.as_hash().size());
}

bool in_array(Context& ctx, const ArrayType& t, const Value& v, Guard* guard) {
    if (!v.is_array() || !size_fits(t.size, v.as_array().size())) return false;
    if (is(t.element, TypeKind::Any)) return true;
    return std::ranges::all_of(v.as_array(),
                               [&](const Value& e) { return instance(ctx, t.element, e, guard); });
}

bool in_hash(Context& ctx, const HashType& t, const Value& v, Guard* guard) {
    if (!v.is_hash() || !size_fits(t.size, v.as_hash().size())) return false;
    return std::all_of(v.as_hash().begin(), v.as_hash().end(), [&](const value::Entry& e) {
        return instance(ctx, t.key, e.key, guard) && instance(ctx, t.value, e.value, guard);
    });
}

bool in_variant(Context& ctx, const VariantType& t, const Value& v, Guard* guard) {
    return std::any_of(t.types.begin(), t.types.end(),
                       [&](const Type* option) { return instance(ctx, option, v, guard); });
}

bool in_callable(Context& ctx, const Type* t, const Value& v, Guard* guard) {
    if (!v.is(Kind::Closure)) return false;
    const Type* own = type_of_extension(ctx, v);
    return assignable(ctx, t, own ? own : defaults().callable, guard);
}

bool in_iterator(Context& ctx, const IteratorType& t, const Value& v, Guard* guard) {
    if (!v.is(Kind::Iterator)) return false;
    if (!t.type) return true;
    const Type* element = static_cast<const Iterator*>(v.as_extension())->element_type(ctx);
    return assignable(ctx, t.type, element ? element : defaults().any, guard);
}

bool in_sem_ver(const SemVerType& t, const Value& v) {
    if (!v.is(Kind::SemVer)) return false;
    return t.ranges.empty() || std::any_of(t.ranges.begin(), t.ranges.end(), [&](const auto* r) {
               return r->includes(v.as_semver());
           });
}

bool in_uri(Context& ctx, const UriType& t, const Value& v) {
    if (!v.is(Kind::Uri)) return false;
    if (!t.parameters) return true;
    return std::all_of(t.parameters->begin(), t.parameters->end(), [&](const value::Entry& e) {
        return parameter_matches(ctx, uri_member(ctx, v.as_string(), e.key.as_string()), e.value);
    });
}

bool in_iterable(Context& ctx, const IterableType& t, const Value& v, Guard* guard) {
    if (t.type && !assignable(ctx, t.type, defaults().any, guard)) {
        // Positive integers are not distinguished from others here, because Integer is
        // Iterable[Integer].
        return assignable(ctx, &t, infer(ctx, v), guard);
    }
    switch (v.kind()) {
        case Kind::Iterator:
        case Kind::String:
        case Kind::Hash:
        case Kind::Array: return true;
        case Kind::Integer: return v.as_integer() >= 0;
        case Kind::Type: {
            const Type* type = v.as_type();
            if (const auto* a = as<TypeAliasType>(type)) type = resolve(ctx, a);
            if (const auto* i = as<IntegerType>(type)) return i->range.bounded();
            return is(type, TypeKind::Enum);
        }
        default: return false;
    }
}

int really_in_init(Context& ctx, const InitType& init, const Value& v, Guard* guard) {
    if (!init.type) return really_instance(ctx, defaults().rich_data, v, guard);
    initialize(ctx, init);
    const auto test = [&](Guard* g) {
        int r = really_instance(ctx, init.type, v, g);
        if (r < 1 && init.single_type)
            r = std::max(r, really_instance(ctx, init.single_type, v, g));
        if (r < 1 && init.other_type) {
            int s = really_instance(ctx, init.other_type, v, g);
            if (s < 0 && init.has_optional_single)
                s = really_instance(ctx, init.other_type, Value::array(std::span(&v, 1)), g);
            r = std::max(r, s);
        }
        return r;
    };
    if (!init.self_recursive) return test(guard);
    Guard own;
    Guard* g = guard ? guard : &own;
    return g->with_this(&init,
                        [&](unsigned state) { return (state & Guard::kThis) == 0 ? test(g) : 0; });
}

}  // namespace

int really_instance(Context& ctx, const Type* t, const Value& v, Guard* guard) {
    switch (t->kind) {
        case TypeKind::TypeAlias: {
            const auto& alias = to<TypeAliasType>(t);
            if (t == defaults().data) return is_data(v, false) ? 1 : -1;
            if (t == defaults().rich_data) return is_data(v, true) ? 1 : -1;
            const Type* inner = resolved(ctx, alias);
            DepthCheck depth;
            if (!alias.self_recursive) return really_instance(ctx, inner, v, guard);
            Guard own;
            Guard* g = guard ? guard : &own;
            return g->with_that(v, [&](unsigned) {
                return g->with_this(t, [&](unsigned state) {
                    return state == Guard::kBoth ? 0 : really_instance(ctx, inner, v, g);
                });
            });
        }
        case TypeKind::Variant: {
            int best = -1;
            for (const Type* option : to<VariantType>(t).types) {
                const int r = really_instance(ctx, option, v, guard);
                if (r > 0) return r;
                best = std::max(best, r);
            }
            return best;
        }
        case TypeKind::Init: return really_in_init(ctx, to<InitType>(t), v, guard);
        default: return instance(ctx, t, v, guard) ? 1 : -1;
    }
}

bool instance(Context& ctx, const Type* t, const Value& v, Guard* guard) {
    base::step();
    switch (t->kind) {
        case TypeKind::Any:
        case TypeKind::Unit: return true;
        case TypeKind::Undef: return v.is_undef();
        case TypeKind::Default: return v.is_default();
        case TypeKind::NotUndef:
            return !v.is_undef() &&
                   (!to<NotUndefType>(t).type || instance(ctx, to<NotUndefType>(t).type, v, guard));
        case TypeKind::Optional:
            return v.is_undef() ||
                   (to<OptionalType>(t).type && instance(ctx, to<OptionalType>(t).type, v, guard));
        case TypeKind::Scalar: return in_scalar(v);
        case TypeKind::ScalarData: return v.is_string() || v.is_numeric() || v.is(Kind::Boolean);
        case TypeKind::Numeric: return v.is_numeric();
        case TypeKind::Integer:
            return v.is_integer() && to<IntegerType>(t).range.contains(v.as_integer());
        case TypeKind::Float: return in_float(to<FloatType>(t), v);
        case TypeKind::Boolean:
            return v.is(Kind::Boolean) &&
                   (!to<BooleanType>(t).value || *to<BooleanType>(t).value == v.as_boolean());
        case TypeKind::String: return in_string(to<StringType>(t), v);
        case TypeKind::Enum: return in_enum(to<EnumType>(t), v);
        case TypeKind::Pattern: return in_pattern(to<PatternType>(t), v);
        case TypeKind::Regexp: return in_regexp(to<RegexpType>(t), v);
        case TypeKind::Collection: return in_collection(to<CollectionType>(t), v);
        case TypeKind::Array: return in_array(ctx, to<ArrayType>(t), v, guard);
        case TypeKind::Hash: return in_hash(ctx, to<HashType>(t), v, guard);
        case TypeKind::Tuple: return in_tuple(ctx, to<TupleType>(t), v, guard);
        case TypeKind::Struct: return in_struct(ctx, to<StructType>(t), v, guard);
        case TypeKind::Variant: return in_variant(ctx, to<VariantType>(t), v, guard);
        case TypeKind::TypeAlias:
        case TypeKind::Init: return really_instance(ctx, t, v, guard) == 1;
        case TypeKind::Type: {
            const Type* inner = to<TypeType>(t).type;
            return v.is_type() && (!inner || assignable(ctx, inner, v.as_type(), guard));
        }
        case TypeKind::TypeReference: return false;
        case TypeKind::Callable: return in_callable(ctx, t, v, guard);
        case TypeKind::Iterable: return in_iterable(ctx, to<IterableType>(t), v, guard);
        case TypeKind::Iterator: return in_iterator(ctx, to<IteratorType>(t), v, guard);
        case TypeKind::Sensitive:
            return v.is(Kind::Sensitive) &&
                   instance(ctx, to<SensitiveType>(t).type, v.unwrap(), guard);
        case TypeKind::Binary: return v.is(Kind::Binary);
        case TypeKind::Timestamp:
            return v.is(Kind::Timestamp) &&
                   to<TimestampType>(t).range.contains(value::clamped_nanoseconds(v));
        case TypeKind::Timespan:
            return v.is(Kind::Timespan) &&
                   to<TimespanType>(t).range.contains(value::clamped_nanoseconds(v));
        case TypeKind::SemVer: return in_sem_ver(to<SemVerType>(t), v);
        case TypeKind::SemVerRange: return v.is(Kind::SemVerRange);
        case TypeKind::Uri: return in_uri(ctx, to<UriType>(t), v);
        case TypeKind::Object:
        case TypeKind::TypeSet:
            // Types are objects of the Pcore types.
            if (v.is_type() && t == default_object_type()) return true;
            return static_cast<const OpenType*>(t)->is_instance_of(ctx, v, guard);
        case TypeKind::Runtime:
        case TypeKind::CatalogEntry:
        case TypeKind::Resource:
        case TypeKind::Class: return assignable(ctx, t, infer(ctx, v), guard);
        case TypeKind::Data:
        case TypeKind::RichData:
        case TypeKind::Deferred:
        case TypeKind::Error: break;
    }
    return false;
}

bool is_instance(Context& ctx, const Type* t, const Value& v) {
    return instance(ctx, t, v, nullptr);
}

bool is_iterable(Context& ctx, const Type* t, Guard* guard) {
    if (!t) return false;
    switch (t->kind) {
        case TypeKind::Enum:
        case TypeKind::Integer:
        case TypeKind::Collection:
        case TypeKind::Array:
        case TypeKind::Hash:
        case TypeKind::Tuple:
        case TypeKind::Struct:
        case TypeKind::String:
        case TypeKind::Iterable:
        case TypeKind::Iterator: return true;
        case TypeKind::Type: {
            const Type* inner = to<TypeType>(t).type;
            if (const auto* i = as<IntegerType>(inner)) return i->range.bounded();
            return is(inner, TypeKind::Enum);
        }
        case TypeKind::TypeAlias: {
            const auto& alias = to<TypeAliasType>(t);
            const Type* inner = resolved(ctx, alias);
            if (!alias.self_recursive) return is_iterable(ctx, inner, guard);
            Guard own;
            Guard* g = guard ? guard : &own;
            return g->with_this(t, [&](unsigned state) {
                return (state & Guard::kThis) == 0 && is_iterable(ctx, inner, g);
            });
        }
        case TypeKind::Object:
        case TypeKind::TypeSet:
            return is_iterable(ctx, static_cast<const OpenType*>(t)->parent_type(), guard);
        default: return false;
    }
}

const Type* iterable_type(Context& ctx, const Type* t, Guard* guard) {
    const Defaults& d = defaults();
    switch (t->kind) {
        case TypeKind::Integer: return d.iterable_integers;
        case TypeKind::Enum:
        case TypeKind::String: return d.iterable_chars;
        case TypeKind::Iterable: return t;
        case TypeKind::Iterator: return make_iterable(ctx, to<IteratorType>(t).type);
        case TypeKind::Type: {
            const Type* inner = to<TypeType>(t).type;
            if (!is_iterable(ctx, t, guard)) return nullptr;
            return make_iterable(ctx, inner);
        }
        case TypeKind::Array: {
            const Type* element = to<ArrayType>(t).element;
            return is(element, TypeKind::Any) ? d.iterable : make_iterable(ctx, element);
        }
        case TypeKind::Tuple: return make_iterable(ctx, make_variant(ctx, to<TupleType>(t).types));
        case TypeKind::Hash: {
            if (equal(t, d.hash) || equal(t, d.hash_empty)) return d.iterable_pairs;
            const std::array<const Type*, 2> pair{to<HashType>(t).key, to<HashType>(t).value};
            return make_iterable(ctx, make_tuple_type(ctx, pair, Range{2, 2}));
        }
        case TypeKind::Struct: {
            const auto& elements = to<StructType>(t).elements;
            if (elements.empty()) return d.iterable_pairs;
            std::vector<const Type*> keys, values;
            for (const StructElement& e : elements) {
                keys.push_back(e.key);
                values.push_back(e.value);
            }
            const std::array<const Type*, 2> pair{make_variant(ctx, keys),
                                                  make_variant(ctx, values)};
            return make_iterable(ctx, make_tuple_type(ctx, pair, Range{2, 2}));
        }
        case TypeKind::TypeAlias: {
            const auto& alias = to<TypeAliasType>(t);
            const Type* inner = resolved(ctx, alias);
            if (!alias.self_recursive) return iterable_type(ctx, inner, guard);
            Guard own;
            Guard* g = guard ? guard : &own;
            return g->with_this(t, [&](unsigned state) {
                return (state & Guard::kThis) == 0 ? iterable_type(ctx, inner, g) : nullptr;
            });
        }
        case TypeKind::Object:
        case TypeKind::TypeSet: {
            const Type* parent = static_cast<const OpenType*>(t)->parent_type();
            return parent ? iterable_type(ctx, parent, guard) : nullptr;
        }
        default: return nullptr;
    }
}

const Type* iterable_type(Context& ctx, const Type* t) { return iterable_type(ctx, t, nullptr); }

}  // namespace bunraku::types
