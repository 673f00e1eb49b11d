// SPDX-License-Identifier: Apache-2.0
// Makes types and instances from rich data.
#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/semver.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object.h"
#include "language/types/rich_data.h"
#include "language/types/typeset.h"

namespace bunraku::types {

using value::HashRep;
using value::Kind;

namespace {

class Decoder {
public:
    Decoder(Context& ctx, const HashRep& hash) : ctx_(ctx), hash_(hash) {}

    /// Returns null if `name` is not one of the Pcore types.
    const Type* decode(std::string_view name) const;

private:
    const Type* parameterized(TypeKind kind) const;
    const Type* float_type() const;
    const Type* string_type() const;
    const Type* pattern() const;
    const Type* enum_type() const;
    const Type* struct_type() const;
    const Type* alias() const;
    const Type* callable() const;
    const Type* sem_ver() const;
    const Type* resource() const;
    const Type* type_set() const;
    const Type* object() const;

    /// Returns the type that `make` builds around the attribute `type`, or `plain` without it.
    template <class T>
    const Type* around(T* (*make)(Context&, const Type*), const Type* plain) const {
        const Type* inner = type("type");
        return inner != nullptr ? make(ctx_, inner) : plain;
    }
    const Value* get(std::string_view key) const {
        const Value* v = hash_.find(key);
        return v != nullptr && !v->is_undef() ? v : nullptr;
    }
    const Type* type(std::string_view key) const {
        const Value* v = get(key);
        return v != nullptr && v->is_type() ? v->as_type() : nullptr;
    }
    const Type* type_or_any(std::string_view key) const {
        const Type* t = type(key);
        return t != nullptr ? t : defaults().any;
    }
    std::string_view text(std::string_view key) const {
        const Value* v = get(key);
        return v != nullptr && v->is_string() ? v->as_string() : std::string_view();
    }
    std::int64_t bound(std::string_view key, std::int64_t open) const {
        const Value* v = get(key);
        if (v == nullptr) return open;
        const bool number = v->is_integer() || v->is(Kind::Timestamp) || v->is(Kind::Timespan);
        return number ? v->as_integer() : open;
    }
    Range range() const { return {bound("from", kMin), bound("to", kMax)}; }
    Size size(std::string_view key = "size_type") const {
        const auto* i = as<IntegerType>(type(key));
        if (i == nullptr) return std::nullopt;
        return Range{std::max<std::int64_t>(i->range.min, 0), i->range.max};
    }
    std::vector<const Type*> list(std::string_view key) const {
        std::vector<const Type*> out;
        const Value* v = get(key);
        if (v != nullptr && v->is_array()) {
            for (const Value& item : v->as_array()) {
                if (item.is_type()) out.push_back(item.as_type());
            }
        }
        return out;
    }
    std::span<const Value> items(std::string_view key) const {
        const Value* v = get(key);
        return v != nullptr && v->is_array() ? v->as_array() : std::span<const Value>();
    }

