// SPDX-License-Identifier: Apache-2.0
#include "language/types/rich_data.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/semver.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object.h"
#include "language/types/typeset.h"

namespace bunraku::types {

using value::HashBuilder;
using value::HashRep;
using value::Kind;

namespace {

constexpr value::RichDataOptions kNested{.references_as_strings = false};

/// The enclosing types, outermost first. A type that occurs again inside itself is written as its
/// name only.
thread_local std::vector<const Type*> in_progress;

class Encoder {
public:
    explicit Encoder(base::Arena& arena) : arena_(arena), out_(arena) {}

    Value encode(const Type* t);

private:
    Value nested(const Type* t) {
        return t != nullptr ? type_to_rich_data(t, arena_) : Value::undef();
    }
    Value named(std::string_view name) {
        set("__ptype", Value::string("Pcore::TypeReferenceType"));
        set("type_string", value::make_string(arena_, name));
        return out_.build();
    }
    Value list(std::span<const Type* const> types) {
        const auto items = arena_.array<Value>(types.size());
        for (std::size_t i = 0; i < items.size(); ++i) items[i] = nested(types[i]);
        return Value::array(items);
    }
    void set(std::string_view key, const Value& v) { out_.set(key, v); }
    void set_range(const Range& r) {
        if (r.min == kMin && r.max == kMax) return;
        set("from", r.min == kMin ? Value::undef() : Value::integer(r.min));
        if (r.max != kMax) set("to", Value::integer(r.max));
    }
    Value size(const Range& r) {
        HashBuilder one(arena_);
        one.set("__ptype", Value::string("Pcore::IntegerType"));
        one.set("from", Value::integer(r.min));
        if (r.max != kMax) one.set("to", Value::integer(r.max));
        return one.build();
    }
    void set_size(const Size& s) {
        if (s) set("size_type", size(*s));
    }
    void set_times(const Range& r, bool timestamp) {
        const auto time = [&](std::int64_t ns) {
            return value::to_rich_data(
                arena_, timestamp ? Value::timestamp(ns) : Value::timespan(ns), kNested);
        };
        if (r.min == kMin && r.max == kMax) return;
        set("from", r.min == kMin ? Value::undef() : time(r.min));
        if (r.max != kMax) set("to", time(r.max));
    }
    Value string_type(std::string_view text) {
        HashBuilder one(arena_);
        one.set("__ptype", Value::string("Pcore::StringType"));
        one.set("size_type_or_value", Value::string(text));
        return one.build();
    }

