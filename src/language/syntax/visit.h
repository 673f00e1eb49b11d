// SPDX-License-Identifier: Apache-2.0
// Walks the tree: calls with the concrete type of a node, and children in the order of Puppet's
// model.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "language/syntax/ast.h"

namespace bunraku::syntax {

/// Calls `f` with the node as its concrete type. If `f` is a set of overloads, the type of the node
/// selects one.
template <class F>
decltype(auto) as_its_kind(const Node* node, F&& f) {
    switch (node->kind) {
#define X(name) \
    case NodeKind::name: return f(static_cast<const name&>(*node));
        BUNRAKU_AST_NODES(X)
#undef X
    }
    std::unreachable();
}

/// Returns the members of a node that are nodes or lists of nodes.
inline auto parts(const Node&) { return std::tuple<>(); }
inline auto parts(const BinaryNode& n) { return std::tie(n.left, n.right); }
inline auto parts(const ConcatenatedString& n) { return std::tie(n.segments); }
inline auto parts(const TextExpression& n) { return std::tie(n.expr); }
inline auto parts(const HeredocExpression& n) { return std::tie(n.text_expr); }
inline auto parts(const VariableExpression& n) { return std::tie(n.expr); }
inline auto parts(const ParenthesizedExpression& n) { return std::tie(n.expr); }
inline auto parts(const NotExpression& n) { return std::tie(n.expr); }
inline auto parts(const UnaryMinusExpression& n) { return std::tie(n.expr); }
inline auto parts(const UnfoldExpression& n) { return std::tie(n.expr); }
inline auto parts(const RenderExpression& n) { return std::tie(n.expr); }
inline auto parts(const AccessExpression& n) { return std::tie(n.left, n.keys); }
inline auto parts(const NamedAccessExpression& n) { return std::tie(n.left, n.right); }
inline auto parts(const LiteralList& n) { return std::tie(n.values); }
inline auto parts(const KeyedEntry& n) { return std::tie(n.key, n.value); }
inline auto parts(const LiteralHash& n) { return std::tie(n.entries); }
inline auto parts(const BlockExpression& n) { return std::tie(n.statements); }
inline auto parts(const IfExpression& n) { return std::tie(n.test, n.then_expr, n.else_expr); }
inline auto parts(const UnlessExpression& n) { return std::tie(n.test, n.then_expr, n.else_expr); }
inline auto parts(const CaseOption& n) { return std::tie(n.values, n.then_expr); }
inline auto parts(const CaseExpression& n) { return std::tie(n.test, n.options); }
inline auto parts(const SelectorEntry& n) { return std::tie(n.matching_expr, n.value_expr); }
inline auto parts(const SelectorExpression& n) { return std::tie(n.left, n.selectors); }
inline auto parts(const CallNamedFunctionExpression& n) {
    return std::tie(n.functor, n.arguments, n.lambda);
}
inline auto parts(const CallMethodExpression& n) {
    return std::tie(n.functor, n.arguments, n.lambda);
}
inline auto parts(const LambdaExpression& n) {
    return std::tie(n.parameters, n.body, n.return_type);
}
inline auto parts(const Parameter& n) { return std::tie(n.value, n.type_expr); }
inline auto parts(const NamedDefinition& n) { return std::tie(n.parameters, n.body); }
inline auto parts(const FunctionDefinition& n) {
    return std::tie(n.parameters, n.body, n.return_type);
}
inline auto parts(const PlanDefinition& n) { return std::tie(n.parameters, n.body, n.return_type); }
inline auto parts(const NodeDefinition& n) { return std::tie(n.parent, n.host_matches, n.body); }
inline auto parts(const TypeAlias& n) { return std::tie(n.type_expr); }
inline auto parts(const TypeDefinition& n) { return std::tie(n.body); }
inline auto parts(const TypeMapping& n) { return std::tie(n.type_expr, n.mapping_expr); }
inline auto parts(const AttributeOperation& n) { return std::tie(n.value_expr); }
inline auto parts(const AttributesOperation& n) { return std::tie(n.expr); }
inline auto parts(const ResourceBody& n) { return std::tie(n.title, n.operations); }
inline auto parts(const ResourceExpression& n) { return std::tie(n.type_name, n.bodies); }
inline auto parts(const ResourceDefaultsExpression& n) {
    return std::tie(n.type_ref, n.operations);
}
inline auto parts(const ResourceOverrideExpression& n) {
    return std::tie(n.resources, n.operations);
}
inline auto parts(const VirtualQuery& n) { return std::tie(n.expr); }
inline auto parts(const ExportedQuery& n) { return std::tie(n.expr); }
inline auto parts(const CollectExpression& n) {
    return std::tie(n.type_expr, n.query, n.operations);
}
inline auto parts(const EppExpression& n) { return std::tie(n.body); }
inline auto parts(const ApplyExpression& n) { return std::tie(n.arguments, n.body); }
inline auto parts(const Program& n) { return std::tie(n.body); }

/// Calls `f(const Node*)` for each direct child. Skips null children.
template <class F>
void for_each_child(const Node* node, F&& f) {
    const auto part = [&f](const auto& child) {
        if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(child)>>) {
            if (child) f(static_cast<const Node*>(child));
        } else {
            for (const Node* each : child) f(each);
        }
    };
    as_its_kind(node, [&part](const auto& n) {
        std::apply([&part](const auto&... all) { (part(all), ...); }, parts(n));
    });
}

}  // namespace bunraku::syntax
