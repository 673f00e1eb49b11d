// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/code_checks.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "core/base/text.h"
#include "language/lint/check.h"
#include "language/syntax/parser.h"
#include "language/syntax/visit.h"
#include "resources/restype/spec.h"

namespace bunraku::checks {

using lint::Severity;
using syntax::as;
using syntax::Node;

namespace {

struct Deprecated {
    std::string_view name, replacement;
};
/// Functions that Puppet 8 or stdlib 9 have deprecated or removed.
constexpr Deprecated kDeprecated[] = {
    {"hiera", "lookup"},
    {"hiera_array", "lookup with the merge option unique"},
    {"hiera_hash", "lookup with the merge option hash"},
    {"hiera_include", "lookup and include"},
    {"batch_escape", "stdlib::batch_escape"},
    {"ensure_packages", "stdlib::ensure_packages"},
    {"fqdn_rand_string", "stdlib::fqdn_rand_string"},
    {"fqdn_rotate", "stdlib::fqdn_rotate"},
    {"has_interface_with", "stdlib::has_interface_with"},
    {"has_key", "the operator in"},
    {"os_version_gte", "stdlib::os_version_gte"},
    {"parsehocon", "stdlib::parsehocon"},
    {"powershell_escape", "stdlib::powershell_escape"},
    {"seeded_rand", "stdlib::seeded_rand"},
    {"seeded_rand_string", "stdlib::seeded_rand_string"},
    {"shell_escape", "stdlib::shell_escape"},
    {"to_json", "stdlib::to_json"},
    {"to_json_pretty", "stdlib::to_json_pretty"},
    {"to_python", "stdlib::to_python"},
    {"to_ruby", "stdlib::to_ruby"},
    {"to_toml", "stdlib::to_toml"},
    {"to_yaml", "stdlib::to_yaml"},
    {"type_of", "type"},
    {"validate_array", "a data type"},
    {"validate_bool", "a data type"},
    {"validate_hash", "a data type"},
    {"validate_integer", "a data type"},
    {"validate_legacy", "a data type"},
    {"validate_numeric", "a data type"},
    {"validate_re", "a data type"},
    {"validate_string", "a data type"},
};

/// Returns the text of a string or a bare word. Returns nullopt for other expressions.
std::optional<std::string_view> literal_text(const Node* node) {
    if (const auto* text = as<syntax::LiteralString>(node)) return text->value;
    if (const auto* name = as<syntax::QualifiedName>(node)) return name->value;
    return std::nullopt;
}

std::string plain_name(std::string_view name) {
    while (name.starts_with(':')) name.remove_prefix(1);
    return base::lower(name);
}

/// Reports whether the code after a statement never runs.
bool ends_block(const Node* statement) {
    if (!statement) return false;
    if (const auto* call = as<syntax::CallNamedFunctionExpression>(statement)) {
        const auto* name = as<syntax::QualifiedName>(call->functor);
        return name && (name->value == "fail" || name->value == "return" || name->value == "next" ||
                        name->value == "break");
    }
    if (const auto* block = as<syntax::BlockExpression>(statement))
        return std::ranges::any_of(block->statements, ends_block);
    if (const auto* branch = as<syntax::IfExpression>(statement))
        return ends_block(branch->then_expr) && ends_block(branch->else_expr);
    return false;
}

class CodeCheck {
public:
    explicit CodeCheck(CodeNames* names) : names_(names) {}

    std::vector<lint::Problem> problems;

    void visit(const Node* node) {
        if (const auto* block = as<syntax::BlockExpression>(node)) check_block(*block);
        if (const auto* branch = as<syntax::IfExpression>(node)) check_branch(*branch);
        if (const auto* call = as<syntax::CallNamedFunctionExpression>(node)) check_call(*call);
        if (const auto* call = as<syntax::CallMethodExpression>(node)) {
            const Node* function = call->functor ? call->functor->right : nullptr;
            if (const auto* name = as<syntax::QualifiedName>(function)) check_function(*name);
        }
        if (names_) check_names(node);
        syntax::for_each_child(node, [this](const Node* child) { visit(child); });
    }

private:
    void report(std::string_view check, Severity severity, const Node* node, std::string message) {
        const base::Location where = node->where();
        problems.push_back({.check = check,
                            .severity = severity,
                            .message = std::move(message),
                            .line = where.line,
                            .column = where.column,
                            .reason = {}});
    }

    void check_block(const syntax::BlockExpression& block) {
        for (std::size_t i = 0; i + 1 < block.statements.size(); ++i) {
            if (!ends_block(block.statements[i])) continue;
            report("unreachable_code", Severity::Warning, block.statements[i + 1],
                   "code after a statement that ends the block never runs");
            return;
        }
    }

