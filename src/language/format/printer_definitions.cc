// SPDX-License-Identifier: Apache-2.0
// Classes, defines, functions, plans, nodes and types.
#include "language/format/printer.h"

namespace bunraku::format {

using Break = Layout::Break;
using syntax::as;
using syntax::to;

/// Writes parameters in parentheses, or between the pipes of a lambda.
void Printer::parameters(Tok close, syntax::ParameterList list_of, Parameters how) {
    list({.close = close,
          .comma = true,
          .always_break = how == Parameters::OnePerLine && !list_of.empty()},
         list_of.size(), [&](std::size_t i) { parameter(*list_of[i]); });
}

void Printer::parameter(const syntax::Parameter& node) {
    if (node.type_expr) {
        expr(node.type_expr);
        out_.space();
    }
    if (node.captures_rest) token(Tok::Times);
    token(Tok::Variable);
    if (!node.value) return;
    out_.space();
    operator_token();
    value(node.value);
}

/// Writes the keyword, the name and the parameters of a class or a defined type.
void Printer::class_parameters(const syntax::NamedDefinition& node) {
    token();
    out_.space();
    token();
    if (!is(Tok::LParen) && !is(Tok::WsLParen)) return;
    out_.space();
    comments(false);
    parameters(Tok::RParen, node.parameters, Parameters::OnePerLine);
}

void Printer::one(const syntax::HostClassDefinition& node) {
    class_parameters(node);
    if (!node.parent_class.empty()) {
        out_.space();
        token(Tok::Inherits);
        out_.space();
        token();
    }
    block_of_definition(node.body);
}

void Printer::one(const syntax::ResourceTypeDefinition& node) {
    class_parameters(node);
    block_of_definition(node.body);
}

void Printer::one(const syntax::PlanDefinition& node) {
    class_parameters(node);
    block_of_definition(node.body);
}

void Printer::one(const syntax::FunctionDefinition& node) {
    token();
    out_.space();
    token();
    if (is(Tok::LParen) || is(Tok::WsLParen)) {
        comments(false);
        parameters(Tok::RParen, node.parameters, Parameters::AsWritten);
    }
    if (node.return_type) {
        out_.space();
        token(Tok::RShift);
        out_.space();
        expr(node.return_type);
    }
    block_of_definition(node.body);
}

/// Writes the name of a node: a string, a regular expression, or words separated by dots.
void Printer::host() {
    token();
    while (is(Tok::Dot)) {
        token();
        token();
    }
}

void Printer::one(const syntax::NodeDefinition& node) {
    token();
    out_.space();
    const std::size_t group = out_.begin();
    bool broken = false;
    out_.indent();
    for (std::size_t i = 0; i < node.host_matches.size(); ++i) {
        if (i > 0) {
            if (!is(Tok::Comma)) mismatch();
            operator_token();
            broken = broken || here().follows_newline();
            start_item(Separator::Line, true);
        }
        host();
    }
    skip_comma();
    out_.dedent();
    out_.end();
    if (broken) out_.always_break(group);
    if (node.parent) {
        out_.space();
        token(Tok::Inherits);
        out_.space();
        host();
    }
    block_of_definition(node.body);
}

void Printer::one(const syntax::ApplyExpression& node) {
    token(Tok::Apply);
    arguments(node.arguments);
    block_of_definition(node.body);
}

//---- Types

void Printer::one(const syntax::TypeAlias& node) {
    token(Tok::Type);
    out_.space();
    token(Tok::ClassRef);
    out_.space();
    token(Tok::Equals);
    out_.space();
    alias_target(node.type_expr);
}

void Printer::one(const syntax::TypeMapping& node) {
    token(Tok::Type);
    out_.space();
    expr(node.type_expr);
    out_.space();
    token(Tok::Equals);
    out_.space();
    alias_target(node.mapping_expr);
}

/// Writes the right side of a type alias or mapping. The tree has its meaning: `{ .. }` and
/// `Parent { .. }` are there an Object type whose hash may have the additional entry `parent`.
void Printer::alias_target(const Node* type) {
    const bool named = is(Tok::ClassRef);
    const bool braces = is(Tok::LBrace) || (named && lexemes_[at_ + 1].kind == Tok::LBrace);
    if (!braces) return expr(type);
    const Node* found = type;
    if (const auto* access = as<syntax::AccessExpression>(type)) found = access->keys[0];
    if (const auto* entry = as<syntax::KeyedEntry>(type)) found = entry->value;
    const auto* literal = as<syntax::LiteralHash>(found);
    if (!literal) mismatch();
    std::size_t count = literal->entries.size();
    if (named) {
        const std::string_view base = here().text;
        const bool parent = type->kind == syntax::NodeKind::AccessExpression && base != "Object" &&
                            base != "TypeSet";
        if (parent) --count;
        token();
        out_.space();
    }
    hash(*literal, count);
}

void Printer::one(const syntax::TypeDefinition& node) {
    token(Tok::Type);
    out_.space();
    token(Tok::ClassRef);
    if (!node.parent.empty()) {
        out_.space();
        token(Tok::Inherits);
        out_.space();
        token();
    }
    block_of_definition(node.body);
}

}  // namespace bunraku::format
