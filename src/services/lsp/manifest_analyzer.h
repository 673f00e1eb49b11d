// SPDX-License-Identifier: Apache-2.0
// Walks the tree of a manifest or EPP template and collects its symbols (internal to this folder).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "language/syntax/ast.h"
#include "services/lsp/symbols.h"

namespace bunraku::lsp {

/// The names of one scope. A lambda has a scope inside that of its definition.
struct ScopeFrame {
    std::string prefix;  ///< of full names; empty for the top scope
    std::unordered_set<std::string_view> names;
    bool definition = false;
    std::string inherits;
    bool of_class = false;  ///< $title and $name are `prefix`
};

class ManifestAnalyzer {
public:
    explicit ManifestAnalyzer(const syntax::Tree& tree);
    FileSymbols take();

private:
    using Node = syntax::Node;

    // Scopes and variables (manifest_scopes.cc).
    void collect_assigned(const Node* target, ScopeFrame& frame);
    /// Adds the variables that the code assigns in its own scope.
    void collect_assignments(const Node* node, ScopeFrame& frame);
    std::string local_prefix();
    void variable(const syntax::VariableExpression& node, Role role);
    /// Adds an occurrence of a variable that is visible in the current scope.
    void variable_named(std::string_view name, Span span, Role role);
    /// Adds the variable that a text names: "ntp::servers.0" or "$servers".
    void variable_in_text(const Node* node);
    static std::string scoped(std::string_view prefix, std::string_view name);
    void assign(const Node* target);
    void add_parameters(syntax::ParameterList parameters, ScopeFrame& frame, Definition* into);
    void visit_parameters(syntax::ParameterList parameters);
    void lambda(const syntax::LambdaExpression& node);
    void use(SymbolKind kind, std::string_view name, Span span, Role role = Role::Use);
    void use_lower(SymbolKind kind, std::string_view name, Span span, Role role = Role::Use);
    static Span without_top_span(std::string_view name, Span span);

    // Definitions (manifest_definitions.cc).
    /// Returns the span of the name after the keyword at `offset`.
    Span name_after_keyword(std::uint32_t offset) const;
    std::size_t skip_blank(std::size_t at) const;
    std::string_view written(Span span) const;
    Definition& add_definition(DefinitionKind kind, SymbolKind symbol, std::string_view name,
                               Span name_span, const Node* node);
    /// Returns the text of an expression including a closing bracket that its span may lack.
    std::string expression_text(const Node* node) const;
    /// Adds the names of `@param` tags in the comment above a definition.
    void documented_parameters(std::uint32_t offset, std::string_view prefix);
    void inherited_class(const syntax::NamedDefinition& node, Span name, std::string_view parent);
    void type_alias(const syntax::TypeAlias& node);
    void node_definition(const syntax::NodeDefinition& node);

    // Resources and calls (manifest_uses.cc).
    void operations(syntax::NodeList operations, std::string_view type,
                    Role role = Role::Attribute);
    /// Adds the keys of a literal hash as attributes of a type, and visits its values.
    void attribute_hash(const Node* node, std::string_view type, Role role);
    /// Handles create_resources('type', { 'title' => { .. } }) and ensure_resource(s).
    void created_resources(std::string_view function, syntax::NodeList arguments);
    void query(const Node* node, std::string_view type);
    /// Adds the attribute in Ntp::Vhost['x']['port']. Returns false for other accesses.
    bool attribute_access(const syntax::AccessExpression& node);
    /// Returns the class that a reference such as Class['ntp'] names; empty for others.
    static std::string referenced_class(const Node* node);
    /// Calls `f(name, span)` for each literal in a title: a string or a list of strings.
    template <class F>
    void each_literal(const Node* node, const F& f);
    void class_names(const Node* node);
    /// Adds the class that a text such as "${title}::install" names.
    void class_in_text(const syntax::ConcatenatedString& node);
    /// Returns the class whose title a variable is in the current scope: $title or $name in a
    /// class; empty for other variables.
    std::string_view class_of_title(std::string_view variable) const;
    void resource_titles(const Node* node, const std::string& type, Role role);
    void resource(const syntax::ResourceExpression& node);
    static std::string referenced_type(const Node* node);
    void access(const syntax::AccessExpression& node);
    /// Handles $facts['os']['family']. Returns false for other accesses.
    bool fact_path(const syntax::AccessExpression& node);
    void call(std::string_view name, Span span, syntax::NodeList arguments,
              const syntax::LambdaExpression* block);
    /// Handles an argument that names something. Returns true if the first argument is done.
    bool special_argument(const std::string& function, syntax::NodeList arguments);
    void defined_argument(const Node* node);
    void hiera_key(std::string_view text, Span span);
    void template_arguments(const std::string& function, syntax::NodeList arguments);
    /// Adds the variables in the text of an inline template.
    void inline_template(const Node* node, bool epp);
    /// A path in a module: 'ntp/a.erb' or "${module_name}/a.erb".
    struct ModulePath {
        std::string name;
        Span span;
    };
    std::optional<ModulePath> module_path(const Node* node, std::string_view prefix) const;

    // The walk (analyze_manifest.cc).
    template <class Named>
    void named(const Named& node, DefinitionKind kind, SymbolKind symbol, bool local);
    void visit_children(const Node* node);
    void visit(const Node* node);

    std::string_view text_;
    std::string module_;  ///< the module of the class, define or function around
    std::vector<ScopeFrame> frames_;
    FileSymbols out_;
    int locals_ = 0;
};

/// The beginning of a `source` that names a file of a module.
inline constexpr std::string_view kServedFiles = "puppet:///modules/";

/// Reports whether the character may be part of a qualified name.
bool is_name_character(char c);
Span node_span(const syntax::Node* node);
/// Returns the text of a literal string or bare word; nullopt for other expressions.
std::optional<std::string_view> literal_text(const syntax::Node* node);
/// Returns the span of the content of a literal: without its quotes.
Span literal_span(const syntax::Node* node, std::string_view value);

}  // namespace bunraku::lsp
