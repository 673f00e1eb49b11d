// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/resolve.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/base/text.h"

namespace bunraku::lsp {

namespace {

constexpr int kMaxAncestors = 30;

const Definition* class_definition(const Workspace& workspace, std::string_view name, Group group) {
    const auto found = workspace.index().definitions(symbol_key(SymbolKind::Class, name), group);
    return found.empty() ? nullptr : found.front().definition;
}

/// Returns the classes that inherit from `name`, directly or not.
std::vector<std::string> descendants(const Workspace& workspace, std::string_view name,
                                     Group group) {
    std::vector<std::string> out;
    std::vector<std::string> pending{std::string(name)};
    while (!pending.empty() && out.size() < 1000) {
        const std::string parent = std::move(pending.back());
        pending.pop_back();
        for (const auto& place :
             workspace.index().occurrences(symbol_key(SymbolKind::Class, parent), group)) {
            const auto& symbols = place.file->symbols;
            for (const Definition& definition : symbols.definitions) {
                const std::string child(definition.key.name.view());
                if (definition.parent != parent || std::ranges::find(out, child) != out.end())
                    continue;
                out.push_back(child);
                pending.push_back(child);
            }
        }
    }
    return out;
}

/// Collects places without duplicates.
class PlaceSet {
public:
    void add(const std::string& path, Span span) {
        places_.insert({path, span.offset, span.length});
    }
    void add(const std::vector<OccurrencePlace>& found, bool with_definitions) {
        for (const auto& place : found) {
            if (!with_definitions && place.occurrence->role == Role::Define) continue;
            add(place.file->path, place.occurrence->span);
        }
    }
    std::vector<FoundPlace> take() const {
        std::vector<FoundPlace> out;
        for (const auto& [path, offset, length] : places_) out.push_back({path, {offset, length}});
        return out;
    }

private:
    std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> places_;
};

/// Returns "module/file" for the path of a template; empty if it is not in a module.
std::string template_name(const Workspace& workspace, const std::string& path) {
    for (const ModuleFolder& module : workspace.modules()) {
        const std::string folder = module.path + "/templates/";
        if (path.starts_with(folder)) return module.name + "/" + path.substr(folder.size());
    }
    return {};
}

/// Returns the full name of a variable of a class or define; `owner` is empty for a node.
std::string variable_of(std::string_view owner, std::string_view variable) {
    return owner.empty() ? std::string(variable) : fmt::format("{}::{}", owner, variable);
}

/// Returns the paths of the ERB templates that a class or define renders and that use a variable.
std::set<std::string> templates_using(const State& state, std::string_view owner,
                                      std::string_view variable, Group group) {
    const auto& index = state.workspace.index();
    const SymbolKey key = symbol_key(SymbolKind::ErbVariable, variable);
    std::set<std::string> out;
    for (const SymbolKind kind : {SymbolKind::Class, SymbolKind::Type}) {
        for (const auto& place : index.definitions(symbol_key(kind, owner), group)) {
            for (const Occurrence& used : place.file->symbols.occurrences) {
                if (used.key.kind != SymbolKind::Template ||
                    !place.definition->span.touches(used.span.offset))
                    continue;
                const auto path = named_file(state, used, group);
                const auto* file = path ? index.file(*path) : nullptr;
                if (file && std::ranges::binary_search(file->keys, key, key_before))
                    out.insert(*path);
            }
        }
    }
    return out;
}

/// Adds the uses of a variable of a class or define in the ERB templates that it renders.
void add_template_uses(const State& state, std::string_view owner, std::string_view variable,
                       Group group, PlaceSet& out) {
    for (const std::string& path : templates_using(state, owner, variable, group)) {
        const auto* file = state.workspace.index().file(path);
        for (const Occurrence& in : file->symbols.occurrences)
            if (in.key.kind == SymbolKind::ErbVariable && in.key.name.view() == variable)
                out.add(path, in.span);
    }
}

/// The parameter of an EPP template that an argument names.
struct EppParameter {
    std::string path;  ///< of the template
    SymbolKey key;     ///< of the variable in the template
};
std::optional<EppParameter> epp_parameter(const State& state, std::string_view argument,
                                          Group group) {
    const std::string_view name = namespace_of(argument);
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto path = state.workspace.module_file(name.substr(0, slash), "templates",
                                                  name.substr(slash + 1), group);
    if (!path) return std::nullopt;
    return EppParameter{
        *path,
        symbol_key(SymbolKind::Variable, fmt::format("{}::{}", kEppScope, last_segment(argument)))};
}

/// Adds the places of a parameter of an EPP template: in the template and in its callers.
void add_epp_uses(const State& state, const EppParameter& parameter, Group group,
                  bool with_definitions, PlaceSet& out) {
    const auto& index = state.workspace.index();
    if (const auto* file = index.file(parameter.path))
        for (const Occurrence& in : file->symbols.occurrences)
            if (in.key == parameter.key && (with_definitions || in.role != Role::Define))
                out.add(parameter.path, in.span);
    const std::string argument =
        fmt::format("{}::{}", template_name(state.workspace, parameter.path),
                    last_segment(parameter.key.name.view()));
    out.add(index.occurrences(symbol_key(SymbolKind::EppArgument, argument), group), true);
}

/// Adds the uses of a variable of the top scope in classes that inherit, where it might also belong
/// to an ancestor.
void add_top_uses(const State& state, const std::string& name, Group group, PlaceSet& out) {
    const auto& index = state.workspace.index();
    index.each_definition(group, [&](const DefinitionPlace& place) {
        if (place.definition->parent.empty()) return;
        const std::string inherited =
            fmt::format("{}::{}", place.definition->key.name.view(), name);
        for (const auto& use :
             index.occurrences(symbol_key(SymbolKind::Variable, inherited), group)) {
            if (use.occurrence->role != Role::Inherited) continue;
            if (resolved_key(state.workspace, *use.occurrence, group).name.view() == name)
                out.add(use.file->path, use.occurrence->span);
        }
    });
}

/// Adds everything that names a variable, parameter, attribute or automatic Hiera key.
void add_variable_uses(const State& state, const std::string& name, Group group,
                       bool with_definitions, PlaceSet& out) {
    const auto& index = state.workspace.index();
    out.add(index.occurrences(symbol_key(SymbolKind::Variable, name), group), with_definitions);
    const std::string_view owner = namespace_of(name), last = last_segment(name);
    if (owner.empty()) return add_top_uses(state, name, group, out);
    for (const auto& place : index.occurrences(symbol_key(SymbolKind::HieraKey, name), group)) {
        // The span of a key covers its class, too.
        const Span span = place.occurrence->span;
        const auto length = static_cast<std::uint32_t>(last.size());
        if (span.length >= length) out.add(place.file->path, {span.end() - length, length});
    }
    for (const std::string& child : descendants(state.workspace, owner, group)) {
        const std::string inherited = fmt::format("{}::{}", child, last);
        for (const auto& place :
             index.occurrences(symbol_key(SymbolKind::Variable, inherited), group)) {
            const auto key = resolved_key(state.workspace, *place.occurrence, group);
            if (key.name.view() == name) out.add(place.file->path, place.occurrence->span);
        }
        // Templates of the child see the variable unless the child has its own.
        if (index.defining(symbol_key(SymbolKind::Variable, inherited), group).empty())
            add_template_uses(state, child, last, group, out);
    }
    add_template_uses(state, owner, last, group, out);
}

}  // namespace

SymbolKey resolved_key(const Workspace& workspace, const Occurrence& occurrence, Group group) {
    const std::string_view name = occurrence.key.name.view();
    // $child::x may name a variable of an ancestor.
    const bool qualified = occurrence.role == Role::Use &&
                           occurrence.key.kind == SymbolKind::Variable && !name.starts_with('~') &&
                           name.find("::") != std::string_view::npos;
    if (occurrence.role != Role::Inherited && !qualified) return occurrence.key;
    const std::string_view last = last_segment(name);
    std::string owner(namespace_of(name));
    for (int i = 0; i < kMaxAncestors; ++i) {
        const SymbolKey key = symbol_key(SymbolKind::Variable, fmt::format("{}::{}", owner, last));
        if (!workspace.index().defining(key, group).empty()) return key;
        const Definition* definition = class_definition(workspace, owner, group);
        if (!definition || definition->parent.empty()) break;
        owner = definition->parent;
    }
    return qualified ? occurrence.key : symbol_key(SymbolKind::Variable, last);
}

const Definition* owner_definition(const Workspace& workspace, std::string_view name, Group group,
                                   Role role) {
    if (role != Role::Attribute)
        if (const Definition* found = class_definition(workspace, name, group)) return found;
    const auto types = workspace.index().definitions(symbol_key(SymbolKind::Type, name), group);
    return types.empty() ? nullptr : types.front().definition;
}

const ParameterInfo* parameter_of(const Workspace& workspace, std::string_view full_name,
                                  Group group, Role role) {
    const Definition* owner = owner_definition(workspace, namespace_of(full_name), group, role);
    if (!owner) return nullptr;
    const auto found =
        std::ranges::find(owner->parameters, last_segment(full_name), &ParameterInfo::name);
    return found == owner->parameters.end() ? nullptr : &*found;
}

std::optional<std::string> named_file(const State& state, const Occurrence& occurrence,
                                      Group group) {
    const std::string_view name = occurrence.key.name.view();
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const bool is_template = occurrence.key.kind == SymbolKind::Template;
    return state.workspace.module_file(name.substr(0, slash), is_template ? "templates" : "files",
                                       name.substr(slash + 1), group);
}

std::vector<std::string> template_callers(const State& state, const std::string& path,
                                          Group group) {
    std::vector<std::string> out;
    const std::string name = template_name(state.workspace, path);
    if (name.empty()) return out;
    for (const auto& place :
         state.workspace.index().occurrences(symbol_key(SymbolKind::Template, name), group)) {
        const Definition* caller = place.file->symbols.enclosing(place.occurrence->span.offset);
        if (caller) out.emplace_back(caller->key.name.view());
    }
    std::ranges::sort(out);
    const auto rest = std::ranges::unique(out);
    out.erase(rest.begin(), rest.end());
    return out;
}

std::string shared_template(const State& state, const DocumentPlace& place,
                            const Occurrence& occurrence) {
    const auto& index = state.workspace.index();
    std::set<std::string> renamed;  // full names of variables
    std::string variable;
    if (occurrence.key.kind == SymbolKind::ErbVariable) {
        variable = occurrence.key.name.view();
        for (const std::string& caller : template_callers(state, place.path, place.group))
            renamed.insert(variable_of(caller, variable));
    } else if (occurrence.key.kind == SymbolKind::Variable) {
        const std::string name(resolved_key(state.workspace, occurrence, place.group).name.view());
        if (name.starts_with('~')) return {};
        variable = last_segment(name);
        renamed.insert(name);
    }
    for (const std::string& name : renamed) {
        const std::string_view owner = namespace_of(name);
        if (owner.empty()) continue;
        for (const std::string& path : templates_using(state, owner, variable, place.group)) {
            for (const std::string& caller : template_callers(state, path, place.group)) {
                Occurrence used;
                used.key = symbol_key(SymbolKind::Variable, variable_of(caller, variable));
                const SymbolKey key = resolved_key(state.workspace, used, place.group);
                if (!renamed.contains(std::string(key.name.view())) &&
                    !index.defining(key, place.group).empty())
                    return fmt::format("{} also renders {}, with its own variable '{}'", caller,
                                       template_name(state.workspace, path), variable);
            }
        }
    }
    return {};
}

std::vector<FoundPlace> data_places(const State& state, std::string_view key, Group group) {
    PlaceSet out;
    out.add(state.workspace.index().defining(symbol_key(SymbolKind::HieraKey, key), group), true);
    return out.take();
}

std::vector<FoundPlace> definition_places(const State& state, const DocumentPlace& place,
                                          const Occurrence& occurrence) {
    const auto& index = state.workspace.index();
    const Group group = place.group;
    PlaceSet out;
    switch (occurrence.key.kind) {
        case SymbolKind::Template:
        case SymbolKind::File: {
            const auto path = named_file(state, occurrence, group);
            if (path) out.add(*path, {0, 0});
            return out.take();
        }
        case SymbolKind::ErbVariable: {
            for (const std::string& caller : template_callers(state, place.path, group)) {
                const auto key = symbol_key(SymbolKind::Variable,
                                            variable_of(caller, occurrence.key.name.view()));
                out.add(index.defining(key, group), true);
            }
            return out.take();
        }
        case SymbolKind::Variable: {
            const SymbolKey key = resolved_key(state.workspace, occurrence, group);
            const std::string_view name = key.name.view();
            if (name.starts_with('~')) {
                for (const Occurrence& local : place.indexed->symbols.occurrences)
                    if (local.key == key && local.role == Role::Define)
                        out.add(place.path, local.span);
                return out.take();
            }
            // A parameter's own definition leads to its data.
            if (occurrence.role == Role::Define) {
                auto data = data_places(state, name, group);
                if (!data.empty()) return data;
            }
            out.add(index.defining(key, group), true);
            auto found = out.take();
            return found.empty() ? data_places(state, name, group) : found;
        }
        case SymbolKind::EppArgument: {
            const auto found = epp_parameter(state, occurrence.key.name.view(), group);
            const auto* file = found ? index.file(found->path) : nullptr;
            if (!file) return out.take();
            for (const Occurrence& in : file->symbols.occurrences)
                if (in.key == found->key && in.role == Role::Define) out.add(found->path, in.span);
            return out.take();
        }
        case SymbolKind::HieraKey: {
            const std::string_view name = occurrence.key.name.view();
            out.add(index.defining(symbol_key(SymbolKind::Variable, name), group), true);
            auto found = out.take();
            return found.empty() ? data_places(state, name, group) : found;
        }
        default: break;
    }
    for (const auto& found : index.definitions(occurrence.key, group))
        out.add(found.file->path, found.definition->name_span);
    auto places = out.take();
    if (places.empty() && occurrence.role == Role::Prefix) {
        for (const auto& found :
             index.definitions(symbol_key(SymbolKind::Type, occurrence.key.name.view()), group))
            out.add(found.file->path, found.definition->name_span);
        places = out.take();
    }
    if (places.empty()) {
        out.add(index.defining(occurrence.key, group), true);
        places = out.take();
    }
    return places;
}

std::vector<FoundPlace> use_places(const State& state, const DocumentPlace& place,
                                   const Occurrence& occurrence, bool with_definitions) {
    const auto& index = state.workspace.index();
    PlaceSet out;
    SymbolKey key = occurrence.key;
    if (key.kind == SymbolKind::Variable)
        key = resolved_key(state.workspace, occurrence, place.group);
    const std::string name(key.name.view());
    if (key.kind == SymbolKind::EppArgument) {
        if (const auto found = epp_parameter(state, name, place.group))
            add_epp_uses(state, *found, place.group, with_definitions, out);
        return out.take();
    }
    if (place.kind == FileKind::Epp && namespace_of(name) == kEppScope) {
        add_epp_uses(state, {place.path, key}, place.group, with_definitions, out);
        return out.take();
    }
    if (name.starts_with('~')) {
        for (const Occurrence& local : place.indexed->symbols.occurrences)
            if (local.key == key && (with_definitions || local.role != Role::Define))
                out.add(place.path, local.span);
        return out.take();
    }
    if (key.kind == SymbolKind::ErbVariable) {
        for (const std::string& caller : template_callers(state, place.path, place.group))
            add_variable_uses(state, variable_of(caller, name), place.group, with_definitions, out);
        return out.take();
    }
    if (key.kind == SymbolKind::Variable) {
        add_variable_uses(state, name, place.group, with_definitions, out);
        return out.take();
    }
    out.add(index.occurrences(key, place.group), with_definitions);
    if (key.kind == SymbolKind::HieraKey && parameter_of(state.workspace, name, place.group)) {
        PlaceSet all;
        add_variable_uses(state, name, place.group, with_definitions, all);
        return all.take();
    }
    return out.take();
}

}  // namespace bunraku::lsp
