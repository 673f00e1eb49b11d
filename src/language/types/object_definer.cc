// SPDX-License-Identifier: Apache-2.0
// Reads the hash that defines an Object type: parent, members, overrides and equality.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/value/build.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object_internal.h"
#include "language/types/typeset.h"

namespace bunraku::types {

using base::PuppetError;
using value::HashRep;

namespace {

const Value* get(const HashRep& hash, std::string_view key) {
    const Value* v = hash.find(key);
    return v != nullptr && !v->is_undef() ? v : nullptr;
}

bool flag(const HashRep& hash, std::string_view key) {
    const Value* v = hash.find(key);
    return v != nullptr && v->truthy();
}

/// Resolves a reference that was unknown when it was read. Returns other types unchanged.
const Type* resolve_reference(Context& ctx, const Type* t) {
    if (const auto* reference = as<TypeReferenceType>(t); reference && ctx.loader) {
        if (const Type* found = parse_type(ctx, reference->type_string)) return found;
    }
    return t;
}

void assert_can_be_overridden(Context& ctx, const Member& inherited, const Member& member) {
    if (inherited.feature != member.feature) {
        throw PuppetError(
            fmt::format("{} attempts to override {}", member.label(), inherited.label()));
    }
    if (inherited.final && !(inherited.constant() && member.constant())) {
        throw PuppetError(
            fmt::format("{} attempts to override final {}", member.label(), inherited.label()));
    }
    if (!member.override_) {
        throw PuppetError(fmt::format("{} attempts to override {} without having override => true",
                                      member.label(), inherited.label()));
    }
    if (!is_assignable(ctx, inherited.type, member.type)) {
        throw PuppetError(fmt::format("{} attempts to override {} with a type that does not match",
                                      member.label(), inherited.label()));
    }
}

void assert_override(Context& ctx, const Member& member, std::span<const Member* const> inherited) {
    for (const Member* m : inherited) {
        if (m->name == member.name) return assert_can_be_overridden(ctx, *m, member);
    }
    if (member.override_) {
        throw PuppetError(
            fmt::format("expected {} to override an inherited {}, but no such {} was found",
                        member.label(), member.feature_name(), member.feature_name()));
    }
}

void read_common(Context& ctx, Member& m, const HashRep& hash) {
    if (const Value* type = get(hash, "type")) m.type = resolve_reference(ctx, type->as_type());
    m.override_ = flag(hash, "override");
    m.final = flag(hash, "final");
    if (const Value* a = get(hash, "annotations")) m.annotations = *a;
}

void check_reserved(std::string_view name) {
    if (name == "__ptype" || name == "__pvalue") {
        throw PuppetError(fmt::format("The attribute '{}' is reserved and cannot be used", name));
    }
}

void read_attribute(Context& ctx, Member& m, const HashRep& hash) {
    check_instance(ctx, "initializer for " + m.label(), definition_types().attribute,
                   Value::hash(&hash));
    read_common(ctx, m, hash);
    check_reserved(m.name);
    if (const Value* kind = get(hash, "kind")) {
        for (const auto k : {AttributeKind::Constant, AttributeKind::Derived,
                             AttributeKind::GivenOrDerived, AttributeKind::Reference}) {
            if (kind->as_string() == kind_name(k)) m.kind = k;
        }
    }
    if (m.constant()) {
        if (hash.find("final") != nullptr && !m.final) {
            throw PuppetError(fmt::format(
                "{} of kind 'constant' cannot be combined with final => false", m.label()));
        }
        m.final = true;
    }
    if (const Value* v = hash.find("value")) {
        if (m.kind == AttributeKind::Derived || m.kind == AttributeKind::GivenOrDerived) {
            throw PuppetError(
                fmt::format("{} of kind '{}' cannot be combined with an attribute value", m.label(),
                            kind_name(m.kind)));
        }
        if (!v->is_default()) check_instance(ctx, m.label() + " value", m.type, *v);
        m.value = *v;
        m.has_value = true;
    } else if (m.constant()) {
        throw PuppetError(fmt::format("{} of kind 'constant' requires a value", m.label()));
    }
}

const Type* type_of_spec(Context& ctx, const Member& m, const Type* expected, const Value& spec) {
    check_instance(ctx, m.label(), expected, spec);
    return resolve_reference(ctx, spec.as_type());
}

}  // namespace

/// Fills the body of an Object type from the hash of its definition, one step for each key.
class ObjectType::Definer {
public:
    Definer(Context& ctx, const ObjectType& type, const HashRep& hash)
        : ctx_(ctx), type_(type), hash_(hash), body_(*type.body_) {}

