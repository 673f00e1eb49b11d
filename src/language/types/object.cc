// SPDX-License-Identifier: Apache-2.0
#include "language/types/object.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "core/base/diagnostic.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/syntax/ast.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object_internal.h"
#include "language/types/rich_data.h"
#include "language/types/typeset.h"

namespace bunraku::types {

using value::HashBuilder;
using value::Kind;

namespace {

void add_member(std::vector<const Member*>& all, const Member& m) {
    const auto at = std::ranges::find(all, m.name, [](const Member* o) { return o->name; });
    if (at == all.end()) {
        all.push_back(&m);
    } else {
        *at = &m;
    }
}

std::vector<const Member*> collect(const ObjectType* type,
                                   const std::vector<Member> ObjectType::Body::* which) {
    std::vector<const ObjectType*> chain;
    for (const ObjectType* t = type; t != nullptr && chain.size() < 1000; t = t->parent_object()) {
        chain.push_back(t);
    }
    std::vector<const Member*> all;
    for (auto t = chain.rbegin(); t != chain.rend(); ++t) {
        for (const Member& m : (*t)->body().*which) add_member(all, m);
    }
    return all;
}

const Member* find_in(const std::vector<Member>& members, std::string_view name) {
    const auto at = std::ranges::find(members, name, &Member::name);
    return at == members.end() ? nullptr : &*at;
}

bool members_equal(const std::vector<Member>& a, const std::vector<Member>& b) {
    return std::ranges::equal(a, b, [](const Member& x, const Member& y) { return x.equal(y); });
}

/// Returns {name => hash of the member}. A hash that contains only the type is replaced by the
/// type.
Value compressed(base::Arena& arena, std::span<const Member* const> members) {
    HashBuilder out(arena, members.size());
    for (const Member* m : members) {
        Value hash = m->init_hash(arena);
        if (hash.as_hash().size() == 1) {
            if (const Value* type = hash.as_hash().find("type")) hash = *type;
        }
        out.set(m->name, hash);
    }
    return out.build();
}

std::vector<const Member*> pointers(const std::vector<Member>& members) {
    std::vector<const Member*> out;
    for (const Member& m : members) out.push_back(&m);
    return out;
}

/// Reports whether a constant's type is the inferred type of its value. Such a constant is written
/// as its value only.
bool plain_constant(base::Arena& arena, const Member& m) {
    if (!m.constant()) return false;
    Context ctx{arena, nullptr};
    return equal(m.type, generalize(ctx, infer(ctx, m.value)));
}

/// Writes the hash of an Object type in the form of its definition.
void print_definition(std::string& out, const value::HashRep& hash);

void print_members(std::string& out, const value::HashRep& members) {
    out += '{';
    for (const value::Entry& e : members) {
        if (&e != members.begin()) out += ", ";
        print_formatted(out, e.key);
        out += " => ";
        if (!e.value.is_hash()) {
            print_formatted(out, e.value);
            continue;
        }
        out += '{';
        for (const value::Entry& inner : e.value.as_hash()) {
            if (&inner != e.value.as_hash().begin()) out += ", ";
            out += inner.key.as_string();
            out += " => ";
            if (inner.key.as_string() == "kind") {
                out += inner.value.as_string();
            } else {
                print_formatted(out, inner.value);
            }
        }
        out += '}';
    }
    out += '}';
}

void print_definition(std::string& out, const value::HashRep& hash) {
    out += '{';
    for (const value::Entry& e : hash) {
        if (&e != hash.begin()) out += ", ";
        const std::string_view key = e.key.as_string();
        out += key;
        out += " => ";
        if ((key == "attributes" || key == "functions") && e.value.is_hash()) {
            print_members(out, e.value.as_hash());
        } else {
            print_formatted(out, e.value);
        }
    }
    out += '}';
}

}  // namespace

void print_object_hash(std::string& out, const value::HashRep& hash) {
    out += "Object[";
    print_definition(out, hash);
    out += ']';
}

void print_formatted(std::string& out, const Value& v) {
    base::step();
    switch (v.kind()) {
        case Kind::Type:
            if (const OpenType* open = as_open(v.as_type())) {
                open->print_type(out, false);
            } else {
                v.as_type()->print(out);
            }
            break;
        case Kind::Array:
            out += '[';
            for (const Value& item : v.as_array()) {
                if (&item != v.as_array().data()) out += ", ";
                print_formatted(out, item);
            }
            out += ']';
            break;
        case Kind::Hash:
            out += '{';
            for (const value::Entry& e : v.as_hash()) {
                if (&e != v.as_hash().begin()) out += ", ";
                print_formatted(out, e.key);
                out += " => ";
                print_formatted(out, e.value);
            }
            out += '}';
            break;
        default: value::print_source(out, v);
    }
}

std::string_view Member::feature_name() const {
    switch (feature) {
        case Feature::Attribute: return "attribute";
        case Feature::Function: return "function";
        case Feature::TypeParameter: return "type_parameter";
    }
    return {};
}

std::string Member::label() const {
    return fmt::format("{} {}[{}]", feature_name(), container->label(), name);
}

std::string_view kind_name(AttributeKind kind) {
    switch (kind) {
        case AttributeKind::Plain: return {};
        case AttributeKind::Constant: return "constant";
        case AttributeKind::Derived: return "derived";
        case AttributeKind::GivenOrDerived: return "given_or_derived";
        case AttributeKind::Reference: return "reference";
    }
    return {};
}

Value Member::init_hash(base::Arena& arena) const {
    HashBuilder out(arena);
    const Type* shown = type;
    if (feature == Feature::TypeParameter) {
        if (const auto* optional = as<OptionalType>(type)) shown = optional->type;
    }
    out.set("type", shown ? Value::type(shown) : Value::undef());
    if (final && !constant()) out.set("final", Value::boolean(true));
    if (override_) out.set("override", Value::boolean(true));
    if (!annotations.is_undef()) out.set("annotations", annotations);
    if (kind != AttributeKind::Plain) out.set("kind", Value::string(kind_name(kind)));
    if (has_value && !(feature == Feature::TypeParameter && value.is_undef())) {
        out.set("value", value);
    }
    return out.build();
}

bool Member::equal(const Member& other) const {
    return feature == other.feature && name == other.name && types::equal(type, other.type) &&
           override_ == other.override_ && final == other.final && kind == other.kind &&
           has_value == other.has_value && (!has_value || value::equal(value, other.value));
}

ObjectType::ObjectType(Context& ctx, std::string_view n, const syntax::Node* definition)
    : OpenType(kKind), name(n), arena_(&ctx.arena), loader_(ctx.loader), definition_(definition) {}

ObjectType::ObjectType(Context& ctx, std::string_view n, const value::HashRep* definition)
    : OpenType(kKind),
      name(n),
      arena_(&ctx.arena),
      loader_(ctx.loader),
      hash_(definition),
      default_(definition == nullptr) {
    if (definition != nullptr) hold(definition->depth);
}

const ObjectType::Body& ObjectType::body() const {
    if (!resolved_ && !resolving_) resolve_now();
    return *body_;
}

void ObjectType::resolve(Context&) const { body(); }

void ObjectType::resolve_now() const {
    Context ctx{*arena_, loader_};
    body_ = arena_->own(std::make_unique<Body>());
    resolving_ = true;
    try {
        if (definition_ != nullptr) {
            const Value hash = interpret_any(ctx, definition_);
            if (hash.is_hash()) {
                init_from_hash(ctx, hash.as_hash());
            } else {
                init_from_hash(ctx, HashBuilder(*arena_).build().as_hash());
            }
        } else if (hash_ != nullptr) {
            init_from_hash(ctx, *hash_);
        }
    } catch (...) {
        resolving_ = false;
        throw;
    }
    resolving_ = false;
    resolved_ = true;
}

const ObjectType* ObjectType::parent_object() const {
    const Type* parent = body().parent;
    if (parent != nullptr && parent->kind == TypeKind::TypeAlias) {
        Context ctx{*arena_, loader_};
        parent = types::resolve(ctx, parent);
    }
    return as_object_type(parent);
}

const Member* ObjectType::find(std::string_view member) const {
    int depth = 0;
    for (const ObjectType* t = this; t != nullptr && depth < 1000;
         t = t->parent_object(), ++depth) {
        if (const Member* m = find_in(t->body().attributes, member)) return m;
        if (const Member* m = find_in(t->body().functions, member)) return m;
    }
    return nullptr;
}

const Member* ObjectType::find_attribute(std::string_view member) const {
    const Member* m = find(member);
    return m != nullptr && m->feature == Member::Feature::Attribute ? m : nullptr;
}

std::vector<const Member*> ObjectType::all_attributes() const {
    return collect(this, &Body::attributes);
}
std::vector<const Member*> ObjectType::all_functions() const {
    return collect(this, &Body::functions);
}
std::vector<const Member*> ObjectType::all_type_parameters() const {
    return collect(this, &Body::type_parameters);
}

std::vector<const Member*> ObjectType::equality_attributes() const {
    std::vector<const ObjectType*> chain;
    for (const ObjectType* t = this; t != nullptr && chain.size() < 1000; t = t->parent_object()) {
        chain.push_back(t);
    }
    std::vector<const Member*> all;
    for (auto t = chain.rbegin(); t != chain.rend(); ++t) {
        const Body& b = (*t)->body();
        if (b.equality) {
            for (const std::string_view n : *b.equality) {
                if (const Member* m = (*t)->find_attribute(n)) add_member(all, *m);
            }
        } else {
            for (const Member& m : b.attributes) {
                if (!m.constant()) add_member(all, m);
            }
        }
    }
    return all;
}

bool ObjectType::parameterized_type() const {
    int depth = 0;
    for (const ObjectType* t = this; t != nullptr && depth < 1000;
         t = t->parent_object(), ++depth) {
        if (!t->body().type_parameters.empty()) return true;
    }
    return false;
}

std::string_view ObjectType::simple_name() const {
    const std::string_view text = label();
    const auto at = text.rfind("::");
    return at == std::string_view::npos ? text : text.substr(at + 2);
}

int ObjectType::slot(std::string_view attribute) const {
    const auto& parameters = shape().parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i]->name == attribute) return static_cast<int>(i);
    }
    return -1;
}

