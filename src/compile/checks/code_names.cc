// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/code_names.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/function/table.h"
#include "language/syntax/visit.h"
#include "resources/restype/spec.h"

namespace bunraku::checks {

using syntax::as;

namespace {

using Names = CodeNames::Names;

/// Limits of any_text. If there is more text, it is not searched, and the answer is always yes.
constexpr std::size_t kMaxTexts = std::size_t{256} << 20;
constexpr int kMaxDepth = 16;

/// Reports whether a text has the words of a definition, "class a::b".
bool defines(std::string_view text, std::string_view keyword, std::string_view name) {
    const auto is_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
    };
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
        const std::size_t end = at + name.size();
        if (end < text.size() && is_word(text[end])) continue;
        std::string_view before = text.substr(0, at);
        if (before.ends_with("::")) before.remove_suffix(2);
        const std::string_view words = base::trim(before, " \t");
        if (words.size() < before.size() && words.ends_with(keyword)) return true;
    }
    return false;
}

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

/// Returns the existence of a name that its own file does not define.
Existence CodeNames::missing(std::string_view keyword, const std::string& name) {
    const auto [entry, added] = missing_.try_emplace(fmt::format("{} {}", keyword, name));
    if (added) entry->second = find_missing(keyword, name);
    return entry->second;
}

Existence CodeNames::find_missing(std::string_view keyword, const std::string& name) {
    const std::string module_name = name.substr(0, name.find("::"));
    if (!environment_.module(module_name) || unreadable_.contains(name)) return Existence::Unknown;
    // The manifests of an environment may define anything, in files of any name.
    read_all_texts();
    const bool elsewhere =
        text_bytes_ > kMaxTexts || std::ranges::any_of(*texts_, [&](const FoundText& each) {
            return !each.of_module && defines(each.text, keyword, name);
        });
    return elsewhere ? Existence::Exists : Existence::Missing;
}

