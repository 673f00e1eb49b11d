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
    Value value;        ///< the default, or the constant
    Value annotations;  ///< undef: none

    bool constant() const { return kind == AttributeKind::Constant; }
    std::string_view feature_name() const;  ///< "attribute", "function", "type_parameter"
    std::string label() const;              ///< "attribute My::Car[wheels]"
    /// The hash the member is made from, without its name.
    Value init_hash(base::Arena& arena) const;
    bool equal(const Member& other) const;
};

/// What annotate() hung on an instance or a type, newest first; undef: taken away again.
struct Annotations {
    const ObjectType* type;
    mutable Value value;
    const Annotations* next;
};

/// An Object type. Made with a hash that may still be source text; resolved on first use, since
/// types may name each other and themselves.
struct ObjectType final : OpenType {
    static constexpr TypeKind kKind = TypeKind::Object;

    /// What the definition says, resolved.
    struct Body {
        const Type* parent = nullptr;
        std::vector<Member> type_parameters, attributes, functions;
        std::optional<std::vector<std::string_view>> equality;
        bool equality_include_type = true;
        Value checks, annotations;
    };
    /// How instances are made.
    struct Shape {
        /// Attributes that a new instance takes, inherited ones first, required ones before
        /// optional ones. The values of an instance stand in this order.
        std::vector<const Member*> parameters;
        std::size_t required = 0;
        const StructType* init_hash_type = nullptr;
    };

    std::string_view name;  ///< empty: anonymous, or the type Object itself
    mutable const Annotations* annotations = nullptr;

    /// From a LiteralHash; the tree must outlive the context.
    ObjectType(Context& ctx, std::string_view name, const syntax::Node* definition);
    /// From a hash of values; null: the type Object itself.
    ObjectType(Context& ctx, std::string_view name, const value::HashRep* definition);

    const Body& body() const;
    const Shape& shape() const;
    /// The parent where it is an Object type, through aliases.
    const ObjectType* parent_object() const;
    /// An attribute or function, own or inherited.
    const Member* find(std::string_view member) const;
    const Member* find_attribute(std::string_view member) const;
    /// With the inherited ones, which come first; an override takes its parent's place.
    std::vector<const Member*> all_attributes() const;
    std::vector<const Member*> all_functions() const;
    std::vector<const Member*> all_type_parameters() const;
    std::vector<const Member*> equality_attributes() const;
    bool parameterized_type() const;  ///< it or a parent has type parameters
    std::string_view label() const { return name.empty() ? std::string_view("Object") : name; }
    /// The name's last segment.
    std::string_view simple_name() const;
    /// The hash the type can be made from again.
    Value init_hash(base::Arena& arena, bool include_name = true) const;
    bool is_default() const { return default_; }
    /// The position of an attribute in the values of an instance, or -1.
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

/// `Error['puppet.x']`: an Object type with values for its type parameters. Its kind is Object too;
/// as_object_type and as_object_extension tell them apart.
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
    /// As they would be given in [..].
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

/// The Object type itself; null for its extensions and for other kinds.
const ObjectType* as_object_type(const Type* t);
const ObjectExtension* as_object_extension(const Type* t);
/// The Object type, of an extension its base; null for other kinds.
const ObjectType* object_base(const Type* t);

/// An instance (Kind::Object). Lives in an arena.
class Object final : public TypedExtension {
public:
    Object(const ObjectType* type, std::span<const Value> values) : type_(type), values_(values) {
        for (const Value& v : values) hold(v.depth());
    }
    const ObjectType* type() const { return type_; }
    mutable const Annotations* annotations = nullptr;
    /// In the order of the type's Shape::parameters.
    std::span<const Value> values() const { return values_; }
    /// The attributes that are not at their default, by name, inherited ones first.
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

/// The instance behind a value of Kind::Object; null for other kinds.
const Object* as_object(const Value& v);

/// An Object type of a hash of values ("attributes" => {..}, ..); the name may be empty. Throws
/// PuppetError where the hash is no definition.
const ObjectType* make_object_type(Context& ctx, std::string_view name, const Value& init_hash);
/// A definition's right side, `type NAME = EXPR`: Object[{..}] and {..} give an Object type,
/// TypeSet[{..}] a TypeSet, anything else an alias. Nothing is resolved yet, so that it can be
/// registered first.
const Type* make_type_definition(Context& ctx, std::string_view name, const syntax::Node* expr);

/// "Object" as a type; Object[{}] has it as its base.
const ObjectType* object_type_default();
/// The Object types that are always there: "Deferred", "Error", "Task", "Puppet::LookupContext"..;
/// null: there is none of that name.
const ObjectType* predefined_object(std::string_view name);

/// A new instance from positional arguments or from one hash of attributes, checked; throws
/// PuppetError.
Value make_object(Context& ctx, const ObjectType* type, std::span<const Value> args);
/// A new instance from values that need no check; what lacks takes its default.
Value make_object_unchecked(Context& ctx, const ObjectType* type, std::span<const Value> values);
inline bool is_object_of(const Value& v, const ObjectType* type) {
    const Object* object = as_object(v);
    return object && object->type() == type;
}

/// The value of an attribute (constants included); nullopt: there is none. Throws for derived ones.
std::optional<Value> object_attribute(Context& ctx, const Value& object, std::string_view name);
/// A method call on a value that has members (objects, URIs): `$obj.attr`, `$obj.function(..)`.
/// nullopt: it has no such member (then a function of that name is called).
std::optional<Value> call_member(Context& ctx, const Value& receiver, std::string_view name,
                                 std::span<const Value> args, bool has_block = false);

}  // namespace bunraku::types
