// SPDX-License-Identifier: Apache-2.0
#include "language/syntax/issues.h"

#include <fmt/format.h>

namespace bunraku::syntax {

std::string label(const Node* node) {
    if (node == nullptr) return "Undef Value";
    auto operation = [](Op op) { return fmt::format("'{}' expression", op_text(op)); };
    switch (node->kind) {
        case NodeKind::Nop: return "Nop Expression";
        case NodeKind::LiteralUndef: return "'undef' expression";
        case NodeKind::LiteralDefault: return "'default' expression";
        case NodeKind::LiteralBoolean: return "Boolean";
        case NodeKind::LiteralInteger: return "Literal Integer";
        case NodeKind::LiteralFloat: return "Literal Float";
        case NodeKind::LiteralString: return "String";
        case NodeKind::LiteralRegularExpression: return "Regular Expression";
        case NodeKind::QualifiedName: return "Name";
        case NodeKind::QualifiedReference: return "Type-Name";
        case NodeKind::ReservedWord:
            return fmt::format("Reserved Word '{}'", to<ReservedWord>(node).word);
        case NodeKind::ConcatenatedString: return "Double Quoted String";
        case NodeKind::TextExpression: return "Expression in Interpolated String";
        case NodeKind::HeredocExpression:
            return fmt::format("'@({})' expression", to<HeredocExpression>(node).syntax);
        case NodeKind::VariableExpression: return "Variable";
        case NodeKind::ParenthesizedExpression: return "Parenthesized Expression";
        case NodeKind::NotExpression: return "'not' expression";
        case NodeKind::UnaryMinusExpression: return "Unary Minus";
        case NodeKind::UnfoldExpression: return "Unfold";
        case NodeKind::AssignmentExpression:
        case NodeKind::ArithmeticExpression:
        case NodeKind::RelationshipExpression:
        case NodeKind::ComparisonExpression:
        case NodeKind::MatchExpression: return operation(static_cast<const BinaryNode*>(node)->op);
        case NodeKind::InExpression: return "'in' expression";
        case NodeKind::AndExpression: return "'and' expression";
        case NodeKind::OrExpression: return "'or' expression";
        case NodeKind::AccessExpression: return "'[]' expression";
        case NodeKind::NamedAccessExpression: return "'.' expression";
        case NodeKind::LiteralList: return "Array Expression";
        case NodeKind::KeyedEntry: return "Hash Entry";
        case NodeKind::LiteralHash: return "Hash Expression";
        case NodeKind::BlockExpression: return "Block Expression";
        case NodeKind::IfExpression: return "'if' statement";
        case NodeKind::UnlessExpression: return "'unless' Statement";
        case NodeKind::CaseOption: return "Case Option";
        case NodeKind::CaseExpression: return "'case' statement";
        case NodeKind::SelectorEntry: return "Selector Option";
        case NodeKind::SelectorExpression: return "Selector Expression";
        case NodeKind::CallNamedFunctionExpression: return "Function Call";
        case NodeKind::CallMethodExpression: return "Method call";
        case NodeKind::LambdaExpression: return "Lambda";
        case NodeKind::Parameter: return "Parameter Definition";
        case NodeKind::FunctionDefinition: return "Function Definition";
        case NodeKind::PlanDefinition: return "Plan Definition";
        case NodeKind::HostClassDefinition: return "Host Class Definition";
        case NodeKind::ResourceTypeDefinition: return "'define' expression";
        case NodeKind::NodeDefinition: return "Node Definition";
        case NodeKind::TypeAlias: return "Type Alias";
        case NodeKind::TypeDefinition: return "Type Definition";
        case NodeKind::TypeMapping: return "Type Mapping";
        case NodeKind::AttributeOperation: return operation(to<AttributeOperation>(node).op);
        case NodeKind::AttributesOperation: return "Object";
        case NodeKind::ResourceBody: return "Resource Instance Definition";
        case NodeKind::ResourceExpression: return "Resource Statement";
        case NodeKind::ResourceDefaultsExpression: return "Resource Defaults Expression";
        case NodeKind::ResourceOverrideExpression: return "Resource Override";
        case NodeKind::VirtualQuery: return "Virtual Query";
        case NodeKind::ExportedQuery: return "Exported Query";
        case NodeKind::CollectExpression: return label(to<CollectExpression>(node).query);
        case NodeKind::EppExpression: return "Epp Template";
        case NodeKind::RenderStringExpression: return "Epp Text";
        case NodeKind::RenderExpression: return "Epp Interpolated Expression";
        case NodeKind::ApplyExpression: return "'apply' expression";
        case NodeKind::Program: return "Object";
    }
    return "Object";
}

namespace {

bool takes_an(std::string_view text) {
    if (!text.empty() && (text[0] == '"' || text[0] == '\'')) text.remove_prefix(1);
    return !text.empty() &&
           std::string_view("aeiouyAEIOUY").find(text[0]) != std::string_view::npos;
}

}  // namespace

std::string a_an(std::string_view text) {
    return fmt::format("{} {}", takes_an(text) ? "an" : "a", text);
}
std::string a_an_upper(std::string_view text) {
    return fmt::format("{} {}", takes_an(text) ? "An" : "A", text);
}

}  // namespace bunraku::syntax
