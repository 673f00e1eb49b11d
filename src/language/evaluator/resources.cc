// SPDX-License-Identifier: Apache-2.0
// Resource expressions, defaults, overrides, collectors and relationships. This file evaluates and
// checks the operands; the host changes the catalog.
#include <algorithm>
#include <unordered_set>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/evaluator/evaluation.h"
#include "language/types/factory.h"
#include "language/types/kinds.h"
#include "language/types/type.h"

namespace bunraku::evaluator {

using namespace syntax;

namespace {

CatalogHost& catalog_of(Interpreter& in, const Node* node) {
    if (!in.hosts().catalog)
        Evaluation::fail(in, node, "EXPRESSION_NOT_SUPPORTED_WHEN_SCRIPTING",
                         "{} is only available when compiling a catalog", a_an_uc(label(node)));
    return *in.hosts().catalog;
}

[[noreturn]] void illegal_resource_type(Interpreter& in, const Node* site,
                                        std::string_view actual) {
    Evaluation::fail(in, site, "ILLEGAL_RESOURCE_TYPE",
                     "Illegal Resource Type expression, expected result to be a type name, or "
                     "untitled Resource, got {}",
                     actual);
}

std::string generalized(Interpreter& in, const Value& v) {
    return types::generalize(in.types(), types::infer(in.types(), v))->to_string();
}

/// Returns the lower-case name of the type of a resource expression.
std::string_view resource_type_name(Interpreter& in, const ResourceExpression& node,
                                    const Value& evaluated) {
    const Node* name = node.type_name;
    const auto* access_node = as<AccessExpression>(name);
    const bool acceptable =
        name->kind == NodeKind::QualifiedReference ||
        (access_node && access_node->left->kind == NodeKind::QualifiedReference);
    if (!acceptable) illegal_resource_type(in, name, generalized(in, evaluated));
    const types::Type* type = evaluated.is_type() ? evaluated.as_type() : nullptr;
    if (const auto* host_class = types::as<types::ClassType>(type)) {
        if (host_class->class_name) illegal_resource_type(in, name, type->to_string());
        return "class";
    }
    if (const auto* resource = types::as<types::ResourceType>(type)) {
        if (resource->title) illegal_resource_type(in, name, type->to_string());
        return resource->downcased;
    }
    if (types::as<types::TypeReferenceType>(type))
        Evaluation::fail(in, name, "UNKNOWN_RESOURCE_TYPE", "Resource type not found: {}",
                         type->to_string());
    illegal_resource_type(in, name, generalized(in, evaluated));
}

void flatten_into(std::vector<Value>& out, const Value& v) {
    base::step();
    if (!v.is_array()) {
        out.push_back(v);
        return;
    }
    for (const Value& each : v.as_array()) flatten_into(out, each);
}

/// One evaluated body of a resource expression.
struct Body {
    std::vector<std::string_view> titles;
    std::vector<Attribute> attributes;
    bool is_default = false;
};

/// Merges attributes. Those of the `default:` body are first in the result. A body's own value
/// replaces the default at the same position.
std::vector<Attribute> merged(const std::vector<Attribute>& defaults,
                              const std::vector<Attribute>& own) {
    std::vector<Attribute> out = defaults;
    for (const Attribute& a : own) {
        const auto existing = std::find_if(out.begin(), out.end(),
                                           [&](const Attribute& d) { return d.name == a.name; });
        if (existing != out.end())
            *existing = a;
        else
            out.push_back(a);
    }
    BUNRAKU_ASSERT(out.size() >= defaults.size() && out.size() <= defaults.size() + own.size());
    return out;
}

}  // namespace

namespace {

/// Copies the list value of `before` and `notify`, even if it is the value of a variable. A
/// relationship extends the list, which must only affect the resources that have the attribute.
Value own_list(Interpreter& in, std::string_view name, const Value& v) {
    if (!v.is_array() || (name != "before" && name != "notify")) return v;
    return value::make_array(in.arena(), v.as_array());
}

}  // namespace

void Evaluation::attributes(Interpreter& in, NodeList operations, Scope& scope,
                            std::vector<Attribute>& out) {
    for (const Node* operation : operations) {
        if (const auto* single = as<AttributeOperation>(operation)) {
            const Value v = eval(in, single->value_expr, scope);
            if (pending(in)) return;
            out.push_back({single->attribute_name, own_list(in, single->attribute_name, v),
                           single->op == Op::Append, single});
            continue;
        }
        const auto& splat = to<AttributesOperation>(operation);
        const Value hash = eval(in, splat.expr, scope);
        if (pending(in)) return;
        if (!hash.is_hash())
            fail(in, splat.expr, "TYPE_MISMATCH", "Expected value of type {}, got {}", "Hash",
                 generalized(in, hash));
        for (const value::Entry& e : hash.as_hash()) {
            const std::string_view name =
                e.key.is_string() ? e.key.as_string() : in.arena_.copy(value::to_text(e.key));
            out.push_back({name, own_list(in, name, e.value), false, operation});
        }
    }
}

Value Evaluation::resource(Interpreter& in, const ResourceExpression& node, Scope& scope) {
    std::string_view type_name;
    if (const auto* plain = as<QualifiedName>(node.type_name)) {
        type_name = plain->value;
    } else {
        BUNRAKU_EVAL(evaluated, in, node.type_name, scope);
        type_name = resource_type_name(in, node, evaluated);
    }
    CatalogHost& host = catalog_of(in, &node);
    if (node.form == ResourceForm::Exported && !in.options_.storeconfigs)
        in.warn(
            "You cannot collect exported resources without storeconfigs being set; the export is "
            "ignored",
            "RT_NO_STORECONFIGS_EXPORT", &node);

    std::vector<Body> bodies(node.bodies.size());
    std::unordered_set<std::string_view> seen;
    const Body* defaults = nullptr;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        const ResourceBody& body = *node.bodies[b];
        Body& out = bodies[b];
        BUNRAKU_EVAL(title, in, body.title, scope);
        if (title.is_undef())
            fail(in, body.title, "MISSING_TITLE",
                 "Missing title. The title expression resulted in undef");
        std::vector<Value> titles;
        flatten_into(titles, title);
        for (std::size_t i = 0; i < titles.size(); ++i) {
            const Value& each = titles[i];
            if (each.is_undef())
                fail(in, body.title, "MISSING_TITLE_AT",
                     "Missing title at index {}. The title expression resulted in an undef title",
                     i);
            if (each.is_default()) {
                if (defaults)
                    fail(in, &node, "DUPLICATE_TITLE",
                         "The title '{}' has already been used in this resource expression",
                         "default");
                defaults = &out;
                continue;
            }
            if (!each.is_string())
                fail(in, body.title, "ILLEGAL_TITLE_TYPE_AT",
                     "Illegal title type at index {}. Expected String, got {}", i,
                     generalized(in, each));
            const std::string_view text = each.as_string();
            if (text.empty())
                fail(
                    in, body.title, "EMPTY_STRING_TITLE_AT",
                    "Empty string title at {}. Title strings must have a length greater than zero.",
                    i);
            if (!seen.insert(text).second)
                fail(in, &node, "DUPLICATE_TITLE",
                     "The title '{}' has already been used in this resource expression", text);
            out.titles.push_back(text);
        }
        attributes(in, body.operations, scope, out.attributes);
        BUNRAKU_RETURN_IF_PENDING(in);
        for (std::size_t i = 1; i < out.attributes.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (out.attributes[i].name == out.attributes[j].name)
                    fail(in, &node, "DUPLICATE_ATTRIBUE", "The attribute '{}' has already been set",
                         out.attributes[i].name);
    }

    std::vector<Value> result;
    for (const Body& body : bodies) {
        if (body.titles.empty()) continue;
        const Value made =
            defaults && &body != defaults
                ? host.create_resources(in, scope, node.form, type_name, body.titles,
                                        merged(defaults->attributes, body.attributes), &node)
                : host.create_resources(in, scope, node.form, type_name, body.titles,
                                        body.attributes, &node);
        flatten_into(result, made);
    }
    std::erase_if(result, [](const Value& v) { return v.is_undef(); });
    return value::make_array(in.arena_, result);
}

Value Evaluation::resource_defaults(Interpreter& in, const ResourceDefaultsExpression& node,
                                    Scope& scope) {
    BUNRAKU_EVAL(evaluated, in, node.type_ref, scope);
    const auto* type =
        evaluated.is_type() ? types::as<types::ResourceType>(evaluated.as_type()) : nullptr;
    if (!type || type->type_name.empty() || type->title)
        illegal_resource_type(in, node.type_ref, generalized(in, evaluated));
    std::vector<Attribute> all;
    attributes(in, node.operations, scope, all);
    BUNRAKU_RETURN_IF_PENDING(in);
    catalog_of(in, &node).set_defaults(in, scope, type->downcased, all, &node);
    return evaluated;
}

Value Evaluation::resource_override(Interpreter& in, const ResourceOverrideExpression& node,
                                    Scope& scope) {
    BUNRAKU_EVAL(evaluated, in, node.resources, scope);
    std::vector<Attribute> all;
    attributes(in, node.operations, scope, all);
    BUNRAKU_RETURN_IF_PENDING(in);
    std::vector<Value> targets;
    flatten_into(targets, evaluated);
    std::vector<types::Reference> references;
    for (const Value& target : targets) {
        const auto* type =
            target.is_type() ? types::as<types::ResourceType>(target.as_type()) : nullptr;
        if (!type || type->downcased == "class")
            fail(in, &node, "ILLEGAL_OVERRIDDEN_TYPE",
                 "Resource Override can only operate on resources, got: {}", label(target));
        references.push_back({type->type_name, type->title.value_or(""), type->title.has_value()});
    }
    catalog_of(in, &node).override_resources(in, scope, references, all, &node);
    return evaluated;
}

Value Evaluation::collect(Interpreter& in, const CollectExpression& node, Scope& scope) {
    if (node.query && node.query->kind == NodeKind::ExportedQuery && !in.options_.storeconfigs)
        in.warn(
            "You cannot collect exported resources without storeconfigs being set; the collection "
            "will be ignored",
            "RT_NO_STORECONFIGS", &node);
    const auto* type = as<QualifiedReference>(node.type_expr);
    if (!type) runtime_error("LHS is not a type");
    std::string_view name = type->value;
    if (name == "class") runtime_error("Classes cannot be collected");
    CatalogHost& host = catalog_of(in, &node);
    std::vector<Attribute> overrides;
    attributes(in, node.operations, scope, overrides);
    BUNRAKU_RETURN_IF_PENDING(in);
    return host.collect(in, scope, node, name, overrides);
}

namespace {

/// Resolves an operand of a relationship to types of the catalog and collectors.
void relationship_operands(Interpreter& in, const RelationshipExpression& node, const Value& v,
                           std::vector<Value>& out) {
    base::step();
    Value operand = v;
    switch (v.kind()) {
        case Kind::Array:
            for (const Value& each : v.as_array()) relationship_operands(in, node, each, out);
            return;
        case Kind::String:
            operand = Value::type(types::parse_type(in.types(), v.as_string()));
            break;
        case Kind::Type: break;
        case Kind::Closure:
            if (dynamic_cast<const CollectorValue*>(v.as_extension())) break;
            [[fallthrough]];
        default:
            Evaluation::fail(in, &node, "ILLEGAL_RELATIONSHIP_OPERAND_TYPE",
                             "Illegal relationship operand, can not form a relationship with {}. A "
                             "Catalog type is required.",
                             a_an(label(v)));
    }
    if (operand.is_type()) {
        const types::Type* type = operand.as_type();
        // Both a reference and the type of references are allowed (CatalogEntry,
        // Type[CatalogEntry]).
        const types::Type* entry = types::defaults().catalog_entry;
        const auto* of_type = types::as<types::TypeType>(type);
        if (!types::is_assignable(in.types(), entry, type) &&
            !(of_type && of_type->type && types::is_assignable(in.types(), entry, of_type->type)))
            Evaluation::fail(in, &node, "NOT_CATALOG_TYPE",
                             "Illegal relationship operand, can not form a relationship with "
                             "something of type {}. A Catalog type is required.",
                             type->to_string());
    }
    for (const Value& existing : out)
        if (value::equal(existing, operand)) return;
    out.push_back(operand);
}

}  // namespace

Value Evaluation::relationship(Interpreter& in, const RelationshipExpression& node, Scope& scope) {
    BUNRAKU_EVAL(left, in, node.left, scope);
    BUNRAKU_EVAL(right, in, node.right, scope);
    std::vector<Value> from, to;
    relationship_operands(in, node, left, from);
    relationship_operands(in, node, right, to);
    const Value sources = value::make_array(in.arena_, from);
    const Value targets = value::make_array(in.arena_, to);
    return catalog_of(in, &node).relate(in, scope, sources, targets, node.op, &node);
}

}  // namespace bunraku::evaluator
