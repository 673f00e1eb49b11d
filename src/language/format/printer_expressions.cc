// SPDX-License-Identifier: Apache-2.0
// Operators, calls, collections, conditionals.
#include <utility>

#include "language/format/printer.h"
#include "language/syntax/node_kinds.h"
#include "language/syntax/visit.h"

namespace bunraku::format {

using Break = Layout::Break;
using syntax::as;
using syntax::NodeKind;
using syntax::Op;
using syntax::to;

void Printer::expr(const Node* node) {
    if (syntax::is_operand(node->kind))
        token();
    else
        syntax::as_its_kind(node, [this](const auto& n) { one(n); });
}

void Printer::unary(const Node* operand) {
    token();
    expr(operand);
}

void Printer::one(const syntax::ParenthesizedExpression& node) {
    comments(false);
    list({.close = Tok::RParen}, 1, [&](std::size_t) { expr(node.expr); });
}

//---- Operators

void Printer::one(const syntax::AssignmentExpression& node) {
    expr(node.left);
    out_.space();
    operator_token();
    value(node.right);
}

namespace {

/// Returns the precedence of an operator in a chain. Only operators of the same precedence are in
/// the same chain, and break together.
int precedence(const syntax::BinaryNode& node) {
    switch (node.kind) {
        case NodeKind::OrExpression: return 1;
        case NodeKind::AndExpression: return 2;
        case NodeKind::ComparisonExpression:
            return node.op == Op::Equal || node.op == Op::NotEqual ? 4 : 3;
        case NodeKind::MatchExpression: return 8;
        case NodeKind::InExpression: return 9;
        default: break;
    }
    switch (node.op) {
        case Op::ShiftLeft:
        case Op::ShiftRight: return 5;
        case Op::Add:
        case Op::Sub: return 6;
        default: return 7;
    }
}

const syntax::BinaryNode* as_binary(const syntax::Node* node) {
    switch (node->kind) {
        case NodeKind::ArithmeticExpression:
        case NodeKind::ComparisonExpression:
        case NodeKind::MatchExpression:
        case NodeKind::InExpression:
        case NodeKind::AndExpression:
        case NodeKind::OrExpression: return static_cast<const syntax::BinaryNode*>(node);
        default: return nullptr;
    }
}

}  // namespace

/// Writes a chain of left-associative operators. Lines break after the operators.
void Printer::binary(const syntax::BinaryNode& node) {
    std::vector<const Node*> right{node.right};
    const Node* first = node.left;
    for (const auto* left = as_binary(first); left && precedence(*left) == precedence(node);
         left = as_binary(first)) {
        right.push_back(left->right);
        first = left->left;
    }
    const std::size_t group = out_.begin();
    bool broken = false;
    expr(first);
    out_.indent();
    for (std::size_t i = right.size(); i-- > 0;) {
        out_.space();
        operator_token();
        broken = broken || here().follows_newline();
        start_item(Separator::Line, true);
        expr(right[i]);
    }
    out_.dedent();
    out_.end();
    if (broken) out_.always_break(group);
}

/// Writes a chain of `->` and the like. The style guide puts the arrow in front of its right
/// operand, also after a line break.
void Printer::relationship(const syntax::BinaryNode& node) {
    std::vector<const Node*> right{node.right};
    const Node* first = node.left;
    while (const auto* left = as<syntax::RelationshipExpression>(first)) {
        right.push_back(left->right);
        first = left->left;
    }
    const std::size_t group = out_.begin();
    bool broken = false;
    expr(first);
    for (std::size_t i = right.size(); i-- > 0;) {
        const std::string_view text = here().text;
        drop();
        broken = broken || here().follows_newline();
        start_item(Separator::Line, true);
        out_.text(text);
        out_.space();
        expr(right[i]);
    }
    out_.end();
    if (broken) out_.always_break(group);
}

//---- Collections

void Printer::entry(const syntax::KeyedEntry& entry) {
    const std::size_t key = item_;
    expr(entry.key);
    arrow(key);
    value(entry.value);
}

/// Writes a list of expressions. Entries without braces are one hash in the tree.
void Printer::items(const ListStyle& style, NodeList nodes) {
    std::vector<const Node*> all;
    for (const Node* node : nodes) {
        const auto* hash = as<syntax::LiteralHash>(node);
        if (hash && !source_.text().substr(hash->offset).starts_with('{')) {
            all.insert(all.end(), hash->entries.begin(), hash->entries.end());
        } else {
            all.push_back(node);
        }
    }
    list(style, all.size(), [&](std::size_t i) { expr(all[i]); });
}

void Printer::one(const syntax::LiteralList& node) {
    const bool hug = node.values.size() == 1 && (node.values[0]->kind == NodeKind::LiteralList ||
                                                 node.values[0]->kind == NodeKind::LiteralHash);
    comments(false);
    items({.close = Tok::RBrack, .comma = true, .hug = hug, .follow_items = true}, node.values);
}

void Printer::hash(const syntax::LiteralHash& node, std::size_t count) {
    if (!is(Tok::LBrace)) mismatch();
    comments(false);
    list({.close = Tok::RBrace, .blanks = true, .comma = true, .follow_items = true}, count,
         [&](std::size_t i) { entry(*node.entries[i]); });
}

void Printer::one(const syntax::AccessExpression& node) {
    expr(node.left);
    if (!is(Tok::LBrack)) mismatch();
    comments(true);
    // Of single keys, only regular expressions are often too long for the rest of a line.
    const bool hug =
        node.keys.size() == 1 && node.keys[0]->kind != NodeKind::LiteralRegularExpression;
    items({.close = Tok::RBrack, .hug = hug, .follow_inner_items = true}, node.keys);
}

/// Writes `name { key => value }` where `name` is not a type: a name and a hash.
void Printer::one(const syntax::BlockExpression& node) {
    if (node.statements.size() != 2) mismatch();
    expr(node.statements[0]);
    out_.space();
    expr(node.statements[1]);
}

//---- Calls

void Printer::arguments(NodeList nodes) {
    comments(true);
    const bool hug = nodes.size() == 1 && (nodes[0]->kind == NodeKind::LiteralList ||
                                           nodes[0]->kind == NodeKind::LiteralHash);
    items({.close = Tok::RParen, .hug = hug, .follow_inner_items = true}, nodes);
}

void Printer::one(const syntax::CallNamedFunctionExpression& node) {
    expr(node.functor);
    if (is(Tok::LParen)) {
        arguments(node.arguments);
        lambda(node.lambda);
    } else {
        statement_arguments(node.arguments);
    }
}

/// Writes the arguments of a call without parentheses, such as `include a, b`.
void Printer::statement_arguments(NodeList nodes) {
    if (is(Tok::Semic)) drop();
    const std::size_t group = out_.begin();
    bool broken = false;
    // A parenthesis in the same line would start an argument list.
    if (is(Tok::WsLParen)) {
        out_.hard();
    } else {
        out_.space();
    }
    out_.indent();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i > 0) {
            if (!is(Tok::Comma)) mismatch();
            operator_token();
            broken = broken || here().follows_newline();
            start_item(Separator::Line, true);
        }
        expr(nodes[i]);
    }
    out_.dedent();
    out_.end();
    if (broken) out_.always_break(group);
}