    base::Arena& arena_;
    HashBuilder out_;
};

std::string_view pcore_name(TypeKind kind) {
    switch (kind) {
        case TypeKind::Any: return "Pcore::AnyType";
        case TypeKind::Unit: return "Pcore::UnitType";
        case TypeKind::Undef: return "Pcore::UndefType";
        case TypeKind::NotUndef: return "Pcore::NotUndefType";
        case TypeKind::Default: return "Pcore::DefaultType";
        case TypeKind::Scalar: return "Pcore::ScalarType";
        case TypeKind::ScalarData: return "Pcore::ScalarDataType";
        case TypeKind::Numeric: return "Pcore::NumericType";
        case TypeKind::Integer: return "Pcore::IntegerType";
        case TypeKind::Float: return "Pcore::FloatType";
        case TypeKind::String: return "Pcore::StringType";
        case TypeKind::Boolean: return "Pcore::BooleanType";
        case TypeKind::Regexp: return "Pcore::RegexpType";
        case TypeKind::Pattern: return "Pcore::PatternType";
        case TypeKind::Enum: return "Pcore::EnumType";
        case TypeKind::Collection: return "Pcore::CollectionType";
        case TypeKind::Array: return "Pcore::ArrayType";
        case TypeKind::Tuple: return "Pcore::TupleType";
        case TypeKind::Hash: return "Pcore::HashType";
        case TypeKind::Struct: return "Pcore::StructType";
        case TypeKind::Variant: return "Pcore::VariantType";
        case TypeKind::Optional: return "Pcore::OptionalType";
        case TypeKind::Type: return "Pcore::TypeType";
        case TypeKind::TypeAlias: return "Pcore::TypeAliasType";
        case TypeKind::TypeReference: return "Pcore::TypeReferenceType";
        case TypeKind::Callable: return "Pcore::CallableType";
        case TypeKind::Iterable: return "Pcore::IterableType";
        case TypeKind::Iterator: return "Pcore::IteratorType";
        case TypeKind::Sensitive: return "Pcore::SensitiveType";
        case TypeKind::Binary: return "Pcore::BinaryType";
        case TypeKind::Timestamp: return "Pcore::TimestampType";
        case TypeKind::Timespan: return "Pcore::TimespanType";
        case TypeKind::SemVer: return "Pcore::SemVerType";
        case TypeKind::SemVerRange: return "Pcore::SemVerRangeType";
        case TypeKind::Uri: return "Pcore::URIType";
        case TypeKind::Init: return "Pcore::InitType";
        case TypeKind::TypeSet: return "Pcore::TypeSetType";
        case TypeKind::Runtime: return "Pcore::RuntimeType";
        case TypeKind::CatalogEntry: return "Pcore::CatalogEntryType";
        case TypeKind::Resource: return "Pcore::ResourceType";
        case TypeKind::Class: return "Pcore::ClassType";
        default: return "Pcore::ObjectType";
    }
}

Value Encoder::encode(const Type* t) {
    base::step();
    if (std::ranges::find(in_progress, t) != in_progress.end() || in_progress.size() > 500) {
        return named(types::type_name(t));
    }
    struct Mark {
        explicit Mark(const Type* type) { in_progress.push_back(type); }
        ~Mark() { in_progress.pop_back(); }
    } const mark(t);
    if (const ObjectExtension* extension = as_object_extension(t)) {
        set("__ptype", Value::string("Pcore::ObjectTypeExtension"));
        set("base_type", nested(extension->base));
        std::vector<Value> parameters;
        for (const Value& v : extension->init_parameters(arena_)) {
            parameters.push_back(value::to_rich_data(arena_, v, kNested));
        }
        set("init_parameters", value::make_array(arena_, parameters));
        return out_.build();
    }
    set("__ptype", Value::string(pcore_name(t->kind)));
    switch (t->kind) {
        case TypeKind::Integer: set_range(to<IntegerType>(t).range); break;
        case TypeKind::Float: {
            const auto& f = to<FloatType>(t);
            const bool low = f.min > -std::numeric_limits<double>::infinity();
            const bool high = f.max < std::numeric_limits<double>::infinity();
            if (low || high) set("from", low ? Value::floating(f.min) : Value::undef());
            if (high) set("to", Value::floating(f.max));
            break;
        }
        case TypeKind::String: {
            const auto& s = to<StringType>(t);
            if (s.value) {
                set("size_type_or_value", Value::string(*s.value));
            } else if (s.size) {
                set("size_type_or_value", size(*s.size));
            }
            break;
        }
        case TypeKind::Boolean:
            if (const auto& b = to<BooleanType>(t).value) set("value", Value::boolean(*b));
            break;
        case TypeKind::Regexp:
            if (to<RegexpType>(t).rep != nullptr) {
                set("pattern", Value::string(to<RegexpType>(t).pattern));
            }
            break;
        case TypeKind::Pattern: {
            std::vector<Value> items;
            for (const RegexpType* r : to<PatternType>(t).patterns) items.push_back(nested(r));
            set("patterns", value::make_array(arena_, items));
            break;
        }
        case TypeKind::Enum: {
            const auto& e = to<EnumType>(t);
            std::vector<Value> items;
            for (const std::string_view v : e.values) items.push_back(Value::string(v));
            set("values", value::make_array(arena_, items));
            if (e.case_insensitive) set("case_insensitive", Value::boolean(true));
            break;
        }
        case TypeKind::Collection: set_size(to<CollectionType>(t).size); break;
        case TypeKind::Array: {
            const auto& a = to<ArrayType>(t);
            if (a.size || !is(a.element, TypeKind::Any)) set("element_type", nested(a.element));
            set_size(a.size);
            break;
        }
        case TypeKind::Hash: {
            const auto& h = to<HashType>(t);
            const bool value_given = h.size || !is(h.value, TypeKind::Any);
            if (value_given || !is(h.key, TypeKind::Any)) set("key_type", nested(h.key));
            if (value_given) set("value_type", nested(h.value));
            set_size(h.size);
            break;
        }
        case TypeKind::Tuple:
            set("types", list(to<TupleType>(t).types));
            set_size(to<TupleType>(t).size);
            break;
        case TypeKind::Struct: {
            std::vector<Value> items;
            for (const StructElement& e : to<StructType>(t).elements) {
                HashBuilder one(arena_);
                one.set("__ptype", Value::string("Pcore::StructElement"));
                one.set("key_type", e.key != nullptr ? nested(e.key) : string_type(e.name));
                one.set("value_type", nested(e.value));
                items.push_back(one.build());
            }
            set("elements", value::make_array(arena_, items));
            break;
        }
        case TypeKind::Variant: set("types", list(to<VariantType>(t).types)); break;
        case TypeKind::Optional:
        case TypeKind::NotUndef:
        case TypeKind::Type:
        case TypeKind::Iterable:
        case TypeKind::Iterator: {
            const auto& contained = *static_cast<const ContainedType*>(t);
            if (contained.type != nullptr) set("type", nested(contained.type));
            break;
        }
        case TypeKind::Sensitive: {
            const Type* inner = to<SensitiveType>(t).type;
            if (inner != nullptr && !is(inner, TypeKind::Any)) set("type", nested(inner));
            break;
        }
        case TypeKind::TypeAlias: {
            const auto& alias = to<TypeAliasType>(t);
            if (builtin_type(alias.name) != nullptr || alias.self_recursive) {
                return named(alias.name);
            }
            set("name", Value::string(alias.name));
            set("type_expr", Value::undef());
            set("resolved_type", nested(alias.resolved));
            break;
        }
        case TypeKind::TypeReference:
            set("type_string", Value::string(to<TypeReferenceType>(t).type_string));
            break;
        case TypeKind::Callable: {
            const auto& c = to<CallableType>(t);
            set("param_types", nested(c.params));
            set("block_type", nested(c.block));
            set("return_type", nested(c.returns));
            break;
        }
        case TypeKind::Timestamp: set_times(to<TimestampType>(t).range, true); break;
        case TypeKind::Timespan: set_times(to<TimespanType>(t).range, false); break;
        case TypeKind::SemVer: {
            std::vector<Value> items;
            for (const base::SemVerRange* r : to<SemVerType>(t).ranges) {
                items.push_back(value::to_rich_data(arena_, Value::semver_range(r), kNested));
            }
            if (!items.empty()) set("ranges", value::make_array(arena_, items));
            break;
        }
        case TypeKind::Uri:
            if (const HashRep* parameters = to<UriType>(t).parameters) {
                set("parameters", value::to_rich_data(arena_, Value::hash(parameters), kNested));
            }
            break;
        case TypeKind::Init: {
            const auto& i = to<InitType>(t);
            if (i.type != nullptr) set("type", nested(i.type));
            if (!i.args.empty()) {
                set("init_args", value::to_rich_data(arena_, Value::array(i.args), kNested));
            }
            break;
        }
        case TypeKind::Runtime: {
            const auto& r = to<RuntimeType>(t);
            if (!r.runtime.empty()) set("runtime", Value::string(r.runtime));
            if (!r.name.empty()) set("name_or_pattern", Value::string(r.name));
            break;
        }
        case TypeKind::Resource: {
            const auto& r = to<ResourceType>(t);
            if (!r.type_name.empty()) set("type_name", Value::string(r.type_name));
            if (r.title) set("title", Value::string(*r.title));
            break;
        }
        case TypeKind::Class:
            if (const auto& n = to<ClassType>(t).class_name) set("class_name", Value::string(*n));
            break;
        case TypeKind::TypeSet:
            set("_pcore_init_hash",
                value::to_rich_data(arena_, to<TypeSetType>(t).init_hash(arena_), kNested));
            break;
        case TypeKind::Object:
            if (const ObjectType* object = as_object_type(t)) {
                set("_pcore_init_hash",
                    value::to_rich_data(arena_, object->init_hash(arena_), kNested));
            }
            break;
        default: break;
    }
    return out_.build();
}

class Decoder {
public:
    Decoder(Context& ctx, const HashRep& hash) : ctx_(ctx), hash_(hash) {}

