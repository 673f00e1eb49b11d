// SPDX-License-Identifier: Apache-2.0
// Manifests and EPP templates.
#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "language/syntax/visit.h"
#include "services/lsp/analyze.h"
#include "services/lsp/manifest_analyzer.h"

namespace bunraku::lsp {

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':' || c == '-';
}

Span node_span(const syntax::Node* node) { return {node->offset, node->length}; }

std::optional<std::string_view> literal_text(const syntax::Node* node) {
    if (const auto* text = syntax::as<syntax::LiteralString>(node)) return text->value;
    if (const auto* name = syntax::as<syntax::QualifiedName>(node)) return name->value;
    return std::nullopt;
}

Span literal_span(const syntax::Node* node, std::string_view value) {
    const std::string_view text = node->text();
    const std::size_t at = text.find(value);
    if (value.empty() || at == std::string_view::npos) return node_span(node);
    return {node->offset + static_cast<std::uint32_t>(at),
            static_cast<std::uint32_t>(value.size())};
}

ManifestAnalyzer::ManifestAnalyzer(const syntax::Tree& tree) : text_(tree.source->text()) {
    frames_.push_back({"", {}, true, ""});
    collect_assignments(tree.program->body, frames_.back());
    visit(tree.program->body);
}

FileSymbols ManifestAnalyzer::take() {
    out_.finish();
    return std::move(out_);
}

template <class Named>
void ManifestAnalyzer::named(const Named& node, DefinitionKind kind, SymbolKind symbol,
                             bool local) {
    const Span name_span = name_after_keyword(node.offset);
    ScopeFrame frame;
    frame.definition = true;
    frame.of_class = kind == DefinitionKind::Class;
    frame.prefix = local ? local_prefix() : base::lower(without_top(node.name));
    if constexpr (requires { node.parent_class; })
        frame.inherits = base::lower(without_top(node.parent_class));
    {
        Definition& out = add_definition(kind, symbol, node.name, name_span, &node);
        out.parent = frame.inherits;
        if constexpr (requires { node.return_type; })
            if (node.return_type) out.returns = expression_text(node.return_type);
        add_parameters(node.parameters, frame, &out);
    }
    collect_assignments(node.body, frame);
    documented_parameters(node.offset, frame.prefix);
    if (!frame.inherits.empty()) inherited_class(node, name_span, frame.inherits);
    const auto outer = std::exchange(frames_, {});
    const std::string_view plain = without_top(node.name);
    const std::string outer_module =
        std::exchange(module_, base::lower(plain.substr(0, plain.find("::"))));
    frames_.push_back(std::move(frame));
    visit_parameters(node.parameters);
    if constexpr (requires { node.return_type; }) visit(node.return_type);
    visit(node.body);
    frames_ = outer;
    module_ = outer_module;
}

void ManifestAnalyzer::visit_children(const Node* node) {
    syntax::for_each_child(node, [&](const Node* child) { visit(child); });
}

