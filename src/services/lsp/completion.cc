// SPDX-License-Identifier: Apache-2.0
// Completion: what fits at the cursor, with its documentation.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "language/function/table.h"
#include "resources/restype/spec.h"
#include "services/lsp/completion_items.h"
#include "services/lsp/cursor_context.h"
#include "services/lsp/describe.h"
#include "services/lsp/handlers.h"
#include "services/lsp/puppetfile_completion.h"
#include "services/lsp/resolve.h"

namespace bunraku::lsp {

namespace {

constexpr std::string_view kTemplates = "/templates/";

class CompletionList {
public:
    CompletionList(State& state, const DocumentPlace& place, CursorContext context)
        : state_(state), place_(place), context_(std::move(context)), files_(state) {
        set_word(context_.word);
    }

    std::string run() {
        if (place_.kind == FileKind::HieraData) {
            hiera_document();
        } else {
            by_context();
        }
        return items_.take();
    }

private:
    void set_word(Span word) {
        items_.set_word(place_.slice(word),
                        place_.text->lines.range(place_.text->text, word, state_.encoding));
    }
    void add(std::string_view label, ItemKind kind, std::string_view detail,
             std::string_view doc = {}, std::string_view insert = {},
             std::string_view resolved = {}) {
        items_.add({.label = label,
                    .kind = kind,
                    .detail = detail,
                    .doc = doc,
                    .insert = insert,
                    .resolved = resolved,
                    .filter = {},
                    .order = {}});
    }

