// SPDX-License-Identifier: Apache-2.0
// Builds an Object type from the hash of its definition: members, overrides, equality.
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "core/base/diagnostic.h"
#include "core/value/build.h"
#include "language/syntax/ast.h"
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

const DefinitionTypes& definition_types() {
    static const DefinitionTypes* made = [] {
        const bool outer = std::exchange(making_predefined(), true);
        auto* arena = immortal_arena(4096);
        struct Finder final : Loader {
            const Type* find_type(std::string_view name) override {
                return predefined_object(name);
            }
        };
        static Finder finder;
        Context ctx{*arena, &finder};
        static constexpr std::string_view kMember = "Pattern[/\\A[a-z_]\\w*\\z/]";
        static constexpr std::string_view kReference = "Pattern[/\\A[A-Z]\\w*(?:::[A-Z]\\w*)*\\z/]";
        static constexpr std::string_view kSimple = "Pattern[/\\A[A-Z]\\w*\\z/]";
        const std::string annotations = fmt::format(
            "Optional[annotations] => Optional[Hash[Type[Annotation],Hash[{},Any]]]", kMember);
        static constexpr std::string_view kUri = "String[1]";
        auto* types = new DefinitionTypes;
        types->qualified_reference = parse_type(ctx, kReference);
        types->function_type = parse_type(ctx, "Type[Callable]");
        types->attribute = parse_type(
            ctx, fmt::format("Struct[{{type => Type, Optional[final] => Boolean, Optional[override]"
                             " => Boolean, Optional[kind] => Enum[constant, derived, "
                             "given_or_derived, reference], value => Any, {}}}]",
                             annotations));
        types->function = parse_type(
            ctx, fmt::format("Struct[{{type => Type[Callable], Optional[final] => Boolean, "
                             "Optional[override] => Boolean, {}}}]",
                             annotations));
        const std::string object = fmt::format(
            "Struct[{{Optional[name] => {0}, Optional[parent] => Type, Optional[type_parameters] "
            "=> Hash[{1},NotUndef], Optional[attributes] => Hash[{1},NotUndef], "
            "Optional[constants] => Hash[{1},Any], Optional[functions] => "
            "Hash[Variant[{1},Enum['[]']],NotUndef], Optional[equality] => "
            "Variant[{1},Array[{1}]], Optional[equality_include_type] => Boolean, "
            "Optional[checks] => Any, {2}}}]",
            kReference, kMember, annotations);
        types->object = parse_type(ctx, object);
        types->type_set = parse_type(
            ctx,
            fmt::format(
                "Struct[{{Optional[pcore_uri] => {0}, pcore_version => Variant[String[1],SemVer], "
                "Optional[name_authority] => {0}, Optional[name] => {1}, Optional[version] => "
                "Variant[String[1],SemVer], Optional[types] => Hash[{2},Variant[Type,{3}],1], "
                "Optional[references] => Hash[{2},Struct[{{name => {1}, version_range => "
                "Variant[String[1],SemVerRange], Optional[name_authority] => {0}, {4}}}],1], "
                "{4}}}]",
                kUri, kReference, kSimple, object, annotations));
        making_predefined() = outer;
        return types;
    }();
    return *made;
}