Value ObjectType::init_hash(base::Arena& arena, bool include_name) const {
    const Body& b = body();
    HashBuilder out(arena);
    if (!b.annotations.is_undef()) out.set("annotations", b.annotations);
    if (include_name && !name.empty()) out.set("name", Value::string(name));
    if (b.parent != nullptr) out.set("parent", Value::type(b.parent));
    if (!b.type_parameters.empty()) {
        out.set("type_parameters", compressed(arena, pointers(b.type_parameters)));
    }
    std::vector<const Member*> constants, others;
    for (const Member& m : b.attributes) {
        (plain_constant(arena, m) ? constants : others).push_back(&m);
    }
    if (!others.empty()) out.set("attributes", compressed(arena, others));
    if (!constants.empty()) {
        HashBuilder values(arena, constants.size());
        for (const Member* m : constants) values.set(m->name, m->value);
        out.set("constants", values.build());
    }
    if (!b.functions.empty()) out.set("functions", compressed(arena, pointers(b.functions)));
    if (b.equality) {
        std::vector<Value> names;
        for (const std::string_view n : *b.equality) names.push_back(Value::string(n));
        out.set("equality", value::make_array(arena, names));
    }
    if (!b.checks.is_undef()) out.set("checks", b.checks);
    return out.build();
}