    void by_context() {
        switch (context_.expected) {
            case Expected::Statement:
                keywords({"case", "class", "contain", "define", "if", "include", "node", "require",
                          "unless"});
                types(false);
                functions();
                return;
            case Expected::Expression:
                keywords({"default", "false", "if", "true", "undef"});
                functions();
                return;
            case Expected::Variable: return variables();
            case Expected::ClassName: return classes();
            case Expected::Attribute: return attributes();
            case Expected::AttributeValue: return values();
            case Expected::TypeName: return types(true);
            case Expected::FactKey: return fact_keys();
            case Expected::HieraKey: return hiera_keys();
            case Expected::TemplateName: return templates();
            case Expected::Nothing: return;
        }
    }
    void keywords(std::initializer_list<std::string_view> words) {
        for (const std::string_view word : words) add(word, ItemKind::Keyword, "keyword");
    }
    void definitions(DefinitionKind kind, ItemKind item, bool capital = false) {
        state_.workspace.index().each_definition(place_.group, [&](const DefinitionPlace& found) {
            if (found.definition->kind != kind || found.definition->shown.empty()) return;
            const std::string label =
                capital ? capitalized_name(found.definition->shown) : found.definition->shown;
            if (!base::lower(label).starts_with(items_.prefix())) return;
            add(label, item, head_of(*found.definition), "");
        });
    }
    static std::string head_of(const Definition& definition) {
        std::string out;
        for (const ParameterInfo& parameter : definition.parameters)
            out += (out.empty() ? "$" : ", $") + parameter.name;
        return "(" + out + ")";
    }
    void classes() { definitions(DefinitionKind::Class, ItemKind::Class); }
    void types(bool capital) {
        definitions(DefinitionKind::Define, ItemKind::Struct, capital);
        definitions(DefinitionKind::ResourceType, ItemKind::Struct, capital);
        for (const auto* type : restype::all_types())
            add(capital ? capitalized_name(type->name) : std::string(type->name), ItemKind::Struct,
                "resource type", {}, {}, "type");
        if (!capital) return;
        definitions(DefinitionKind::DataType, ItemKind::Enum);
        constexpr std::string_view kDataTypes[] = {
            "Any",      "Array",     "Binary",   "Boolean", "Callable",  "CatalogEntry", "Class",
            "Data",     "Default",   "Deferred", "Enum",    "Error",     "Float",        "Hash",
            "Integer",  "Iterable",  "NotUndef", "Numeric", "Optional",  "Pattern",      "Regexp",
            "Resource", "RichData",  "Scalar",   "SemVer",  "Sensitive", "String",       "Struct",
            "Timespan", "Timestamp", "Tuple",    "Type",    "URI",       "Undef",        "Variant"};
        for (const std::string_view name : kDataTypes) add(name, ItemKind::Enum, "data type");
    }
    void functions() {
        definitions(DefinitionKind::Function, ItemKind::Function);
        for (const auto* function : function::builtin_functions().all()) {
            if (!function->name.starts_with(items_.prefix())) continue;
            add(function->name, ItemKind::Function, "function", {}, {}, "function");
        }
    }
    void variables() {
        if (place_.indexed) {
            const Definition* around = place_.indexed->symbols.enclosing(place_.offset);
            if (around) {
                for (const ParameterInfo& parameter : around->parameters)
                    add(parameter.name, ItemKind::Variable,
                        parameter.type.empty() ? "parameter" : parameter.type);
                ancestors(*around);
            }
            for (const Occurrence& found : place_.indexed->symbols.occurrences) {
                if (found.key.kind != SymbolKind::Variable || found.role != Role::Define) continue;
                if (around && !around->span.touches(found.span.offset)) continue;
                add(last_segment(found.key.name.view()), ItemKind::Variable, "variable");
            }
        }
        for (const std::string_view name :
             {"facts", "trusted", "server_facts", "environment", "title", "name", "module_name"})
            add(name, ItemKind::Constant, "built-in variable");
        qualified_variables();
    }
    void ancestors(const Definition& definition) {
        std::string parent = definition.parent;
        for (int i = 0; i < 30 && !parent.empty(); ++i) {
            const Definition* found = owner_definition(state_.workspace, parent, place_.group);
            if (!found) return;
            for (const ParameterInfo& parameter : found->parameters)
                add(parameter.name, ItemKind::Variable, "parameter of " + parent);
            parent = found->parent;
        }
    }
    /// Parameters of other classes: once the user has typed "ntp::".
    void qualified_variables() {
        const std::string_view owner = namespace_of(items_.prefix());
        if (owner.empty()) return;
        const Definition* found =
            owner_definition(state_.workspace, without_top(owner), place_.group);
        if (!found) return;
        for (const ParameterInfo& parameter : found->parameters)
            add(fmt::format("{}::{}", owner, parameter.name), ItemKind::Variable, parameter.type);
    }
    void attributes() {
        const bool is_class = context_.type == "class";
        const std::string owner =
            is_class ? base::lower(without_top(context_.title)) : context_.type;
        for (const auto& found : state_.workspace.index().definitions(
                 symbol_key(is_class ? SymbolKind::Class : SymbolKind::Type, owner),
                 place_.group)) {
            for (const ParameterInfo& parameter : found.definition->parameters)
                attribute(parameter.name, parameter.type,
                          describe_parameter(files_, found, parameter));
            break;
        }
        if (const auto* type = native_type(owner))
            for (const auto& each : type->attributes)
                attribute(each.name, "", describe_attribute(each));
        if (is_class) return;
        for (const auto& each : restype::metaparameters())
            attribute(each.name, "metaparameter", describe_attribute(each));
    }
    void attribute(std::string_view name, std::string_view detail, std::string_view doc) {
        add(name, ItemKind::Property, detail, doc, fmt::format("{} => ", name));
    }
    void values() {
        const bool is_class = context_.type == "class";
        const std::string owner =
            is_class ? base::lower(without_top(context_.title)) : context_.type;
        const std::string full = fmt::format("{}::{}", owner, context_.attribute);
        if (const auto* parameter = parameter_of(state_.workspace, full, place_.group)) {
            type_values(parameter->type);
        } else if (const auto* type = native_type(owner)) {
            if (const auto* found = native_attribute(*type, context_.attribute)) {
                for (std::string_view value : base::split(found->values, '|')) {
                    for (const std::string_view name : base::split(value, '='))
                        if (!name.empty()) add(name, ItemKind::Value, "value");
                }
            }
        }
        if (context_.in_string) return;
        keywords({"default", "false", "true", "undef"});
        functions();
    }
    /// Adds the values of the data types that a type names, "Optional[Web::Mode]".
    void alias_values(std::string_view type, int depth) {
        constexpr int kMaxDepth = 5;
        if (depth > kMaxDepth) return;
        constexpr std::string_view kNameParts =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:";
        for (std::size_t at = 0; (at = type.find_first_of(kNameParts, at)) != type.npos;) {
            const std::size_t end = std::min(type.find_first_not_of(kNameParts, at), type.size());
            const std::string name = base::lower(without_top(type.substr(at, end - at)));
            at = end;
            for (const auto& found : state_.workspace.index().definitions(
                     symbol_key(SymbolKind::Type, name), place_.group)) {
                if (found.definition->kind != DefinitionKind::DataType) continue;
                type_values(found.definition->returns, depth + 1);
            }
        }
    }
    /// Adds the literal values of an Enum or a Boolean, also of aliases.
    void type_values(std::string_view type, int depth = 0) {
        alias_values(type, depth);
        if (type.find("Boolean") != std::string_view::npos) keywords({"false", "true"});
        for (std::size_t at = 0; (at = type.find("Enum[", at)) != std::string_view::npos;) {
            at += 5;
            const std::size_t end = std::min(type.find(']', at), type.size());
            for (std::string_view part : base::split(type.substr(at, end - at), ',')) {
                part = base::trim(part);
                const std::string plain(base::trim(part, " \t'\""));
                add(plain, ItemKind::Value, "value", "",
                    context_.in_string ? plain : fmt::format("'{}'", plain));
            }
        }
    }
    void fact_keys() {
        if (state_.node) {
            const std::string below = context_.fact_path.empty() ? "" : context_.fact_path + ".";
            for (const std::string& path : state_.node->facts()) {
                if (!path.starts_with(below)) continue;
                const std::string_view rest = std::string_view(path).substr(below.size());
                const auto value = state_.node->fact(below + std::string(rest));
                if (rest.find('.') == std::string_view::npos)
                    add(rest, ItemKind::Constant, value ? value->text : "fact");
            }
        }
        if (context_.fact_path.empty()) definitions(DefinitionKind::Fact, ItemKind::Constant);
    }
    void hiera_keys() {
        definitions(DefinitionKind::Key, ItemKind::Property);
        class_parameters("");
    }
    void class_parameters(std::string_view suffix) {
        state_.workspace.index().each_definition(place_.group, [&](const DefinitionPlace& found) {
            if (found.definition->kind != DefinitionKind::Class) return;
            for (const ParameterInfo& parameter : found.definition->parameters) {
                const std::string key =
                    fmt::format("{}::{}", found.definition->key.name.view(), parameter.name);
                if (!key.starts_with(items_.prefix())) continue;
                add(key, ItemKind::Property, parameter.type, {}, key + std::string(suffix),
                    "parameter");
            }
        });
    }
    void templates() {
        // The word of a template name includes slashes, dots and dashes.
        std::uint32_t begin = place_.offset;
        const std::string& text = place_.text->text;
        while (begin > 0 && text[begin - 1] != '\'' && text[begin - 1] != '"') --begin;
        set_word({begin, place_.offset - begin});
        state_.workspace.index().each_file([&](const IndexedFile& file) {
            if (file.kind != FileKind::Epp && file.kind != FileKind::Erb) return;
            const std::size_t at = file.path.find(kTemplates);
            const auto* module = state_.workspace.module_at(file.path.substr(0, at));
            if (!module) return;
            add(module->name + file.path.substr(at + kTemplates.size() - 1), ItemKind::File,
                "template");
        });
    }
    /// Keys at the beginning of a line of a data file, and values of the key on the line.
    void hiera_document() {
        const LineIndex& lines = place_.text->lines;
        const std::uint32_t number = lines.line_of(place_.offset);
        const std::string_view line = lines.line(place_.text->text, number);
        const std::uint32_t column = place_.offset - lines.start(number);
        const std::string_view before = line.substr(0, column);
        if (before.find_first_of(" \t#-") == std::string_view::npos)
            return class_parameters(line.size() > column ? "" : ": ");
        const std::size_t colon = before.find(": ");
        if (colon == std::string_view::npos) return;
        const std::string_view key = base::trim(before.substr(0, colon), "'\" ");
        if (const auto* parameter = parameter_of(state_.workspace, key, place_.group)) {
            context_.in_string = true;  // YAML needs no quotes
            type_values(parameter->type);
        }
    }