    void check_branch(const syntax::IfExpression& branch) {
        const auto* constant = as<syntax::LiteralBoolean>(branch.test);
        const Node* dead = !constant         ? nullptr
                           : constant->value ? branch.else_expr
                                             : branch.then_expr;
        if (dead && !as<syntax::Nop>(dead))
            report("unreachable_code", Severity::Warning, dead,
                   fmt::format("the condition is always {}, so this code never runs",
                               constant->value));
    }

    void check_function(const syntax::QualifiedName& name) {
        const std::string plain = plain_name(name.value);
        if (const auto* known = std::ranges::find(kDeprecated, plain, &Deprecated::name);
            known != std::end(kDeprecated)) {
            report("deprecated_function", Severity::Warning, &name,
                   fmt::format("function {} is deprecated, use {}", plain, known->replacement));
        }
        if (names_ && names_->function_exists(plain) == Existence::Missing)
            report("unknown_function", Severity::Error, &name,
                   fmt::format("unknown function '{}'", plain));
    }

    void check_call(const syntax::CallNamedFunctionExpression& call) {
        const auto* name = as<syntax::QualifiedName>(call.functor);
        if (!name) return;
        check_function(*name);
        if (!names_ ||
            (name->value != "include" && name->value != "contain" && name->value != "require"))
            return;
        for (const Node* argument : call.arguments) {
            if (const auto* list = as<syntax::LiteralList>(argument)) {
                for (const Node* item : list->values) check_class(item, literal_text(item));
            } else {
                check_class(argument, literal_text(argument));
            }
        }
    }

    void check_class(const Node* place, std::optional<std::string_view> name) {
        if (name && names_->class_exists(plain_name(*name)) == Existence::Missing)
            report("unknown_class", Severity::Error, place,
                   fmt::format("unknown class '{}'", plain_name(*name)));
    }

    void check_names(const Node* node) {
        if (const auto* definition = as<syntax::HostClassDefinition>(node);
            definition && !definition->parent_class.empty())
            check_class(node, definition->parent_class);
        if (const auto* variable = as<syntax::VariableExpression>(node)) check_variable(*variable);
        if (const auto* resource = as<syntax::ResourceExpression>(node)) check_resource(*resource);
    }

    void check_variable(const syntax::VariableExpression& variable) {
        const std::string name = plain_name(variable.name.view());
        const std::size_t separator = name.rfind("::");
        if (separator == std::string::npos) return;
        const auto known = names_->variables(name.substr(0, separator));
        const std::string own = name.substr(separator + 2);
        if (!known || known->contains(own) || own == "name" || own == "title" ||
            own == "module_name" || own == "caller_module_name" || restype::is_metaparameter(own))
            return;
        report("unknown_variable", Severity::Error, &variable,
               fmt::format("class {} has no variable '{}'", name.substr(0, separator), own));
    }

    void check_resource(const syntax::ResourceExpression& resource) {
        const auto* written = as<syntax::QualifiedName>(resource.type_name);
        if (!written) return;
        const std::string type = plain_name(written->value);
        if (type == "class") {
            for (const syntax::ResourceBody* body : resource.bodies) {
                const auto title = literal_text(body->title);
                check_class(body->title, title);
                if (title) check_attributes("class " + plain_name(*title), *body);
            }
            return;
        }
        if (names_->type_exists(type) == Existence::Missing) {
            report("unknown_resource_type", Severity::Error, written,
                   fmt::format("unknown resource type '{}'", type));
            return;
        }
        for (const syntax::ResourceBody* body : resource.bodies) check_attributes(type, *body);
    }

    void check_attributes(const std::string& type, const syntax::ResourceBody& body) {
        const auto known = names_->attributes(type);
        if (!known) return;
        for (const Node* operation : body.operations) {
            const auto* attribute = as<syntax::AttributeOperation>(operation);
            // Every class and defined type accepts the attribute name.
            if (!attribute || known->contains(attribute->attribute_name) ||
                attribute->attribute_name == "name" ||
                restype::is_metaparameter(attribute->attribute_name))
                continue;
            report("unknown_attribute", Severity::Error, attribute,
                   fmt::format("{} has no attribute '{}'", type, attribute->attribute_name));
        }
    }

    CodeNames* names_;
};

}  // namespace

std::vector<lint::Problem> check_code(std::string_view text, const std::string& path,
                                      const lint::LintOptions& options, CodeNames* names) {
    std::shared_ptr<const syntax::Tree> tree;
    try {
        tree = syntax::parse(path, std::string(text));
    } catch (const base::PuppetError&) {
        return {};  // The validation of the parser reports it.
    }
    CodeCheck check(names);
    check.visit(tree->program);
    std::erase_if(check.problems, [&](const lint::Problem& problem) {
        const lint::Check* known = lint::find_check(problem.check);
        return !known || !options.enabled(*known);
    });
    std::ranges::stable_sort(check.problems, {}, [](const lint::Problem& problem) {
        return std::tuple(problem.line, problem.column);
    });
    lint::apply_control_comments(text, check.problems);
    return std::move(check.problems);
}

}  // namespace bunraku::checks