bool ObjectType::is_instance_of(Context& ctx, const Value& v, Guard* guard) const {
    if (!v.is(Kind::Object)) return false;
    if (const Object* object = as_object(v)) {
        return is_assignable_from(ctx, object->type(), guard);
    }
    const auto* typed = static_cast<const TypedExtension*>(v.as_extension());
    const Type* type = typed->value_type(ctx);
    return type != nullptr && as_open(type) != nullptr && is_assignable_from(ctx, type, guard);
}

bool ObjectType::is_assignable_from(Context& ctx, const Type* from, Guard*) const {
    int depth = 0;
    for (const Type* t = from; t != nullptr && depth < 1000; ++depth) {
        const ObjectType* other = object_base(types::resolve(ctx, t));
        if (other == nullptr) return false;
        if (default_ || this == other || equal_type(*other)) return true;
        t = other->body().parent;
    }
    return false;
}

bool ObjectType::equal_type(const Type& other) const {
    if (this == &other) return true;
    const ObjectType* o = as_object_type(&other);
    if (o == nullptr || name != o->name || default_ != o->default_) return false;
    if (resolving_ || o->resolving_) return !name.empty();
    const Body &a = body(), &b = o->body();
    const bool parents = a.parent == b.parent || (a.parent != nullptr && b.parent != nullptr &&
                                                  types::equal(a.parent, b.parent));
    return parents && members_equal(a.type_parameters, b.type_parameters) &&
           members_equal(a.attributes, b.attributes) && members_equal(a.functions, b.functions) &&
           a.equality == b.equality && value::equal(a.checks, b.checks);
}

