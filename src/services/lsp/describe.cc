// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/describe.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/reference/doc_text.h"
#include "core/base/text.h"
#include "language/function/table.h"
#include "resources/restype/spec.h"
#include "services/lsp/resolve.h"

namespace bunraku::lsp {

namespace {

std::string puppet_block(std::string_view code) {
    return fmt::format("```puppet\n{}\n```\n", code);
}

std::string_view keyword_of(DefinitionKind kind) {
    switch (kind) {
        case DefinitionKind::Class: return "class";
        case DefinitionKind::Define: return "define";
        case DefinitionKind::Function: return "function";
        case DefinitionKind::DataType: return "type";
        case DefinitionKind::Plan: return "plan";
        default: return "";
    }
}

std::string parameter_text(const ParameterInfo& parameter) {
    std::string out;
    if (!parameter.type.empty()) out += parameter.type + " ";
    if (parameter.captures_rest) out += "*";
    out += "$" + parameter.name;
    if (!parameter.default_value.empty()) out += " = " + parameter.default_value;
    return out;
}

/// Returns the text and the parameters of a comment in the form of puppet-strings.
std::string markdown_of_doc(const reference::DocText& doc) {
    std::string out = doc.text;
    if (const std::string summary = doc.tag_text("summary"); !summary.empty())
        out = out.empty() ? summary : summary + "\n\n" + out;
    std::string parameters;
    for (const auto& tag : doc.tags) {
        if (tag.tag != "param" || !tag.name) continue;
        parameters += fmt::format("- `{}`: {}\n", *tag.name,
                                  tag.text ? base::trim(*tag.text) : std::string_view());
    }
    if (!parameters.empty()) out += (out.empty() ? "" : "\n\n") + parameters;
    return out;
}

/// Returns the data that sets a key, file by file, as a list.
std::string data_list(State& state, RangeFinder& files, std::string_view key, Group group) {
    std::string out;
    for (const FoundPlace& place : data_places(state, key, group)) {
        const FileText& file = files.text(place.path);
        const std::uint32_t line = file.lines.line_of(place.span.offset);
        const std::string folder = state.workspace.environment_of(place.path);
        std::string_view shown = place.path;
        if (!folder.empty() && is_below(shown, folder)) shown.remove_prefix(folder.size() + 1);
        const std::string_view content = file.lines.line(file.text, line);
        const std::size_t colon = content.find(": ");
        const std::string_view value =
            colon == std::string_view::npos ? std::string_view() : content.substr(colon + 2);
        out += fmt::format("- `{}:{}`{}\n", shown, line + 1,
                           value.empty() ? "" : fmt::format(": `{}`", base::trim(value)));
    }
    return out.empty() ? out : "\nHiera data:\n" + out;
}

/// Returns the value of a key for the chosen node.
std::string node_value(State& state, const DocumentPlace& place, std::string_view key) {
    if (!state.node || state.node->node().empty()) return {};
    state.node->use(state.workspace.lookup_environment(place.path), unsaved_texts(state.workspace));
    const auto found = state.node->hiera(key);
    if (!found) return fmt::format("\n`{}` gets no value from Hiera.\n", state.node->node());
    std::string out = fmt::format("\n`{}` gets `{}`", state.node->node(), found->text);
    if (!found->origin.empty()) out += fmt::format(" from `{}`", found->origin);
    return out + ".\n";
}

std::string describe_variable(State& state, const DocumentPlace& place,
                              const Occurrence& occurrence) {
    RangeFinder files(state);
    const SymbolKey key = resolved_key(state.workspace, occurrence, place.group);
    const std::string_view name = key.name.view();
    const std::string_view owner = namespace_of(name), last = last_segment(name);
    if (name.starts_with('~')) {
        for (const Definition& definition : place.indexed->symbols.definitions) {
            if (!definition.span.touches(occurrence.span.offset)) continue;
            for (const ParameterInfo& parameter : definition.parameters)
                if (parameter.name == last) return puppet_block(parameter_text(parameter));
        }
        return puppet_block(fmt::format("${}", last));
    }
    const bool attribute = occurrence.role == Role::Attribute;
    for (const bool second : {false, true}) {
        const SymbolKind kind = attribute != second ? SymbolKind::Type : SymbolKind::Class;
        for (const auto& found :
             state.workspace.index().definitions(symbol_key(kind, owner), place.group)) {
            const auto& parameters = found.definition->parameters;
            const auto parameter = std::ranges::find(parameters, last, &ParameterInfo::name);
            if (parameter == parameters.end()) continue;
            std::string out = describe_parameter(files, found, *parameter);
            if (kind == SymbolKind::Class)
                out += data_list(state, files, name, place.group) + node_value(state, place, name);
            return out;
        }
    }
    if (const auto* type = native_type(owner))
        if (const auto* known = native_attribute(*type, last)) return describe_attribute(*known);
    for (const auto& found : state.workspace.index().defining(key, place.group)) {
        const FileText& file = files.text(found.file->path);
        const std::uint32_t line = file.lines.line_of(found.occurrence->span.offset);
        return puppet_block(base::trim(file.lines.line(file.text, line)));
    }
    if (owner.empty() && state.node) {
        if (const auto value = state.node->fact(last))
            return fmt::format("Fact `{}`: `{}` on `{}`\n", last, value->text, state.node->node());
    }
    return {};
}

std::string describe_hiera_key(State& state, const DocumentPlace& place, std::string_view name) {
    RangeFinder files(state);
    std::string out = fmt::format("Hiera key `{}`\n", name);
    for (const auto& found : state.workspace.index().definitions(
             symbol_key(SymbolKind::Class, namespace_of(name)), place.group)) {
        const auto& parameters = found.definition->parameters;
        const auto parameter =
            std::ranges::find(parameters, last_segment(name), &ParameterInfo::name);
        if (parameter != parameters.end())
            out += "\n" + describe_parameter(files, found, *parameter);
        break;
    }
    return out + data_list(state, files, name, place.group) + node_value(state, place, name);
}

}  // namespace

std::map<std::string, std::string> unsaved_texts(const Workspace& workspace) {
    std::map<std::string, std::string> out;
    for (const auto& [path, file] : workspace.open_files()) out[path] = file.document.text();
    return out;
}

const restype::TypeSpec* native_type(std::string_view name) {
    if (const auto* found = restype::find_type(name)) return found;
    return restype::find_module_type(name);
}

const restype::Attribute* native_attribute(const restype::TypeSpec& type, std::string_view name) {
    if (const auto* found = type.find(name)) return found;
    const auto meta = restype::metaparameters();
    const auto found = std::ranges::find(meta, name, &restype::Attribute::name);
    return found == meta.end() ? nullptr : &*found;
}

std::string comment_before(const FileText& file, std::uint32_t offset) {
    std::vector<std::string_view> found;
    for (std::uint32_t line = file.lines.line_of(offset); line-- > 0;) {
        std::string_view text = base::trim(file.lines.line(file.text, line));
        if (!text.starts_with('#')) break;
        text.remove_prefix(std::min(text.find_first_not_of('#'), text.size()));
        if (text.starts_with(' ')) text.remove_prefix(1);
        found.push_back(text);
    }
    std::ranges::reverse(found);
    return fmt::format("{}", fmt::join(found, "\n"));
}

std::string signature_of(const Definition& definition) {
    std::string out = fmt::format("{} {}", keyword_of(definition.kind), definition.shown);
    if (definition.kind == DefinitionKind::DataType)
        return definition.returns.empty() ? out : out + " = " + definition.returns;
    if (!definition.parameters.empty()) {
        out += "(\n";
        for (const ParameterInfo& parameter : definition.parameters)
            out += "  " + parameter_text(parameter) + ",\n";
        out += ")";
    }
    if (!definition.parent.empty()) out += " inherits " + definition.parent;
    if (!definition.returns.empty()) out += " >> " + definition.returns;
    return out;
}

std::string describe_definition(RangeFinder& files, const DefinitionPlace& place) {
    const Definition& definition = *place.definition;
    if (keyword_of(definition.kind).empty()) {
        std::string out = fmt::format("`{}`, defined in Ruby\n", definition.shown);
        for (const ParameterInfo& parameter : definition.parameters)
            out += fmt::format("- `{}` ({})\n", parameter.name, parameter.type);
        return out;
    }
    const FileText& file = files.text(place.file->path);
    if (place.file->kind == FileKind::Ruby) {
        std::string heads;
        for (const std::string& overload : definition.overloads)
            heads += fmt::format("{}{}({})", heads.empty() ? "" : "\n", definition.shown, overload);
        std::string out = fmt::format("`{}`, a function in Ruby\n", definition.shown);
        if (!heads.empty()) out += puppet_block(heads);
        return out + markdown_of_doc(
                         reference::parse_doc(comment_before(file, definition.name_span.offset)));
    }
    std::string out = puppet_block(signature_of(definition));
    const std::string comment = comment_before(file, definition.span.offset);
    return out + markdown_of_doc(reference::parse_doc(comment));
}

std::string describe_parameter(RangeFinder& files, const DefinitionPlace& place,
                               const ParameterInfo& parameter) {
    if (place.file->kind == FileKind::Ruby)
        return fmt::format("`{}`, a {} of `{}`\n", parameter.name, parameter.type,
                           place.definition->shown);
    std::string out = puppet_block(parameter_text(parameter));
    const FileText& file = files.text(place.file->path);
    const auto doc = reference::parse_doc(comment_before(file, place.definition->span.offset));
    for (const auto& tag : doc.tags)
        if (tag.tag == "param" && tag.name == parameter.name && tag.text)
            out += std::string(base::trim(*tag.text)) + "\n";
    return out + fmt::format("\nParameter of {} `{}`\n", keyword_of(place.definition->kind),
                             place.definition->shown);
}

std::string describe_builtin_function(std::string_view name) {
    const auto* found = function::builtin_functions().find(name);
    if (!found) return {};
    std::string code;
    for (const auto& overload : found->overloads) {
        if (overload.mismatch) continue;
        code += fmt::format("{}{}({})", code.empty() ? "" : "\n", found->name, overload.signature);
    }
    return puppet_block(code) + std::string(found->doc) + "\n";
}

std::string describe_native_type(const restype::TypeSpec& type) {
    std::string out = fmt::format("Resource type `{}`\n\n{}\n\nAttributes: ", type.name, type.doc);
    bool first = true;
    for (const auto& attribute : type.attributes) {
        out += fmt::format("{}`{}`", first ? "" : ", ", attribute.name);
        first = false;
    }
    return out + "\n";
}

std::string describe_attribute(const restype::Attribute& attribute) {
    const std::string_view kind = attribute.kind == restype::AttributeKind::Property ? "property"
                                  : attribute.kind == restype::AttributeKind::Parameter
                                      ? "parameter"
                                      : "metaparameter";
    std::string out = fmt::format("`{}` ({}{})\n\n{}\n", attribute.name, kind,
                                  attribute.namevar ? ", name variable" : "", attribute.doc);
    if (!attribute.values.empty()) {
        std::string values(attribute.values);
        std::ranges::replace(values, '|', ' ');
        out += fmt::format("\nValues: `{}`\n", values);
    }
    return out;
}

std::string describe_occurrence(State& state, const DocumentPlace& place,
                                const Occurrence& occurrence) {
    const std::string name(occurrence.key.name.view());
    switch (occurrence.key.kind) {
        case SymbolKind::Variable: return describe_variable(state, place, occurrence);
        case SymbolKind::ErbVariable:
            for (const std::string& caller : template_callers(state, place.path, place.group)) {
                Occurrence used = occurrence;
                used.key = symbol_key(SymbolKind::Variable, fmt::format("{}::{}", caller, name));
                return describe_variable(state, place, used);
            }
            return {};
        case SymbolKind::HieraKey: return describe_hiera_key(state, place, name);
        case SymbolKind::Fact: {
            const auto value = state.node ? state.node->fact(name) : std::nullopt;
            return value ? fmt::format("Fact `{}`: `{}` on `{}`\n", name, value->text,
                                       state.node->node())
                         : fmt::format("Fact `{}`\n", name);
        }
        case SymbolKind::Template:
        case SymbolKind::File: {
            const auto path = named_file(state, occurrence, place.group);
            return path ? fmt::format("`{}`\n", *path) : std::string();
        }
        default: break;
    }
    RangeFinder files(state);
    for (const auto& found : state.workspace.index().definitions(occurrence.key, place.group))
        return describe_definition(files, found);
    if (occurrence.key.kind == SymbolKind::Function) return describe_builtin_function(name);
    if (const auto* type = native_type(name)) return describe_native_type(*type);
    return {};
}

}  // namespace bunraku::lsp
