// SPDX-License-Identifier: Apache-2.0
// Scopes, parameters and variables of manifests.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/base/text.h"
#include "language/syntax/visit.h"
#include "services/lsp/analyze.h"
#include "services/lsp/manifest_analyzer.h"

namespace bunraku::lsp {

void ManifestAnalyzer::collect_assigned(const Node* target, ScopeFrame& frame) {
    if (const auto* variable = syntax::as<syntax::VariableExpression>(target)) {
        if (!variable->qualified && !variable->numeric) frame.names.insert(variable->name.view());
    } else if (const auto* list = syntax::as<syntax::LiteralList>(target)) {
        for (const Node* item : list->values) collect_assigned(item, frame);
    }
}

void ManifestAnalyzer::collect_assignments(const Node* node, ScopeFrame& frame) {
    if (!node) return;
    switch (node->kind) {
        case syntax::NodeKind::LambdaExpression:
        case syntax::NodeKind::HostClassDefinition:
        case syntax::NodeKind::ResourceTypeDefinition:
        case syntax::NodeKind::FunctionDefinition:
        case syntax::NodeKind::PlanDefinition:
        case syntax::NodeKind::NodeDefinition: return;
        case syntax::NodeKind::AssignmentExpression:
            collect_assigned(static_cast<const syntax::BinaryNode*>(node)->left, frame);
            break;
        default: break;
    }
    syntax::for_each_child(node, [&](const Node* child) { collect_assignments(child, frame); });
}

std::string ManifestAnalyzer::local_prefix() { return fmt::format("~{}", ++locals_); }

void ManifestAnalyzer::variable(const syntax::VariableExpression& node, Role role) {
    if (node.numeric) return;
    const std::string_view name = node.name.view();
    Span span = node_span(&node);
    const std::string_view around = text_.substr(node.offset, node.length + 2 + name.size());
    if (const std::size_t at = around.find(name); at != std::string_view::npos)
        span = {node.offset + static_cast<std::uint32_t>(at),
                static_cast<std::uint32_t>(name.size())};
    variable_named(name, span, role);
}

void ManifestAnalyzer::variable_named(std::string_view name, Span span, Role role) {
    if (name.find("::") != std::string_view::npos) {
        add_qualified_name(out_, name, span, role);
        return;
    }
    // No code can assign these variables.
    if (name == "facts" || name == "trusted" || name == "server_facts")
        return use(SymbolKind::Variable, name, span, role);
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
        if (frame->names.contains(name)) {
            use(SymbolKind::Variable, scoped(frame->prefix, name), span, role);
            return;
        }
        if (!frame->definition) continue;
        if (!frame->inherits.empty()) {
            use(SymbolKind::Variable, scoped(frame->prefix, name), span, Role::Inherited);
            return;
        }
        break;
    }
    use(SymbolKind::Variable, name, span, role);
}

void ManifestAnalyzer::variable_in_text(const Node* node) {
    const auto text = literal_text(node);
    if (!text) return visit(node);
    Span span = literal_span(node, *text);
    if (span.length != text->size()) return;
    std::string_view name = text->substr(0, text->find('.'));
    if (name.starts_with('$')) {
        name.remove_prefix(1);
        ++span.offset;
    }
    span.length = static_cast<std::uint32_t>(name.size());
    if (!name.empty() && std::ranges::all_of(name, is_name_character))
        variable_named(name, span, Role::Key);
}

std::string ManifestAnalyzer::scoped(std::string_view prefix, std::string_view name) {
    return prefix.empty() ? std::string(name) : fmt::format("{}::{}", prefix, name);
}

void ManifestAnalyzer::assign(const Node* target) {
    if (const auto* found = syntax::as<syntax::VariableExpression>(target)) {
        variable(*found, Role::Define);
    } else if (const auto* list = syntax::as<syntax::LiteralList>(target)) {
        for (const Node* item : list->values) assign(item);
    } else {
        visit(target);
    }
}

void ManifestAnalyzer::add_parameters(syntax::ParameterList parameters, ScopeFrame& frame,
                                      Definition* into) {
    for (const auto* parameter : parameters) {
        if (!parameter->name.empty()) frame.names.insert(parameter->name);
        if (!into) continue;
        ParameterInfo info;
        info.name = parameter->name;
        if (parameter->type_expr) info.type = expression_text(parameter->type_expr);
        if (parameter->value) info.default_value = expression_text(parameter->value);
        info.span = {parameter->offset, parameter->length};
        info.required = !parameter->value && !parameter->captures_rest;
        info.captures_rest = parameter->captures_rest;
        into->parameters.push_back(std::move(info));
    }
}

void ManifestAnalyzer::visit_parameters(syntax::ParameterList parameters) {
    for (const auto* parameter : parameters) {
        visit(parameter->type_expr);
        const Span whole = node_span(parameter);
        const std::size_t at = written(whole).find(parameter->name);
        if (at != std::string_view::npos) {
            use(SymbolKind::Variable, scoped(frames_.back().prefix, parameter->name),
                {whole.offset + static_cast<std::uint32_t>(at),
                 static_cast<std::uint32_t>(parameter->name.size())},
                Role::Define);
        }
        visit(parameter->value);
    }
}

void ManifestAnalyzer::lambda(const syntax::LambdaExpression& node) {
    ScopeFrame frame{local_prefix(), {}, false, ""};
    // The parameters of a template are those of the lambda around it.
    const auto* epp = syntax::as<syntax::EppExpression>(node.body);
    frame.definition = epp != nullptr;
    add_parameters(node.parameters, frame, nullptr);
    collect_assignments(epp ? epp->body : node.body, frame);
    frames_.push_back(std::move(frame));
    visit_parameters(node.parameters);
    visit(node.return_type);
    visit(node.body);
    frames_.pop_back();
}

void ManifestAnalyzer::use(SymbolKind kind, std::string_view name, Span span, Role role) {
    if (name.empty()) return;
    out_.occurrences.push_back({symbol_key(kind, name), span, role});
}

void ManifestAnalyzer::use_lower(SymbolKind kind, std::string_view name, Span span, Role role) {
    use(kind, base::lower(without_top(name)), without_top_span(name, span), role);
}

Span ManifestAnalyzer::without_top_span(std::string_view name, Span span) {
    if (name.starts_with("::") && span.length > 2) return {span.offset + 2, span.length - 2};
    return span;
}

}  // namespace bunraku::lsp
