// SPDX-License-Identifier: Apache-2.0
// Type.new: finds the constructor of a type, dispatches on the arguments, and checks the result.
#include "language/types/new_instance.h"

#include <array>
#include <fmt/format.h>
#include <memory>

#include "core/base/diagnostic.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/new_internal.h"
#include "language/types/object_internal.h"

namespace bunraku::types {

using base::PuppetError;

namespace {

/// A constructor with its parsed types. It is never destroyed and is shared between threads.
struct Built {
    std::string_view name;
    std::vector<Signature> all;         ///< in dispatch order, including error handlers
    std::vector<Signature> signatures;  ///< without error handlers
    std::vector<const NewDispatch*> dispatches;
    std::vector<std::pair<std::string_view, const Type*>> local_types;
};

/// Resolves the local types while the parameter types are parsed.
struct LocalLoader final : Loader {
    const std::vector<std::pair<std::string_view, const Type*>>* types = nullptr;
    const Type* find_type(std::string_view name) override {
        for (const auto& [n, t] : *types) {
            if (n == name) return t;
        }
        return nullptr;
    }
};

const Built* build(const Constructor& constructor) {
    auto* arena = immortal_arena(4096);
    auto* built = new Built;
    built->name = constructor.name;
    LocalLoader loader;
    loader.types = &built->local_types;
    Context ctx{*arena, &loader};
    for (const auto& [name, text] : constructor.local_types) {
        TypeAliasType* alias = make_type_alias(ctx, name, nullptr);
        alias->resolved = parse_type(ctx, text);
        built->local_types.push_back({name, alias});
    }
    for (const NewDispatch& d : constructor.dispatches) {
        std::vector<const Type*> types;
        Signature s;
        std::int64_t required = 0;
        for (const NewParameter& p : d.parameters) {
            types.push_back(parse_type(ctx, p.type));
            s.parameter_names.push_back(p.name);
            required += !p.optional;
        }
        s.type = make_callable(
            ctx,
            make_tuple_type(ctx, types, Range{required, static_cast<std::int64_t>(types.size())}),
            nullptr, nullptr);
        if (d.make != nullptr) built->signatures.push_back(s);
        built->all.push_back(std::move(s));
        built->dispatches.push_back(new NewDispatch(d));
    }
    return built;
}

using Make = Constructor (*)();

Make maker_of(TypeKind kind) {
    switch (kind) {
        case TypeKind::Integer: return integer_constructor;
        case TypeKind::Float: return float_constructor;
        case TypeKind::Numeric: return numeric_constructor;
        case TypeKind::Boolean: return boolean_constructor;
        case TypeKind::String: return string_constructor;
        case TypeKind::Regexp: return regexp_constructor;
        case TypeKind::Type: return type_constructor;
        case TypeKind::Unit: return unit_constructor;
        case TypeKind::Sensitive: return sensitive_constructor;
        case TypeKind::Array:
        case TypeKind::Tuple: return array_constructor;
        case TypeKind::Hash:
        case TypeKind::Struct: return hash_constructor;
        case TypeKind::Timestamp: return timestamp_constructor;
        case TypeKind::Timespan: return timespan_constructor;
        case TypeKind::SemVer: return semver_constructor;
        case TypeKind::SemVerRange: return semver_range_constructor;
        case TypeKind::Binary: return binary_constructor;
        case TypeKind::Uri: return uri_constructor;
        default: return nullptr;
    }
}

constexpr std::size_t kKinds = 64;

template <std::size_t... I>
const Built* built_of(std::size_t kind, std::index_sequence<I...>) {
    // Each kind has one function-local static, which is made on first use.
    using Get = const Built* (*)();
    static constexpr std::array<Get, sizeof...(I)> kGet = {+[]() -> const Built* {
        static const Built* built = [] {
            const Make make = maker_of(static_cast<TypeKind>(I));
            return make != nullptr ? build(make()) : nullptr;
        }();
        return built;
    }...};
    return kind < kGet.size() ? kGet[kind]() : nullptr;
}

/// Tuple uses the constructor of Array, and Struct uses that of Hash.
const Built* built(TypeKind kind) {
    if (kind == TypeKind::Tuple) kind = TypeKind::Array;
    if (kind == TypeKind::Struct) kind = TypeKind::Hash;
    return built_of(static_cast<std::size_t>(kind), std::make_index_sequence<kKinds>());
}

[[noreturn]] void not_supported(const Type* t) {
    throw PuppetError(
        fmt::format("Creation of new instance of type '{}' is not supported", t->to_string()));
}

/// Returns the type whose constructor is used, without aliases, Optional and NotUndef.
const Type* constructed(Context& ctx, const Type* t) {
    for (int depth = 0; depth < 100; ++depth) {
        t = resolve(ctx, t);
        const Type* inner = nullptr;
        if (const auto* optional = as<OptionalType>(t)) {
            if (optional->type == nullptr) not_supported(t);
            inner = optional->type;
        } else if (const auto* not_undef = as<NotUndefType>(t)) {
            inner = not_undef->type != nullptr && !is(not_undef->type, TypeKind::Any)
                        ? not_undef->type
                        : defaults().unit;
        }
        if (inner == nullptr) return t;
        t = inner;
    }
    not_supported(t);
}

[[noreturn]] void reject(Context& ctx, std::string_view name, std::span<const Signature> signatures,
                         Args args) {
    throw PuppetError(describe_call(ctx, name, signatures, args)
                          .value_or(fmt::format("'{}' rejects its arguments", name)));
}

Value dispatch(Context& ctx, const Built& b, Args args) {
    for (std::size_t i = 0; i < b.all.size(); ++i) {
        if (!accepts_call(ctx, b.all[i].type, args)) continue;
        const NewDispatch& d = *b.dispatches[i];
        if (d.make != nullptr) return d.make(ctx, args);
        throw PuppetError(fmt::format("'{}' {}", b.name, d.mismatch(ctx, args)));
    }
    reject(ctx, b.name, b.signatures, args);
}

Signature one_parameter(Context& ctx, const Type* type, std::string_view name) {
    Signature s;
    s.type = make_callable(
        ctx, make_tuple_type(ctx, std::span<const Type* const>(&type, 1), Range{1, 1}), nullptr,
        nullptr);
    s.parameter_names = {name};
    return s;
}

std::vector<Signature> init_signatures(Context& ctx, const InitType& init) {
    if (init.args.empty()) {
        return {one_parameter(ctx, defaults().array, "value"),
                one_parameter(ctx, defaults().any, "value")};
    }
    return {one_parameter(ctx, defaults().any, "value")};
}

Value new_init(Context& ctx, const InitType& init, Args args) {
    if (init.type == nullptr) not_supported(&init);
    initialize(ctx, init);
    if (args.size() != 1) {
        reject(ctx, "new_Init", init_signatures(ctx, init), args);
    }
    const Value& v = args[0];
    if (!init.args.empty()) {
        std::vector<Value> all{v};
        all.insert(all.end(), init.args.begin(), init.args.end());
        return new_instance(ctx, init.type, all);
    }
    if (!v.is_array()) return new_instance(ctx, init.type, args);
    const bool whole = (init.single_type != nullptr && is_instance(ctx, init.single_type, v)) ||
                       (init.other_type != nullptr && !is_instance(ctx, init.other_type, v) &&
                        init.has_optional_single &&
                        is_instance(ctx, init.other_type, value::make_array(ctx.arena, args)));
    return whole ? new_instance(ctx, init.type, args) : new_instance(ctx, init.type, v.as_array());
}

}  // namespace

const Type* constructor_local_type(TypeKind kind, std::string_view name) {
    const Built* b = built(kind);
    for (const auto& [n, t] : b->local_types) {
        if (n == name) return t;
    }
    return nullptr;
}

std::string cannot_convert(Context& ctx, const Value& from, std::string_view to) {
    if (from.is_string()) {
        return fmt::format("The string '{}' cannot be converted to {}", from.as_string(), to);
    }
    return fmt::format("Value of type {} cannot be converted to {}",
                       generalize(ctx, infer(ctx, from))->to_string(), to);
}

std::vector<Signature> constructor_signatures(Context& ctx, const Type* type) {
    const Type* t = constructed(ctx, type);
    if (const Built* b = built(t->kind)) return b->signatures;
    if (const ObjectType* object = object_base(t); object != nullptr && !object->is_default()) {
        return object_signatures(ctx, object);
    }
    if (const auto* init = as<InitType>(t); init != nullptr && init->type != nullptr) {
        return init_signatures(ctx, *init);
    }
    not_supported(t);
}

Value new_instance(Context& ctx, const Type* type, Args args) {
    const DepthCheck depth;
    if (args.size() == 1 && type->kind != TypeKind::Init && is_instance(ctx, type, args[0])) {
        return args[0];
    }
    const Type* t = constructed(ctx, type);
    Value result;
    if (const Built* b = built(t->kind)) {
        result = dispatch(ctx, *b, args);
    } else if (const ObjectType* object = object_base(t);
               object != nullptr && !object->is_default()) {
        result = make_object(ctx, object, args);
    } else if (const auto* init = as<InitType>(t)) {
        result = new_init(ctx, *init, args);
    } else {
        not_supported(t);
    }
    if (!is_instance(ctx, type, result)) {
        check_instance(ctx, fmt::format("Converted value from {}.new()", type->to_string()), type,
                       result);
    }
    return result;
}

}  // namespace bunraku::types
