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
    Value extension(const ObjectExtension& t);
    void set_fields(const Type* t);
    void set(const FloatType& t);
    void set(const StringType& t);
    void set(const PatternType& t);
    void set(const EnumType& t);
    void set(const ArrayType& t);
    void set(const HashType& t);
    void set(const StructType& t);
    void set(const ContainedType& t);
    void set(const SensitiveType& t);
    void set(const TypeAliasType& t);
    void set(const CallableType& t);
    void set(const SemVerType& t);
    void set(const InitType& t);
    void set(const RuntimeType& t);
    void set(const ResourceType& t);

    Value plain(const Value& v) { return value::to_rich_data(arena_, v, kNested); }
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
        // An end of 64 bits is open, unless the range contains only that integer.
        const bool single = r.min == r.max;
        set("from", r.min == kMin && !single ? Value::undef() : Value::integer(r.min));
        if (r.max != kMax || single) set("to", Value::integer(r.max));
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
    void set_times(const Range& r, Value (*make)(std::int64_t)) {
        const auto time = [&](std::int64_t ns) { return plain(make(ns)); };
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

}  // namespace

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

namespace {

Value Encoder::encode(const Type* t) {
    base::step();
    if (std::ranges::find(in_progress, t) != in_progress.end() || in_progress.size() > 500) {
        return named(types::type_name(t));
    }
    struct Mark {
        explicit Mark(const Type* type) { in_progress.push_back(type); }
        ~Mark() { in_progress.pop_back(); }
    } const mark(t);
    if (const ObjectExtension* object = as_object_extension(t)) return extension(*object);
    if (const auto* alias = as<TypeAliasType>(t);
        alias && (builtin_type(alias->name) != nullptr || alias->self_recursive)) {
        return named(alias->name);
    }
    set("__ptype", Value::string(pcore_name(t->kind)));
    set_fields(t);
    return out_.build();
}

Value Encoder::extension(const ObjectExtension& t) {
    set("__ptype", Value::string("Pcore::ObjectTypeExtension"));
    set("base_type", nested(t.base));
    std::vector<Value> parameters;
    for (const Value& v : t.init_parameters(arena_)) parameters.push_back(plain(v));
    set("init_parameters", value::make_array(arena_, parameters));
    return out_.build();
}

/// Sets the attributes that differ from those of the unparameterized type.
void Encoder::set_fields(const Type* t) {
    switch (t->kind) {
        case TypeKind::Integer: set_range(to<IntegerType>(t).range); break;
        case TypeKind::Float: set(to<FloatType>(t)); break;
        case TypeKind::String: set(to<StringType>(t)); break;
        case TypeKind::Boolean:
            if (const auto& b = to<BooleanType>(t).value) set("value", Value::boolean(*b));
            break;
        case TypeKind::Regexp:
            if (to<RegexpType>(t).rep != nullptr) {
                set("pattern", Value::string(to<RegexpType>(t).pattern));
            }
            break;
        case TypeKind::Pattern: set(to<PatternType>(t)); break;
        case TypeKind::Enum: set(to<EnumType>(t)); break;
        case TypeKind::Collection: set_size(to<CollectionType>(t).size); break;
        case TypeKind::Array: set(to<ArrayType>(t)); break;
        case TypeKind::Hash: set(to<HashType>(t)); break;
        case TypeKind::Tuple:
            set("types", list(to<TupleType>(t).types));
            set_size(to<TupleType>(t).size);
            break;
        case TypeKind::Struct: set(to<StructType>(t)); break;
        case TypeKind::Variant: set("types", list(to<VariantType>(t).types)); break;
        case TypeKind::Optional:
        case TypeKind::NotUndef:
        case TypeKind::Type:
        case TypeKind::Iterable:
        case TypeKind::Iterator: set(static_cast<const ContainedType&>(*t)); break;
        case TypeKind::Sensitive: set(to<SensitiveType>(t)); break;
        case TypeKind::TypeAlias: set(to<TypeAliasType>(t)); break;
        case TypeKind::TypeReference:
            set("type_string", Value::string(to<TypeReferenceType>(t).type_string));
            break;
        case TypeKind::Callable: set(to<CallableType>(t)); break;
        case TypeKind::Timestamp: set_times(to<TimestampType>(t).range, Value::timestamp); break;
        case TypeKind::Timespan: set_times(to<TimespanType>(t).range, Value::timespan); break;
        case TypeKind::SemVer: set(to<SemVerType>(t)); break;
        case TypeKind::Uri:
            if (const HashRep* parameters = to<UriType>(t).parameters) {
                set("parameters", plain(Value::hash(parameters)));
            }
            break;
        case TypeKind::Init: set(to<InitType>(t)); break;
        case TypeKind::Runtime: set(to<RuntimeType>(t)); break;
        case TypeKind::Resource: set(to<ResourceType>(t)); break;
        case TypeKind::Class:
            if (const auto& n = to<ClassType>(t).class_name) set("class_name", Value::string(*n));
            break;
        case TypeKind::TypeSet:
            set("_pcore_init_hash", plain(to<TypeSetType>(t).init_hash(arena_)));
            break;
        case TypeKind::Object:
            if (const ObjectType* object = as_object_type(t)) {
                set("_pcore_init_hash", plain(object->init_hash(arena_)));
            }
            break;
        default: break;
    }
}

void Encoder::set(const FloatType& t) {
    const bool low = t.min > -std::numeric_limits<double>::infinity();
    const bool high = t.max < std::numeric_limits<double>::infinity();
    if (low || high) set("from", low ? Value::floating(t.min) : Value::undef());
    if (high) set("to", Value::floating(t.max));
}

void Encoder::set(const StringType& t) {
    if (t.value) {
        set("size_type_or_value", Value::string(*t.value));
    } else if (t.size) {
        set("size_type_or_value", size(*t.size));
    }
}

void Encoder::set(const PatternType& t) {
    std::vector<Value> items;
    for (const RegexpType* r : t.patterns) items.push_back(nested(r));
    set("patterns", value::make_array(arena_, items));
}

void Encoder::set(const EnumType& t) {
    std::vector<Value> items;
    for (const std::string_view v : t.values) items.push_back(Value::string(v));
    set("values", value::make_array(arena_, items));
    if (t.case_insensitive) set("case_insensitive", Value::boolean(true));
}

void Encoder::set(const ArrayType& t) {
    if (t.size || !is(t.element, TypeKind::Any)) set("element_type", nested(t.element));
    set_size(t.size);
}

void Encoder::set(const HashType& t) {
    const bool value_given = t.size || !is(t.value, TypeKind::Any);
    if (value_given || !is(t.key, TypeKind::Any)) set("key_type", nested(t.key));
    if (value_given) set("value_type", nested(t.value));
    set_size(t.size);
}

void Encoder::set(const StructType& t) {
    std::vector<Value> items;
    for (const StructElement& e : t.elements) {
        HashBuilder one(arena_);
        one.set("__ptype", Value::string("Pcore::StructElement"));
        one.set("key_type", e.key != nullptr ? nested(e.key) : string_type(e.name));
        one.set("value_type", nested(e.value));
        items.push_back(one.build());
    }
    set("elements", value::make_array(arena_, items));
}

void Encoder::set(const ContainedType& t) {
    if (t.type != nullptr) set("type", nested(t.type));
}

void Encoder::set(const SensitiveType& t) {
    if (t.type != nullptr && !is(t.type, TypeKind::Any)) set("type", nested(t.type));
}

void Encoder::set(const TypeAliasType& t) {
    set("name", Value::string(t.name));
    set("type_expr", Value::undef());
    set("resolved_type", nested(t.resolved));
}

void Encoder::set(const CallableType& t) {
    set("param_types", nested(t.params));
    set("block_type", nested(t.block));
    set("return_type", nested(t.returns));
}

void Encoder::set(const SemVerType& t) {
    std::vector<Value> items;
    for (const base::SemVerRange* r : t.ranges) items.push_back(plain(Value::semver_range(r)));
    if (!items.empty()) set("ranges", value::make_array(arena_, items));
}

void Encoder::set(const InitType& t) {
    if (t.type != nullptr) set("type", nested(t.type));
    if (!t.args.empty()) set("init_args", plain(Value::array(t.args)));
}

void Encoder::set(const RuntimeType& t) {
    if (!t.runtime.empty()) set("runtime", Value::string(t.runtime));
    if (!t.name.empty()) set("name_or_pattern", Value::string(t.name));
}

void Encoder::set(const ResourceType& t) {
    if (!t.type_name.empty()) set("type_name", Value::string(t.type_name));
    if (t.title) set("title", Value::string(*t.title));
}

}  // namespace

Value type_to_rich_data(const Type* t, base::Arena& arena) { return Encoder(arena).encode(t); }

Value Type::to_rich_data(base::Arena& arena) const { return type_to_rich_data(this, arena); }

}  // namespace bunraku::types
