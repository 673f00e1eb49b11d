// SPDX-License-Identifier: Apache-2.0
// Manifests and EPP templates.
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/base/text.h"
#include "language/syntax/visit.h"
#include "language/types/type.h"
#include "services/lsp/analyze.h"

namespace bunraku::lsp {

namespace {

using syntax::as;
using syntax::Node;
using syntax::NodeKind;

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':' || c == '-';
}

Span node_span(const Node* node) { return {node->offset, node->length}; }

/// Returns the text of a literal string or bare word; nullopt for other expressions.
std::optional<std::string_view> literal_text(const Node* node) {
    if (const auto* text = as<syntax::LiteralString>(node)) return text->value;
    if (const auto* name = as<syntax::QualifiedName>(node)) return name->value;
    return std::nullopt;
}

/// Returns the span of the content of a literal: without its quotes.
Span literal_span(const Node* node, std::string_view value) {
    const std::string_view text = node->text();
    const std::size_t at = text.find(value);
    if (value.empty() || at == std::string_view::npos) return node_span(node);
    return {node->offset + static_cast<std::uint32_t>(at),
            static_cast<std::uint32_t>(value.size())};
}

/// The names of one scope. A lambda has a scope inside that of its definition.
struct ScopeFrame {
    std::string prefix;  ///< of full names; empty for the top scope
    std::unordered_set<std::string_view> names;
    bool definition = false;
    std::string inherits;
};

class ManifestAnalyzer {
public:
    explicit ManifestAnalyzer(const syntax::Tree& tree) : text_(tree.source->text()) {
        frames_.push_back({"", {}, true, ""});
        collect_assignments(tree.program->body, frames_.back());
        visit(tree.program->body);
    }
    FileSymbols take() {
        out_.finish();
        return std::move(out_);
    }

private:
    // Scopes.
    void collect_assigned(const Node* target, ScopeFrame& frame) {
        if (const auto* variable = as<syntax::VariableExpression>(target)) {
            if (!variable->qualified && !variable->numeric)
                frame.names.insert(variable->name.view());
        } else if (const auto* list = as<syntax::LiteralList>(target)) {
            for (const Node* item : list->values) collect_assigned(item, frame);
        }
    }
    /// Adds the variables that the code assigns in its own scope.
    void collect_assignments(const Node* node, ScopeFrame& frame) {
        if (!node) return;
        switch (node->kind) {
            case NodeKind::LambdaExpression:
            case NodeKind::HostClassDefinition:
            case NodeKind::ResourceTypeDefinition:
            case NodeKind::FunctionDefinition:
            case NodeKind::PlanDefinition:
            case NodeKind::NodeDefinition: return;
            case NodeKind::AssignmentExpression:
                collect_assigned(static_cast<const syntax::BinaryNode*>(node)->left, frame);
                break;
            default: break;
        }
        syntax::for_each_child(node, [&](const Node* child) { collect_assignments(child, frame); });
    }
    std::string local_prefix() { return fmt::format("~{}", ++locals_); }

    void use(SymbolKind kind, std::string_view name, Span span, Role role = Role::Use) {
        if (name.empty()) return;
        out_.occurrences.push_back({symbol_key(kind, name), span, role});
    }
    void use_lower(SymbolKind kind, std::string_view name, Span span, Role role = Role::Use) {
        use(kind, base::lower(without_top(name)), without_top_span(name, span), role);
    }
    static Span without_top_span(std::string_view name, Span span) {
        if (name.starts_with("::") && span.length > 2) return {span.offset + 2, span.length - 2};
        return span;
    }

