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
#include "services/lsp/data_context.h"
#include "services/lsp/describe.h"
#include "services/lsp/handlers.h"
#include "services/lsp/manifest_analyzer.h"
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
        by_context();
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
            case Expected::FileName: return module_files("");
            case Expected::ServedFile: return module_files(kServedFiles);
            case Expected::ResourceTitle: return resource_titles();
            case Expected::DataKey: return class_parameters(at_line_end() ? ": " : "");
            case Expected::HieraSetting: return hiera_settings();
            case Expected::Interpolation: return interpolation();
            case Expected::TemplateVariable: return template_variables();
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
    bool at_line_end() const {
        const std::string_view rest = std::string_view(place_.text->text).substr(place_.offset);
        return rest.empty() || rest.front() == '\n' || rest.front() == '\r';
    }
    /// Returns the parameters of a definition, or the data type of a key.
    static std::string head_of(const Definition& definition) {
        if (definition.kind == DefinitionKind::Key) return definition.returns;
        if (definition.kind == DefinitionKind::Fact) return "fact";
        if (!definition.overloads.empty()) return "(" + definition.overloads.front() + ")";
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
        set_quoted_word("");
        state_.workspace.index().each_file([&](const IndexedFile& file) {
            if (file.kind != FileKind::Epp && file.kind != FileKind::Erb) return;
            const std::size_t at = file.path.find(kTemplates);
            const auto* module = state_.workspace.module_at(file.path.substr(0, at));
            if (!module) return;
            add(module->name + file.path.substr(at + kTemplates.size() - 1), ItemKind::File,
                "template");
        });
    }
    /// Sets the word to the text since the quote, which may contain slashes, dots and dashes.
    void set_quoted_word(std::string_view prefix) {
        std::uint32_t begin = place_.offset;
        const std::string& text = place_.text->text;
        while (begin > 0 && text[begin - 1] != '\'' && text[begin - 1] != '"') --begin;
        if (std::string_view(text).substr(begin).starts_with(prefix))
            begin += static_cast<std::uint32_t>(prefix.size());
        begin = std::min(begin, place_.offset);
        set_word({begin, place_.offset - begin});
    }
    /// Adds the modules, or the content of a folder below `files` of a module.
    void module_files(std::string_view prefix) {
        set_quoted_word(prefix);
        const std::string word(place_.slice({place_.offset - word_size(), word_size()}));
        const std::size_t slash = word.find('/');
        if (slash == std::string::npos) {
            for (const ModuleFolder& module : state_.workspace.modules())
                add(module.name + "/", ItemKind::Module, "module");
            return;
        }
        const std::string folder = word.substr(0, word.rfind('/') + 1);
        for (const ModuleFolder& module : state_.workspace.modules()) {
            if (module.name != word.substr(0, slash)) continue;
            const std::string path = module.path + "/files" + folder.substr(slash);
            for (const std::string& name : state_.workspace.files().list(path)) {
                const bool is_folder = state_.workspace.files().is_real_folder(path + name);
                add(folder + name + (is_folder ? "/" : ""), ItemKind::File,
                    is_folder ? "folder" : "file");
            }
        }
    }
    std::uint32_t word_size() const { return static_cast<std::uint32_t>(items_.prefix().size()); }
    void resource_titles() {
        set_quoted_word("");
        const std::string before = context_.type + "[";
        state_.workspace.index().each_file([&](const IndexedFile& file) {
            for (const SymbolKey& key : file.keys) {
                const std::string_view name = key.name.view();
                if (key.kind != SymbolKind::Resource || !name.starts_with(before)) continue;
                const std::string_view title = name.substr(before.size());
                add(title.substr(0, title.size() - 1), ItemKind::Value, "resource");
            }
        });
    }
    /// Adds the variables of the classes and defines that render the template.
    void template_variables() {
        const auto& index = state_.workspace.index();
        for (const std::string& caller : template_callers(state_, place_.path, place_.group)) {
            for (const SymbolKind kind : {SymbolKind::Class, SymbolKind::Type}) {
                for (const auto& found :
                     index.definitions(symbol_key(kind, caller), place_.group)) {
                    for (const ParameterInfo& parameter : found.definition->parameters)
                        add(parameter.name, ItemKind::Variable,
                            parameter.type.empty() ? "parameter" : parameter.type);
                    for (const Occurrence& each : found.file->symbols.occurrences)
                        if (each.key.kind == SymbolKind::Variable && each.role == Role::Define &&
                            namespace_of(each.key.name.view()) == caller)
                            add(last_segment(each.key.name.view()), ItemKind::Variable, "variable");
                    ancestors(*found.definition);
                }
            }
        }
        for (const std::string_view name : {"facts", "trusted", "environment", "title", "name"})
            add(name, ItemKind::Constant, "built-in variable");
    }
    void interpolation() {
        for (const std::string_view name : {"facts", "trusted", "server_facts", "environment"})
            add(name, ItemKind::Constant, "built-in variable");
        for (const std::string_view name : {"alias", "literal", "lookup", "scope"})
            add(name, ItemKind::Function, "interpolation function", {}, fmt::format("{}('", name));
    }
    void hiera_settings() {
        for (const std::string_view name :
             {"version", "defaults", "hierarchy", "default_hierarchy", "name", "path", "paths",
              "glob", "globs", "uri", "uris", "mapped_paths", "datadir", "data_hash", "lookup_key",
              "data_dig", "hiera3_backend", "options"})
            add(name, ItemKind::Property, "setting", {}, fmt::format("{}: ", name));
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
    const bool data = place->kind == FileKind::HieraData || place->kind == FileKind::HieraConfig ||
                      place->kind == FileKind::Erb;
    CursorContext context =
        data ? data_context(place->text->text, place->offset, place->kind)
             : context_at(place->text->text, place->offset, place->kind == FileKind::Epp);
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
    if (!codec::is_utf8(item)) return invalid_params("The item is not UTF-8");
    if (doc.empty()) return item;
    JsonWriter out;
    out.object().member("kind", "markdown").member("value", doc).end_object();
    return item.substr(0, item.size() - 1) + ",\"documentation\":" + out.text() + "}";
}

}  // namespace bunraku::lsp
