// SPDX-License-Identifier: Apache-2.0
// Literals that do not match the type of the parameter or attribute that they are given to.
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/syntax/visit.h"
#include "resources/restype/spec.h"
#include "services/lsp/describe.h"
#include "services/lsp/diagnose.h"
#include "services/lsp/resolve.h"
#include "services/lsp/type_names.h"

namespace bunraku::lsp {

namespace {

using syntax::as;
using syntax::Node;
using syntax::NodeKind;

class TypeChecker {
public:
    TypeChecker(const State& state, const OpenFile& file, std::vector<Problem>& out)
        : state_(state),
          group_(state.workspace.group_of(file.document.path())),
          types_(state.workspace, group_),
          out_(out) {}

    void visit(const Node* node) {
        if (!node) return;
        if (const auto* resource = as<syntax::ResourceExpression>(node)) check_resource(*resource);
        if (const auto* definition = as<syntax::HostClassDefinition>(node)) defaults(*definition);
        if (const auto* definition = as<syntax::ResourceTypeDefinition>(node))
            defaults(*definition);
        if (const auto* definition = as<syntax::FunctionDefinition>(node)) defaults(*definition);
        syntax::for_each_child(node, [&](const Node* child) { visit(child); });
    }

private:
    void report(const Node* at, std::string code, std::string message) {
        Problem problem;
        problem.span = {at->offset, at->length};
        problem.code = std::move(code);
        problem.message = std::move(message);
        out_.push_back(std::move(problem));
    }
    void check_value(const Node* value, std::string_view type_text, std::string_view parameter) {
        if (auto message =
                types_.mismatch(type_text, fmt::format("parameter '{}'", parameter), value))
            report(value, "type-mismatch", std::move(*message));
    }
    void defaults(const syntax::NamedDefinition& definition) {
        for (const auto* parameter : definition.parameters) {
            if (!parameter->type_expr || !parameter->value || parameter->captures_rest) continue;
            check_value(parameter->value, checks::type_text(parameter->type_expr), parameter->name);
        }
    }
    void check_resource(const syntax::ResourceExpression& node) {
        const auto* name = as<syntax::QualifiedName>(node.type_name);
        if (!name) return;
        const Role role = name->value == "class" ? Role::ClassAttribute : Role::Attribute;
        std::string owner = base::lower(without_top(name->value));
        for (const auto* body : node.bodies) {
            if (name->value == "class") {
                const auto* title = as<syntax::LiteralString>(body->title);
                if (!title) continue;
                owner = base::lower(without_top(title->value));
            }
            for (const Node* operation : body->operations) {
                const auto* attribute = as<syntax::AttributeOperation>(operation);
                if (attribute && attribute->op == syntax::Op::Set)
                    check_attribute(owner, *attribute, role);
            }
        }
    }
    void check_attribute(const std::string& owner, const syntax::AttributeOperation& attribute,
                         Role role) {
        const std::string full = fmt::format("{}::{}", owner, attribute.attribute_name);
        const Definition* definition = owner_definition(state_.workspace, owner, group_, role);
        if (definition) {
            if (definition->kind == DefinitionKind::ResourceType) return;
            // A class or define takes its default for undef.
            if (attribute.value_expr->kind == NodeKind::LiteralUndef) return;
            if (const auto* parameter = parameter_of(state_.workspace, full, group_, role))
                check_value(attribute.value_expr, parameter->type, parameter->name);
            return;
        }
        const auto* type = native_type(owner);
        const auto* known = type ? native_attribute(*type, attribute.attribute_name) : nullptr;
        if (!known || known->values.empty()) return;
        const Node* value = attribute.value_expr;
        std::string_view text;
        if (const auto* literal = as<syntax::LiteralString>(value)) text = literal->value;
        if (const auto* word = as<syntax::QualifiedName>(value)) text = word->value;
        if (text.empty() || restype::match_value(*known, text)) return;
        report(value, "invalid-value",
               restype::invalid_value_text(*known, value::Value::string(text)));
    }

    const State& state_;
    Group group_;
    WorkspaceTypes types_;
    std::vector<Problem>& out_;
};

}  // namespace

std::string WorkspaceTypes::definition_of(std::string_view name) {
    const auto found = workspace_.index().definitions(
        symbol_key(SymbolKind::Type, base::lower(without_top(name))), group_);
    if (found.empty() || found.front().definition->kind != DefinitionKind::DataType) return {};
    return found.front().definition->returns;
}

void check_types(const State& state, const OpenFile& file, std::vector<Problem>& out) {
    if (file.parsed.tree) TypeChecker(state, file, out).visit(file.parsed.tree->program);
}

}  // namespace bunraku::lsp