    Context& ctx_;
    const HashRep& hash_;
};

const Type* Decoder::decode(std::string_view name) const {
    for (int k = 0; k <= static_cast<int>(TypeKind::Unit); ++k) {
        const auto kind = static_cast<TypeKind>(k);
        if (pcore_name(kind) == name) return parameterized(kind);
    }
    if (name == "Pcore::ObjectTypeExtension") {
        if (const ObjectType* base = object_base(type("base_type"))) {
            return base->parameterized(ctx_, items("init_parameters"));
        }
    }
    return nullptr;
}

const Type* Decoder::parameterized(TypeKind kind) const {
    const Defaults& d = defaults();
    switch (kind) {
        case TypeKind::Integer: return make_integer(ctx_, range());
        case TypeKind::Float: return float_type();
        case TypeKind::String: return string_type();
        case TypeKind::Boolean: {
            const Value* v = get("value");
            return make_boolean(v != nullptr ? std::optional(v->truthy()) : std::nullopt);
        }
        case TypeKind::Regexp:
            return get("pattern") ? make_regexp_type(ctx_, text("pattern")) : d.regexp;
        case TypeKind::Pattern: return pattern();
        case TypeKind::Enum: return enum_type();
        case TypeKind::Collection: return make_collection(ctx_, size());
        case TypeKind::Array: return make_array_type(ctx_, type_or_any("element_type"), size());
        case TypeKind::Hash:
            return make_hash_type(ctx_, type_or_any("key_type"), type_or_any("value_type"), size());
        case TypeKind::Tuple: return make_tuple_type(ctx_, list("types"), size());
        case TypeKind::Struct: return struct_type();
        case TypeKind::Variant: return make_variant(ctx_, list("types"));
        case TypeKind::Optional: return around(make_optional, d.optional);
        case TypeKind::NotUndef: return around(make_not_undef, d.not_undef);
        case TypeKind::Type: return around(make_type_type, d.type_type);
        case TypeKind::Iterable: return around(make_iterable, d.iterable);
        case TypeKind::Iterator: return around(make_iterator, d.iterator);
        case TypeKind::Sensitive: return around(make_sensitive_type, d.sensitive);
        case TypeKind::TypeAlias: return alias();
        case TypeKind::TypeReference: return parse_type(ctx_, text("type_string"));
        case TypeKind::Callable: return callable();
        case TypeKind::Timestamp: return make_timestamp(ctx_, range());
        case TypeKind::Timespan: return make_timespan(ctx_, range());
        case TypeKind::SemVer: return sem_ver();
        case TypeKind::Uri: return get("parameters") ? make_uri(ctx_, *get("parameters")) : d.uri;
        case TypeKind::Init:
            return type("type") ? make_init(ctx_, type("type"), items("init_args")) : d.init;
        case TypeKind::Runtime: return make_runtime(ctx_, text("runtime"), text("name_or_pattern"));
        case TypeKind::Resource: return resource();
        case TypeKind::Class:
            return get("class_name") ? make_class(ctx_, text("class_name")) : d.class_type;
        case TypeKind::TypeSet: return type_set();
        case TypeKind::Any: return d.any;
        case TypeKind::Unit: return d.unit;
        case TypeKind::Undef: return d.undef;
        case TypeKind::Default: return d.default_type;
        case TypeKind::Scalar: return d.scalar;
        case TypeKind::ScalarData: return d.scalar_data;
        case TypeKind::Numeric: return d.numeric;
        case TypeKind::Binary: return d.binary;
        case TypeKind::SemVerRange: return d.sem_ver_range;
        case TypeKind::CatalogEntry: return d.catalog_entry;
        default: return object();
    }
}

const Type* Decoder::float_type() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const Value *from = get("from"), *to = get("to");
    return make_float(ctx_, from && from->is_numeric() ? from->as_number() : -kInfinity,
                      to && to->is_numeric() ? to->as_number() : kInfinity);
}

const Type* Decoder::string_type() const {
    if (const Value* v = get("size_type_or_value"); v != nullptr && v->is_string()) {
        return make_string(ctx_, v->as_string());
    }
    const Size s = size("size_type_or_value");
    return s ? make_string(ctx_, *s) : defaults().string;
}

const Type* Decoder::pattern() const {
    std::vector<const RegexpType*> patterns;
    for (const Type* t : list("patterns")) {
        if (const auto* r = as<RegexpType>(t)) patterns.push_back(r);
    }
    return make_pattern(ctx_, patterns);
}

const Type* Decoder::enum_type() const {
    std::vector<std::string_view> values;
    for (const Value& v : items("values")) {
        if (v.is_string()) values.push_back(v.as_string());
    }
    const Value* insensitive = get("case_insensitive");
    return make_enum(ctx_, std::move(values), insensitive != nullptr && insensitive->truthy());
}

const Type* Decoder::struct_type() const {
    std::vector<StructElement> elements;
    for (const Value& v : items("elements")) {
        if (!v.is_hash()) continue;
        const Value *key = v.as_hash().find("key_type"), *inner = v.as_hash().find("value_type");
        if (key != nullptr && key->is_type() && inner != nullptr && inner->is_type()) {
            elements.push_back(make_struct_element(ctx_, key->as_type(), inner->as_type()));
        }
    }
    return make_struct(ctx_, elements);
}

const Type* Decoder::alias() const {
    const std::string_view name = text("name");
    if (ctx_.loader != nullptr) {
        if (const Type* found = ctx_.loader->find_type(name)) return found;
    }
    return type("resolved_type") ? type("resolved_type") : parse_type(ctx_, name);
}

const Type* Decoder::callable() const {
    const auto* params = as<TupleType>(type("param_types"));
    const Type *block = type("block_type"), *returns = type("return_type");
    if (params == nullptr && block == nullptr && returns == nullptr) return defaults().callable;
    return make_callable(ctx_, params, block, returns);
}

const Type* Decoder::sem_ver() const {
    std::vector<const base::SemVerRange*> ranges;
    for (const Value& v : items("ranges")) {
        if (v.is(Kind::SemVerRange)) ranges.push_back(&v.as_semver_range());
    }
    return make_sem_ver(ctx_, ranges);
}

const Type* Decoder::resource() const {
    if (text("type_name").empty()) return defaults().resource;
    const Value* title = get("title");
    return make_resource(
        ctx_, text("type_name"),
        title != nullptr && title->is_string() ? std::optional(title->as_string()) : std::nullopt);
}

const Type* Decoder::type_set() const {
    const Value* init = get("_pcore_init_hash");
    if (init == nullptr || !init->is_hash()) return type_set_default();
    return type_set_default()->parameterized(ctx_, std::span<const Value>(init, 1));
}

const Type* Decoder::object() const {
    const Value* init = get("_pcore_init_hash");
    if (init == nullptr || !init->is_hash()) return object_type_default();
    // If a type of that name is known, it is used.
    const Value* own = init->as_hash().find("name");
    if (own != nullptr && own->is_string()) {
        if (ctx_.loader != nullptr) {
            if (const Type* found = ctx_.loader->find_type(own->as_string())) return found;
        }
        if (const Type* found = predefined_object(own->as_string())) return found;
    }
    if (init->as_hash().empty()) return object_type_default();
    return make_object_type(ctx_, {}, *init);
}

}  // namespace