void ManifestAnalyzer::visit(const Node* node) {
    if (!node) return;
    switch (node->kind) {
        case syntax::NodeKind::HostClassDefinition:
            return named(syntax::to<syntax::HostClassDefinition>(node), DefinitionKind::Class,
                         SymbolKind::Class, false);
        case syntax::NodeKind::ResourceTypeDefinition:
            return named(syntax::to<syntax::ResourceTypeDefinition>(node), DefinitionKind::Define,
                         SymbolKind::Type, false);
        case syntax::NodeKind::FunctionDefinition:
            return named(syntax::to<syntax::FunctionDefinition>(node), DefinitionKind::Function,
                         SymbolKind::Function, true);
        case syntax::NodeKind::PlanDefinition:
            return named(syntax::to<syntax::PlanDefinition>(node), DefinitionKind::Plan,
                         SymbolKind::Plan, true);
        case syntax::NodeKind::TypeAlias: return type_alias(syntax::to<syntax::TypeAlias>(node));
        case syntax::NodeKind::NodeDefinition:
            return node_definition(syntax::to<syntax::NodeDefinition>(node));
        case syntax::NodeKind::LambdaExpression:
            return lambda(syntax::to<syntax::LambdaExpression>(node));
        case syntax::NodeKind::VariableExpression:
            return variable(syntax::to<syntax::VariableExpression>(node), Role::Use);
        case syntax::NodeKind::AssignmentExpression: {
            const auto& assignment = *static_cast<const syntax::BinaryNode*>(node);
            assign(assignment.left);
            return visit(assignment.right);
        }
        case syntax::NodeKind::ResourceExpression:
            return resource(syntax::to<syntax::ResourceExpression>(node));
        case syntax::NodeKind::ResourceDefaultsExpression: {
            const auto& defaults = syntax::to<syntax::ResourceDefaultsExpression>(node);
            visit(defaults.type_ref);
            return operations(defaults.operations, referenced_type(defaults.type_ref));
        }
        case syntax::NodeKind::ResourceOverrideExpression: {
            const auto& changed = syntax::to<syntax::ResourceOverrideExpression>(node);
            visit(changed.resources);
            if (const std::string name = referenced_class(changed.resources); !name.empty())
                return operations(changed.operations, name, Role::ClassAttribute);
            return operations(changed.operations, referenced_type(changed.resources));
        }
        case syntax::NodeKind::CollectExpression: {
            const auto& collect = syntax::to<syntax::CollectExpression>(node);
            visit(collect.type_expr);
            query(collect.query, referenced_type(collect.type_expr));
            return operations(collect.operations, referenced_type(collect.type_expr));
        }
        case syntax::NodeKind::QualifiedReference: {
            const auto& reference = syntax::to<syntax::QualifiedReference>(node);
            return use_lower(SymbolKind::Type, reference.value, node_span(node));
        }
        case syntax::NodeKind::AccessExpression:
            return access(syntax::to<syntax::AccessExpression>(node));
        case syntax::NodeKind::CallNamedFunctionExpression: {
            const auto& named_call = syntax::to<syntax::CallNamedFunctionExpression>(node);
            if (const auto* name = syntax::as<syntax::QualifiedName>(named_call.functor)) {
                return call(name->value, node_span(name), named_call.arguments, named_call.lambda);
            }
            if (const auto* type = syntax::as<syntax::QualifiedReference>(named_call.functor);
                type && type->value == "deferred" && !named_call.arguments.empty()) {
                const Node* function = named_call.arguments[0];
                if (const auto text = literal_text(function))
                    use_lower(SymbolKind::Function, *text, literal_span(function, *text));
            }
            return visit_children(node);
        }
        case syntax::NodeKind::CallMethodExpression: {
            const auto& method = syntax::to<syntax::CallMethodExpression>(node);
            const auto* function = syntax::as<syntax::QualifiedName>(method.functor->right);
            if (function && (function->value == "include" || function->value == "contain" ||
                             function->value == "require")) {
                class_names(method.functor->left);
            } else {
                visit(method.functor->left);
            }
            if (!function) return visit_children(node);
            // The node begins at the dot.
            const std::size_t at = text_.find(function->value, function->offset);
            const Span span{static_cast<std::uint32_t>(std::min(at, text_.size())),
                            static_cast<std::uint32_t>(function->value.size())};
            return call(function->value, span, method.arguments, method.lambda);
        }
        case syntax::NodeKind::ConcatenatedString:
            // A literal part is not the whole name of a file.
            for (const Node* part : syntax::to<syntax::ConcatenatedString>(node).segments)
                if (part->kind != syntax::NodeKind::LiteralString) visit(part);
            if (const auto path = module_path(node, kServedFiles))
                use(SymbolKind::File, path->name, path->span);
            return;
        case syntax::NodeKind::LiteralString: {
            if (const auto path = module_path(node, kServedFiles))
                use(SymbolKind::File, path->name, path->span);
            return;
        }
        default: return visit_children(node);
    }
}

void add_qualified_name(FileSymbols& out, std::string_view written, Span span, Role role) {
    const std::string_view name = without_top(written);
    if (name.size() != written.size()) span = {span.offset + 2, span.length - 2};
    if (span.length != name.size()) return;
    const std::string_view prefix = namespace_of(name);
    const std::string_view last = last_segment(name);
    if (!prefix.empty() && prefix != "settings") {
        out.occurrences.push_back({symbol_key(SymbolKind::Class, prefix),
                                   {span.offset, static_cast<std::uint32_t>(prefix.size())},
                                   Role::Prefix});
    }
    out.occurrences.push_back({symbol_key(SymbolKind::Variable, name),
                               {span.end() - static_cast<std::uint32_t>(last.size()),
                                static_cast<std::uint32_t>(last.size())},
                               role});
}

FileSymbols symbols_of_manifest(const syntax::Tree& tree) { return ManifestAnalyzer(tree).take(); }

}  // namespace bunraku::lsp
