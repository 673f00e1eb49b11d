// SPDX-License-Identifier: Apache-2.0
// Object types: `type Car = Object[{attributes => {..}}]`, their parameterised extensions and their
// instances.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/types/kinds.h"

namespace bunraku::types {

enum class AttributeKind : std::uint8_t { Plain, Constant, Derived, GivenOrDerived, Reference };

/// An attribute, a function or a type parameter of an Object type.
struct Member {
    enum class Feature : std::uint8_t { Attribute, Function, TypeParameter };

    std::string_view name;
    const ObjectType* container = nullptr;
    const Type* type = nullptr;
    Feature feature = Feature::Attribute;
    AttributeKind kind = AttributeKind::Plain;
    bool final = false;
    bool override_ = false;
    bool has_value = false;
    Value value;        ///< the default or the constant
    Value annotations;  ///< undef if there are none

    bool constant() const { return kind == AttributeKind::Constant; }
    std::string_view feature_name() const;  ///< "attribute", "function", "type_parameter"
    std::string label() const;              ///< "attribute My::Car[wheels]"
    /// Returns the hash that defines the member, without its name.
    Value init_hash(base::Arena& arena) const;
    bool equal(const Member& other) const;
};

/// The annotations that annotate() attached to an instance or a type, newest first. An undef value
/// marks a removed annotation.
struct Annotations {
    const ObjectType* type;
    mutable Value value;
    const Annotations* next;
};

/// An Object type. Its definition may still be source text. It is resolved on first use, because
/// types may refer to each other and to themselves.
struct ObjectType final : OpenType {
    static constexpr TypeKind kKind = TypeKind::Object;

    /// The resolved content of the definition.
    struct Body {
        const Type* parent = nullptr;
        std::vector<Member> type_parameters, attributes, functions;
        std::optional<std::vector<std::string_view>> equality;
        bool equality_include_type = true;
        Value checks, annotations;
    };
    /// The data for making instances.
    struct Shape {
        /// The attributes that a constructor accepts: inherited ones first, required ones before
        /// optional ones. An instance stores its values in this order.
        std::vector<const Member*> parameters;
        std::size_t required = 0;
        const StructType* init_hash_type = nullptr;
    };

    std::string_view name;  ///< empty for an anonymous type and for the type Object itself
    mutable const Annotations* annotations = nullptr;

    /// Makes the type from a LiteralHash. The tree must outlive the context.
    ObjectType(Context& ctx, std::string_view name, const syntax::Node* definition);
    /// Makes the type from a hash of values. A null definition means the type Object itself.
    ObjectType(Context& ctx, std::string_view name, const value::HashRep* definition);

    const Body& body() const;
    const Shape& shape() const;
    /// Returns the parent if it is an Object type, through aliases.
    const ObjectType* parent_object() const;
    /// Returns an attribute or function of this type or of its parents.
    const Member* find(std::string_view member) const;
    const Member* find_attribute(std::string_view member) const;
    /// Returns all attributes. Inherited ones come first, and an override takes its parent's
    /// position.
    std::vector<const Member*> all_attributes() const;
    std::vector<const Member*> all_functions() const;
    std::vector<const Member*> all_type_parameters() const;
    std::vector<const Member*> equality_attributes() const;
    /// Returns true if this type or a parent has type parameters.
    bool parameterized_type() const;
    std::string_view label() const { return name.empty() ? std::string_view("Object") : name; }
    /// Returns the last segment of the name.
    std::string_view simple_name() const;
    /// Returns the hash from which the type can be made again.
    Value init_hash(base::Arena& arena, bool include_name = true) const;
    bool is_default() const { return default_; }
    /// Returns the position of an attribute in the values of an instance, or -1.
    int slot(std::string_view attribute) const;

    std::string_view type_name() const override { return name; }
    bool is_instance_of(Context& ctx, const Value& v, Guard* guard) const override;
    bool is_assignable_from(Context& ctx, const Type* from, Guard* guard) const override;
    bool equal_type(const Type& other) const override;
    std::uint64_t hash_type() const override;
    void print_type(std::string& out, bool expanded) const override;
    const Type* parameterized(Context& ctx, std::span<const Value> args) const override;
    const Type* parent_type() const override { return body().parent; }
    void resolve(Context& ctx) const override;
    void for_each_contained(const void* closure,
                            void (*visit)(const void* closure, const Type*)) const override;
    Value to_rich_data(base::Arena& arena) const override;
    bool is_extension() const { return false; }

private:
    class Definer;

    void resolve_now() const;
    void init_from_hash(Context& ctx, const value::HashRep& hash) const;

