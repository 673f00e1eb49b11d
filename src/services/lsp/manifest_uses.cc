// SPDX-License-Identifier: Apache-2.0
// Resources, references, calls and facts in manifests.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/syntax/visit.h"
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
            const auto* all = syntax::as<syntax::AttributesOperation>(node);
            attribute_hash(all ? all->expr : node, type, role);
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

void ManifestAnalyzer::attribute_hash(const Node* node, std::string_view type, Role role) {
    if (const auto* inner = syntax::as<syntax::ParenthesizedExpression>(node))
        return attribute_hash(inner->expr, type, role);
    if (const auto* sum = syntax::as<syntax::ArithmeticExpression>(node)) {
        attribute_hash(sum->left, type, role);
        return attribute_hash(sum->right, type, role);
    }
    const auto* hash = syntax::as<syntax::LiteralHash>(node);
    if (!hash || type.empty()) return visit(node);
    for (const auto* entry : hash->entries) {
        if (const auto key = literal_text(entry->key)) {
            use(SymbolKind::Variable, scoped(type, *key), literal_span(entry->key, *key), role);
        } else {
            visit(entry->key);
        }
        visit(entry->value);
    }
}

void ManifestAnalyzer::created_resources(std::string_view function, syntax::NodeList arguments) {
    const auto name = literal_text(arguments[0]);
    const std::string type = name ? base::lower(without_top(*name)) : "";
    const bool classes = type == "class";
    // ensure_resource takes a title before the attributes.
    const bool by_title = function == "ensure_resource";
    if (by_title && arguments.size() > 1) visit(arguments[1]);
    for (std::size_t i = by_title ? 2 : 1; i < arguments.size(); ++i) {
        const auto* titles = syntax::as<syntax::LiteralHash>(arguments[i]);
        if (by_title || i > 1 || !titles) {
            attribute_hash(arguments[i], classes ? "" : type, Role::Attribute);
            continue;
        }
        for (const auto* entry : titles->entries) {
            const auto title = literal_text(entry->key);
            if (!title) {
                visit(entry->key);
            } else if (classes) {
                use_lower(SymbolKind::Class, *title, literal_span(entry->key, *title));
            } else if (!type.empty()) {
                resource_titles(entry->key, type, Role::Define);
            }
            const std::string owner = !classes ? type
                                      : title  ? base::lower(without_top(*title))
                                               : std::string();
            attribute_hash(entry->value, owner, classes ? Role::ClassAttribute : Role::Attribute);
        }
    }
}

void ManifestAnalyzer::query(const Node* node, std::string_view type) {
    if (!node) return;
    if (const auto* found = syntax::as<syntax::VirtualQuery>(node)) return query(found->expr, type);
    if (const auto* found = syntax::as<syntax::ExportedQuery>(node))
        return query(found->expr, type);
    if (const auto* comparison = syntax::as<syntax::ComparisonExpression>(node)) {
        const auto name = literal_text(comparison->left);
        if (!name || type.empty()) return visit_children(node);
        use(SymbolKind::Variable, scoped(type, *name), literal_span(comparison->left, *name),
            Role::Key);
        return visit(comparison->right);
    }
    syntax::for_each_child(node, [&](const Node* child) { query(child, type); });
}

std::string ManifestAnalyzer::referenced_class(const Node* node) {
    const auto* access = syntax::as<syntax::AccessExpression>(node);
    const auto* reference = access ? syntax::as<syntax::QualifiedReference>(access->left) : nullptr;
    if (!reference || reference->value != "class" || access->keys.size() != 1) return {};
    const auto name = literal_text(access->keys[0]);
    return name ? base::lower(without_top(*name)) : std::string();
}

bool ManifestAnalyzer::attribute_access(const syntax::AccessExpression& node) {
    const auto* resource = syntax::as<syntax::AccessExpression>(node.left);
    const auto* reference =
        resource ? syntax::as<syntax::QualifiedReference>(resource->left) : nullptr;
    const auto name = node.keys.size() == 1 ? literal_text(node.keys[0]) : std::nullopt;
    if (!reference || !name) return false;
    if (reference->value != "class" && types::builtin_type(reference->cased_value)) return false;
    const std::string owner =
        reference->value == "class" ? referenced_class(resource) : referenced_type(resource);
    visit(resource);
    if (!owner.empty())
        use(SymbolKind::Variable, scoped(owner, *name), literal_span(node.keys[0], *name),
            Role::Key);
    return true;
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
    if (const auto* text = syntax::as<syntax::ConcatenatedString>(node))
        return class_in_text(*text);
    each_literal(
        node, [&](std::string_view name, Span span) { use_lower(SymbolKind::Class, name, span); });
}