std::uint64_t ObjectType::hash_type() const {
    if (!name.empty()) return value::hash_of(Value::string(name));
    std::uint64_t h = 0x0b9ec7;
    for (const Member& m : body().attributes) h = h * 31 + value::hash_of(Value::string(m.name));
    return h;
}

void ObjectType::print_type(std::string& out, bool expanded) const {
    if (default_) {
        out += "Object";
        if (expanded) out += "[{}]";
        return;
    }
    if (!expanded) {
        out += label();
        return;
    }
    base::Arena arena(1024);
    print_object_hash(out, init_hash(arena).as_hash());
}

void ObjectType::for_each_contained(const void* closure,
                                    void (*visit)(const void*, const Type*)) const {
    const Body& b = body();
    if (b.parent != nullptr) visit(closure, b.parent);
    for (const auto* list : {&b.type_parameters, &b.attributes, &b.functions}) {
        for (const Member& m : *list) visit(closure, m.type);
    }
}

Value ObjectType::to_rich_data(base::Arena& arena) const { return type_to_rich_data(this, arena); }

const ObjectType* as_object_type(const Type* t) {
    if (t == nullptr || t->kind != TypeKind::Object) return nullptr;
    return dynamic_cast<const ObjectType*>(static_cast<const OpenType*>(t));
}

const ObjectExtension* as_object_extension(const Type* t) {
    if (t == nullptr || t->kind != TypeKind::Object) return nullptr;
    return dynamic_cast<const ObjectExtension*>(static_cast<const OpenType*>(t));
}

const ObjectType* object_base(const Type* t) {
    if (const ObjectType* o = as_object_type(t)) return o;
    const ObjectExtension* e = as_object_extension(t);
    return e != nullptr ? e->base : nullptr;
}

const ObjectType* object_type_default() {
    static base::Arena* arena = immortal_arena(256);
    static const ObjectType* type = [] {
        Context ctx{*arena, nullptr};
        const auto* made = arena->make<ObjectType>(ctx, std::string_view(),
                                                   static_cast<const value::HashRep*>(nullptr));
        made->shape();
        return made;
    }();
    return type;
}

const OpenType* default_object_type() { return object_type_default(); }

}  // namespace bunraku::types
