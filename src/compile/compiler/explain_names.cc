// SPDX-License-Identifier: Apache-2.0
// Explanations of unknown names: variables, functions, types, classes, keys of facts.
#include <algorithm>
#include <fmt/format.h>

#include "compile/compiler/explain.h"
#include "core/base/similar.h"
#include "core/base/text.h"
#include "language/syntax/visit.h"

namespace bunraku::compiler::explaining {

using namespace syntax;

namespace {

struct Assigned {
    std::string name;
    std::uint32_t offset;
};

/// Collects the variables that code at `offset` can read in its file: those of the surrounding
/// definitions and lambdas.
void collect_variables(const Node* node, std::uint32_t offset, std::vector<Assigned>& out) {
    const bool around = offset >= node->offset && offset <= node->offset + node->length;
    const auto parameters = [&](ParameterList list) {
        for (const auto* p : list) out.push_back({std::string(p->name), p->offset});
    };
    switch (node->kind) {
        case NodeKind::HostClassDefinition:
        case NodeKind::ResourceTypeDefinition:
        case NodeKind::FunctionDefinition:
        case NodeKind::PlanDefinition:
            if (!around) return;
            parameters(static_cast<const NamedDefinition*>(node)->parameters);
            break;
        case NodeKind::NodeDefinition:
            if (!around) return;
            break;
        case NodeKind::LambdaExpression:
            if (!around) return;
            parameters(to<LambdaExpression>(node).parameters);
            break;
        case NodeKind::AssignmentExpression: {
            const auto target = [&](const auto& self, const Node* left) -> void {
                if (const auto* variable = as<VariableExpression>(left))
                    out.push_back({std::string(variable->name.view()), left->offset});
                if (const auto* list = as<LiteralList>(left))
                    for (const auto* each : list->values) self(self, each);
            };
            target(target, to<AssignmentExpression>(node).left);
            break;
        }
        default: break;
    }
    for_each_child(node, [&](const Node* child) { collect_variables(child, offset, out); });
}

std::string dollar(std::string_view name) { return fmt::format("${}", name); }

bool unknown_variable(const Case& mistake) {
    const auto name = between(mistake.text, "Unknown variable: '", "'.");
    if (!name) return false;
    auto& compilation = mistake.compilation;
    std::vector<std::string> names;
    if (const auto at = name->rfind("::"); at != std::string::npos && at > 0) {
        std::string class_name = name->substr(0, at);
        if (class_name.starts_with("::")) class_name.erase(0, 2);
        if (Scope* scope = compilation.class_scope(class_name)) {
            scope->for_each([&](std::string_view one, const Value&) {
                names.push_back(fmt::format("{}::{}", class_name, one));
            });
            for (auto& near : base::similar_names(*name, names))
                mistake.out.suggestions.push_back(dollar(near));
            return true;
        }
        if (compilation.definitions().find_class(class_name)) {
            mistake.hint(fmt::format(
                "Class {0} is not evaluated yet at this point: add `include {0}` before it",
                class_name));
            return true;
        }
        mistake.hint(fmt::format("The class {} does not exist", class_name));
        return true;
    }
    std::vector<Assigned> seen;
    if (const auto parsed = tree_of(mistake, mistake.where.file)) {
        const auto offset = static_cast<std::uint32_t>(
            offset_of(parsed->tree->source->text(), mistake.where.line, mistake.where.column));
        collect_variables(parsed->tree->program, offset, seen);
        for (const auto& one : seen) {
            if (one.name == *name && one.offset > offset) {
                mistake.place(parsed->tree->source->locate(one.offset),
                              "it is set here, after its use");
                mistake.hint("A variable can only be used after its assignment");
                return true;
            }
            names.push_back(one.name);
        }
    }
    const auto take = [&](std::string_view one, const Value&) { names.emplace_back(one); };
    compilation.interpreter().top_scope().for_each(take);
    if (compilation.interpreter().node_scope) compilation.interpreter().node_scope->for_each(take);
    std::ranges::sort(names);
    for (auto& near : base::similar_names(*name, names))
        mistake.out.suggestions.push_back(dollar(near));
    // Legacy facts and the structured facts that replace them.
    static constexpr std::pair<std::string_view, std::string_view> kOldFacts[] = {
        {"osfamily", "$facts['os']['family']"},
        {"operatingsystem", "$facts['os']['name']"},
        {"operatingsystemrelease", "$facts['os']['release']['full']"},
        {"operatingsystemmajrelease", "$facts['os']['release']['major']"},
        {"lsbdistcodename", "$facts['os']['distro']['codename']"},
        {"architecture", "$facts['os']['architecture']"},
        {"fqdn", "$facts['networking']['fqdn']"},
        {"hostname", "$facts['networking']['hostname']"},
        {"domain", "$facts['networking']['domain']"},
        {"ipaddress", "$facts['networking']['ip']"},
        {"ipaddress6", "$facts['networking']['ip6']"},
        {"macaddress", "$facts['networking']['mac']"},
        {"memorysize", "$facts['memory']['system']['total']"},
        {"processorcount", "$facts['processors']['count']"},
        {"puppetversion", "$facts['puppetversion']"},
    };
    for (const auto& [old, today] : kOldFacts) {
        if (*name != old) continue;
        mistake.out.suggestions.assign(1, std::string(today));
        mistake.hint("Puppet 8 has no legacy facts; use the structured fact");
    }
    return true;
}

/// Appends the qualified names that belong to the files in a folder of a module.
void names_below(const Case& mistake, std::string_view module, std::string_view folder,
                 std::string_view extension, std::vector<std::string>& out) {
    const auto* found = mistake.environment().module(module);
    if (!found) return;
    const auto& files = mistake.environment().files();
    const auto walk = [&](const auto& self, const std::string& path, const std::string& name,
                          int depth) -> void {
        if (depth > 8 || out.size() > 20000) return;
        for (const auto& entry : files.list(path)) {
            if (entry.starts_with(".")) continue;
            if (entry.ends_with(extension)) {
                const auto leaf = entry.substr(0, entry.size() - extension.size());
                out.push_back(leaf == "init" && name == module ? std::string(module)
                                                               : name + "::" + leaf);
            } else if (entry.find('.') == std::string::npos) {
                self(self, path + "/" + entry, name + "::" + entry, depth + 1);
            }
        }
    };
    walk(walk, fmt::format("{}/{}", found->path, folder), std::string(module), 0);
}

/// Appends the names that the main manifest defines.
void own_definitions(const Case& mistake, NodeKind kind, std::vector<std::string>& out) {
    for (const auto& parsed : mistake.environment().main_manifests()) {
        if (!parsed->tree) continue;
        for (const auto* one : parsed->tree->program->definitions)
            if (one->kind == kind) out.emplace_back(static_cast<const NamedDefinition*>(one)->name);
    }
}

std::string module_of(std::string_view qualified) {
    return std::string(qualified.substr(0, qualified.find("::")));
}

std::vector<std::string> module_names(const Case& mistake) {
    std::vector<std::string> out;
    for (const auto& module : mistake.environment().modules()) out.push_back(module.name);
    return out;
}

bool unknown_function(const Case& mistake) {
    const auto name = between(mistake.text, "Unknown function: '", "'");
    if (!name) return false;
    std::vector<std::string> names;
    for (const auto* builtin : mistake.compilation.interpreter().functions().all()) {
        names.emplace_back(builtin->name);
    }
    const auto module = module_of(*name);
    const bool qualified = name->find("::") != std::string::npos;
    if (qualified) {
        names_below(mistake, module, "functions", ".pp", names);
        names_below(mistake, module, "lib/puppet/functions/" + module, ".rb", names);
    }
    std::ranges::sort(names);
    mistake.suggest(*name, names);
    if (qualified && !mistake.environment().module(module)) hint_missing_module(mistake, module);
    if (!qualified && mistake.out.suggestions.empty() && !mistake.environment().module("stdlib"))
        mistake.hint("It may be defined in a module: stdlib is not in the modulepath");
    return true;
}

bool unknown_type(const Case& mistake) {
    auto name = between(mistake.text, "Unknown resource type: '", "'");
    const bool resource = name.has_value();
    if (!name) name = between(mistake.text, "Resource type not found: ", " (");
    if (!name) name = between(mistake.text, "Resource type not found: ", "");
    if (!name) return false;
    std::vector<std::string> names;
    const auto module = module_of(base::lower(*name));
    for (const auto* type : restype::all_types()) names.emplace_back(type->name);
    names.emplace_back("class");
    names_below(mistake, module, "manifests", ".pp", names);
    own_definitions(mistake, NodeKind::ResourceTypeDefinition, names);
    if (!resource) {
        for (auto& one : names) one = std::string(capitalize(mistake.compilation.arena(), one));
        for (std::string_view type :
             {"Any",       "Array",      "Binary", "Boolean",    "Callable",  "CatalogEntry",
              "Class",     "Collection", "Data",   "Default",    "Deferred",  "Enum",
              "Float",     "Hash",       "Init",   "Integer",    "Iterable",  "Iterator",
              "NotUndef",  "Numeric",    "Object", "Optional",   "Pattern",   "Regexp",
              "Resource",  "RichData",   "Scalar", "ScalarData", "SemVer",    "SemVerRange",
              "Sensitive", "String",     "Struct", "Timespan",   "Timestamp", "Tuple",
              "Type",      "TypeSet",    "Undef",  "URI",        "Variant"}) {
            names.emplace_back(type);
        }
    }
    std::ranges::sort(names);
    if (!mistake.suggest(*name, names) && name->find("::") != std::string::npos &&
        !mistake.environment().module(module)) {
        mistake.suggest(module, module_names(mistake));
        hint_missing_module(mistake, module);
    }
    return true;
}

bool unknown_class(const Case& mistake) {
    auto name = between(mistake.text, "Could not find class ", " for ");
    if (!name) name = between(mistake.text, "Could not find declared class ", "");
    if (!name) return false;
    while (name->starts_with("::")) name->erase(0, 2);
    if (const auto end = name->find_first_of(" ("); end != std::string::npos) name->resize(end);
    const auto module = module_of(*name);
    std::vector<std::string> names;
    if (const auto* found = mistake.environment().module(module)) {
        names_below(mistake, module, "manifests", ".pp", names);
        std::string path = name->size() == module.size() ? "init" : name->substr(module.size() + 2);
        for (std::size_t at; (at = path.find("::")) != std::string::npos;) path.replace(at, 2, "/");
        const auto file = fmt::format("{}/manifests/{}.pp", found->path, path);
        const auto parsed = mistake.environment().files().read(file)
                                ? mistake.environment().parse_file(file)
                                : nullptr;
        if (!parsed) {
            mistake.hint(fmt::format("The expected file {} does not exist", file));
        } else if (parsed->tree) {
            for (const auto* definition : parsed->tree->program->definitions)
                mistake.place(definition->where(), "the file defines this instead");
            mistake.hint(fmt::format("{} does not define the class {}", file, *name));
        }
    } else {
        own_definitions(mistake, NodeKind::HostClassDefinition, names);
        for (const auto& one : module_names(mistake)) names.push_back(one);
        if (name->find("::") != std::string::npos) {
            for (const auto& near : base::similar_names(module, module_names(mistake)))
                names_below(mistake, near, "manifests", ".pp", names);
        }
    }
    std::ranges::sort(names);
    mistake.suggest(*name, names);
    if (!mistake.environment().module(module)) hint_missing_module(mistake, module);
    return true;
}

/// Explains errors whose cause is the undef of a missing key.
bool missing_key(const Case& mistake) {
    const bool title = mistake.text.find("Missing title. The title expression") == 0;
    if (!title &&
        mistake.text.find("Operator '[]' is not applicable to an Undef Value") == std::string::npos)
        return false;
    const auto parsed = tree_of(mistake, mistake.where.file);
    if (!parsed) return true;
    const auto offset = static_cast<std::uint32_t>(
        offset_of(parsed->tree->source->text(), mistake.where.line, mistake.where.column));
    explain_missing_key(mistake, *parsed->tree, offset);
    return true;
}

bool reassigned(const Case& mistake) {
    const auto name = between(mistake.text, "Cannot reassign variable '$", "'");
    if (!name) return false;
    if (const auto parsed = tree_of(mistake, mistake.where.file)) {
        const auto offset = static_cast<std::uint32_t>(
            offset_of(parsed->tree->source->text(), mistake.where.line, mistake.where.column));
        std::vector<Assigned> seen;
        collect_variables(parsed->tree->program, offset, seen);
        const Assigned* first = nullptr;
        for (const auto& one : seen)
            if (one.name == *name && one.offset < offset) first = &one;
        if (first) mistake.place(parsed->tree->source->locate(first->offset), "it is set here");
    }
    mistake.hint(
        "A variable can be set only once per scope, and `if`, `case` and `unless` do not have "
        "scopes of their "
        "own: use a selector, or `$x = if ... { } else { }`");
    return true;
}

/// Explains a parameter with the name of a metaparameter, and a class that inherits from itself.
bool bad_definition(const Case& mistake) {
    if (mistake.text.find("is a metaparameter; please choose another") != std::string::npos) {
        mistake.hint("Every resource already has this parameter. The definition can use it as $" +
                     mistake.text.substr(0, mistake.text.find(' ')) + " without declaring it");
        return true;
    }
    if (mistake.text != "stack level too deep") return false;
    const auto parsed = tree_of(mistake, mistake.where.file);
    if (!parsed) return false;
    const auto* node = definition_at(*parsed->tree, mistake.where.line);
    const auto* last = node ? as<HostClassDefinition>(node) : nullptr;
    if (!last || last->parent_class.empty()) return false;
    std::vector<std::string> chain{std::string(last->name)};
    const auto bare = [](std::string_view name) {
        return std::string(name.starts_with("::") ? name.substr(2) : name);
    };
    std::string parent = bare(last->parent_class);
    constexpr std::size_t kLongest = 20;
    while (chain.size() < kLongest && std::ranges::find(chain, parent) == chain.end()) {
        auto* definition = mistake.compilation.definitions().find_class(parent);
        if (!definition) return false;
        if (definition->name != last->name)
            mistake.place({std::string(definition->file), definition->line, 0},
                          fmt::format("{} inherits {}", definition->name, definition->parent_name));
        chain.push_back(parent);
        parent = bare(definition->parent_name);
    }
    mistake.hint(fmt::format("A class cannot be its own ancestor: {} inherits {}",
                             fmt::join(chain, " inherits "), parent));
    return true;
}

bool no_node(const Case& mistake) {
    if (mistake.text.find("Could not find node statement with name") == std::string::npos)
        return false;
    std::vector<std::string> names;
    for (const auto& parsed : mistake.environment().main_manifests()) {
        if (!parsed->tree) continue;
        for (const auto* definition : parsed->tree->program->definitions) {
            const auto* node = as<NodeDefinition>(definition);
            if (!node) continue;
            for (const auto* match : node->host_matches)
                if (const auto* text = as<LiteralString>(match)) names.emplace_back(text->value);
            if (mistake.out.places.size() < 3)
                mistake.place(definition->where(), "this is a node block");
        }
    }
    mistake.suggest(mistake.compilation.request().node.name, names);
    mistake.hint(
        "If there are node blocks, each node needs one: `node default { }` matches "
        "the others");
    return true;
}

}  // namespace

bool explain_names(const Case& mistake) {
    return unknown_variable(mistake) || unknown_function(mistake) || unknown_type(mistake) ||
           unknown_class(mistake) || missing_key(mistake) || reassigned(mistake) ||
           no_node(mistake) || bad_definition(mistake);
}

}  // namespace bunraku::compiler::explaining