    // Variables.
    void variable(const syntax::VariableExpression& node, Role role) {
        if (node.numeric) return;
        const std::string_view name = node.name.view();
        Span span = node_span(&node);
        const std::string_view around = text_.substr(node.offset, node.length + 2 + name.size());
        if (const std::size_t at = around.find(name); at != std::string_view::npos)
            span = {node.offset + static_cast<std::uint32_t>(at),
                    static_cast<std::uint32_t>(name.size())};
        if (node.qualified) {
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
    static std::string scoped(std::string_view prefix, std::string_view name) {
        return prefix.empty() ? std::string(name) : fmt::format("{}::{}", prefix, name);
    }
    void assign(const Node* target) {
        if (const auto* found = as<syntax::VariableExpression>(target)) {
            variable(*found, Role::Define);
        } else if (const auto* list = as<syntax::LiteralList>(target)) {
            for (const Node* item : list->values) assign(item);
        } else {
            visit(target);
        }
    }

    // Definitions.
    /// Returns the span of the name after the keyword at `offset`.
    Span name_after_keyword(std::uint32_t offset) const {
        std::size_t at = offset;
        while (at < text_.size() && is_name_character(text_[at])) ++at;
        at = skip_blank(at);
        std::size_t end = at;
        while (end < text_.size() && is_name_character(text_[end])) ++end;
        return {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at)};
    }
    std::size_t skip_blank(std::size_t at) const {
        while (at < text_.size()) {
            if (base::kBlanks.find(text_[at]) != std::string_view::npos) {
                ++at;
            } else if (text_[at] == '#') {
                at = std::min(text_.find('\n', at), text_.size());
            } else if (text_.substr(at, 2) == "/*") {
                const std::size_t end = text_.find("*/", at + 2);
                at = end == std::string_view::npos ? text_.size() : end + 2;
            } else {
                break;
            }
        }
        return at;
    }
    std::string_view written(Span span) const { return text_.substr(span.offset, span.length); }

    Definition& add_definition(DefinitionKind kind, SymbolKind symbol, std::string_view name,
                               Span name_span, const Node* node) {
        Definition out;
        out.kind = kind;
        out.key = symbol_key(symbol, base::lower(without_top(name)));
        out.shown = name;
        out.name_span = name_span;
        out.span = node_span(node);
        if (name_span.length > 0) out_.occurrences.push_back({out.key, name_span, Role::Define});
        return out_.definitions.emplace_back(std::move(out));
    }
    /// Returns the text of an expression including a closing bracket that its span may lack.
    std::string expression_text(const Node* node) const {
        std::size_t end = node->offset + node->length;
        const auto widen = [&](const auto& self, const Node* part) -> void {
            if (part->source != node->source) return;
            end = std::max<std::size_t>(end, part->offset + part->length);
            syntax::for_each_child(part, [&](const Node* child) { self(self, child); });
        };
        widen(widen, node);
        std::string out(text_.substr(node->offset, end - node->offset));
        const auto missing = std::ranges::count(out, '[') - std::ranges::count(out, ']');
        for (std::ptrdiff_t i = 0; i < missing; ++i) out += ']';
        return out;
    }
    void add_parameters(syntax::ParameterList parameters, ScopeFrame& frame, Definition* into) {
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
    void visit_parameters(syntax::ParameterList parameters) {
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
    /// Adds the names of `@param` tags in the comment above a definition.
    void documented_parameters(std::uint32_t offset, std::string_view prefix) {
        std::size_t end = text_.rfind('\n', offset);
        while (end != std::string_view::npos && end > 0) {
            const std::size_t before = text_.rfind('\n', end - 1);
            const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
            const std::string_view line = text_.substr(begin, end - begin);
            const std::string_view content = base::trim(line);
            if (!content.starts_with('#')) break;
            constexpr std::string_view kTag = "@param ";
            if (const std::size_t tag = line.find(kTag); tag != std::string_view::npos) {
                std::size_t from = line.find_first_not_of(' ', tag + kTag.size());
                if (from == std::string_view::npos) from = line.size();
                std::size_t to = from;
                while (to < line.size() && is_name_character(line[to])) ++to;
                if (to > from)
                    use(SymbolKind::Variable, scoped(prefix, line.substr(from, to - from)),
                        {static_cast<std::uint32_t>(begin + from),
                         static_cast<std::uint32_t>(to - from)});
            }
            end = before;
        }
    }

    template <class Named>
    void named(const Named& node, DefinitionKind kind, SymbolKind symbol, bool local) {
        const Span name_span = name_after_keyword(node.offset);
        ScopeFrame frame;
        frame.definition = true;
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
        frames_.push_back(std::move(frame));
        visit_parameters(node.parameters);
        if constexpr (requires { node.return_type; }) visit(node.return_type);
        visit(node.body);
        frames_ = outer;
    }
    void inherited_class(const syntax::NamedDefinition& node, Span name, std::string_view parent) {
        std::size_t at = name.end();
        for (const auto* parameter : node.parameters) {
            const Node* last = parameter->value ? parameter->value : parameter;
            at = std::max<std::size_t>(at, last->offset + last->length);
        }
        while ((at = skip_blank(at)) < text_.size() && text_[at] != '{') {
            if (text_.substr(at, 8) != "inherits") {
                ++at;
                continue;
            }
            const Span span = name_after_keyword(static_cast<std::uint32_t>(at));
            use_lower(SymbolKind::Class, parent, without_top_span(written(span), span));
            return;
        }
    }
    void type_alias(const syntax::TypeAlias& node) {
        const auto size = static_cast<std::uint32_t>(node.name.size());
        Definition& out = add_definition(DefinitionKind::DataType, SymbolKind::Type, node.name,
                                         {node.offset, size}, &node);
        out.returns = node.type_expr ? expression_text(node.type_expr) : "";
        visit(node.type_expr);
    }
    void node_definition(const syntax::NodeDefinition& node) {
        std::string name;
        for (const Node* host : node.host_matches) {
            if (!name.empty()) name += ", ";
            const auto text = literal_text(host);
            name += text ? *text : host->text();
        }
        const Node* first = node.host_matches.empty() ? &node : node.host_matches.front();
        Definition out;
        out.kind = DefinitionKind::Node;
        out.key = symbol_key(SymbolKind::Plan, "");
        out.shown = name;
        out.name_span = node_span(first);
        out.span = node_span(&node);
        out_.definitions.push_back(std::move(out));
        ScopeFrame frame{local_prefix(), {}, true, ""};
        collect_assignments(node.body, frame);
        const auto outer = std::exchange(frames_, {});
        frames_.push_back(std::move(frame));
        visit(node.body);
        frames_ = outer;
    }
    void lambda(const syntax::LambdaExpression& node) {
        ScopeFrame frame{local_prefix(), {}, false, ""};
        // The parameters of a template are those of the lambda around it.
        const auto* epp = as<syntax::EppExpression>(node.body);
        frame.definition = epp != nullptr;
        add_parameters(node.parameters, frame, nullptr);
        collect_assignments(epp ? epp->body : node.body, frame);
        frames_.push_back(std::move(frame));
        visit_parameters(node.parameters);
        visit(node.return_type);
        visit(node.body);
        frames_.pop_back();
    }

    // Resources.
    void operations(syntax::NodeList operations, std::string_view type) {
        for (const Node* node : operations) {
            const auto* attribute = as<syntax::AttributeOperation>(node);
            if (!attribute) {
                visit(node);
                continue;
            }
            if (!type.empty()) {
                use(SymbolKind::Variable, scoped(type, attribute->attribute_name),
                    {attribute->offset,
                     static_cast<std::uint32_t>(attribute->attribute_name.size())});
            }
            visit(attribute->value_expr);
        }
    }
    /// Calls `f(name, span)` for each literal in a title: a string or a list of strings.
    template <class F>
    void each_literal(const Node* node, const F& f) {
        if (const auto text = literal_text(node)) {
            f(*text, literal_span(node, *text));
        } else if (const auto* list = as<syntax::LiteralList>(node)) {
            for (const Node* item : list->values) each_literal(item, f);
        } else if (node) {
            visit(node);
        }
    }
    void class_names(const Node* node) {
        if (const auto* reference = as<syntax::QualifiedReference>(node)) {
            use_lower(SymbolKind::Class, reference->value, node_span(node));
            return;
        }
        if (const auto* list = as<syntax::LiteralList>(node)) {
            for (const Node* item : list->values) class_names(item);
            return;
        }
        each_literal(node, [&](std::string_view name, Span span) {
            use_lower(SymbolKind::Class, name, span);
        });
    }
    void resource_titles(const Node* node, const std::string& type, Role role) {
        each_literal(node, [&](std::string_view title, Span span) {
            use(SymbolKind::Resource, fmt::format("{}[{}]", type, title), span, role);
        });
    }
    void resource(const syntax::ResourceExpression& node) {
        const auto name = literal_text(node.type_name);
        const auto* reference = as<syntax::QualifiedReference>(node.type_name);
        std::string type;
        if (name) type = base::lower(without_top(*name));
        if (reference) type = reference->value;
        if (type == "class") {
            for (const auto* body : node.bodies) {
                class_names(body->title);
                const auto title = literal_text(body->title);
                operations(body->operations, title ? base::lower(without_top(*title)) : "");
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
    static std::string referenced_type(const Node* node) {
        if (const auto* access = as<syntax::AccessExpression>(node)) node = access->left;
        if (const auto* reference = as<syntax::QualifiedReference>(node))
            return std::string(without_top(reference->value));
        return {};
    }
    void access(const syntax::AccessExpression& node) {
        if (const auto* reference = as<syntax::QualifiedReference>(node.left)) {
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
    /// Handles $facts['os']['family']. Returns false for other accesses.
    bool fact_path(const syntax::AccessExpression& node) {
        std::vector<std::string_view> keys;
        std::vector<const Node*> nodes;
        const Node* at = &node;
        while (const auto* inner = as<syntax::AccessExpression>(at)) {
            const auto key = inner->keys.size() == 1 ? literal_text(inner->keys[0]) : std::nullopt;
            if (!key) return false;
            keys.push_back(*key);
            nodes.push_back(inner->keys[0]);
            at = inner->left;
        }
        const auto* variable_node = as<syntax::VariableExpression>(at);
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

    // Calls.
    void call(std::string_view name, Span span, syntax::NodeList arguments,
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
    /// Handles an argument that names something. Returns true if the first argument is done.
    bool special_argument(const std::string& function, syntax::NodeList arguments) {
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
                add_qualified_name(out_, key, key_span, Role::Use);
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

    void visit_children(const Node* node) {
        syntax::for_each_child(node, [&](const Node* child) { visit(child); });
    }
    void visit(const Node* node);

    std::string_view text_;
    std::vector<ScopeFrame> frames_;
    FileSymbols out_;
    int locals_ = 0;
};

void ManifestAnalyzer::visit(const Node* node) {
    if (!node) return;
    switch (node->kind) {
        case NodeKind::HostClassDefinition:
            return named(syntax::to<syntax::HostClassDefinition>(node), DefinitionKind::Class,
                         SymbolKind::Class, false);
        case NodeKind::ResourceTypeDefinition:
            return named(syntax::to<syntax::ResourceTypeDefinition>(node), DefinitionKind::Define,
                         SymbolKind::Type, false);
        case NodeKind::FunctionDefinition:
            return named(syntax::to<syntax::FunctionDefinition>(node), DefinitionKind::Function,
                         SymbolKind::Function, true);
        case NodeKind::PlanDefinition:
            return named(syntax::to<syntax::PlanDefinition>(node), DefinitionKind::Plan,
                         SymbolKind::Plan, true);
        case NodeKind::TypeAlias: return type_alias(syntax::to<syntax::TypeAlias>(node));
        case NodeKind::NodeDefinition:
            return node_definition(syntax::to<syntax::NodeDefinition>(node));
        case NodeKind::LambdaExpression: return lambda(syntax::to<syntax::LambdaExpression>(node));
        case NodeKind::VariableExpression:
            return variable(syntax::to<syntax::VariableExpression>(node), Role::Use);
        case NodeKind::AssignmentExpression: {
            const auto& assignment = *static_cast<const syntax::BinaryNode*>(node);
            assign(assignment.left);
            return visit(assignment.right);
        }
        case NodeKind::ResourceExpression:
            return resource(syntax::to<syntax::ResourceExpression>(node));
        case NodeKind::ResourceDefaultsExpression: {
            const auto& defaults = syntax::to<syntax::ResourceDefaultsExpression>(node);
            visit(defaults.type_ref);
            return operations(defaults.operations, referenced_type(defaults.type_ref));
        }
        case NodeKind::ResourceOverrideExpression: {
            const auto& changed = syntax::to<syntax::ResourceOverrideExpression>(node);
            visit(changed.resources);
            return operations(changed.operations, referenced_type(changed.resources));
        }
        case NodeKind::CollectExpression: {
            const auto& collect = syntax::to<syntax::CollectExpression>(node);
            visit(collect.type_expr);
            visit(collect.query);
            return operations(collect.operations, referenced_type(collect.type_expr));
        }
        case NodeKind::QualifiedReference: {
            const auto& reference = syntax::to<syntax::QualifiedReference>(node);
            return use_lower(SymbolKind::Type, reference.value, node_span(node));
        }
        case NodeKind::AccessExpression: return access(syntax::to<syntax::AccessExpression>(node));
        case NodeKind::CallNamedFunctionExpression: {
            const auto& named_call = syntax::to<syntax::CallNamedFunctionExpression>(node);
            if (const auto* name = as<syntax::QualifiedName>(named_call.functor)) {
                return call(name->value, node_span(name), named_call.arguments, named_call.lambda);
            }
            return visit_children(node);
        }
        case NodeKind::CallMethodExpression: {
            const auto& method = syntax::to<syntax::CallMethodExpression>(node);
            visit(method.functor->left);
            if (const auto* name = as<syntax::QualifiedName>(method.functor->right))
                return call(name->value, node_span(name), method.arguments, method.lambda);
            return visit_children(node);
        }
        case NodeKind::LiteralString: {
            constexpr std::string_view kServed = "puppet:///modules/";
            const auto value = syntax::to<syntax::LiteralString>(node).value;
            if (value.starts_with(kServed)) {
                use(SymbolKind::File, value.substr(kServed.size()),
                    literal_span(node, value.substr(kServed.size())));
            }
            return;
        }
        default: return visit_children(node);
    }
}

}  // namespace

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