/// Writes a chain of method calls. Lines break before the dots.
void Printer::one(const syntax::CallMethodExpression& node) {
    std::vector<const syntax::CallMethodExpression*> calls{&node};
    const Node* base = node.functor->left;
    while (const auto* left = as<syntax::CallMethodExpression>(base)) {
        calls.push_back(left);
        base = left->functor->left;
    }
    const std::size_t group = out_.begin();
    bool broken = false;
    expr(base);
    out_.indent();
    for (std::size_t i = calls.size(); i-- > 0;) {
        const bool newline = here().follows_newline() || lexemes_[at_ + 1].follows_newline();
        drop();
        broken = broken || newline;
        if (newline || calls.size() > 1) {
            start_item(Separator::Soft, true);
        } else {
            comments(false);
        }
        out_.text(".");
        call_part(*calls[i]);
    }
    out_.dedent();
    out_.end();
    if (broken) out_.always_break(group);
}

void Printer::call_part(const syntax::CallMethodExpression& call) {
    token();
    if (is(Tok::LParen)) arguments(call.arguments);
    lambda(call.lambda);
}

void Printer::lambda(const syntax::LambdaExpression* node) {
    if (!node) return;
    out_.space();
    comments(false);
    parameters(Tok::Pipe, node->parameters, Parameters::AsWritten);
    if (node->return_type) {
        out_.space();
        token(Tok::RShift);
        out_.space();
        expr(node->return_type);
    }
    inline_block(node->body);
}

