// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/expression.h"

#include <algorithm>

#include "core/base/text.h"
#include "language/syntax/visit.h"

namespace bunraku::insight {

using syntax::Node;
using syntax::NodeKind;

const Node* bare(const Node* node) {
    while (node && node->kind == NodeKind::ParenthesizedExpression)
        node = syntax::to<syntax::ParenthesizedExpression>(node).expr;
    return node;
}

std::string_view called(const Node* node) {
    const Node* name = nullptr;
    if (const auto* c = syntax::as<syntax::CallNamedFunctionExpression>(node)) name = c->functor;
    if (const auto* c = syntax::as<syntax::CallMethodExpression>(node))
        name = c->functor ? c->functor->right : nullptr;
    const auto* word = syntax::as<syntax::QualifiedName>(name);
    return word ? word->value : std::string_view();
}

std::vector<const Node*> arguments(const Node* node) {
    std::vector<const Node*> out;
    if (const auto* c = syntax::as<syntax::CallNamedFunctionExpression>(node))
        out.assign(c->arguments.begin(), c->arguments.end());
    if (const auto* c = syntax::as<syntax::CallMethodExpression>(node)) {
        if (c->functor) out.push_back(c->functor->left);
        out.insert(out.end(), c->arguments.begin(), c->arguments.end());
    }
    return out;
}

bool is_call(const Node* node) {
    return node && (node->kind == NodeKind::CallNamedFunctionExpression ||
                    node->kind == NodeKind::CallMethodExpression);
}

std::string call_head(const Node* node) {
    const Node* lambda = nullptr;
    if (const auto* c = syntax::as<syntax::CallNamedFunctionExpression>(node)) lambda = c->lambda;
    if (const auto* c = syntax::as<syntax::CallMethodExpression>(node)) lambda = c->lambda;
    std::string code = code_of(node);
    if (lambda) code.resize(code.size() - std::min(code.size(), code_of(lambda).size()));
    return on_one_line(base::trim(code));
}

bool is_literal(const Node* node) {
    node = bare(node);
    return node &&
           (node->kind == NodeKind::LiteralString || node->kind == NodeKind::QualifiedName ||
            node->kind == NodeKind::LiteralInteger || node->kind == NodeKind::LiteralBoolean ||
            node->kind == NodeKind::LiteralFloat || node->kind == NodeKind::LiteralUndef);
}

Branches branches(const Node* node) {
    Branches out;
    if (const auto* n = syntax::as<syntax::IfExpression>(node)) {
        out.test = n->test;
        out.all = {{n->then_expr, {}}, {n->else_expr, {}}};
    } else if (const auto* u = syntax::as<syntax::UnlessExpression>(node)) {
        out.test = u->test;
        out.all = {{u->else_expr, {}}, {u->then_expr, {}}};
    } else if (const auto* c = syntax::as<syntax::CaseExpression>(node)) {
        out.test = c->test;
        for (const auto* each : c->options)
            out.all.push_back({each->then_expr, {each->values.begin(), each->values.end()}});
    } else if (const auto* s = syntax::as<syntax::SelectorExpression>(node)) {
        out.test = s->left;
        for (const auto* each : s->selectors)
            out.all.push_back({each->value_expr, {each->matching_expr}});
    }
    return out;
}

std::string code_of(const Node* node) {
    if (!node || !node->source) return {};
    std::uint32_t begin = node->offset, end = node->offset + node->length;
    auto widen = [&](auto&& self, const Node* each) -> void {
        if (each->source != node->source) return;
        if (each->length > 0) {
            begin = std::min(begin, each->offset);
            end = std::max(end, each->offset + each->length);
        }
        syntax::for_each_child(each, [&](const Node* inner) { self(self, inner); });
    };
    widen(widen, node);
    const auto text = node->source->text();
    end = std::min(end, static_cast<std::uint32_t>(text.size()));
    // Closing brackets are not nodes, so they are added here.
    auto open = [&] {
        int count = 0;
        for (const char c : text.substr(begin, end - begin))
            count += std::string_view("([{").find(c) != std::string_view::npos   ? 1
                     : std::string_view(")]}").find(c) != std::string_view::npos ? -1
                                                                                 : 0;
        return count;
    };
    for (int left = begin < end ? open() : 0; left > 0; --left) {
        const auto next = text.find_first_not_of(" \t\r\n,;", end);
        if (next == std::string_view::npos ||
            std::string_view(")]}").find(text[next]) == std::string_view::npos)
            break;
        end = static_cast<std::uint32_t>(next) + 1;
    }
    return begin < end ? std::string(text.substr(begin, end - begin)) : std::string();
}

std::string on_one_line(std::string_view code) {
    std::string out;
    for (const char c : code) {
        const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (blank && (out.empty() || out.back() == ' ')) continue;
        out += blank ? ' ' : c;
    }
    return shortened(std::move(out));
}

std::string shortened(std::string text) {
    constexpr std::size_t kShownLength = 100;
    if (text.size() <= kShownLength) return text;
    std::size_t most = kShownLength;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    return text.substr(0, most) + "...";
}

}  // namespace bunraku::insight
