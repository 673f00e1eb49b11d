// SPDX-License-Identifier: Apache-2.0
// Makes Object types, and the types that check their definitions.
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "core/value/build.h"
#include "language/syntax/ast.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object_internal.h"
#include "language/types/typeset.h"

namespace bunraku::types {

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
