// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/code_names.h"

#include "language/function/table.h"
#include "language/syntax/visit.h"
#include "resources/restype/spec.h"

namespace bunraku::checks {

using syntax::as;

namespace {

using Names = std::set<std::string, std::less<>>;

/// Adds the variables that the code below `node` assigns.
void collect_assigned(const syntax::Node* node, Names& names) {
    if (const auto* assignment = as<syntax::AssignmentExpression>(node)) {
        const auto add = [&names](const auto& self, const syntax::Node* target) -> void {
            if (const auto* variable = as<syntax::VariableExpression>(target))
                names.emplace(variable->name.view());
            if (const auto* list = as<syntax::LiteralList>(target))
                for (const syntax::Node* item : list->values) self(self, item);
        };
        add(add, assignment->left);
    }
    syntax::for_each_child(node,
                           [&names](const syntax::Node* child) { collect_assigned(child, names); });
}

}  // namespace

Existence CodeNames::missing(std::string_view name) const {
    const bool has_module = environment_.module(name.substr(0, name.find("::"))) != nullptr;
    return has_module ? Existence::Missing : Existence::Unknown;
}

const syntax::NamedDefinition* CodeNames::find(Kind kind, const std::string& name) {
    const auto [entry, added] = found_.try_emplace({kind, name}, nullptr);
    if (!added) return entry->second;
    for (const auto& [module, path] : environment_.manifest_candidates(name)) {
        auto file = environment_.parse_file(path);
        if (!file || !file->tree) continue;
        for (const syntax::Node* definition : file->tree->program->definitions) {
            if (definition->kind != kind) continue;
            const auto* named = static_cast<const syntax::NamedDefinition*>(definition);
            if (named->name != name) continue;
            files_.push_back(std::move(file));
            return entry->second = named;
        }
    }
    return nullptr;
}

Existence CodeNames::class_exists(const std::string& name) {
    return find(Kind::HostClassDefinition, name) ? Existence::Exists : missing(name);
}

Existence CodeNames::type_exists(const std::string& name) {
    if (restype::find_type(name) || restype::find_module_type(name) ||
        environment_.ruby_type_file(name) || find(Kind::ResourceTypeDefinition, name))
        return Existence::Exists;
    // A type in Ruby has no namespace, so any missing module may contain it.
    return name.contains("::") ? missing(name) : Existence::Unknown;
}

Existence CodeNames::function_exists(const std::string& name) const {
    if (function::builtin_functions().find(name) || environment_.function_file(name) ||
        environment_.ruby_function_file(name))
        return Existence::Exists;
    return name.contains("::") ? missing(name) : Existence::Unknown;
}

std::optional<Names> CodeNames::attributes(const std::string& type) {
    Names names;
    if (const auto* define = static_cast<const syntax::ResourceTypeDefinition*>(
            find(Kind::ResourceTypeDefinition, type))) {
        for (const syntax::Parameter* parameter : define->parameters)
            names.emplace(parameter->name);
        return names;
    }
    if (const syntax::NamedDefinition* definition =
            type.starts_with("class ") ? find(Kind::HostClassDefinition, type.substr(6))
                                       : nullptr) {
        for (const syntax::Parameter* parameter : definition->parameters)
            names.emplace(parameter->name);
        return names;
    }
    const restype::TypeSpec* spec = restype::find_type(type);
    if (!spec || environment_.ruby_type_file(type)) return std::nullopt;
    for (const restype::Attribute& attribute : spec->attributes) names.emplace(attribute.name);
    return names;
}

std::optional<Names> CodeNames::variables(const std::string& class_name) {
    Names names;
    Names seen;
    for (std::string name = class_name; !name.empty();) {
        const auto* definition =
            static_cast<const syntax::HostClassDefinition*>(find(Kind::HostClassDefinition, name));
        if (!definition || !seen.insert(name).second) return std::nullopt;
        for (const syntax::Parameter* parameter : definition->parameters)
            names.emplace(parameter->name);
        if (definition->body) collect_assigned(definition->body, names);
        name = definition->parent_class;
        while (name.starts_with(':')) name.erase(0, 1);
    }
    return names;
}

}  // namespace bunraku::checks
