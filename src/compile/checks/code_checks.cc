// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/code_checks.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "compile/checks/value_checks.h"
#include "core/base/text.h"
#include "language/lint/check.h"
#include "language/syntax/parser.h"
#include "language/syntax/visit.h"
#include "resources/restype/spec.h"

namespace bunraku::checks {

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

/// Reports whether a call ends the block that contains it.
bool ends_block(const Node* statement) {
    const auto* call = as<syntax::CallNamedFunctionExpression>(statement);
    const auto* name = call ? as<syntax::QualifiedName>(call->functor) : nullptr;
    return name && (name->value == "fail" || name->value == "return" || name->value == "next" ||
                    name->value == "break");
}

class CodeCheck {
public:
    CodeCheck(std::string_view text, CodeNames* names) : text_(text), names_(names) {}

    Problems problems;

    /// Adds the names that the file itself defines.
    void add_definitions(const syntax::Program& program) {
        for (const Node* definition : program.definitions) {
            switch (definition->kind) {
                case syntax::NodeKind::HostClassDefinition:
                case syntax::NodeKind::ResourceTypeDefinition:
                case syntax::NodeKind::FunctionDefinition:
                    own_.emplace(static_cast<const syntax::NamedDefinition*>(definition)->name);
                    break;
                default: break;
            }
        }
    }

    /// Checks the code below `node`. Returns whether the code after it never runs.
    bool visit(const Node* node) {
        if (!node) return false;
        if (const auto* call = as<syntax::CallNamedFunctionExpression>(node)) check_call(*call);
        if (const auto* call = as<syntax::CallMethodExpression>(node)) check_method(*call);
        if (names_) check_names(node);
        if (const auto* block = as<syntax::BlockExpression>(node)) return visit_block(*block);
        if (const auto* branch = as<syntax::IfExpression>(node)) return visit_branch(*branch);
        syntax::for_each_child(node, [this](const Node* child) { visit(child); });
        return ends_block(node);
    }

private:
    bool visit_block(const syntax::BlockExpression& block) {
        bool ended = false;
        for (const Node* statement : block.statements) {
            const bool ends = visit(statement);
            if (ends && !ended && statement != block.statements.back())
                problems.warning("unreachable_code",
                                 *(std::ranges::find(block.statements, statement) + 1),
                                 "code after a statement that ends the block never runs");
            ended = ended || ends;
        }
        return ended;
    }

    bool visit_branch(const syntax::IfExpression& branch) {
        const auto* constant = as<syntax::LiteralBoolean>(branch.test);
        const Node* dead = !constant         ? nullptr
                           : constant->value ? branch.else_expr
                                             : branch.then_expr;
        if (dead && !as<syntax::Nop>(dead))
            problems.warning("unreachable_code", dead,
                             fmt::format("the condition is always {}, so this code never runs",
                                         constant->value));
        visit(branch.test);
        const bool then_ends = visit(branch.then_expr);
        return visit(branch.else_expr) && then_ends;
    }

    void check_method(const syntax::CallMethodExpression& call) {
        const auto* name = call.functor ? as<syntax::QualifiedName>(call.functor->right) : nullptr;
        if (!name) return;
        check_function(*name);
        if (names_) check_arguments(*name, call.functor->left, call.arguments, *names_, problems);
    }

    void check_function(const syntax::QualifiedName& name) {
        const std::string plain = plain_name(name.value);
        if (const auto* known = std::ranges::find(kDeprecated, plain, &Deprecated::name);
            known != std::end(kDeprecated))
            report_deprecated(name, *known);
        if (names_ && !own_.contains(plain) && names_->function_exists(plain) == Existence::Missing)
            problems.error("unknown_function", &name, fmt::format("unknown function '{}'", plain));
    }

    void report_deprecated(const syntax::QualifiedName& name, const Deprecated& known) {
        const bool renamed = known.replacement.starts_with("stdlib::");
        const bool has_new =
            renamed && names_ && names_->module_has_function(std::string(known.replacement));
        // An older stdlib has only the old name.
        if (renamed && names_ && names_->has_module("stdlib") && !has_new) return;
        auto& problem = problems.warning(
            "deprecated_function", &name,
            fmt::format("function {} is deprecated, use {}", known.name, known.replacement));
        // The place of a method begins at its dot.
        const std::size_t begin =
            std::min(text_.find_first_not_of(". \t\r\n", name.offset), text_.size());
        if (!has_new || !text_.substr(begin).starts_with(name.value)) return;
        problem.fixable = true;
        problem.correction =
            lint::Replacement{begin, name.value.size(), std::string(known.replacement)};
    }

    void check_call(const syntax::CallNamedFunctionExpression& call) {
        const auto* name = as<syntax::QualifiedName>(call.functor);
        if (!name) return;
        check_function(*name);
        if (names_) check_arguments(*name, nullptr, call.arguments, *names_, problems);
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
        if (name && !own_.contains(plain_name(*name)) &&
            names_->class_exists(plain_name(*name)) == Existence::Missing)
            problems.error("unknown_class", place,
                           fmt::format("unknown class '{}'", plain_name(*name)));
    }

