// SPDX-License-Identifier: Apache-2.0
// Instances of Object types: construction, comparison, printing, attributes and method calls.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/mismatch.h"
#include "language/types/new_instance.h"
#include "language/types/object_internal.h"

namespace bunraku::types {

using base::PuppetError;
using value::Kind;

namespace {

/// Returns the types from the topmost parent down to `type`.
std::vector<const ObjectType*> lineage(const ObjectType* type) {
    std::vector<const ObjectType*> chain;
    for (const ObjectType* t = type; t != nullptr && chain.size() < 1000; t = t->parent_object()) {
        chain.push_back(t);
    }
    std::ranges::reverse(chain);
    return chain;
}

const Value* stored(const Object& o, std::string_view name) {
    const int slot = o.type()->slot(name);
    return slot >= 0 ? &o.values()[static_cast<std::size_t>(slot)] : nullptr;
}

/// Calls `each` with the attribute names that one level of the lineage compares.
template <class F>
void each_compared(const ObjectType* level, F each) {
    const ObjectType::Body& b = level->body();
    if (b.equality) {
        for (const std::string_view n : *b.equality) each(n);
        return;
    }
    for (const Member& m : b.attributes) {
        if (!m.constant() && m.kind != AttributeKind::Derived) each(m.name);
    }
}

[[noreturn]] void not_implemented(const Member& m) {
    if (m.feature == Member::Feature::Function) {
        throw PuppetError(fmt::format("no method is implemented for {}", m.label()));
    }
    throw PuppetError(fmt::format("no method is implemented for derived {}", m.label()));
}

std::optional<Value> uri_attribute(Context& ctx, std::string_view uri, std::string_view name) {
    static constexpr std::string_view kParts[] = {"scheme", "userinfo", "host",     "port",
                                                  "path",   "query",    "fragment", "opaque"};
    if (std::ranges::find(kParts, name) == std::end(kParts)) return std::nullopt;
    return uri_member(ctx, uri, name);
}

/// Calls the built-in functions of the predefined types.
std::optional<Value> call_builtin(const Object& o, std::string_view name) {
    if (o.type() == predefined_object("Error") && name == "message") return *stored(o, "msg");
    return std::nullopt;
}

}  // namespace

const Object* as_object(const Value& v) {
    return v.is(Kind::Object) ? dynamic_cast<const Object*>(v.as_extension()) : nullptr;
}

Value Object::init_hash(base::Arena& arena) const {
    value::HashBuilder out(arena, values_.size());
    for (const ObjectType* level : lineage(type_)) {
        for (const Member& m : level->body().attributes) {
            const Value* v = stored(*this, m.name);
            if (v == nullptr) continue;
            if (m.has_value && value::equal(*v, m.value)) continue;
            out.set(m.name, *v);
        }
    }
    return out.build();
}

const Type* Object::value_type(Context& ctx) const {
    if (!type_->parameterized_type()) return type_;
    std::vector<ObjectExtension::Parameter> given;
    for (const Member* m : type_->all_type_parameters()) {
        if (const Value* v = stored(*this, m->name)) given.push_back({m->name, *v});
    }
    return ctx.arena.make<ObjectExtension>(
        type_, std::span<const ObjectExtension::Parameter>(ctx.arena.copy(given)));
}

bool Object::equal(const value::Extension& other) const {
    if (this == &other) return true;
    const auto* o = dynamic_cast<const Object*>(&other);
    if (o == nullptr) return false;
    bool compared = false, same = true;
    for (const ObjectType* level : lineage(type_)) {
        const ObjectType* parent = level->parent_object();
        if (level->body().equality_include_type &&
            !(parent != nullptr && parent->body().equality_include_type)) {
            compared = true;
            if (type_ != o->type_ && !type_->equal_type(*o->type_)) return false;
        }
        each_compared(level, [&](std::string_view name) {
            compared = true;
            const Value *a = stored(*this, name), *b = stored(*o, name);
            same = same && a != nullptr && b != nullptr && value::equal(*a, *b);
        });
        if (!same) return false;
    }
    return compared;
}

std::uint64_t Object::hash() const {
    std::uint64_t h = 0x6f626a;
    for (const ObjectType* level : lineage(type_)) {
        each_compared(level, [&](std::string_view name) {
            if (const Value* v = stored(*this, name)) h = h * 31 + value::hash_of(*v);
        });
    }
    return h;
}

void Object::print(std::string& out) const {
    out += type_->label();
    out += '(';
    base::Arena arena(512);
    print_formatted(out, init_hash(arena));
    out += ')';
}

Value Object::to_rich_data(base::Arena& arena) const {
    value::HashBuilder out(arena, values_.size() + 1);
    out.set("__ptype", Value::string(type_->label()));
    const Value attributes = init_hash(arena);
    const value::RichDataOptions options{.references_as_strings = false};
    for (const value::Entry& e : attributes.as_hash()) {
        out.set(e.key, value::to_rich_data(arena, e.value, options));
    }
    return out.build();
}

std::vector<Signature> object_signatures(Context& ctx, const ObjectType* type) {
    const ObjectType::Shape& b = type->shape();
    const Type* hash_type = b.init_hash_type;
    std::vector<const Type*> types;
    std::vector<std::string_view> names;
    for (const Member* m : b.parameters) {
        types.push_back(m->type);
        names.push_back(m->name);
    }
    Signature from_hash;
    from_hash.type = make_callable(
        ctx, types::make_tuple_type(ctx, std::span<const Type* const>(&hash_type, 1), Range{1, 1}),
        nullptr, nullptr);
    from_hash.parameter_names = {"hash"};
    Signature create;
    create.type = make_callable(
        ctx,
        types::make_tuple_type(
            ctx, types,
            Range{static_cast<std::int64_t>(b.required), static_cast<std::int64_t>(types.size())}),
        nullptr, nullptr);
    create.parameter_names = std::move(names);
    return {from_hash, create};
}

Value make_object_unchecked(Context& ctx, const ObjectType* type, std::span<const Value> values) {
    const ObjectType::Shape& b = type->shape();
    const auto own = ctx.arena.array<Value>(b.parameters.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
        own[i] = i < values.size() ? values[i] : b.parameters[i]->value;
    }
    return Value::extension(Kind::Object, ctx.arena.make<Object>(type, own));
}

Value make_object(Context& ctx, const ObjectType* type, std::span<const Value> args) {
    const ObjectType::Shape& b = type->shape();
    const auto signatures = object_signatures(ctx, type);
    if (accepts_call(ctx, signatures[0].type, args)) {
        std::vector<Value> values;
        const value::HashRep& hash = args[0].as_hash();
        for (const Member* m : b.parameters) {
            const Value* v = hash.find(m->name);
            values.push_back(v != nullptr ? *v : m->value);
        }
        return make_object_unchecked(ctx, type, values);
    }
    if (accepts_call(ctx, signatures[1].type, args)) return make_object_unchecked(ctx, type, args);
    const std::string function = fmt::format("new_{}", type->name);
    throw PuppetError(describe_call(ctx, function, signatures, args)
                          .value_or(fmt::format("'{}' rejects its arguments", function)));
}

std::optional<Value> object_attribute(Context& ctx, const Value& object, std::string_view name) {
    if (object.is(Kind::Uri)) return uri_attribute(ctx, object.as_string(), name);
    const Object* o = as_object(object);
    if (o == nullptr) return std::nullopt;
    if (const Value* v = stored(*o, name)) return *v;
    const Member* m = o->type()->find_attribute(name);
    if (m == nullptr) return std::nullopt;
    if (m->constant()) return m->value;
    not_implemented(*m);
}

std::optional<Value> call_member(Context& ctx, const Value& receiver, std::string_view name,
                                 std::span<const Value> args, bool has_block) {
    if (receiver.is(Kind::Uri)) return uri_attribute(ctx, receiver.as_string(), name);
    const Object* o = as_object(receiver);
    if (o == nullptr) return std::nullopt;
    const Member* m = o->type()->find(name);
    if (m == nullptr) return std::nullopt;
    std::vector<Signature> signatures;
    const auto add = [&signatures](const Type* t) {
        if (const auto* callable = as<CallableType>(t)) {
            Signature s;
            s.type = callable;
            signatures.push_back(std::move(s));
        }
    };
    if (m->feature == Member::Feature::Function) {
        const Type* type = types::resolve(ctx, m->type);
        if (const auto* variant = as<VariantType>(type)) {
            for (const Type* t : variant->types) add(t);
        } else {
            add(type);
        }
    } else {
        add(make_callable(ctx, types::make_tuple_type(ctx, {}, Range{0, 0}), nullptr, nullptr));
    }
    const Type* block = has_block ? defaults().callable : nullptr;
    const bool fits = std::ranges::any_of(
        signatures, [&](const Signature& s) { return accepts_call(ctx, s.type, args, block); });
    if (!fits && !signatures.empty()) {
        const std::string label = m->label();
        throw PuppetError(describe_call(ctx, label, signatures, args, block)
                              .value_or(fmt::format("'{}' rejects its arguments", label)));
    }
    if (m->feature == Member::Feature::Attribute) return object_attribute(ctx, receiver, name);
    if (auto result = call_builtin(*o, name)) return result;
    not_implemented(*m);
}

}  // namespace bunraku::types