    void name();
    void parent();
    void type_parameters();
    void attributes();
    void functions();
    void equality();
    void checks_and_annotations();

private:
    Member new_member(std::string_view name, Member::Feature feature) const;
    const Member* inherits(std::string_view name) const;
    void assert_no_cycle() const;
    Member type_parameter(std::string_view name, const Value& spec);
    Member attribute(std::string_view name, const Value& spec);
    Member constant(std::string_view name, const Value& value);
    Member function(std::string_view name, const Value& spec);
    void assert_comparable(std::string_view name) const;
    void assert_not_in_equality_of_parent(std::string_view name, const Member& inherited) const;

    Context& ctx_;
    const ObjectType& type_;
    const HashRep& hash_;
    Body& body_;
    const ObjectType* parent_ = nullptr;
    std::vector<const Member*> inherited_;  ///< attributes and functions
    std::vector<const Member*> inherited_parameters_;
};

void ObjectType::init_from_hash(Context& ctx, const HashRep& hash) const {
    check_instance(ctx, "object initializer", definition_types().object, Value::hash(&hash));
    Definer definer(ctx, *this, hash);
    definer.name();
    definer.parent();
    definer.type_parameters();
    definer.attributes();
    definer.functions();
    definer.equality();
    definer.checks_and_annotations();
}

void ObjectType::Definer::name() {
    if (!type_.name.empty()) return;
    if (const Value* n = get(hash_, "name")) {
        const_cast<ObjectType&>(type_).name = ctx_.arena.copy(n->as_string());
    }
}

void ObjectType::Definer::parent() {
    const Value* p = get(hash_, "parent");
    if (p == nullptr) return;
    const Type* given = resolve_reference(ctx_, p->as_type());
    const Type* resolved = types::resolve(ctx_, given);
    parent_ = as_object_type(resolved);
    if (parent_ != nullptr) parent_->body();
    body_.parent = given;
    assert_no_cycle();
    if (const auto* reference = as<TypeReferenceType>(resolved)) {
        throw PuppetError(fmt::format("reference to unresolved type '{}'", reference->type_string));
    }
    if (parent_ == nullptr) return;
    inherited_ = parent_->all_attributes();
    for (const Member* m : parent_->all_functions()) inherited_.push_back(m);
    inherited_parameters_ = parent_->all_type_parameters();
}

void ObjectType::Definer::assert_no_cycle() const {
    constexpr int kMaxParents = 1000;
    int depth = 0;
    for (const ObjectType* t = parent_; t != nullptr && depth < kMaxParents;
         t = t->parent_object(), ++depth) {
        if (t == &type_) {
            throw PuppetError(
                fmt::format("The Object type '{}' inherits from itself", type_.label()));
        }
    }
}

Member ObjectType::Definer::new_member(std::string_view name, Member::Feature feature) const {
    Member m;
    m.name = ctx_.arena.copy(name);
    m.container = &type_;
    m.feature = feature;
    return m;
}

const Member* ObjectType::Definer::inherits(std::string_view name) const {
    const auto at = std::ranges::find(inherited_, name, [](const Member* m) { return m->name; });
    return at != inherited_.end() ? *at : nullptr;
}

void ObjectType::Definer::type_parameters() {
    const Value* list = get(hash_, "type_parameters");
    if (list == nullptr) return;
    for (const value::Entry& e : list->as_hash()) {
        Member m = type_parameter(e.key.as_string(), e.value);
        assert_override(ctx_, m, inherited_parameters_);
        body_.type_parameters.push_back(std::move(m));
    }
}

Member ObjectType::Definer::type_parameter(std::string_view name, const Value& spec) {
    Member m = new_member(name, Member::Feature::TypeParameter);
    const Type* type = nullptr;
    if (spec.is_hash()) {
        const Value* given = spec.as_hash().find("type");
        if (given == nullptr || !given->is_type()) {
            check_instance(ctx_, "initializer for " + m.label(), definition_types().attribute,
                           spec);
        }
        if (given != nullptr && given->is_type()) type = resolve_reference(ctx_, given->as_type());
        if (const Value* v = spec.as_hash().find("value")) {
            m.value = *v;
            m.has_value = true;
        }
    } else {
        type = type_of_spec(ctx_, m, defaults().type_type, spec);
    }
    if (!is(type, TypeKind::Optional)) type = make_optional(ctx_, type);
    m.type = type;
    if (m.has_value && !m.value.is_default()) {
        check_instance(ctx_, m.label() + " value", m.type, m.value);
    }
    return m;
}

/// Adds the attributes and the constants, which are attributes, too.
void ObjectType::Definer::attributes() {
    const Value* attributes = get(hash_, "attributes");
    std::vector<Member> made;
    if (attributes != nullptr) {
        for (const value::Entry& e : attributes->as_hash()) {
            made.push_back(attribute(e.key.as_string(), e.value));
        }
    }
    if (const Value* constants = get(hash_, "constants")) {
        for (const value::Entry& e : constants->as_hash()) {
            const std::string_view n = e.key.as_string();
            if (attributes != nullptr && attributes->as_hash().find(n) != nullptr) {
                throw PuppetError(
                    fmt::format("attribute {}[{}] is defined as both a constant and an attribute",
                                type_.label(), n));
            }
            made.push_back(constant(n, e.value));
        }
    }
    for (const Member& m : made) assert_override(ctx_, m, inherited_);
    body_.attributes = std::move(made);
}

Member ObjectType::Definer::attribute(std::string_view name, const Value& spec) {
    Member m = new_member(name, Member::Feature::Attribute);
    if (spec.is_hash()) {
        read_attribute(ctx_, m, spec.as_hash());
    } else {
        m.type = type_of_spec(ctx_, m, defaults().type_type, spec);
        check_reserved(m.name);
        m.has_value = is(m.type, TypeKind::Optional);
    }
    return m;
}

Member ObjectType::Definer::constant(std::string_view name, const Value& value) {
    Member m = new_member(name, Member::Feature::Attribute);
    m.type = generalize(ctx_, infer(ctx_, value));
    m.kind = AttributeKind::Constant;
    m.final = true;
    m.has_value = true;
    m.value = value;
    m.override_ = inherits(name) != nullptr;
    check_reserved(name);
    return m;
}

void ObjectType::Definer::functions() {
    const Value* functions = get(hash_, "functions");
    if (functions == nullptr) return;
    std::vector<Member> list;
    for (const value::Entry& e : functions->as_hash()) {
        Member m = function(e.key.as_string(), e.value);
        if (std::ranges::find(body_.attributes, m.name, &Member::name) != body_.attributes.end()) {
            throw PuppetError(
                fmt::format("{} conflicts with attribute with the same name", m.label()));
        }
        assert_override(ctx_, m, inherited_);
        list.push_back(std::move(m));
    }
    body_.functions = std::move(list);
}

Member ObjectType::Definer::function(std::string_view name, const Value& spec) {
    Member m = new_member(name, Member::Feature::Function);
    if (spec.is_hash()) {
        check_instance(ctx_, fmt::format("initializer for function '{}'", m.name),
                       definition_types().function, spec);
        read_common(ctx_, m, spec.as_hash());
    } else {
        m.type = type_of_spec(ctx_, m, definition_types().function_type, spec);
    }
    return m;
}

void ObjectType::Definer::equality() {
    if (const Value* include = get(hash_, "equality_include_type")) {
        body_.equality_include_type = include->truthy();
    }
    const Value* equality = get(hash_, "equality");
    if (equality == nullptr) return;
    std::vector<std::string_view> names;
    if (equality->is_string()) {
        names.push_back(ctx_.arena.copy(equality->as_string()));
    } else {
        for (const Value& n : equality->as_array()) {
            names.push_back(ctx_.arena.copy(n.as_string()));
        }
    }
    if (!names.empty() && !body_.equality_include_type) {
        throw PuppetError(
            "equality_include_type = false cannot be combined with non empty equality "
            "specification");
    }
    for (const std::string_view n : names) assert_comparable(n);
    body_.equality = std::move(names);
}

/// Throws an error if the equality of the type cannot include the member.
void ObjectType::Definer::assert_comparable(std::string_view name) const {
    const Member* m = inherits(name);
    if (m == nullptr) {
        m = type_.find(name);
    } else {
        assert_not_in_equality_of_parent(name, *m);
    }
    if (m == nullptr) {
        throw PuppetError(fmt::format("{} equality is referencing non existent attribute '{}'",
                                      type_.label(), name));
    }
    if (m->feature != Member::Feature::Attribute) {
        throw PuppetError(
            fmt::format("{} equality is referencing {}. Only attribute references are allowed",
                        type_.label(), m->label()));
    }
    if (m->constant()) {
        throw PuppetError(fmt::format(
            "{} equality is referencing constant {}. Reference to constant is not allowed in "
            "equality",
            type_.label(), m->label()));
    }
}

void ObjectType::Definer::assert_not_in_equality_of_parent(std::string_view name,
                                                           const Member& inherited) const {
    if (inherited.feature != Member::Feature::Attribute) return;
    BUNRAKU_ASSERT(parent_ != nullptr);
    const auto includes = [name](const ObjectType& t) {
        const auto its = t.equality_attributes();
        return std::ranges::find(its, name, [](const Member* o) { return o->name; }) != its.end();
    };
    if (!includes(*parent_)) return;
    // The topmost parent whose equality includes the attribute.
    const ObjectType* definer = parent_;
    for (const ObjectType* t = parent_->parent_object(); t != nullptr && includes(*t);
         t = t->parent_object()) {
        definer = t;
    }
    throw PuppetError(
        fmt::format("{} equality is referencing {} which is included in equality of {}",
                    type_.label(), inherited.label(), definer->label()));
}

void ObjectType::Definer::checks_and_annotations() {
    if (const Value* given = get(hash_, "checks")) body_.checks = *given;
    if (const Value* given = get(hash_, "annotations")) body_.annotations = *given;
}

}  // namespace bunraku::types
