// SPDX-License-Identifier: Apache-2.0
// Resources, their attributes, and collectors.
#include <utility>

#include "language/format/printer.h"

namespace bunraku::format {

using Break = Layout::Break;
using syntax::as;

/// Writes `@` or `@@`. Two marks need a blank between them, because `@@` is one token.
void Printer::virtual_marks() {
    bool second = false;
    while (is(Tok::At) || is(Tok::AtAt)) {
        if (std::exchange(second, true)) out_.space();
        token();
    }
}

void Printer::attribute(const Node* operation) {
    const std::size_t key = item_;
    token();
    arrow(key);
    if (const auto* all = as<syntax::AttributesOperation>(operation)) return value(all->expr);
    value(syntax::to<syntax::AttributeOperation>(operation).value_expr);
}

/// Writes the attributes of a resource, separated by commas. Returns whether the last one, with the
/// separator after it, was written without formatting.
bool Printer::attributes(NodeList operations) {
    bool unchanged = false;
    std::vector<Arrow> arrows;
    std::vector<Arrow>* const outer = std::exchange(arrows_, &arrows);
    skip_comma();
    for (std::size_t i = 0; i < operations.size();) {
        unchanged = formatting_is_off();
        if (unchanged) {
            i = unformatted(i, operations.size(), [&](std::size_t k) { attribute(operations[k]); });
            continue;
        }
        start_item(Separator::Line, i == 0);
        attribute(operations[i++]);
        if (i < operations.size()) {
            if (!is(Tok::Comma)) mismatch();
            operator_token();
        }
    }
    align(arrows);
    arrows_ = outer;
    return unchanged;
}

/// Writes the attributes of a resource default, an override or a collector.
void Printer::attribute_block(NodeList operations) {
    if (!is(Tok::LBrace)) mismatch();
    out_.space();
    comments(false);
    list({.close = Tok::RBrace,
          .blanks = true,
          .comma = true,
          .follow_items = true,
          .always_break = operations.size() > 1},
         operations.size(), [&](std::size_t i) { attribute(operations[i]); });
}

void Printer::one(const syntax::ResourceExpression& node) {
    virtual_marks();
    expr(node.type_name);
    out_.space();
    const bool several = node.bodies.size() > 1;
    if (!is(Tok::LBrace)) mismatch();
    if (several || !lexemes_[at_ + 1].comments.empty()) {
        tall_resource(node.bodies);
    } else {
        short_resource(*node.bodies[0]);
    }
}

/// Writes a resource with a single title, which follows the brace.
void Printer::short_resource(const syntax::ResourceBody& body) {
    const std::size_t group = out_.begin();
    const std::size_t count = body.operations.size();
    bool broken = count > 1;
    token();
    out_.indent();
    out_.space();
    expr(body.title);
    if (!is(Tok::Colon)) mismatch();
    operator_token();
    skip_comma();
    broken = broken || (count > 0 && here().follows_newline());
    const bool unchanged = attributes(body.operations);
    skip_comma();
    if (is(Tok::Semic)) drop();
    if (count == 0 && here().comments.empty()) {
        out_.dedent();
        out_.space();
    } else {
        broken = broken || here().follows_newline() || out_.has_break(group + 1);
        if (count > 0 && !unchanged) out_.if_broken(",");
        finish_items(Separator::Line);
    }
    token(Tok::RBrace);
    out_.end();
    if (broken) out_.always_break(group);
}

/// Writes a resource whose titles have their own lines.
void Printer::tall_resource(std::span<const syntax::ResourceBody* const> bodies) {
    out_.begin(Break::Always);
    token();
    out_.indent();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        start_item(Separator::Line, i == 0);
        tall_body(*bodies[i], bodies.size() > 1 ? ";" : ",");
    }
    finish_items(Separator::Line);
    token(Tok::RBrace);
    out_.end();
}

/// Writes a title and its attributes. A single attribute may follow the title.
void Printer::tall_body(const syntax::ResourceBody& body, std::string_view end) {
    const std::size_t group = out_.begin();
    const std::size_t count = body.operations.size();
    expr(body.title);
    if (!is(Tok::Colon)) mismatch();
    operator_token();
    const bool broken = count > 1 || here().follows_newline();
    const std::size_t first = out_.size();
    out_.indent();
    const bool unchanged = attributes(body.operations);
    out_.dedent();
    skip_comma();
    if (is(Tok::Semic)) drop();
    if (broken || out_.has_break(first)) out_.always_break(group);
    if (!unchanged && (count > 0 || end == ";")) out_.text(end);
    out_.end();
}

void Printer::one(const syntax::ResourceDefaultsExpression& node) {
    virtual_marks();
    expr(node.type_ref);
    attribute_block(node.operations);
}

void Printer::one(const syntax::ResourceOverrideExpression& node) {
    virtual_marks();
    expr(node.resources);
    attribute_block(node.operations);
}

void Printer::one(const syntax::CollectExpression& node) {
    expr(node.type_expr);
    out_.space();
    token();
    const Node* condition = nullptr;
    if (const auto* query = as<syntax::VirtualQuery>(node.query)) condition = query->expr;
    if (const auto* query = as<syntax::ExportedQuery>(node.query)) condition = query->expr;
    out_.space();
    if (condition && condition->kind != syntax::NodeKind::Nop) {
        expr(condition);
        out_.space();
    }
    token();
    if (is(Tok::LBrace)) attribute_block(node.operations);
}

}  // namespace bunraku::format
