// SPDX-License-Identifier: Apache-2.0
// Resources, references, calls and facts in manifests.
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/types/type.h"
#include "services/lsp/analyze.h"
#include "services/lsp/manifest_analyzer.h"

namespace bunraku::lsp {

template <class F>
void ManifestAnalyzer::each_literal(const Node* node, const F& f) {
    if (const auto text = literal_text(node)) {
        f(*text, literal_span(node, *text));
    } else if (const auto* list = syntax::as<syntax::LiteralList>(node)) {
        for (const Node* item : list->values) each_literal(item, f);
    } else if (node) {
        visit(node);
    }
}

void ManifestAnalyzer::operations(syntax::NodeList operations, std::string_view type, Role role) {
    for (const Node* node : operations) {
        const auto* attribute = syntax::as<syntax::AttributeOperation>(node);
        if (!attribute) {
            visit(node);
            continue;
        }
        if (!type.empty()) {
            use(SymbolKind::Variable, scoped(type, attribute->attribute_name),
                {attribute->offset, static_cast<std::uint32_t>(attribute->attribute_name.size())},
                role);
        }
        visit(attribute->value_expr);
    }
}

void ManifestAnalyzer::class_names(const Node* node) {
    if (const auto* reference = syntax::as<syntax::QualifiedReference>(node)) {
        use_lower(SymbolKind::Class, reference->value, node_span(node));
        return;
    }
    if (const auto* list = syntax::as<syntax::LiteralList>(node)) {
        for (const Node* item : list->values) class_names(item);
        return;
    }
    each_literal(
        node, [&](std::string_view name, Span span) { use_lower(SymbolKind::Class, name, span); });
}

void ManifestAnalyzer::resource_titles(const Node* node, const std::string& type, Role role) {
    each_literal(node, [&](std::string_view title, Span span) {
        use(SymbolKind::Resource, fmt::format("{}[{}]", type, title), span, role);
    });
}

void ManifestAnalyzer::resource(const syntax::ResourceExpression& node) {
    const auto name = literal_text(node.type_name);
    const auto* reference = syntax::as<syntax::QualifiedReference>(node.type_name);
    std::string type;
    if (name) type = base::lower(without_top(*name));
    if (reference) type = reference->value;
    if (type == "class") {
        for (const auto* body : node.bodies) {
            class_names(body->title);
            const auto title = literal_text(body->title);
            operations(body->operations, title ? base::lower(without_top(*title)) : "",
                       Role::ClassAttribute);
        }
        return;
    }
    if (type.empty()) {
        visit(node.type_name);
    } else {
        use_lower(SymbolKind::Type, name ? *name : reference->value, node_span(node.type_name));
    }
    for (const auto* body : node.bodies) {
        resource_titles(body->title, type, Role::Define);
        operations(body->operations, type);
    }
}

std::string ManifestAnalyzer::referenced_type(const Node* node) {
    if (const auto* access = syntax::as<syntax::AccessExpression>(node)) node = access->left;
    if (const auto* reference = syntax::as<syntax::QualifiedReference>(node))
        return std::string(without_top(reference->value));
    return {};
}

void ManifestAnalyzer::access(const syntax::AccessExpression& node) {
    if (const auto* reference = syntax::as<syntax::QualifiedReference>(node.left)) {
        if (reference->value == "class") {
            for (const Node* key : node.keys) class_names(key);
            return;
        }
        visit(node.left);
        const bool data = types::builtin_type(reference->cased_value) != nullptr;
        for (const Node* key : node.keys) {
            if (data) {
                visit(key);
            } else {
                resource_titles(key, std::string(reference->value), Role::Use);
            }
        }
        return;
    }
    if (fact_path(node)) return;
    visit(node.left);
    for (const Node* key : node.keys) visit(key);
}

bool ManifestAnalyzer::fact_path(const syntax::AccessExpression& node) {
    std::vector<std::string_view> keys;
    std::vector<const Node*> nodes;
    const Node* at = &node;
    while (const auto* inner = syntax::as<syntax::AccessExpression>(at)) {
        const auto key = inner->keys.size() == 1 ? literal_text(inner->keys[0]) : std::nullopt;
        if (!key) return false;
        keys.push_back(*key);
        nodes.push_back(inner->keys[0]);
        at = inner->left;
    }
    const auto* variable_node = syntax::as<syntax::VariableExpression>(at);
    if (!variable_node || without_top(variable_node->name.view()) != "facts") return false;
    variable(*variable_node, Role::Use);
    std::string path;
    for (std::size_t i = keys.size(); i-- > 0;) {
        if (!path.empty()) path += '.';
        path += keys[i];
        use(SymbolKind::Fact, path, literal_span(nodes[i], keys[i]));
    }
    return true;
}

void ManifestAnalyzer::call(std::string_view name, Span span, syntax::NodeList arguments,
                            const syntax::LambdaExpression* block) {
    use_lower(SymbolKind::Function, name, span);
    const std::string function = base::lower(without_top(name));
    std::size_t first = 0;
    if (!arguments.empty()) first = special_argument(function, arguments) ? 1 : 0;
    if (function == "include" || function == "contain" || function == "require" ||
        function == "hiera_include") {
        first = function == "hiera_include" ? first : arguments.size();
    }
    for (std::size_t i = first; i < arguments.size(); ++i) visit(arguments[i]);
    if (block) lambda(*block);
}

bool ManifestAnalyzer::special_argument(const std::string& function, syntax::NodeList arguments) {
    const auto text = literal_text(arguments[0]);
    if (function == "include" || function == "contain" || function == "require") {
        for (const Node* argument : arguments) class_names(argument);
        return true;
    }
    if (!text) return false;
    const Span span = literal_span(arguments[0], *text);
    if (function == "lookup" || function == "hiera" || function == "hiera_array" ||
        function == "hiera_hash" || function == "hiera_include") {
        const std::string_view key = text->substr(0, text->find('.'));
        const Span key_span{span.offset, static_cast<std::uint32_t>(key.size())};
        use(SymbolKind::HieraKey, key, key_span);
        if (key.find("::") != std::string_view::npos)
            add_qualified_name(out_, key, key_span, Role::Key);
        return true;
    }
    if (function == "template" || function == "epp") {
        use(SymbolKind::Template, *text, span);
        return true;
    }
    if (function == "file" && !text->starts_with('/')) {
        use(SymbolKind::File, *text, span);
        return true;
    }
    if (function == "create_resources") {
        use_lower(*text == "class" ? SymbolKind::Class : SymbolKind::Type, *text, span);
        return true;
    }
    return false;
}

}  // namespace bunraku::lsp