    base::Arena* arena_;
    Loader* loader_;
    mutable const syntax::Node* definition_ = nullptr;
    mutable const value::HashRep* hash_ = nullptr;
    mutable Body* body_ = nullptr;
    mutable const Shape* shape_ = nullptr;
    mutable bool resolved_ = false;
    mutable bool resolving_ = false;
    bool default_ = false;
};

/// `Error['puppet.x']`: an Object type with values for its type parameters. Its kind is also
/// Object; as_object_type and as_object_extension distinguish the two.
struct ObjectExtension final : OpenType {
    struct Parameter {
        std::string_view name;
        Value value;
    };
    const ObjectType* base;
    std::span<const Parameter> parameters;

    ObjectExtension(const ObjectType* b, std::span<const Parameter> p)
        : OpenType(TypeKind::Object), base(b), parameters(p) {
        hold(b);
        for (const Parameter& each : p) hold(each.value.depth());
    }
    const Value* parameter(std::string_view name) const;
    /// Returns the parameters as written in [..].
    std::vector<Value> init_parameters(base::Arena& arena) const;

    std::string_view type_name() const override { return base->name; }
    bool is_instance_of(Context& ctx, const Value& v, Guard* guard) const override;
    bool is_assignable_from(Context& ctx, const Type* from, Guard* guard) const override;
    bool equal_type(const Type& other) const override;
    std::uint64_t hash_type() const override;
    void print_type(std::string& out, bool expanded) const override;
    const Type* generalized(Context&) const override { return base; }
    const Type* parameterized(Context& ctx, std::span<const Value> args) const override;
    const Type* parent_type() const override { return base->parent_type(); }
    Value to_rich_data(base::Arena& arena) const override;
};

/// Returns the Object type itself. Returns null for its extensions and for other kinds.
const ObjectType* as_object_type(const Type* t);
const ObjectExtension* as_object_extension(const Type* t);
/// Returns the Object type, or the base of an extension. Returns null for other kinds.
const ObjectType* object_base(const Type* t);

/// An instance (Kind::Object). Lives in an arena.
class Object final : public TypedExtension {
public:
    Object(const ObjectType* type, std::span<const Value> values) : type_(type), values_(values) {
        for (const Value& v : values) hold(v.depth());
    }
    const ObjectType* type() const { return type_; }
    mutable const Annotations* annotations = nullptr;
    /// Returns the values in the order of the type's Shape::parameters.
    std::span<const Value> values() const { return values_; }
    /// Returns the attributes that differ from their defaults, by name, inherited ones first.
    Value init_hash(base::Arena& arena) const;

    const Type* value_type(Context& ctx) const override;
    bool equal(const value::Extension& other) const override;
    std::uint64_t hash() const override;
    void print(std::string& out) const override;
    Value to_rich_data(base::Arena& arena) const override;

private:
    const ObjectType* type_;
    std::span<const Value> values_;
};

/// Returns the instance of a value of Kind::Object, or null for other kinds.
const Object* as_object(const Value& v);

/// Makes an Object type from a hash of values ("attributes" => {..}, ..). The name may be empty.
/// Throws PuppetError if the hash is not a valid definition.
const ObjectType* make_object_type(Context& ctx, std::string_view name, const Value& init_hash);
/// Makes a type from the right side of a definition, `type NAME = EXPR`. Object[{..}] and {..} make
/// an Object type, TypeSet[{..}] makes a TypeSet, and any other expression makes an alias. The type
/// is not resolved yet, so that it can be registered first.
const Type* make_type_definition(Context& ctx, std::string_view name, const syntax::Node* expr);

/// Returns "Object" as a type. It is also the base of Object[{}].
const ObjectType* object_type_default();
/// Returns a predefined Object type: "Deferred", "Error", "Task", "Puppet::LookupContext" and so
/// on. Returns null if there is none of that name.
const ObjectType* predefined_object(std::string_view name);

/// Makes an instance from positional arguments or from one hash of attributes. Checks the arguments
/// and throws PuppetError if they are invalid.
Value make_object(Context& ctx, const ObjectType* type, std::span<const Value> args);
/// Makes an instance from values without checks. A missing value gets its default.
Value make_object_unchecked(Context& ctx, const ObjectType* type, std::span<const Value> values);
inline bool is_object_of(const Value& v, const ObjectType* type) {
    const Object* object = as_object(v);
    return object && object->type() == type;
}

/// Returns the value of an attribute (including constants), or nullopt if there is none. Throws for
/// derived attributes.
std::optional<Value> object_attribute(Context& ctx, const Value& object, std::string_view name);
/// Calls a method on a value that has members (objects, URIs): `$obj.attr`, `$obj.function(..)`.
/// Returns nullopt if there is no such member; the caller then calls the function of that name.
std::optional<Value> call_member(Context& ctx, const Value& receiver, std::string_view name,
                                 std::span<const Value> args, bool has_block = false);

}  // namespace bunraku::types