    State& state_;
    const DocumentPlace& place_;
    CursorContext context_;
    RangeFinder files_;
    CompletionItems items_;
};

/// Returns the description of a parameter of a class, "ntp::servers".
std::string parameter_doc(const State& state, std::string_view full_name) {
    const auto* parameter = parameter_of(state.workspace, full_name, 0);
    const auto found = state.workspace.index().definitions(
        symbol_key(SymbolKind::Class, namespace_of(full_name)), 0);
    if (!parameter || found.empty()) return {};
    RangeFinder files(state);
    return describe_parameter(files, found.front(), *parameter);
}

}  // namespace

Answer on_completion(State& state, const value::Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    if (place->kind == FileKind::Puppetfile) return puppetfile_completion(state, *place);
    CursorContext context =
        context_at(place->text->text, place->offset, place->kind == FileKind::Epp);
    return CompletionList(state, *place, std::move(context)).run();
}

/// Adds the documentation of an item, which a list would repeat at each key.
Answer on_resolve_completion(State& state, const value::Value& params) {
    if (!params.is_hash()) return invalid_params("The item must be an object");
    const std::string data = value::text_at(params, "data");
    const std::size_t colon = data.find(':');
    const std::string kind = data.substr(0, colon);
    const std::string name = colon == std::string::npos ? "" : base::lower(data.substr(colon + 1));
    std::string doc;
    if (kind == "function") doc = describe_builtin_function(name);
    if (const auto* type = kind == "type" ? native_type(name) : nullptr)
        doc = describe_native_type(*type);
    if (kind == "parameter") doc = parameter_doc(state, name);
    const std::string item = value::to_json(params);
    if (doc.empty()) return item;
    JsonWriter out;
    out.object().member("kind", "markdown").member("value", doc).end_object();
    return item.substr(0, item.size() - 1) + ",\"documentation\":" + out.text() + "}";
}

}  // namespace bunraku::lsp