void ObjectType::init_from_hash(Context& ctx, const HashRep& hash) const {
    check_instance(ctx, "object initializer", definition_types().object, Value::hash(&hash));
    Body& b = *body_;
    if (name.empty()) {
        if (const Value* n = get(hash, "name")) {
            const_cast<ObjectType*>(this)->name = ctx.arena.copy(n->as_string());
        }
    }

    const ObjectType* parent = nullptr;
    std::vector<const Member*> inherited, inherited_parameters;
    if (const Value* p = get(hash, "parent")) {
        const Type* given = resolve_reference(ctx, p->as_type());
        const Type* resolved = types::resolve(ctx, given);
        parent = as_object_type(resolved);
        if (parent != nullptr) parent->body();
        b.parent = given;
        int depth = 0;
        for (const ObjectType* t = parent; t != nullptr && depth < 1000;
             t = t->parent_object(), ++depth) {
            if (t == this) {
                throw PuppetError(
                    fmt::format("The Object type '{}' inherits from itself", label()));
            }
        }
        if (const auto* reference = as<TypeReferenceType>(resolved)) {
            throw PuppetError(
                fmt::format("reference to unresolved type '{}'", reference->type_string));
        }
        if (parent != nullptr) {
            inherited = parent->all_attributes();
            for (const Member* m : parent->all_functions()) inherited.push_back(m);
            inherited_parameters = parent->all_type_parameters();
        }
    }
    const auto inherits = [&inherited](std::string_view n) -> const Member* {
        for (const Member* m : inherited) {
            if (m->name == n) return m;
        }
        return nullptr;
    };
    const auto new_member = [&](std::string_view n, Member::Feature feature) {
        Member m;
        m.name = ctx.arena.copy(n);
        m.container = this;
        m.feature = feature;
        return m;
    };

    if (const Value* list = get(hash, "type_parameters")) {
        for (const value::Entry& e : list->as_hash()) {
            Member m = new_member(e.key.as_string(), Member::Feature::TypeParameter);
            const Type* type = nullptr;
            if (e.value.is_hash()) {
                const Value* given = e.value.as_hash().find("type");
                if (given == nullptr || !given->is_type()) {
                    check_instance(ctx, "initializer for " + m.label(),
                                   definition_types().attribute, e.value);
                }
                if (given != nullptr && given->is_type())
                    type = resolve_reference(ctx, given->as_type());
                if (const Value* v = e.value.as_hash().find("value")) {
                    m.value = *v;
                    m.has_value = true;
                }
            } else {
                type = type_of_spec(ctx, m, defaults().type_type, e.value);
            }
            if (!is(type, TypeKind::Optional)) type = make_optional(ctx, type);
            m.type = type;
            if (m.has_value && !m.value.is_default()) {
                check_instance(ctx, m.label() + " value", m.type, m.value);
            }
            assert_override(ctx, m, inherited_parameters);
            b.type_parameters.push_back(std::move(m));
        }
    }

    const Value* attributes = get(hash, "attributes");
    std::vector<Member> made;
    if (attributes != nullptr) {
        for (const value::Entry& e : attributes->as_hash()) {
            Member m = new_member(e.key.as_string(), Member::Feature::Attribute);
            if (e.value.is_hash()) {
                read_attribute(ctx, m, e.value.as_hash());
            } else {
                m.type = type_of_spec(ctx, m, defaults().type_type, e.value);
                check_reserved(m.name);
                m.has_value = is(m.type, TypeKind::Optional);
            }
            made.push_back(std::move(m));
        }
    }
    if (const Value* constants = get(hash, "constants")) {
        for (const value::Entry& e : constants->as_hash()) {
            const std::string_view n = e.key.as_string();
            if (attributes != nullptr && attributes->as_hash().find(n) != nullptr) {
                throw PuppetError(fmt::format(
                    "attribute {}[{}] is defined as both a constant and an attribute", label(), n));
            }
            Member m = new_member(n, Member::Feature::Attribute);
            m.type = generalize(ctx, infer(ctx, e.value));
            m.kind = AttributeKind::Constant;
            m.final = true;
            m.has_value = true;
            m.value = e.value;
            m.override_ = inherits(n) != nullptr;
            check_reserved(n);
            made.push_back(std::move(m));
        }
    }
    for (const Member& m : made) assert_override(ctx, m, inherited);
    b.attributes = std::move(made);

    if (const Value* functions = get(hash, "functions")) {
        std::vector<Member> list;
        for (const value::Entry& e : functions->as_hash()) {
            Member m = new_member(e.key.as_string(), Member::Feature::Function);
            if (e.value.is_hash()) {
                check_instance(ctx, fmt::format("initializer for function '{}'", m.name),
                               definition_types().function, e.value);
                read_common(ctx, m, e.value.as_hash());
            } else {
                m.type = type_of_spec(ctx, m, definition_types().function_type, e.value);
            }
            if (std::ranges::find(b.attributes, m.name, &Member::name) != b.attributes.end()) {
                throw PuppetError(
                    fmt::format("{} conflicts with attribute with the same name", m.label()));
            }
            assert_override(ctx, m, inherited);
            list.push_back(std::move(m));
        }
        b.functions = std::move(list);
    }

    if (const Value* include = hash.find("equality_include_type");
        include && !include->is_undef()) {
        b.equality_include_type = include->truthy();
    }
    if (const Value* equality = get(hash, "equality")) {
        std::vector<std::string_view> names;
        if (equality->is_string()) {
            names.push_back(ctx.arena.copy(equality->as_string()));
        } else {
            for (const Value& n : equality->as_array()) {
                names.push_back(ctx.arena.copy(n.as_string()));
            }
        }
        if (!names.empty() && !b.equality_include_type) {
            throw PuppetError(
                "equality_include_type = false cannot be combined with non empty equality "
                "specification");
        }
        for (const std::string_view n : names) {
            const Member* m = inherits(n);
            if (m == nullptr) {
                m = find(n);
            } else if (m->feature == Member::Feature::Attribute && parent != nullptr) {
                const auto taken = parent->equality_attributes();
                if (std::ranges::find(taken, n, [](const Member* o) { return o->name; }) !=
                    taken.end()) {
                    // The topmost parent whose equality includes the attribute.
                    const ObjectType* definer = parent;
                    for (const ObjectType* t = parent->parent_object(); t != nullptr;
                         t = t->parent_object()) {
                        const auto its = t->equality_attributes();
                        if (std::ranges::find(its, n, [](const Member* o) { return o->name; }) ==
                            its.end()) {
                            break;
                        }
                        definer = t;
                    }
                    throw PuppetError(fmt::format(
                        "{} equality is referencing {} which is included in equality of {}",
                        label(), m->label(), definer->label()));
                }
            }
            if (m == nullptr) {
                throw PuppetError(fmt::format(
                    "{} equality is referencing non existent attribute '{}'", label(), n));
            }
            if (m->feature != Member::Feature::Attribute) {
                throw PuppetError(fmt::format(
                    "{} equality is referencing {}. Only attribute references are allowed", label(),
                    m->label()));
            }
            if (m->constant()) {
                throw PuppetError(
                    fmt::format("{} equality is referencing constant {}. Reference to constant is "
                                "not allowed in equality",
                                label(), m->label()));
            }
        }
        b.equality = std::move(names);
    }
    if (const Value* checks = get(hash, "checks")) b.checks = *checks;
    if (const Value* annotations = get(hash, "annotations")) b.annotations = *annotations;
}