std::string_view ManifestAnalyzer::class_of_title(std::string_view variable) const {
    if (variable != "title" && variable != "name") return {};
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
        if (frame->names.contains(variable)) return {};
        if (frame->definition) return frame->of_class ? frame->prefix : std::string_view();
    }
    return {};
}

void ManifestAnalyzer::class_in_text(const syntax::ConcatenatedString& node) {
    visit(&node);
    std::string name;
    std::string_view around;
    for (const Node* part : node.segments) {
        if (const auto* text = syntax::as<syntax::LiteralString>(part)) {
            name += text->value;
            continue;
        }
        const auto* inner = syntax::as<syntax::TextExpression>(part);
        const auto* variable = syntax::as<syntax::VariableExpression>(inner ? inner->expr : part);
        if (!variable) return;
        if (const auto title = class_of_title(variable->name.view()); !title.empty()) {
            around = title;
            name += title;
        } else if (variable->name.view() == "module_name" && !module_.empty()) {
            name += module_;
        } else {
            return;
        }
    }
    // A rename replaces the whole text, with its quotes.
    const Span span = node_span(&node);
    use(SymbolKind::Class, base::lower(without_top(name)), span);
    if (!around.empty()) use(SymbolKind::Class, around, span, Role::Title);
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
    if (fact_path(node) || attribute_access(node)) return;
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
    // These functions handle all of their arguments.
    constexpr std::string_view kWhole[] = {"include",
                                           "contain",
                                           "require",
                                           "defined",
                                           "template",
                                           "epp",
                                           "file",
                                           "inline_template",
                                           "create_resources",
                                           "ensure_resource",
                                           "ensure_resources"};
    std::size_t first = 0;
    if (!arguments.empty() && special_argument(function, arguments))
        first = std::ranges::find(kWhole, function) != std::end(kWhole) ? arguments.size() : 1;
    for (std::size_t i = first; i < arguments.size(); ++i) visit(arguments[i]);
    if (block) lambda(*block);
}

bool ManifestAnalyzer::special_argument(const std::string& function, syntax::NodeList arguments) {
    if (function == "include" || function == "contain" || function == "require") {
        for (const Node* argument : arguments) class_names(argument);
        return true;
    }
    if (function == "defined") {
        for (const Node* argument : arguments) defined_argument(argument);
        return true;
    }
    if (function == "template" || function == "epp" || function == "file") {
        template_arguments(function, arguments);
        return true;
    }
    if (function == "inline_template" || function == "inline_epp") {
        // The second argument of inline_epp is a hash of parameters.
        const bool epp = function == "inline_epp";
        for (const Node* argument : epp ? arguments.first(1) : arguments)
            inline_template(argument, epp);
        return true;
    }
    const bool lookup = function == "lookup" || function == "hiera" || function == "hiera_array" ||
                        function == "hiera_hash" || function == "hiera_include";
    if (const auto* keys = syntax::as<syntax::LiteralList>(arguments[0]); keys && lookup) {
        each_literal(keys, [&](std::string_view key, Span span) { hiera_key(key, span); });
        return true;
    }
    if (function == "create_resources" || function == "ensure_resource" ||
        function == "ensure_resources") {
        if (const auto type = literal_text(arguments[0]); type && *type != "class")
            use_lower(SymbolKind::Type, *type, literal_span(arguments[0], *type));
        created_resources(function, arguments);
        return true;
    }
    if (function == "getvar") {
        variable_in_text(arguments[0]);
        return true;
    }
    const auto text = literal_text(arguments[0]);
    if (!text) return false;
    const Span span = literal_span(arguments[0], *text);
    if (lookup) {
        hiera_key(*text, span);
        return true;
    }
    if (function == "call") {
        use_lower(SymbolKind::Function, *text, span);
        return true;
    }
    return false;
}

void ManifestAnalyzer::hiera_key(std::string_view text, Span span) {
    const std::string_view key = text.substr(0, text.find('.'));
    const Span key_span{span.offset, static_cast<std::uint32_t>(key.size())};
    use(SymbolKind::HieraKey, key, key_span);
    if (key.find("::") != std::string_view::npos)
        add_qualified_name(out_, key, key_span, Role::Key);
}

