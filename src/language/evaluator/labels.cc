// SPDX-License-Identifier: Apache-2.0
#include "language/evaluator/labels.h"

#include <fmt/format.h>

#include "core/value/text.h"
#include "language/types/kinds.h"
#include "language/types/type.h"

namespace bunraku::evaluator {

using syntax::NodeKind;
using value::Kind;
using value::Value;

std::string label(const syntax::Node* node) {
    if (!node) return "Undef Value";
    using namespace syntax;
    const auto operator_expression = [&] {
        return fmt::format("'{}' expression", op_text(static_cast<const BinaryNode*>(node)->op));
    };
    switch (node->kind) {
        case NodeKind::LiteralInteger: return "Literal Integer";
        case NodeKind::LiteralFloat: return "Literal Float";
        case NodeKind::ArithmeticExpression:
        case NodeKind::MatchExpression:
        case NodeKind::ComparisonExpression:
        case NodeKind::AssignmentExpression:
        case NodeKind::RelationshipExpression: return operator_expression();
        case NodeKind::AttributeOperation:
            return fmt::format("'{}' expression", op_text(to<AttributeOperation>(node).op));
        case NodeKind::AccessExpression: return "'[]' expression";
        case NodeKind::CollectExpression: return label(to<CollectExpression>(node).query);
        case NodeKind::EppExpression: return "Epp Template";
        case NodeKind::ExportedQuery: return "Exported Query";
        case NodeKind::VirtualQuery: return "Virtual Query";
        case NodeKind::AndExpression: return "'and' expression";
        case NodeKind::OrExpression: return "'or' expression";
        case NodeKind::InExpression: return "'in' expression";
        case NodeKind::LiteralList: return "Array Expression";
        case NodeKind::LiteralHash: return "Hash Expression";
        case NodeKind::KeyedEntry: return "Hash Entry";
        case NodeKind::LiteralBoolean: return "Boolean";
        case NodeKind::LiteralString: return "String";
        case NodeKind::LambdaExpression: return "Lambda";
        case NodeKind::LiteralDefault: return "'default' expression";
        case NodeKind::LiteralUndef: return "'undef' expression";
        case NodeKind::LiteralRegularExpression: return "Regular Expression";
        case NodeKind::Nop: return "Nop Expression";
        case NodeKind::NamedAccessExpression: return "'.' expression";
        case NodeKind::NotExpression: return "'not' expression";
        case NodeKind::VariableExpression: return "Variable";
        case NodeKind::TextExpression: return "Expression in Interpolated String";
        case NodeKind::UnaryMinusExpression: return "Unary Minus";
        case NodeKind::UnfoldExpression: return "Unfold";
        case NodeKind::BlockExpression: return "Block Expression";
        case NodeKind::ConcatenatedString: return "Double Quoted String";
        case NodeKind::HeredocExpression:
            return fmt::format("'@({})' expression", to<HeredocExpression>(node).syntax);
        case NodeKind::HostClassDefinition: return "Host Class Definition";
        case NodeKind::FunctionDefinition: return "Function Definition";
        case NodeKind::PlanDefinition: return "Plan Definition";
        case NodeKind::NodeDefinition: return "Node Definition";
        case NodeKind::ResourceTypeDefinition: return "'define' expression";
        case NodeKind::ResourceOverrideExpression: return "Resource Override";
        case NodeKind::Parameter: return "Parameter Definition";
        case NodeKind::ParenthesizedExpression: return "Parenthesized Expression";
        case NodeKind::IfExpression: return "'if' statement";
        case NodeKind::UnlessExpression: return "'unless' Statement";
        case NodeKind::CallNamedFunctionExpression: return "Function Call";
        case NodeKind::CallMethodExpression: return "Method call";
        case NodeKind::ApplyExpression: return "'apply' expression";
        case NodeKind::CaseExpression: return "'case' statement";
        case NodeKind::CaseOption: return "Case Option";
        case NodeKind::RenderStringExpression: return "Epp Text";
        case NodeKind::RenderExpression: return "Epp Interpolated Expression";
        case NodeKind::ResourceBody: return "Resource Instance Definition";
        case NodeKind::ResourceDefaultsExpression: return "Resource Defaults Expression";
        case NodeKind::ResourceExpression: return "Resource Statement";
        case NodeKind::SelectorExpression: return "Selector Expression";
        case NodeKind::SelectorEntry: return "Selector Option";
        case NodeKind::QualifiedName: return "Name";
        case NodeKind::QualifiedReference: return "Type-Name";
        case NodeKind::ReservedWord:
            return fmt::format("Reserved Word '{}'", to<ReservedWord>(node).word);
        case NodeKind::TypeAlias: return "Type Alias";
        case NodeKind::TypeMapping: return "Type Mapping";
        case NodeKind::TypeDefinition: return "Type Definition";
        default: return "Object";
    }
}

std::string label(const Value& v) {
    switch (v.kind()) {
        case Kind::Undef: return "Undef Value";
        case Kind::Boolean: return "Boolean";
        case Kind::Integer: return "Integer";
        case Kind::Float: return "Float";
        case Kind::String: return "String";
        case Kind::Array: return "Array";
        case Kind::Hash: return "Hash";
        case Kind::Regexp: return "Regexp";
        case Kind::Sensitive: return "Sensitive";
        case Kind::Timestamp: return "Timestamp";
        case Kind::Timespan: return "Timespan";
        case Kind::SemVer: return "Semver";
        case Kind::SemVerRange: return "SemverRange";
        case Kind::Binary: return "Binary";
        case Kind::Type: {
            const std::string text = v.as_type()->to_string();
            const auto* resource = types::as<types::ResourceType>(v.as_type());
            return text + (resource && resource->title ? " Resource-Reference" : "-Type");
        }
        default: return "Object";
    }
}

std::string_view article(std::string_view text) {
    if (!text.empty() && (text[0] == '"' || text[0] == '\'')) text.remove_prefix(1);
    static constexpr std::string_view kVowels = "aeiouyAEIOUY";
    return !text.empty() && kVowels.find(text[0]) != std::string_view::npos ? "an" : "a";
}

std::string a_an(std::string_view text) { return fmt::format("{} {}", article(text), text); }

std::string a_an_uc(std::string_view text) {
    return fmt::format("{} {}", article(text) == "an" ? "An" : "A", text);
}

std::string ruby_inspect(const Value& v) {
    std::string out;
    value::print_inspect(out, v);
    return out;
}

std::string ruby_to_s(const Value& v) {
    switch (v.kind()) {
        case Kind::Undef: return {};
        case Kind::Array:
        case Kind::Hash: return ruby_inspect(v);
        case Kind::Regexp: {
            // Ruby's Regexp#to_s shows enabled options on the left and disabled ones on the right.
            const value::RegexpRep& regexp = v.as_regexp();
            std::string on, off;
            (regexp.options & 4 ? on : off) += 'm';
            (regexp.options & 1 ? on : off) += 'i';
            (regexp.options & 2 ? on : off) += 'x';
            return fmt::format("(?{}{}{}:{})", on, off.empty() ? "" : "-", off, regexp.source);
        }
        default: return value::to_text(v);
    }
}

}  // namespace bunraku::evaluator