/// Computed on first use, because it checks whether types accept undef, and these types may contain
/// this type.
const ObjectType::Shape& ObjectType::shape() const {
    body();
    if (shape_ != nullptr) return *shape_;
    Context ctx{*arena_, loader_};
    auto made = std::make_unique<Shape>();
    Shape& b = *made;
    std::vector<StructElement> elements;
    std::vector<const Member*> optional;
    for (const Member* m : all_attributes()) {
        if (m->constant() || m->kind == AttributeKind::Derived) continue;
        StructElement element;
        if (m->has_value) {
            element =
                make_struct_element(ctx, make_optional(ctx, make_string(ctx, m->name)), m->type);
        } else {
            element = make_struct_element(ctx, m->name, m->type);
        }
        elements.push_back(element);
        if (m->has_value) {
            optional.push_back(m);
        } else {
            b.parameters.push_back(m);
            if (!is(element.key, TypeKind::Optional)) ++b.required;
        }
    }
    b.parameters.insert(b.parameters.end(), optional.begin(), optional.end());
    b.init_hash_type = make_struct(ctx, elements);
    const Shape* stored_name = arena_->own(std::move(made));
    if (resolved_) shape_ = stored_name;
    return *stored_name;
}

const ObjectType* make_object_type(Context& ctx, std::string_view name, const Value& init_hash) {
    if (!init_hash.is_hash()) {
        check_instance(ctx, "object initializer", definition_types().object, init_hash);
    }
    const auto* type = ctx.arena.make<ObjectType>(ctx, ctx.arena.copy(name), &init_hash.as_hash());
    type->body();
    return type;
}

const Type* make_type_definition(Context& ctx, std::string_view name, const syntax::Node* expr) {
    const std::string_view stored_name = ctx.arena.copy(name);
    if (expr->kind == syntax::NodeKind::LiteralHash) {
        return ctx.arena.make<ObjectType>(ctx, stored_name, expr);
    }
    if (expr->kind == syntax::NodeKind::AccessExpression) {
        const auto& access = *static_cast<const syntax::AccessExpression*>(expr);
        if (access.left->kind == syntax::NodeKind::QualifiedReference) {
            const std::string_view left =
                static_cast<const syntax::QualifiedReference*>(access.left)->cased_value;
            const syntax::Node* key = access.keys.empty() ? nullptr : access.keys[0];
            if (left == "Object" && key != nullptr) {
                return ctx.arena.make<ObjectType>(ctx, stored_name, key);
            }
            if (left == "TypeSet" && key != nullptr) {
                return ctx.arena.make<TypeSetType>(ctx, stored_name, key,
                                                   "http://puppet.com/2016.1/runtime");
            }
        }
    }
    return make_type_alias(ctx, stored_name, expr, ctx.loader);
}

}  // namespace bunraku::types