const syntax::NamedDefinition* CodeNames::find(Kind kind, const std::string& name) {
    const auto [entry, added] = found_.try_emplace({kind, name}, nullptr);
    if (!added) return entry->second;
    for (const auto& [module, path] : environment_.manifest_candidates(name)) {
        auto file = environment_.parse_file(path);
        if (file && !file->tree) unreadable_.insert(name);
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

const syntax::NamedDefinition* CodeNames::class_definition(const std::string& name) {
    return find(Kind::HostClassDefinition, name);
}

const syntax::NamedDefinition* CodeNames::defined_type(const std::string& name) {
    return find(Kind::ResourceTypeDefinition, name);
}

const syntax::FunctionDefinition* CodeNames::function_definition(const std::string& name) {
    const auto [entry, added] = found_.try_emplace({Kind::FunctionDefinition, name}, nullptr);
    if (!added) return static_cast<const syntax::FunctionDefinition*>(entry->second);
    const auto path = environment_.function_file(name);
    auto file = path ? environment_.parse_file(*path) : nullptr;
    if (!file || !file->tree) return nullptr;
    for (const syntax::Node* definition : file->tree->program->definitions) {
        const auto* function = as<syntax::FunctionDefinition>(definition);
        if (!function || function->name != name) continue;
        files_.push_back(std::move(file));
        entry->second = function;
        return function;
    }
    return nullptr;
}

const restype::TypeSpec* CodeNames::native_type(const std::string& name) const {
    const restype::TypeSpec* spec = restype::find_type(name);
    return spec && !environment_.ruby_type_file(name) ? spec : nullptr;
}

Existence CodeNames::class_exists(const std::string& name) {
    return class_definition(name) ? Existence::Exists : missing("class", name);
}

Existence CodeNames::type_exists(const std::string& name) {
    if (restype::find_type(name) || restype::find_module_type(name) ||
        environment_.ruby_type_file(name) || defined_type(name))
        return Existence::Exists;
    // A type in Ruby has no namespace, so any missing module may contain it.
    return name.contains("::") ? missing("define", name) : Existence::Unknown;
}

bool CodeNames::module_has_function(const std::string& name) const {
    return environment_.function_file(name) || environment_.ruby_function_file(name);
}

Existence CodeNames::function_exists(const std::string& name) {
    if (function::builtin_functions().find(name) || module_has_function(name))
        return Existence::Exists;
    return name.contains("::") ? missing("function", name) : Existence::Unknown;
}

const Names* CodeNames::attributes(const std::string& type) {
    const auto [entry, added] = attributes_.try_emplace(type);
    if (added) entry->second = find_attributes(type);
    return entry->second ? &*entry->second : nullptr;
}

std::optional<Names> CodeNames::find_attributes(const std::string& type) {
    Names names;
    const syntax::NamedDefinition* definition =
        type.starts_with("class ") ? class_definition(type.substr(6)) : defined_type(type);
    if (definition) {
        for (const syntax::Parameter* parameter : definition->parameters)
            names.emplace(parameter->name);
        return names;
    }
    const restype::TypeSpec* spec = native_type(type);
    if (!spec) return std::nullopt;
    for (const restype::Attribute& attribute : spec->attributes) names.emplace(attribute.name);
    return names;
}

const Names* CodeNames::variables(const std::string& class_name) {
    const auto [entry, added] = variables_.try_emplace(class_name);
    if (added) entry->second = find_variables(class_name);
    return entry->second ? &*entry->second : nullptr;
}

std::optional<Names> CodeNames::find_variables(const std::string& class_name) {
    Names names;
    Names seen;
    for (std::string name = class_name; !name.empty();) {
        const auto* definition =
            static_cast<const syntax::HostClassDefinition*>(class_definition(name));
        if (!definition || !seen.insert(name).second) return std::nullopt;
        for (const syntax::Parameter* parameter : definition->parameters)
            names.emplace(parameter->name);
        if (definition->body) collect_assigned(definition->body, names);
        name = definition->parent_class;
        while (name.starts_with(':')) name.erase(0, 1);
    }
    return names;
}

namespace {

/// Returns the text of the type after the equals sign. In the syntax tree, an expression such as
/// Integer[1, 2] begins at the name of the alias.
std::string text_of_alias(const syntax::TypeAlias& alias) {
    std::string text = type_text(alias.type_expr);
    if (text.starts_with(alias.name))
        if (const auto equals = text.find('='); equals != std::string::npos)
            text.erase(0, equals + 1);
    return std::string(base::trim(text, " \t\r\n"));
}

}  // namespace

std::string CodeNames::ModuleTypes::definition_of(std::string_view name) {
    std::string plain = base::lower(name);
    while (plain.starts_with(':')) plain.erase(0, 1);
    const auto path = environment_.type_file(plain);
    const auto file = path ? environment_.parse_file(*path) : nullptr;
    if (!file || !file->tree) return {};
    for (const syntax::Node* definition : file->tree->program->definitions) {
        const auto* alias = as<syntax::TypeAlias>(definition);
        if (alias && alias->type_expr && base::lower(alias->name) == plain)
            return text_of_alias(*alias);
    }
    return {};
}

void CodeNames::read_all_texts() {
    if (texts_) return;
    texts_.emplace();
    const std::set<std::string> others = folders_;
    for (const environment::Module& module : environment_.modules()) folders_.insert(module.path);
    for (const std::string& folder : folders_) read_texts(folder, !others.contains(folder), 0);
}

bool CodeNames::any_text(const std::function<bool(std::string_view)>& test) {
    read_all_texts();
    return text_bytes_ > kMaxTexts || std::ranges::any_of(*texts_, test, &FoundText::text);
}

void CodeNames::read_texts(const std::string& folder, bool of_module, int depth) {
    constexpr std::string_view kEndings[] = {".pp",   ".epp", ".erb", ".rb",
                                             ".yaml", ".yml", ".json"};
    for (const std::string& name : environment_.list(folder)) {
        const std::string path = folder + "/" + name;
        if (name.starts_with('.') || text_bytes_ > kMaxTexts) continue;
        if (std::ranges::any_of(kEndings, [&](auto ending) { return name.ends_with(ending); })) {
            auto text = environment_.read(path);
            if (!text) continue;
            text_bytes_ += text->size();
            texts_->push_back({std::move(*text), of_module});
        } else if (depth < kMaxDepth && !folders_.contains(path)) {
            read_texts(path, of_module, depth + 1);
        }
    }
}

}  // namespace bunraku::checks