    /// null if it is not one of the Pcore types
    const Type* decode(std::string_view name);

private:
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

const Type* Decoder::decode(std::string_view name) {
    for (int k = 0; k <= static_cast<int>(TypeKind::Unit); ++k) {
        const auto kind = static_cast<TypeKind>(k);
        if (pcore_name(kind) != name) continue;
        switch (kind) {
            case TypeKind::Integer: return make_integer(ctx_, range());
            case TypeKind::Float: {
                constexpr double kInfinity = std::numeric_limits<double>::infinity();
                const Value *from = get("from"), *to = get("to");
                return make_float(ctx_, from && from->is_numeric() ? from->as_number() : -kInfinity,
                                  to && to->is_numeric() ? to->as_number() : kInfinity);
            }
            case TypeKind::String: {
                if (const Value* v = get("size_type_or_value"); v != nullptr && v->is_string()) {
                    return make_string(ctx_, v->as_string());
                }
                const Size s = size("size_type_or_value");
                return s ? make_string(ctx_, *s) : defaults().string;
            }
            case TypeKind::Boolean: {
                const Value* v = get("value");
                return make_boolean(v != nullptr ? std::optional(v->truthy()) : std::nullopt);
            }
            case TypeKind::Regexp:
                return get("pattern") != nullptr ? make_regexp_type(ctx_, text("pattern"))
                                                 : defaults().regexp;
            case TypeKind::Pattern: {
                std::vector<const RegexpType*> patterns;
                for (const Type* t : list("patterns")) {
                    if (const auto* r = as<RegexpType>(t)) patterns.push_back(r);
                }
                return make_pattern(ctx_, patterns);
            }
            case TypeKind::Enum: {
                std::vector<std::string_view> values;
                for (const Value& v : items("values")) {
                    if (v.is_string()) values.push_back(v.as_string());
                }
                const Value* insensitive = get("case_insensitive");
                return make_enum(ctx_, std::move(values),
                                 insensitive != nullptr && insensitive->truthy());
            }
            case TypeKind::Collection: return make_collection(ctx_, size());
            case TypeKind::Array: return make_array_type(ctx_, type_or_any("element_type"), size());
            case TypeKind::Hash:
                return make_hash_type(ctx_, type_or_any("key_type"), type_or_any("value_type"),
                                      size());
            case TypeKind::Tuple: return make_tuple_type(ctx_, list("types"), size());
            case TypeKind::Struct: {
                std::vector<StructElement> elements;
                for (const Value& v : items("elements")) {
                    if (!v.is_hash()) continue;
                    const Value *key = v.as_hash().find("key_type"),
                                *inner = v.as_hash().find("value_type");
                    if (key != nullptr && key->is_type() && inner != nullptr && inner->is_type()) {
                        elements.push_back(
                            make_struct_element(ctx_, key->as_type(), inner->as_type()));
                    }
                }
                return make_struct(ctx_, elements);
            }
            case TypeKind::Variant: return make_variant(ctx_, list("types"));
            case TypeKind::Optional:
                return type("type") ? make_optional(ctx_, type("type")) : defaults().optional;
            case TypeKind::NotUndef:
                return type("type") ? make_not_undef(ctx_, type("type")) : defaults().not_undef;
            case TypeKind::Type:
                return type("type") ? make_type_type(ctx_, type("type")) : defaults().type_type;
            case TypeKind::Iterable:
                return type("type") ? make_iterable(ctx_, type("type")) : defaults().iterable;
            case TypeKind::Iterator:
                return type("type") ? make_iterator(ctx_, type("type")) : defaults().iterator;
            case TypeKind::Sensitive:
                return type("type") ? make_sensitive_type(ctx_, type("type"))
                                    : defaults().sensitive;
            case TypeKind::TypeAlias: {
                const std::string_view alias = text("name");
                if (ctx_.loader != nullptr) {
                    if (const Type* found = ctx_.loader->find_type(alias)) return found;
                }
                return type("resolved_type") ? type("resolved_type") : parse_type(ctx_, alias);
            }
            case TypeKind::TypeReference: return parse_type(ctx_, text("type_string"));
            case TypeKind::Callable: {
                const auto* params = as<TupleType>(type("param_types"));
                if (params == nullptr && type("block_type") == nullptr &&
                    type("return_type") == nullptr) {
                    return defaults().callable;
                }
                return make_callable(ctx_, params, type("block_type"), type("return_type"));
            }
            case TypeKind::Timestamp: return make_timestamp(ctx_, range());
            case TypeKind::Timespan: return make_timespan(ctx_, range());
            case TypeKind::SemVer: {
                std::vector<const base::SemVerRange*> ranges;
                for (const Value& v : items("ranges")) {
                    if (v.is(Kind::SemVerRange)) ranges.push_back(&v.as_semver_range());
                }
                return make_sem_ver(ctx_, ranges);
            }
            case TypeKind::Uri:
                return get("parameters") ? make_uri(ctx_, *get("parameters")) : defaults().uri;
            case TypeKind::Init:
                return type("type") ? make_init(ctx_, type("type"), items("init_args"))
                                    : defaults().init;
            case TypeKind::Runtime:
                return make_runtime(ctx_, text("runtime"), text("name_or_pattern"));
            case TypeKind::Resource: {
                if (text("type_name").empty()) return defaults().resource;
                const Value* title = get("title");
                return make_resource(ctx_, text("type_name"),
                                     title != nullptr && title->is_string()
                                         ? std::optional(title->as_string())
                                         : std::nullopt);
            }
            case TypeKind::Class:
                return get("class_name") ? make_class(ctx_, text("class_name"))
                                         : defaults().class_type;
            case TypeKind::TypeSet: {
                const Value* init = get("_pcore_init_hash");
                if (init == nullptr || !init->is_hash()) return type_set_default();
                return type_set_default()->parameterized(ctx_, std::span<const Value>(init, 1));
            }
            case TypeKind::Any: return defaults().any;
            case TypeKind::Unit: return defaults().unit;
            case TypeKind::Undef: return defaults().undef;
            case TypeKind::Default: return defaults().default_type;
            case TypeKind::Scalar: return defaults().scalar;
            case TypeKind::ScalarData: return defaults().scalar_data;
            case TypeKind::Numeric: return defaults().numeric;
            case TypeKind::Binary: return defaults().binary;
            case TypeKind::SemVerRange: return defaults().sem_ver_range;
            case TypeKind::CatalogEntry: return defaults().catalog_entry;
            default: {
                const Value* init = get("_pcore_init_hash");
                if (init == nullptr || !init->is_hash()) return object_type_default();
                // If a type of that name is known, it is used.
                const Value* own = init->as_hash().find("name");
                if (own != nullptr && own->is_string()) {
                    if (ctx_.loader != nullptr) {
                        if (const Type* found = ctx_.loader->find_type(own->as_string())) {
                            return found;
                        }
                    }
                    if (const Type* found = predefined_object(own->as_string())) return found;
                }
                if (init->as_hash().empty()) return object_type_default();
                return make_object_type(ctx_, {}, *init);
            }
        }
    }
    if (name == "Pcore::ObjectTypeExtension") {
        if (const ObjectType* base = object_base(type("base_type"))) {
            return base->parameterized(ctx_, items("init_parameters"));
        }
    }
    return nullptr;
}

}  // namespace

Value type_to_rich_data(const Type* t, base::Arena& arena) { return Encoder(arena).encode(t); }

Value Type::to_rich_data(base::Arena& arena) const { return type_to_rich_data(this, arena); }

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