Value from_rich_data(Context& ctx, std::string_view ptype, const Value& hash) {
    const DepthCheck depth;
    if (!hash.is_hash()) return hash;
    const HashRep& attributes = hash.as_hash();
    if (ptype.starts_with("Pcore::")) {
        const Type* t = Decoder(ctx, attributes).decode(ptype);
        return t != nullptr ? Value::type(t) : hash;
    }
    const Type* found = ctx.loader != nullptr ? ctx.loader->find_type(ptype) : nullptr;
    if (found == nullptr) found = builtin_type(ptype);
    if (found == nullptr) return hash;
    found = resolve(ctx, found);
    const ObjectType* type = object_base(found);
    const Value* content = attributes.find("__pvalue");
    if (type == nullptr || type->is_default()) {
        if (content == nullptr) return hash;
        return new_instance(ctx, found, std::span<const Value>(content, 1));
    }
    std::vector<Value> values;
    for (const Member* m : type->shape().parameters) {
        const Value* v = attributes.find(m->name);
        values.push_back(v != nullptr ? *v : m->value);
    }
    return make_object_unchecked(ctx, type, values);
}

value::TypedFactory rich_data_factory(Context& ctx) {
    return [&ctx](std::string_view ptype, const Value& hash) {
        return from_rich_data(ctx, ptype, hash);
    };
}

}  // namespace bunraku::types
