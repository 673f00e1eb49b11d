// Walking the tree: the children of a node, in the order in which Puppet's model lists them.
#pragma once

#include "syntax/ast.h"

namespace bunraku::syntax {

/// Calls `f(const Node*)` for each direct child; absent ones are left out.
template <class F>
void for_each_child(const Node* node, F&& f) {
    auto one = [&](const Node* child) {
        if (child) f(child);
    };
    auto all = [&](const auto& children) {
        for (const auto* child : children) f(static_cast<const Node*>(child));
    };
    switch (node->kind) {
        case NodeKind::Nop:
        case NodeKind::LiteralUndef:
        case NodeKind::LiteralDefault:
        case NodeKind::LiteralBoolean:
        case NodeKind::LiteralInteger:
        case NodeKind::LiteralFloat:
        case NodeKind::LiteralString:
        case NodeKind::LiteralRegularExpression:
        case NodeKind::QualifiedName:
        case NodeKind::QualifiedReference:
        case NodeKind::ReservedWord:
        case NodeKind::RenderStringExpression: break;
        case NodeKind::ConcatenatedString: all(to<ConcatenatedString>(node).segments); break;
        case NodeKind::TextExpression: one(to<TextExpression>(node).expr); break;
        case NodeKind::HeredocExpression: one(to<HeredocExpression>(node).text_expr); break;
        case NodeKind::VariableExpression: one(to<VariableExpression>(node).expr); break;
        case NodeKind::ParenthesizedExpression: one(to<ParenthesizedExpression>(node).expr); break;
        case NodeKind::NotExpression: one(to<NotExpression>(node).expr); break;
        case NodeKind::UnaryMinusExpression: one(to<UnaryMinusExpression>(node).expr); break;
        case NodeKind::UnfoldExpression: one(to<UnfoldExpression>(node).expr); break;
        case NodeKind::RenderExpression: one(to<RenderExpression>(node).expr); break;
        case NodeKind::AssignmentExpression:
        case NodeKind::ArithmeticExpression:
        case NodeKind::RelationshipExpression:
        case NodeKind::ComparisonExpression:
        case NodeKind::MatchExpression:
        case NodeKind::InExpression:
        case NodeKind::AndExpression:
        case NodeKind::OrExpression:
            one(static_cast<const BinaryNode*>(node)->left);
            one(static_cast<const BinaryNode*>(node)->right);
            break;
        case NodeKind::AccessExpression:
            one(to<AccessExpression>(node).left);
            all(to<AccessExpression>(node).keys);
            break;
        case NodeKind::NamedAccessExpression:
            one(to<NamedAccessExpression>(node).left);
            one(to<NamedAccessExpression>(node).right);
            break;
        case NodeKind::LiteralList: all(to<LiteralList>(node).values); break;
        case NodeKind::KeyedEntry:
            one(to<KeyedEntry>(node).key);
            one(to<KeyedEntry>(node).value);
            break;
        case NodeKind::LiteralHash: all(to<LiteralHash>(node).entries); break;
        case NodeKind::BlockExpression: all(to<BlockExpression>(node).statements); break;
        case NodeKind::IfExpression:
            one(to<IfExpression>(node).test);
            one(to<IfExpression>(node).then_expr);
            one(to<IfExpression>(node).else_expr);
            break;
        case NodeKind::UnlessExpression:
            one(to<UnlessExpression>(node).test);
            one(to<UnlessExpression>(node).then_expr);
            one(to<UnlessExpression>(node).else_expr);
            break;
        case NodeKind::CaseOption:
            all(to<CaseOption>(node).values);
            one(to<CaseOption>(node).then_expr);
            break;
        case NodeKind::CaseExpression:
            one(to<CaseExpression>(node).test);
            all(to<CaseExpression>(node).options);
            break;
        case NodeKind::SelectorEntry:
            one(to<SelectorEntry>(node).matching_expr);
            one(to<SelectorEntry>(node).value_expr);
            break;
        case NodeKind::SelectorExpression:
            one(to<SelectorExpression>(node).left);
            all(to<SelectorExpression>(node).selectors);
            break;
        case NodeKind::CallNamedFunctionExpression:
            one(to<CallNamedFunctionExpression>(node).functor);
            all(to<CallNamedFunctionExpression>(node).arguments);
            one(to<CallNamedFunctionExpression>(node).lambda);
            break;
        case NodeKind::CallMethodExpression:
            one(to<CallMethodExpression>(node).functor);
            all(to<CallMethodExpression>(node).arguments);
            one(to<CallMethodExpression>(node).lambda);
            break;
        case NodeKind::LambdaExpression:
            all(to<LambdaExpression>(node).parameters);
            one(to<LambdaExpression>(node).body);
            one(to<LambdaExpression>(node).return_type);
            break;
        case NodeKind::Parameter:
            one(to<Parameter>(node).value);
            one(to<Parameter>(node).type_expr);
            break;
        case NodeKind::FunctionDefinition:
        case NodeKind::PlanDefinition:
        case NodeKind::HostClassDefinition:
        case NodeKind::ResourceTypeDefinition: {
            const auto& definition = *static_cast<const NamedDefinition*>(node);
            all(definition.parameters);
            one(definition.body);
            if (node->kind == NodeKind::FunctionDefinition)
                one(to<FunctionDefinition>(node).return_type);
            if (node->kind == NodeKind::PlanDefinition) one(to<PlanDefinition>(node).return_type);
            break;
        }
        case NodeKind::NodeDefinition:
            one(to<NodeDefinition>(node).parent);
            all(to<NodeDefinition>(node).host_matches);
            one(to<NodeDefinition>(node).body);
            break;
        case NodeKind::TypeAlias: one(to<TypeAlias>(node).type_expr); break;
        case NodeKind::TypeDefinition: one(to<TypeDefinition>(node).body); break;
        case NodeKind::TypeMapping:
            one(to<TypeMapping>(node).type_expr);
            one(to<TypeMapping>(node).mapping_expr);
            break;
        case NodeKind::AttributeOperation: one(to<AttributeOperation>(node).value_expr); break;
        case NodeKind::AttributesOperation: one(to<AttributesOperation>(node).expr); break;
        case NodeKind::ResourceBody:
            one(to<ResourceBody>(node).title);
            all(to<ResourceBody>(node).operations);
            break;
        case NodeKind::ResourceExpression:
            one(to<ResourceExpression>(node).type_name);
            all(to<ResourceExpression>(node).bodies);
            break;
        case NodeKind::ResourceDefaultsExpression:
            one(to<ResourceDefaultsExpression>(node).type_ref);
            all(to<ResourceDefaultsExpression>(node).operations);
            break;
        case NodeKind::ResourceOverrideExpression:
            one(to<ResourceOverrideExpression>(node).resources);
            all(to<ResourceOverrideExpression>(node).operations);
            break;
        case NodeKind::VirtualQuery: one(to<VirtualQuery>(node).expr); break;
        case NodeKind::ExportedQuery: one(to<ExportedQuery>(node).expr); break;
        case NodeKind::CollectExpression:
            one(to<CollectExpression>(node).type_expr);
            one(to<CollectExpression>(node).query);
            all(to<CollectExpression>(node).operations);
            break;
        case NodeKind::EppExpression: one(to<EppExpression>(node).body); break;
        case NodeKind::ApplyExpression:
            all(to<ApplyExpression>(node).arguments);
            one(to<ApplyExpression>(node).body);
            break;
        case NodeKind::Program: one(to<Program>(node).body); break;
    }
}

}  // namespace bunraku::syntax
