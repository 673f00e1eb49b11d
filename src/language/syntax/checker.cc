// SPDX-License-Identifier: Apache-2.0
// The checks on a parsed tree: Puppet's Checker4_0 and TasksChecker (8.11).
#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <set>
#include <vector>

#include "language/syntax/char_class.h"
#include "language/syntax/issues.h"
#include "language/syntax/literal.h"
#include "language/syntax/location_check.h"
#include "language/syntax/node_kinds.h"
#include "language/syntax/parser.h"
#include "language/syntax/visit.h"

namespace bunraku::syntax {

namespace {

using issue::Issue;

/// `[a-z]\w*(::[a-z]\w*)*`
bool is_definition_name(std::string_view name) {
    for (std::size_t i = 0;;) {
        if (i >= name.size() || !is_lower(name[i])) return false;
        while (i < name.size() && is_word(name[i])) ++i;
        if (i == name.size()) return true;
        if (!name.substr(i).starts_with("::")) return false;
        i += 2;
    }
}

/// `[A-Z]\w*(::[A-Z]\w*)*`
bool is_type_name(std::string_view name) {
    for (std::size_t i = 0;;) {
        if (i >= name.size() || !is_upper(name[i])) return false;
        while (i < name.size() && is_word(name[i])) ++i;
        if (i == name.size()) return true;
        if (!name.substr(i).starts_with("::")) return false;
        i += 2;
    }
}

/// `(::)?([a-z]\w*::)*[a-z_]\w*`
bool is_variable_name(std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    for (;;) {
        if (name.empty() || !(is_lower(name[0]) || name[0] == '_')) return false;
        std::size_t i = 0;
        while (i < name.size() && is_word(name[i])) ++i;
        if (i == name.size()) return true;
        if (name[0] == '_' || !name.substr(i).starts_with("::")) return false;
        name.remove_prefix(i + 2);
    }
}

bool is_parameter_name(std::string_view name) {
    return !name.empty() && (is_lower(name[0]) || name[0] == '_') &&
           std::all_of(name.begin(), name.end(), is_word);
}

bool is_number_name(std::string_view name) {
    return !name.empty() && (name == "0" || name[0] != '0') &&
           std::all_of(name.begin(), name.end(), is_digit);
}

bool is_reserved_type_name(std::string_view name) {
    static constexpr std::string_view kNames[] = {
        "type",      "any",        "unit",        "scalar",  "boolean",   "numeric",  "integer",
        "float",     "collection", "array",       "hash",    "tuple",     "struct",   "variant",
        "optional",  "enum",       "regexp",      "pattern", "runtime",   "init",     "object",
        "sensitive", "semver",     "semverrange", "string",  "timestamp", "timespan", "typeset"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool is_definition(const Node* node) {
    switch (node->kind) {
        case NodeKind::FunctionDefinition:
        case NodeKind::PlanDefinition:
        case NodeKind::HostClassDefinition:
        case NodeKind::ResourceTypeDefinition:
        case NodeKind::NodeDefinition:
        case NodeKind::TypeAlias:
        case NodeKind::TypeDefinition:
        case NodeKind::TypeMapping: return true;
        default: return false;
    }
}

bool is_abstract_resource(const Node* node) {
    return node->kind == NodeKind::ResourceExpression ||
           node->kind == NodeKind::ResourceDefaultsExpression ||
           node->kind == NodeKind::ResourceOverrideExpression;
}

/// Returns the operand of a node with a single operand, or null for other kinds.
const Node* const* unary_operand(const Node* node) {
    switch (node->kind) {
        case NodeKind::ParenthesizedExpression: return &to<ParenthesizedExpression>(node).expr;
        case NodeKind::NotExpression: return &to<NotExpression>(node).expr;
        case NodeKind::UnaryMinusExpression: return &to<UnaryMinusExpression>(node).expr;
        case NodeKind::UnfoldExpression: return &to<UnfoldExpression>(node).expr;
        case NodeKind::TextExpression: return &to<TextExpression>(node).expr;
        case NodeKind::VariableExpression: return &to<VariableExpression>(node).expr;
        case NodeKind::RenderExpression: return &to<RenderExpression>(node).expr;
        default: return nullptr;
    }
}

/// Reports whether the node is known to have no side effect, so that only its value is useful.
bool is_idem(const Node* node) {
    if (node == nullptr || is_operand(node->kind)) return true;
    auto none_productive = [](const auto& nodes) {
        return std::all_of(nodes.begin(), nodes.end(), [](const Node* n) { return is_idem(n); });
    };
    switch (node->kind) {
        case NodeKind::Nop:
        case NodeKind::TextExpression:
        case NodeKind::NotExpression:
        case NodeKind::UnaryMinusExpression:
        case NodeKind::UnfoldExpression:
        case NodeKind::ArithmeticExpression:
        case NodeKind::ComparisonExpression:
        case NodeKind::InExpression:
        case NodeKind::AndExpression:
        case NodeKind::OrExpression:
        case NodeKind::AccessExpression:
        case NodeKind::NamedAccessExpression:
        case NodeKind::LiteralList:
        case NodeKind::LiteralHash:
        case NodeKind::SelectorExpression: return true;
        case NodeKind::ParenthesizedExpression:
            return is_idem(to<ParenthesizedExpression>(node).expr);
        case NodeKind::BlockExpression:
            return none_productive(to<BlockExpression>(node).statements);
        case NodeKind::IfExpression: {
            const auto& e = to<IfExpression>(node);
            return is_idem(e.test) && is_idem(e.then_expr) && is_idem(e.else_expr);
        }
        case NodeKind::UnlessExpression: {
            const auto& e = to<UnlessExpression>(node);
            return is_idem(e.test) && is_idem(e.then_expr) && is_idem(e.else_expr);
        }
        case NodeKind::CaseExpression:
            return is_idem(to<CaseExpression>(node).test) &&
                   none_productive(to<CaseExpression>(node).options);
        case NodeKind::CaseOption:
            return none_productive(to<CaseOption>(node).values) &&
                   is_idem(to<CaseOption>(node).then_expr);
        default: return false;
    }
}

class Checker {
public:
    Checker(const Tree& tree, const ValidateOptions& options)
        : tree_(tree),
          options_(options),
          location_(tree.source->file(), options.modulepath, options.manifest) {}

    std::vector<base::Diagnostic> run() {
        check_top_constructs();
        path_.push_back(tree_.program);
        if (tree_.program->body) visit(tree_.program->body);
        return std::move(found_);
    }

private:
    template <class... Args>
    void accept(const Issue& issue, const Node* node, const Args&... args) {
        base::Diagnostic d;
        d.level = base::Level::Err;
        switch (issue.severity) {
            case issue::Severity::Error: break;
            case issue::Severity::Deprecation:
                d.level = base::Level::Warning;
                d.deprecation = true;
                break;
            case issue::Severity::Strict:
                if (options_.strict == ValidateOptions::Strict::Off) return;
                if (options_.strict == ValidateOptions::Strict::Warning)
                    d.level = base::Level::Warning;
                break;
        }
        d.message = fmt::format(fmt::runtime(issue.text), args...);
        d.where = node->where();
        d.issue_code = issue.code;
        found_.push_back(std::move(d));
    }

    const Node* container(std::size_t up = 1) const {
        return path_.size() >= up ? path_[path_.size() - up] : nullptr;
    }

    /// Checks a node, then its children.
    void visit(const Node* node) {
        if (options_.tasks) {
            check_tasks(node);
        } else {
            check(node);
        }
        path_.push_back(node);
        for_each_child(node, [this](const Node* child) {
            if (!stopped_) visit(child);
        });
        path_.pop_back();
    }

    void check(const Node* node);
    void check_tasks(const Node* node);
    /// Reports whether the current node is in the block of an `apply`, and not in its arguments.
    bool in_apply() const {
        for (std::size_t i = 1; i < path_.size(); ++i) {
            const auto* apply = as<ApplyExpression>(path_[i - 1]);
            if (apply && path_[i] == apply->body) return true;
        }
        return false;
    }

    // Roles.
    void check_top(const Node* definition);
    void check_top_constructs();
    void check_rvalue(const Node* node);
    void check_assignable(const Node* node);
    void check_hostname(const Node* node, const Node* definition);
    void check_hostname_text(std::string_view name, const Node* node);
    void check_query(const Node* node);
    void check_relation(const Node* node);
    void check_no_assignment(const Node* node);

    // Definitions.
    void check_definition_name(const NamedDefinition& node);
    void check_class(const HostClassDefinition& node);
    void check_define(const ResourceTypeDefinition& node);
    void check_function(const NamedDefinition& node, const Node* return_type);
    void check_node(const NodeDefinition& node);
    void check_type_alias(const TypeAlias& node);
    void check_type_mapping(const TypeMapping& node);
    void check_parameter(const Parameter& node);
    void check_return_type(const Node* owner, const Node* type);
    void check_unique_parameters(ParameterList parameters);
    void check_no_capture(ParameterList parameters, const Node* owner);
    void check_reserved_parameters(const NamedDefinition& node);
    void check_no_idem_last(const Node* body, const Node* owner);
    void check_reserved_type_name(const Node* node, std::string_view name);
    void check_future_word(const Node* node, std::string_view word) {
        if (word == "plan") accept(issue::kFutureReservedWord, node, word);
    }

    // Expressions.
    void check_block(const BlockExpression& node);
    void check_call(const CallNamedFunctionExpression& node);
    void check_case(const CaseExpression& node);
    void check_selector(const SelectorExpression& node);
    void check_hash(const LiteralHash& node);
    void check_heredoc(const HeredocExpression& node);
    void check_attribute(const AttributeOperation& node);
    void check_attributes(const AttributesOperation& node);
    void check_variable(const VariableExpression& node);
    bool is_resource_without_title(const Node* node) const;

    std::string a_an_of(const Node* node) const { return a_an(label(node)); }
    std::string a_an_upper_of(const Node* node) const { return a_an_upper(label(node)); }

    const Tree& tree_;
    const ValidateOptions& options_;
    LocationCheck location_;
    std::vector<const Node*> path_;
    std::vector<base::Diagnostic> found_;
    bool stopped_ = false;
};

//---- Roles

/// Definitions are allowed at the top level and in the block of a class. Functions and types are
/// only allowed at the top level.
void Checker::check_top(const Node* definition) {
    const bool only_at_top = definition->kind == NodeKind::FunctionDefinition ||
                             definition->kind == NodeKind::PlanDefinition ||
                             definition->kind == NodeKind::TypeAlias ||
                             definition->kind == NodeKind::TypeDefinition;
    for (std::size_t up = 1;; ++up) {
        const Node* outer = container(up);
        if (outer == nullptr) return;
        switch (outer->kind) {
            case NodeKind::ApplyExpression:
            case NodeKind::HostClassDefinition:
            case NodeKind::Program: return;
            case NodeKind::BlockExpression: {
                const Node* next = container(up + 1);
                if (only_at_top && !(next && next->kind == NodeKind::Program)) {
                    accept(issue::kNotAbsoluteTopLevel, definition, a_an_upper_of(definition));
                    return;
                }
                break;
            }
            default: accept(issue::kNotTopLevel, definition); return;
        }
    }
}

void Checker::check_top_constructs() {
    const Node* body = tree_.program->body;
    if (!body || body->kind == NodeKind::Nop || !location_.applies()) return;
    auto one = [this](const Node* node) {
        if (is_definition(node) && node->kind != NodeKind::NodeDefinition) return;
        accept(issue::kIllegalTopConstructLocation, node, fmt::format("This {}", label(node)));
    };
    if (const auto* block = as<BlockExpression>(body)) {
        for (const Node* statement : block->statements) one(statement);
    } else {
        one(body);
    }
}

void Checker::check_rvalue(const Node* node) {
    for (;;) {
        if (node == nullptr) return;
        if (node->kind == NodeKind::CollectExpression || is_definition(node)) {
            accept(issue::kNotRvalue, node, a_an_upper_of(node));
            return;
        }
        const Node* const* operand = unary_operand(node);
        if (!operand) return;
        node = *operand;
    }
}

void Checker::check_assignable(const Node* node) {
    switch (node->kind) {
        case NodeKind::VariableExpression: {
            const Node* expr = to<VariableExpression>(node).expr;
            const auto* qualified = as<QualifiedName>(expr);
            const std::string_view name = qualified ? qualified->value : std::string_view();
            if (is_number_name(name)) accept(issue::kIllegalNumericAssignment, node, name);
            if (name.find("::") != std::string_view::npos)
                accept(issue::kCrossScopeAssignment, node, name);
            break;
        }
        case NodeKind::AccessExpression: accept(issue::kIllegalIndexedAssignment, node); break;
        case NodeKind::LiteralList:
            for (const Node* value : to<LiteralList>(node).values) check_assignable(value);
            break;
        default: accept(issue::kIllegalAssignment, node, a_an_of(node));
    }
}

void Checker::check_hostname_text(std::string_view name, const Node* node) {
    // Puppet's \w is ASCII, so every other character is illegal.
    if (!std::all_of(name.begin(), name.end(),
                     [](char c) { return is_word(c) || c == '-' || c == '.'; })) {
        accept(issue::kIllegalHostnameChars, node, name);
    }
}

void Checker::check_hostname(const Node* node, const Node* definition) {
    switch (node->kind) {
        case NodeKind::LiteralString:
            check_hostname_text(to<LiteralString>(node).value, node);
            break;
        case NodeKind::LiteralDefault:
        case NodeKind::LiteralRegularExpression:
        case NodeKind::LiteralInteger:
        case NodeKind::LiteralFloat: break;
        case NodeKind::ConcatenatedString: {
            for (const Node* segment : to<ConcatenatedString>(node).segments) {
                if (const auto* text = as<TextExpression>(segment)) {
                    accept(issue::kIllegalHostnameInterpolation, text->expr);
                    return;
                }
            }
            accept(issue::kIllegalHostnameInterpolation, node);
            break;
        }
        default:
            accept(issue::kIllegalExpression, node, a_an_upper_of(node), "hostname",
                   a_an_of(definition));
    }
}

void Checker::check_query(const Node* node) {
    switch (node->kind) {
        case NodeKind::ComparisonExpression: {
            const Op op = to<ComparisonExpression>(node).op;
            if (op != Op::Equal && op != Op::NotEqual) {
                accept(issue::kIllegalQueryExpression, node, a_an_upper_of(node));
            }
            break;
        }
        case NodeKind::AndExpression:
        case NodeKind::OrExpression:
            check_query(static_cast<const BinaryNode*>(node)->left);
            check_query(static_cast<const BinaryNode*>(node)->right);
            break;
        case NodeKind::ParenthesizedExpression:
            check_query(to<ParenthesizedExpression>(node).expr);
            break;
        case NodeKind::VariableExpression:
        case NodeKind::QualifiedName:
        case NodeKind::LiteralInteger:
        case NodeKind::LiteralFloat:
        case NodeKind::LiteralString:
        case NodeKind::RenderStringExpression:
        case NodeKind::LiteralBoolean: break;
        default: accept(issue::kIllegalQueryExpression, node, a_an_upper_of(node));
    }
}

void Checker::check_relation(const Node* node) {
    if (node->kind == NodeKind::CollectExpression || node->kind == NodeKind::RelationshipExpression)
        return;
    check_rvalue(node);
}

/// Rejects assignments in the default of a parameter. They are allowed in lambdas.
void Checker::check_no_assignment(const Node* node) {
    if (node->kind == NodeKind::AssignmentExpression) {
        accept(issue::kIllegalAssignmentContext, node);
    } else if (node->kind != NodeKind::LambdaExpression) {
        for_each_child(node, [this](const Node* child) { check_no_assignment(child); });
    }
}

//---- Definitions

void Checker::check_reserved_type_name(const Node* node, std::string_view name) {
    if (is_reserved_type_name(name)) accept(issue::kReservedTypeName, node, name, a_an_of(node));
}

void Checker::check_definition_name(const NamedDefinition& node) {
    check_top(&node);
    if (!is_definition_name(node.name)) {
        accept(issue::kIllegalDefinitionName, &node, node.name, a_an_of(&node));
    }
    if (!location_.allows(node.name)) {
        accept(issue::kIllegalDefinitionLocation, &node, node.name, tree_.source->file());
    }
    check_reserved_type_name(&node, node.name);
    check_future_word(&node, node.name);
}

void Checker::check_unique_parameters(ParameterList parameters) {
    std::set<std::string_view> seen;
    for (const Parameter* parameter : parameters) {
        if (!seen.insert(parameter->name).second) {
            accept(issue::kDuplicateParameter, parameter, parameter->name);
        }
    }
}

void Checker::check_no_capture(ParameterList parameters, const Node* owner) {
    for (const Parameter* parameter : parameters) {
        if (parameter->captures_rest) {
            accept(issue::kCapturesRestNotSupported, parameter, parameter->name, a_an_of(owner));
        }
    }
}

void Checker::check_reserved_parameters(const NamedDefinition& node) {
    for (const Parameter* parameter : node.parameters) {
        if (parameter->name == "name" || parameter->name == "title") {
            accept(issue::kReservedParameter, parameter, parameter->name, label(&node));
        }
    }
}

bool Checker::is_resource_without_title(const Node* node) const {
    if (options_.tasks) return false;
    const auto* block = as<BlockExpression>(node);
    if (!block || block->statements.size() != 2) return false;
    return block->statements[0]->kind == NodeKind::QualifiedName &&
           block->statements[1]->kind == NodeKind::LiteralHash;
}

void Checker::check_no_idem_last(const Node* body, const Node* owner) {
    const Node* last = body;
    if (const auto* block = as<BlockExpression>(body)) {
        last = block->statements.empty() ? nullptr : block->statements.back();
    }
    if (!last || !is_idem(last) || is_resource_without_title(last)) return;
    accept(issue::kIdemNotAllowedLast, last, label(last), a_an_upper_of(owner));
}

void Checker::check_class(const HostClassDefinition& node) {
    check_definition_name(node);
    check_no_capture(node.parameters, &node);
    check_unique_parameters(node.parameters);
    check_reserved_parameters(node);
    check_no_idem_last(node.body, &node);
    for (const Parameter* parameter : node.parameters) {
        const Node* type = parameter->type_expr;
        if (type && !constant_value(type)) {
            // Puppet's label here is the class name of the model, which differs from the usual
            // label.
            accept(issue::kIllegalNonliteralParameterType, parameter, parameter->name,
                   a_an(fmt::format("Puppet::Pops::Model::{}", node_kind_name(type->kind))));
        }
    }
}

void Checker::check_define(const ResourceTypeDefinition& node) {
    check_definition_name(node);
    check_no_capture(node.parameters, &node);
    check_unique_parameters(node.parameters);
    check_reserved_parameters(node);
    check_no_idem_last(node.body, &node);
}

void Checker::check_return_type(const Node* owner, const Node* type) {
    if (!type) return;
    const auto* access = as<AccessExpression>(type);
    if (const auto* name = as<QualifiedReference>(access ? access->left : type)) {
        check_future_word(type, name->value);
    } else {
        accept(issue::kIllegalExpression, type, a_an_upper_of(type), "a type reference",
               a_an_of(owner));
    }
}

void Checker::check_function(const NamedDefinition& node, const Node* return_type) {
    check_definition_name(node);
    check_return_type(&node, return_type);
    check_unique_parameters(node.parameters);
}

void Checker::check_node(const NodeDefinition& node) {
    for (const Node* match : node.host_matches) check_hostname(match, &node);
    check_top(&node);
    check_no_idem_last(node.body, &node);
    if (node.parent) accept(issue::kIllegalNodeInheritance, node.parent);
}

void Checker::check_type_alias(const TypeAlias& node) {
    check_top(&node);
    if (!is_type_name(node.name)) {
        accept(issue::kIllegalDefinitionName, &node, node.name, a_an_of(&node));
    }
    check_reserved_type_name(&node, node.name);
    check_return_type(&node, node.type_expr);
}

void Checker::check_type_mapping(const TypeMapping& node) {
    check_top(&node);
    auto is_replacement = [](const Node* candidate) {
        const auto* list = as<LiteralList>(candidate);
        return list && list->values.size() == 2 &&
               list->values[0]->kind == NodeKind::LiteralRegularExpression &&
               list->values[1]->kind == NodeKind::LiteralString;
    };
    const auto* access = as<AccessExpression>(node.type_expr);
    const auto* name = access ? as<QualifiedReference>(access->left) : nullptr;
    if (!name || name->cased_value != "Runtime") {
        accept(issue::kUnsupportedExpression, &node, a_an_of(&node));
        return;
    }
    const bool pattern = access->keys.size() == 2 && is_replacement(access->keys[1]);
    const Node* right = node.mapping_expr;
    const auto* right_access = as<AccessExpression>(right);
    const bool right_type =
        as<QualifiedReference>(right_access ? right_access->left : right) != nullptr;
    const bool fits = is_replacement(right) ? pattern : right_type && !pattern;
    if (fits) return;
    accept(pattern ? issue::kIllegalRegexpTypeMapping : issue::kIllegalSingleTypeMapping, &node,
           a_an_upper_of(&node));
}

void Checker::check_parameter(const Parameter& node) {
    std::string_view digits = node.name;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    if (!digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit)) {
        accept(issue::kIllegalNumericParameter, &node, node.name);
    }
    if (!is_parameter_name(node.name)) accept(issue::kIllegalParamName, &node, node.name);
    if (node.value) check_no_assignment(node.value);
}

//---- Expressions

void Checker::check_block(const BlockExpression& node) {
    if (is_resource_without_title(&node)) {
        accept(issue::kResourceWithoutTitle, &node, to<QualifiedName>(node.statements[0]).value);
        return;
    }
    for (std::size_t i = 0; i + 1 < node.statements.size(); ++i) {
        if (is_idem(node.statements[i])) {
            accept(issue::kIdemExpressionNotLast, node.statements[i], label(node.statements[i]));
            return;
        }
    }
}

void Checker::check_call(const CallNamedFunctionExpression& node) {
    const Node* functor = node.functor;
    const auto* access = as<AccessExpression>(functor);
    if (as<QualifiedReference>(access ? access->left : functor)) return;
    if (functor->kind == NodeKind::QualifiedName) return;
    if (functor->kind == NodeKind::RenderStringExpression) {
        accept(issue::kIllegalEppParameters, &node);
    } else {
        accept(issue::kIllegalExpression, functor, a_an_upper_of(functor), "function name",
               a_an_of(&node));
    }
}

void Checker::check_case(const CaseExpression& node) {
    check_rvalue(node.test);
    bool found = false;
    for (const CaseOption* option : node.options) {
        for (const Node* value : option->values) {
            if (value->kind != NodeKind::LiteralDefault) continue;
            if (found) accept(issue::kDuplicateDefault, value, label(&node));
            found = true;
        }
    }
}

void Checker::check_selector(const SelectorExpression& node) {
    check_rvalue(node.left);
    int defaults = 0;
    for (const SelectorEntry* entry : node.selectors) {
        if (entry->matching_expr->kind != NodeKind::LiteralDefault) continue;
        if (++defaults == 2) accept(issue::kDuplicateDefault, entry->matching_expr, label(&node));
    }
}

void Checker::check_hash(const LiteralHash& node) {
    std::set<std::string> seen;
    for (const KeyedEntry* entry : node.entries) {
        auto key = constant_value(entry->key);
        if (key && !seen.insert(std::move(key->identity)).second) {
            accept(issue::kDuplicateKey, entry, key->text);
        }
    }
}

/// A heredoc whose text does not match its declared syntax ends the check, because Puppet raises an
/// exception there.
void Checker::check_heredoc(const HeredocExpression& node) {
    const auto* text = as<LiteralString>(node.text_expr);
    if (!text || node.syntax.empty()) return;
    auto error = check_text_syntax(text->value, node.syntax, text->where(), options_);
    if (!error) return;
    found_.clear();
    found_.push_back(base::Diagnostic{.level = base::Level::Err,
                                      .message = error->message(),
                                      .where = error->where(),
                                      .issue_code = error->issue_code()});
    stopped_ = true;
}

void Checker::check_attribute(const AttributeOperation& node) {
    const Node* parent = container();
    if (node.op == Op::Append && parent->kind != NodeKind::CollectExpression &&
        parent->kind != NodeKind::ResourceOverrideExpression) {
        accept(issue::kIllegalAttributeAppend, &node, node.attribute_name, a_an_of(parent));
    }
    check_rvalue(node.value_expr);
}

void Checker::check_attributes(const AttributesOperation& node) {
    const Node* parent = container();
    if (!is_abstract_resource(parent) && parent->kind != NodeKind::CollectExpression) {
        const Node* outer = container(2);
        if (outer && !is_abstract_resource(outer)) {
            accept(issue::kUnsupportedOperatorInContext, outer, "* =>", a_an_of(outer));
        }
    }
    check_rvalue(node.expr);
}

void Checker::check_variable(const VariableExpression& node) {
    const auto* qualified = as<QualifiedName>(node.expr);
    if (!qualified) {
        if (node.expr->kind != NodeKind::LiteralInteger) {
            accept(issue::kIllegalExpression, &node, a_an_upper_of(&node), "name", a_an_of(&node));
        }
        return;
    }
    const std::string_view name = qualified->value;
    if (!name.empty() && is_digit(name[0])) {
        if (!is_number_name(name)) accept(issue::kIllegalNumericVarName, &node, name);
    } else if (!is_variable_name(name)) {
        accept(issue::kIllegalVarName, &node, name);
    }
}

/// With the setting `tasks`, most catalog expressions are only allowed inside `apply`.
void Checker::check_tasks(const Node* node) {
    auto scripting = [&] {
        accept(issue::kExpressionOnlyWhenCompiling, node, a_an_upper_of(node));
    };
    switch (node->kind) {
        case NodeKind::HostClassDefinition:
        case NodeKind::ResourceTypeDefinition: scripting(); return;
        case NodeKind::CollectExpression:
            if (!in_apply()) {
                scripting();
                return;
            }
            if (to<CollectExpression>(node).query->kind != NodeKind::VirtualQuery) {
                accept(issue::kExpressionNotWhenCompiling, node, a_an_upper_of(node));
                return;
            }
            break;
        case NodeKind::NodeDefinition:
        case NodeKind::RelationshipExpression:
        case NodeKind::ResourceDefaultsExpression:
        case NodeKind::ResourceExpression:
        case NodeKind::ResourceOverrideExpression:
            if (!in_apply()) {
                scripting();
                return;
            }
            break;
        case NodeKind::ApplyExpression:
            if (in_apply()) accept(issue::kExpressionNotWhenCompiling, node, a_an_upper_of(node));
            return;
        default: break;
    }
    check(node);
}

void Checker::check(const Node* node) {
    switch (node->kind) {
        case NodeKind::AssignmentExpression: {
            const auto& assignment = to<AssignmentExpression>(node);
            if (assignment.op == Op::Assign) {
                check_assignable(assignment.left);
                check_rvalue(assignment.right);
            } else {
                accept(issue::kAppendsDeletes, node, op_text(assignment.op));
            }
            break;
        }
        case NodeKind::ArithmeticExpression:
        case NodeKind::ComparisonExpression:
        case NodeKind::MatchExpression:
        case NodeKind::InExpression:
        case NodeKind::AndExpression:
        case NodeKind::OrExpression:
            check_rvalue(static_cast<const BinaryNode*>(node)->left);
            check_rvalue(static_cast<const BinaryNode*>(node)->right);
            break;
        case NodeKind::RelationshipExpression:
            check_relation(to<RelationshipExpression>(node).left);
            check_relation(to<RelationshipExpression>(node).right);
            break;
        case NodeKind::ParenthesizedExpression:
        case NodeKind::NotExpression:
        case NodeKind::UnaryMinusExpression:
        case NodeKind::UnfoldExpression:
        case NodeKind::TextExpression:
        case NodeKind::RenderExpression: check_rvalue(*unary_operand(node)); break;
        case NodeKind::VariableExpression: check_variable(to<VariableExpression>(node)); break;
        case NodeKind::AttributeOperation: check_attribute(to<AttributeOperation>(node)); break;
        case NodeKind::AttributesOperation: check_attributes(to<AttributesOperation>(node)); break;
        case NodeKind::BlockExpression: check_block(to<BlockExpression>(node)); break;
        case NodeKind::CallNamedFunctionExpression:
            check_call(to<CallNamedFunctionExpression>(node));
            break;
        case NodeKind::EppExpression:
            if (const auto* lambda = as<LambdaExpression>(container())) {
                check_no_capture(lambda->parameters, node);
                check_unique_parameters(lambda->parameters);
            }
            break;
        case NodeKind::HeredocExpression: check_heredoc(to<HeredocExpression>(node)); break;
        case NodeKind::CaseExpression: check_case(to<CaseExpression>(node)); break;
        case NodeKind::CaseOption:
            for (const Node* value : to<CaseOption>(node).values) check_rvalue(value);
            break;
        case NodeKind::CollectExpression: {
            const Node* type = to<CollectExpression>(node).type_expr;
            if (type->kind != NodeKind::QualifiedReference) {
                accept(issue::kIllegalExpression, type, a_an_upper_of(type), "type name",
                       a_an_of(node));
            }
            break;
        }
        case NodeKind::TypeAlias: check_type_alias(to<TypeAlias>(node)); break;
        case NodeKind::TypeMapping: check_type_mapping(to<TypeMapping>(node)); break;
        case NodeKind::TypeDefinition:
            check_top(node);
            check_reserved_type_name(node, to<TypeDefinition>(node).name);
            accept(issue::kUnsupportedExpression, node, a_an_of(node));
            break;
        case NodeKind::FunctionDefinition:
            check_function(to<FunctionDefinition>(node), to<FunctionDefinition>(node).return_type);
            break;
        case NodeKind::PlanDefinition:
            check_function(to<PlanDefinition>(node), to<PlanDefinition>(node).return_type);
            break;
        case NodeKind::HostClassDefinition: check_class(to<HostClassDefinition>(node)); break;
        case NodeKind::ResourceTypeDefinition:
            check_define(to<ResourceTypeDefinition>(node));
            break;
        case NodeKind::NodeDefinition: check_node(to<NodeDefinition>(node)); break;
        case NodeKind::IfExpression: check_rvalue(to<IfExpression>(node).test); break;
        case NodeKind::UnlessExpression: check_rvalue(to<UnlessExpression>(node).test); break;
        case NodeKind::KeyedEntry:
            check_rvalue(to<KeyedEntry>(node).key);
            check_rvalue(to<KeyedEntry>(node).value);
            break;
        case NodeKind::LambdaExpression: {
            const auto& lambda = to<LambdaExpression>(node);
            for (std::size_t i = 0; i + 1 < lambda.parameters.size(); ++i) {
                const Parameter* parameter = lambda.parameters[i];
                if (parameter->captures_rest)
                    accept(issue::kCapturesRestNotLast, parameter, parameter->name);
            }
            check_return_type(node, lambda.return_type);
            break;
        }
        case NodeKind::LiteralList:
            for (const Node* value : to<LiteralList>(node).values) check_rvalue(value);
            break;
        case NodeKind::LiteralInteger: {
            const auto& number = to<LiteralInteger>(node);
            if (!number.overflow.empty()) {
                accept(issue::kNumericOverflow, node, a_an_upper_of(node),
                       "+0x" + decimal_to_hex(number.overflow));
            }
            break;
        }
        case NodeKind::LiteralHash: check_hash(to<LiteralHash>(node)); break;
        case NodeKind::VirtualQuery:
            if (to<VirtualQuery>(node).expr) check_query(to<VirtualQuery>(node).expr);
            break;
        case NodeKind::ExportedQuery:
            if (to<ExportedQuery>(node).expr) check_query(to<ExportedQuery>(node).expr);
            break;
        case NodeKind::Parameter: check_parameter(to<Parameter>(node)); break;
        case NodeKind::ResourceExpression: {
            const auto& resource = to<ResourceExpression>(node);
            const auto* type = as<QualifiedName>(resource.type_name);
            if (resource.form != ResourceForm::Regular && type && type->value == "class") {
                accept(issue::kClassNotVirtualizable, node);
            }
            break;
        }
        case NodeKind::ResourceBody: {
            bool seen = false;
            for (const Node* operation : to<ResourceBody>(node).operations) {
                if (operation->kind != NodeKind::AttributesOperation) continue;
                if (seen) accept(issue::kMultipleAttributesUnfold, operation);
                seen = true;
            }
            break;
        }
        case NodeKind::ResourceDefaultsExpression:
            if (to<ResourceDefaultsExpression>(node).form != ResourceForm::Regular) {
                accept(issue::kNotVirtualizeable, node);
            }
            break;
        case NodeKind::ResourceOverrideExpression:
            if (to<ResourceOverrideExpression>(node).form != ResourceForm::Regular) {
                accept(issue::kNotVirtualizeable, node);
            }
            break;
        case NodeKind::ReservedWord:
            accept(
                to<ReservedWord>(node).future ? issue::kFutureReservedWord : issue::kReservedWord,
                node, to<ReservedWord>(node).word);
            break;
        case NodeKind::SelectorExpression: check_selector(to<SelectorExpression>(node)); break;
        case NodeKind::SelectorEntry: check_rvalue(to<SelectorEntry>(node).matching_expr); break;
        default: break;
    }
}

}  // namespace

std::vector<base::Diagnostic> validate(const Tree& tree, const ValidateOptions& options) {
    return Checker(tree, options).run();
}

void report_issues(const std::vector<base::Diagnostic>& found, base::LogSink& log,
                   const ReportLimits& limits) {
    int warnings = 0;
    int deprecations = 0;
    int errors = 0;
    const base::Diagnostic* first = nullptr;
    for (const base::Diagnostic& d : found) {
        if (d.level == base::Level::Err) {
            if (errors++ == 0) first = &d;
        } else if (d.deprecation) {
            if (deprecations++ < limits.max_deprecations) log.log(d);
        } else if (warnings++ < limits.max_warnings) {
            log.log(d);
        }
    }
    if (!first) return;
    using base::PuppetError;
    if (errors == 1 || limits.max_errors <= 1) {
        throw PuppetError(first->message, first->issue_code, PuppetError::Class::Parse)
            .at(first->where);
    }
    int shown = 0;
    for (const base::Diagnostic& d : found) {
        if (d.level != base::Level::Err) continue;
        log.log(d);
        if (++shown >= limits.max_errors) break;
    }
    std::string text = fmt::format("Language validation logged {} errors", errors);
    if (warnings + deprecations > 0)
        text += fmt::format(", and {} warnings", warnings + deprecations);
    throw PuppetError(text + ". Giving up", {}, PuppetError::Class::Parse)
        .at(base::Location{first->where.file, 0, 0});
}

}  // namespace bunraku::syntax