    void check_names(const Node* node) {
        if (const auto* definition = as<syntax::HostClassDefinition>(node);
            definition && !definition->parent_class.empty())
            check_class(node, definition->parent_class);
        if (const auto* definition = as<syntax::HostClassDefinition>(node))
            check_defaults(*definition, *names_, problems);
        if (const auto* definition = as<syntax::ResourceTypeDefinition>(node))
            check_defaults(*definition, *names_, problems);
        if (const auto* definition = as<syntax::FunctionDefinition>(node))
            check_defaults(*definition, *names_, problems);
        if (const auto* variable = as<syntax::VariableExpression>(node)) check_variable(*variable);
        if (const auto* resource = as<syntax::ResourceExpression>(node)) check_resource(*resource);
    }

    void check_variable(const syntax::VariableExpression& variable) {
        const std::string name = plain_name(variable.name.view());
        const std::size_t separator = name.rfind("::");
        if (separator == std::string::npos) return;
        const auto* known = names_->variables(name.substr(0, separator));
        const std::string own = name.substr(separator + 2);
        if (!known || known->contains(own) || own == "name" || own == "title" ||
            own == "module_name" || own == "caller_module_name" || restype::is_metaparameter(own))
            return;
        problems.error(
            "unknown_variable", &variable,
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
                if (title) check_attributes("class " + plain_name(*title), *body, body->title);
            }
            return;
        }
        if (!own_.contains(type) && names_->type_exists(type) == Existence::Missing) {
            problems.error("unknown_resource_type", written,
                           fmt::format("unknown resource type '{}'", type));
            return;
        }
        const auto is_default = [](const syntax::ResourceBody* body) {
            return as<syntax::LiteralDefault>(body->title) != nullptr;
        };
        const auto defaults = std::ranges::find_if(resource.bodies, is_default);
        for (const syntax::ResourceBody* body : resource.bodies)
            check_attributes(type, *body, body->title ? body->title : written,
                             defaults == resource.bodies.end() ? nullptr : *defaults);
    }

    /// `defaults` is the body with the title default, whose attributes apply to the others, or
    /// null.
    void check_attributes(const std::string& type, const syntax::ResourceBody& body,
                          const Node* place, const syntax::ResourceBody* defaults = nullptr) {
        check_attribute_values(type, body, defaults, place, text_, *names_, problems);
        const auto* known = names_->attributes(type);
        if (!known) return;
        for (const Node* operation : body.operations) {
            const auto* attribute = as<syntax::AttributeOperation>(operation);
            // Every class and defined type accepts the attribute name.
            if (!attribute || known->contains(attribute->attribute_name) ||
                attribute->attribute_name == "name" ||
                restype::is_metaparameter(attribute->attribute_name))
                continue;
            problems.error(
                "unknown_attribute", attribute,
                fmt::format("{} has no attribute '{}'", type, attribute->attribute_name));
        }
    }

    std::string_view text_;
    CodeNames* names_;
    /// The classes, defined types and functions of this file.
    CodeNames::Names own_;
};

}  // namespace

std::vector<lint::Problem> check_code(std::string_view text, const std::string& path,
                                      const lint::LintOptions& options, CodeNames* names) {
    const bool wanted = std::ranges::any_of(lint::all_checks(), [&](const lint::Check* check) {
        return check->group == lint::CheckGroup::Compiler && options.enabled(*check);
    });
    if (!wanted) return {};
    std::shared_ptr<const syntax::Tree> tree;
    try {
        tree = syntax::parse(path, std::string(text));
    } catch (const base::PuppetError&) {
        return {};  // The validation of the parser reports it.
    }
    Problems problems = check_tree(*tree, text, names);
    select_problems(problems, options);
    lint::apply_control_comments(text, problems.all);
    return std::move(problems.all);
}

Problems check_tree(const syntax::Tree& tree, std::string_view text, CodeNames* names) {
    CodeCheck check(text, names);
    check.add_definitions(*tree.program);
    check.visit(tree.program);
    return std::move(check.problems);
}

void select_problems(Problems& problems, const lint::LintOptions& options) {
    std::erase_if(problems.all, [&](const lint::Problem& problem) {
        const lint::Check* known = lint::find_check(problem.check);
        return known && !options.enabled(*known);
    });
    std::ranges::stable_sort(problems.all, {}, [](const lint::Problem& problem) {
        return std::tuple(problem.line, problem.column);
    });
}

std::string corrected(std::string_view text, const std::vector<lint::Problem>& problems) {
    std::string out;
    std::size_t done = 0;
    for (const lint::Problem& problem : problems) {
        if (!problem.correction || problem.severity == lint::Severity::Ignored ||
            problem.correction->offset < done)
            continue;
        out += text.substr(done, problem.correction->offset - done);
        out += problem.correction->text;
        done = problem.correction->offset + problem.correction->size;
    }
    return out.append(text.substr(done));
}

}  // namespace bunraku::checks