/// A text names a variable, or a class, define or type.
void ManifestAnalyzer::defined_argument(const Node* node) {
    const auto text = literal_text(node);
    if (!text || text->empty()) return visit(node);
    if (text->starts_with('$')) return variable_in_text(node);
    if (!std::ranges::all_of(*text, is_name_character)) return;
    for (const SymbolKind kind : {SymbolKind::Class, SymbolKind::Type})
        use_lower(kind, *text, literal_span(node, *text), Role::Key);
}

std::optional<ManifestAnalyzer::ModulePath> ManifestAnalyzer::module_path(
    const Node* node, std::string_view prefix) const {
    if (const auto text = literal_text(node)) {
        if (!text->starts_with(prefix)) return std::nullopt;
        const std::string_view name = text->substr(prefix.size());
        return ModulePath{std::string(name), literal_span(node, name)};
    }
    const auto* parts = syntax::as<syntax::ConcatenatedString>(node);
    if (!parts || module_.empty()) return std::nullopt;
    std::string before;
    bool named = false;
    std::optional<ModulePath> out;
    for (const Node* part : parts->segments) {
        if (out) return std::nullopt;  // the rest is not literal
        if (const auto* text = syntax::as<syntax::LiteralString>(part)) {
            if (!named) {
                before += text->value;
            } else {
                out =
                    ModulePath{module_ + std::string(text->value), literal_span(part, text->value)};
            }
            continue;
        }
        const auto* inner = syntax::as<syntax::TextExpression>(part);
        const auto* name = syntax::as<syntax::VariableExpression>(inner ? inner->expr : part);
        if (!name || name->name.view() != "module_name" || named || before != prefix)
            return std::nullopt;
        named = true;
    }
    return out;
}

void ManifestAnalyzer::template_arguments(const std::string& function, syntax::NodeList arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (i > 0 && function == "epp") break;
        const auto path = module_path(arguments[i], "");
        if (!path || path->name.starts_with('/')) {
            visit(arguments[i]);
            continue;
        }
        if (!literal_text(arguments[i])) visit_children(arguments[i]);
        use(function == "file" ? SymbolKind::File : SymbolKind::Template, path->name, path->span);
        const auto* given = function == "epp" && arguments.size() > 1
                                ? syntax::as<syntax::LiteralHash>(arguments[1])
                                : nullptr;
        if (!given) continue;
        for (const auto* entry : given->entries) {
            const auto key = literal_text(entry->key);
            if (!key) continue;
            const std::string_view end = path->name.ends_with(".epp") ? "" : ".epp";
            use(SymbolKind::EppArgument, fmt::format("{}{}::{}", path->name, end, *key),
                literal_span(entry->key, *key));
        }
    }
    for (std::size_t i = 1; function == "epp" && i < arguments.size(); ++i) visit(arguments[i]);
}

void ManifestAnalyzer::inline_template(const Node* node, bool epp) {
    const auto* heredoc = syntax::as<syntax::HeredocExpression>(node);
    const Node* text = heredoc ? heredoc->text_expr : node;
    const bool literal = text && text->kind == syntax::NodeKind::LiteralString;
    if (!literal) visit(node);
    if (!text || (epp && !literal)) return;
    const std::string_view code = text_.substr(text->offset, text->length);
    if (epp) {
        for (std::size_t at = 0; (at = code.find('$', at)) != std::string_view::npos;) {
            std::size_t end = ++at;
            while (end < code.size() && code[end] != '-' && is_name_character(code[end])) ++end;
            const std::string_view open = code.substr(0, at);
            const std::size_t tag = open.rfind("<%"), closed = open.rfind("%>");
            const bool inside =
                tag != std::string_view::npos && (closed == std::string_view::npos || closed < tag);
            if (inside && end > at)
                variable_named(code.substr(at, end - at),
                               {text->offset + static_cast<std::uint32_t>(at),
                                static_cast<std::uint32_t>(end - at)},
                               Role::Key);
            at = end;
        }
        return;
    }
    for (const Occurrence& found : symbols_of_erb(code).occurrences) {
        const Span span{text->offset + found.span.offset, found.span.length};
        if (found.key.kind == SymbolKind::ErbVariable) {
            variable_named(found.key.name.view(), span, Role::Key);
        } else {
            out_.occurrences.push_back({found.key, span, found.role});
        }
    }
}

}  // namespace bunraku::lsp