//---- Conditionals

/// Writes `if` and `unless`. A value may be in one line.
void Printer::conditional(const Node* node, Position position) {
    const std::size_t group =
        out_.begin(position == Position::Statement ? Break::Always : Break::IfTooLong);
    const auto* test = as<syntax::IfExpression>(node);
    if (test ? if_parts(*test, position)
             : unless_parts(to<syntax::UnlessExpression>(node), position))
        out_.always_break(group);
    out_.end();
}

bool Printer::if_parts(const syntax::IfExpression& node, Position position) {
    token();
    out_.space();
    expr(node.test);
    out_.space();
    bool broken = block(node.then_expr, position);
    if (!is(Tok::Elsif) && !is(Tok::Else)) return broken;
    out_.space();
    if (is(Tok::Elsif))
        return if_parts(to<syntax::IfExpression>(node.else_expr), position) || broken;
    token();
    out_.space();
    return block(node.else_expr, position) || broken;
}

bool Printer::unless_parts(const syntax::UnlessExpression& node, Position position) {
    token();
    out_.space();
    expr(node.test);
    out_.space();
    bool broken = block(node.then_expr, position);
    if (!is(Tok::Else)) return broken;
    out_.space();
    token();
    out_.space();
    return block(node.else_expr, position) || broken;
}

void Printer::one(const syntax::CaseExpression& node) {
    out_.begin(Break::Always);
    token();
    out_.space();
    expr(node.test);
    out_.space();
    token(Tok::LBrace);
    out_.indent();
    for (std::size_t i = 0; i < node.options.size(); ++i) {
        const syntax::CaseOption& option = *node.options[i];
        start_item(Separator::Hard, i == 0);
        const std::size_t values = out_.begin();
        bool broken = false;
        for (std::size_t k = 0; k < option.values.size(); ++k) {
            if (k > 0) {
                operator_token();
                broken = broken || here().follows_newline();
                start_item(Separator::Line, true);
            }
            expr(option.values[k]);
        }
        if (!is(Tok::Colon)) mismatch();
        operator_token();
        out_.end();
        if (broken) out_.always_break(values);
        inline_block(option.then_expr);
    }
    finish_items(Separator::Hard);
    token(Tok::RBrace);
    out_.end();
}

void Printer::one(const syntax::SelectorExpression& node) {
    expr(node.left);
    out_.space();
    token(Tok::QMark);
    out_.space();
    const auto selector = [&](std::size_t i) {
        const std::size_t key = item_;
        expr(node.selectors[i]->matching_expr);
        arrow(key);
        value(node.selectors[i]->value_expr);
    };
    if (!is(Tok::SelBrace)) {
        std::vector<Arrow>* const outer = std::exchange(arrows_, nullptr);
        selector(0);
        arrows_ = outer;
        return;
    }
    comments(false);
    list({.close = Tok::RBrace, .blanks = true, .comma = true, .follow_items = true},
         node.selectors.size(), selector);
}

}  // namespace bunraku::format
