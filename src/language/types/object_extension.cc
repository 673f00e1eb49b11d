// SPDX-License-Identifier: Apache-2.0
// Object types with values for their type parameters.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object_internal.h"
#include "language/types/rich_data.h"

namespace bunraku::types {

using base::PuppetError;

const Value* ObjectExtension::parameter(std::string_view name) const {
    for (const Parameter& p : parameters) {
        if (p.name == name) return &p.value;
    }
    return nullptr;
}

std::vector<Value> ObjectExtension::init_parameters(base::Arena& arena) const {
    const auto all = base->all_type_parameters();
    if (all.size() > 2) {
        value::HashBuilder hash(arena);
        for (const Parameter& p : parameters) hash.set(p.name, p.value);
        return {hash.build()};
    }
    std::vector<Value> out;
    for (const Member* m : all) {
        const Value* v = parameter(m->name);
        out.push_back(v != nullptr ? *v : Value::default_value());
    }
    while (!out.empty() && out.back().is_default()) out.pop_back();
    return out;
}

bool ObjectExtension::is_instance_of(Context& ctx, const Value& v, Guard* guard) const {
    if (!base->is_instance_of(ctx, v, guard)) return false;
    return std::ranges::all_of(parameters, [&](const Parameter& p) {
        const auto own = object_attribute(ctx, v, p.name);
        return own && parameter_matches(ctx, *own, p.value);
    });
}

bool ObjectExtension::is_assignable_from(Context& ctx, const Type* from, Guard* guard) const {
    if (!base->is_assignable_from(ctx, from, guard)) return false;
    const ObjectExtension* other = as_object_extension(from);
    return std::ranges::all_of(parameters, [&](const Parameter& p) {
        const Value* own = other != nullptr ? other->parameter(p.name) : nullptr;
        if (own == nullptr) return false;
        if (parameter_matches(ctx, *own, p.value)) return true;
        return own->is_type() && p.value.is_type() &&
               is_assignable(ctx, p.value.as_type(), own->as_type());
    });
}

bool ObjectExtension::equal_type(const Type& other) const {
    const ObjectExtension* o = as_object_extension(&other);
    if (o == nullptr || !base->equal_type(*o->base) || parameters.size() != o->parameters.size()) {
        return false;
    }
    return std::ranges::all_of(parameters, [o](const Parameter& p) {
        const Value* theirs = o->parameter(p.name);
        return theirs != nullptr && value::equal(p.value, *theirs);
    });
}

std::uint64_t ObjectExtension::hash_type() const {
    std::uint64_t h = base->hash_type();
    for (const Parameter& p : parameters) h ^= value::hash_of(p.value);
    return h;
}

void ObjectExtension::print_type(std::string& out, bool) const {
    out += base->label();
    out += '[';
    base::Arena arena(256);
    const auto shown = init_parameters(arena);
    for (const Value& v : shown) {
        if (&v != shown.data()) out += ", ";
        print_formatted(out, v);
    }
    out += ']';
}

const Type* ObjectExtension::parameterized(Context& ctx, std::span<const Value> args) const {
    return base->parameterized(ctx, args);
}

Value ObjectExtension::to_rich_data(base::Arena& arena) const {
    return type_to_rich_data(this, arena);
}

const Type* ObjectType::parameterized(Context& ctx, std::span<const Value> args) const {
    if (default_) {
        if (args.size() == 1 && args[0].is_type()) {
            // Object[T] with a type as the argument is not allowed. Only the hash form is.
            throw PuppetError("Object-Type[] arguments must be a hash");
        }
        return make_object_type(ctx, {}, args.empty() ? Value::undef() : args[0]);
    }
    const auto all = all_type_parameters();
    if (all.empty()) {
        throw PuppetError(fmt::format("The {}-Type cannot be parameterized using []", label()));
    }
    std::vector<ObjectExtension::Parameter> given;
    const auto add = [&](const Member& m, const Value& v) {
        if (v.is_default()) return;
        check_instance(ctx, m.label(), m.type, v);
        given.push_back({m.name, v});
    };
    if (args.size() == 1 && args[0].is_hash() && !is_instance(ctx, all[0]->type, args[0])) {
        for (const value::Entry& e : args[0].as_hash()) {
            const auto at = std::ranges::find_if(all, [&e](const Member* m) {
                return e.key.is_string() && m->name == e.key.as_string();
            });
            if (at == all.end()) {
                throw PuppetError(fmt::format("'{}' is not a known type parameter for {}-Type",
                                              value::to_text(e.key), label()));
            }
            add(**at, e.value);
        }
    } else {
        for (std::size_t i = 0; i < all.size() && i < args.size(); ++i) add(*all[i], args[i]);
    }
    if (given.empty()) {
        throw PuppetError(fmt::format(
            "The {}-Type cannot be parameterized using an empty parameter list", label()));
    }
    return ctx.arena.make<ObjectExtension>(
        this, std::span<const ObjectExtension::Parameter>(ctx.arena.copy(given)));
}

}  // namespace bunraku::types
