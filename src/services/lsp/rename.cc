// SPDX-License-Identifier: Apache-2.0
// Renames classes, defines, functions, data types, parameters with their Hiera keys, variables and
// keys, in all files of the workspace.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "resources/restype/spec.h"
#include "services/lsp/handlers.h"
#include "services/lsp/resolve.h"
#include "services/lsp/uri.h"

namespace bunraku::lsp {

namespace {

using value::Value;

bool is_word_of(std::string_view text, bool capital, bool underscore_first) {
    if (text.empty()) return false;
    const char first = text.front();
    const bool upper = first >= 'A' && first <= 'Z';
    const bool lower = first >= 'a' && first <= 'z';
    if (capital ? !upper : !(lower || (underscore_first && first == '_'))) return false;
    for (const char c : text) {
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
              ((capital || underscore_first) && c >= 'A' && c <= 'Z')))
            return false;
    }
    return true;
}

/// Reports whether every segment of a qualified name is valid.
bool is_valid_name(std::string_view name, bool capital) {
    while (true) {
        const std::size_t at = name.find("::");
        if (!is_word_of(name.substr(0, at), capital, false)) return false;
        if (at == std::string_view::npos) return true;
        name.remove_prefix(at + 2);
    }
}

/// What a rename changes.
struct RenameTarget {
    SymbolKey key;
    bool data_type = false;  ///< the name is written with capitals
    bool qualified = false;  ///< a class, define, function or type
    const Definition* definition = nullptr;
    std::string file;  ///< of the definition
};

/// Returns the symbol to rename. The error explains why it cannot be renamed.
std::expected<RenameTarget, RpcError> rename_target(const State& state, const DocumentPlace& place,
                                                    const Occurrence& occurrence) {
    RenameTarget target;
    target.key = resolved_key(state.workspace, occurrence, place.group);
    const auto& index = state.workspace.index();
    switch (target.key.kind) {
        case SymbolKind::Class:
        case SymbolKind::Type:
        case SymbolKind::Function:
        case SymbolKind::Plan: {
            const auto found = index.definitions(target.key, place.group);
            if (found.empty())
                return request_failed(
                    fmt::format("'{}' is not defined in this workspace", target.key.name.view()));
            target.qualified = true;
            target.definition = found.front().definition;
            target.file = found.front().file->path;
            if (target.definition->kind == DefinitionKind::ResourceType ||
                found.front().file->kind == FileKind::Ruby)
                return request_failed("Names that are defined in Ruby cannot be renamed");
            target.data_type = target.definition->kind == DefinitionKind::DataType;
            return target;
        }
        case SymbolKind::Variable: {
            const std::string_view name = target.key.name.view();
            if (name.starts_with('~') || !index.defining(target.key, place.group).empty())
                return target;
            return request_failed(
                fmt::format("'{}' is not defined in this workspace", last_segment(name)));
        }
        case SymbolKind::EppArgument:
            if (definition_places(state, place, occurrence).empty())
                return request_failed(fmt::format("The template does not declare '{}'",
                                                  last_segment(target.key.name.view())));
            return target;
        case SymbolKind::ErbVariable:
        case SymbolKind::HieraKey: return target;
        default: return request_failed("This name cannot be renamed");
    }
}

/// Returns the new text for one occurrence of a qualified name. Nested classes are written without
/// the name of the outer class, and references with capitals.
std::optional<std::string> qualified_text(std::string_view old_text, std::string_view old_name,
                                          std::string_view new_name) {
    const bool capital = !old_text.empty() && old_text.front() >= 'A' && old_text.front() <= 'Z';
    const auto cased = [&](std::string_view name) {
        return capital ? capitalized_name(name) : base::lower(name);
    };
    const std::string lower = base::lower(old_text);
    if (lower == old_name) return cased(new_name);
    if (lower == last_segment(old_name)) return cased(last_segment(new_name));
    return std::nullopt;
}

/// Returns the path at which the autoloader expects a definition, relative to its module.
std::string autoload_path(const RenameTarget& target, std::string_view name) {
    const std::string_view folder = target.key.kind == SymbolKind::Function ? "functions"
                                    : target.data_type                      ? "types"
                                                                            : "manifests";
    const std::size_t at = name.find("::");
    if (at == std::string_view::npos) return fmt::format("{}/init.pp", folder);
    std::string rest(name.substr(at + 2));
    for (std::size_t i; (i = rest.find("::")) != std::string::npos;) rest.replace(i, 2, "/");
    return fmt::format("{}/{}.pp", folder, rest);
}

/// Returns the path of the file of the renamed definition; nullopt if the file stays where it is,
/// because it is not where the autoloader searches. The error explains why the new name is not
/// possible.
std::expected<std::optional<std::string>, RpcError> renamed_file(const State& state,
                                                                 const RenameTarget& target,
                                                                 std::string_view new_name) {
    const std::string old_name(target.key.name.view());
    const std::string end = "/" + autoload_path(target, old_name);
    if (!target.file.ends_with(end)) return std::nullopt;
    const auto module_of = [](std::string_view name) { return name.substr(0, name.find("::")); };
    const std::string_view module_name = module_of(new_name);
    if (module_of(old_name) == module_name) {
        return target.file.substr(0, target.file.size() - end.size() + 1) +
               autoload_path(target, new_name);
    }
    for (const ModuleFolder& module : state.workspace.modules())
        if (module.name == module_name)
            return fmt::format("{}/{}", module.path, autoload_path(target, new_name));
    return request_failed(fmt::format("There is no module '{}' in this workspace", module_name));
}

/// Reports whether a file or an open document has a path. Editors refuse to replace it.
bool is_occupied(const State& state, const std::string& path) {
    return state.workspace.open_files().contains(path) ||
           state.workspace.files().stat(path).exists || state.workspace.files().link(path);
}

using EditsByPath = std::map<std::string, std::vector<std::pair<Span, std::string>>>;

void write_edits(JsonWriter& out, RangeFinder& ranges, const std::string& path,
                 const std::vector<std::pair<Span, std::string>>& edits) {
    out.array();
    for (const auto& [span, text] : edits) {
        out.object().member("range", ranges.range(path, span)).member("newText", text).end_object();
    }
    out.end_array();
}

std::string workspace_edit(const State& state, const EditsByPath& edits, const std::string& from,
                           const std::optional<std::string>& to) {
    RangeFinder ranges(state);
    JsonWriter out;
    out.object();
    if (!state.client.document_changes) {
        out.key("changes").object();
        for (const auto& [path, changes] : edits) {
            out.key(uri_for(state, path));
            write_edits(out, ranges, path, changes);
        }
        return out.end_object().end_object().take();
    }
    out.key("documentChanges").array();
    for (const auto& [path, changes] : edits) {
        out.object().key("textDocument").object().member("uri", uri_for(state, path));
        const auto open = state.workspace.open_files().find(path);
        out.key("version");
        if (open != state.workspace.open_files().end()) {
            out.number(open->second.document.version());
        } else {
            out.null();
        }
        out.end_object().key("edits");
        write_edits(out, ranges, path, changes);
        out.end_object();
    }
    if (to && *to != from && state.client.rename_files) {
        out.object().member("kind", "rename").member("oldUri", uri_for(state, from));
        out.member("newUri", uri_of_path(*to)).end_object();
    }
    return out.end_array().end_object().take();
}

/// Reports whether Puppet sets the variable of this name.
bool is_reserved_variable(std::string_view name) {
    constexpr std::string_view kReserved[] = {"facts", "trusted",     "server_facts",      "name",
                                              "title", "module_name", "caller_module_name"};
    return std::ranges::find(kReserved, name) != std::end(kReserved);
}

bool is_keyword(std::string_view name) {
    constexpr std::string_view kKeywords[] = {
        "and",     "application", "attr", "case",     "class",       "component", "consumes",
        "default", "define",      "else", "elsif",    "environment", "false",     "function",
        "if",      "import",      "in",   "inherits", "node",        "or",        "plan",
        "private", "produces",    "site", "true",     "type",        "undef",     "unless"};
    return std::ranges::find(kKeywords, name) != std::end(kKeywords);
}

std::expected<void, RpcError> check_new_name(const RenameTarget& target, std::string_view name) {
    bool valid = false;
    if (target.qualified) {
        valid = is_valid_name(name, target.data_type) && !is_keyword(name);
    } else if (target.key.kind == SymbolKind::HieraKey) {
        valid = !name.empty() && name.find_first_of(" \t\n'\"{}[],#&*") == std::string_view::npos;
    } else {
        valid = is_word_of(name, false, true) && name.find("::") == std::string_view::npos &&
                !is_reserved_variable(name);
    }
    if (!valid) return invalid_params(fmt::format("'{}' is not a valid name here", name));
    return {};
}

/// Reports whether something else has the new name already.
bool is_taken(const State& state, const RenameTarget& target, const DocumentPlace& place,
              std::string_view name) {
    const Group group = place.group;
    SymbolKey key = target.key;
    if (target.qualified) {
        key = symbol_key(key.kind, base::lower(name));
        return key != target.key && state.workspace.index().defined(key, group);
    }
    if (key.kind != SymbolKind::Variable) return false;
    const std::string_view owner = namespace_of(key.name.view());
    key = symbol_key(key.kind,
                     owner.empty() ? std::string(name) : fmt::format("{}::{}", owner, name));
    if (owner.starts_with('~')) {
        const auto& all = place.indexed->symbols.occurrences;
        return key != target.key && std::ranges::find(all, key, &Occurrence::key) != all.end();
    }
    return key != target.key && !state.workspace.index().defining(key, group).empty();
}

/// The name at the position of a request, and what a rename of it changes.
struct NamedPlace {
    DocumentPlace place;
    const Occurrence* occurrence = nullptr;
    RenameTarget target;
};

std::expected<NamedPlace, RpcError> named_place(const State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const Occurrence* occurrence = place->occurrence();
    if (!occurrence) return request_failed("There is no name at this position");
    const auto target = rename_target(state, *place, *occurrence);
    if (!target) return std::unexpected(target.error());
    return NamedPlace{*place, occurrence, *target};
}

/// Reports whether a name is written as a text with variables: "${title}::install".
bool is_computed(std::string_view written) {
    return written.starts_with('"') && written.ends_with('"');
}

/// Returns the class that a text with variables names after the rename. In a class that gets
/// another name, the text continues to name the same class.
std::string computed_name(const IndexedFile* file, const RenameTarget& target,
                          const std::string& new_name, Span span) {
    if (!file) return new_name;
    for (const Occurrence& found : file->symbols.occurrences)
        if (found.span == span && found.key.kind == SymbolKind::Class && found.role == Role::Use &&
            found.key != target.key)
            return std::string(found.key.name.view());
    return new_name;
}

/// Returns the new text of an occurrence, or nullopt if the file has changed since it was indexed.
std::optional<std::string> renamed_text(const State& state, const RenameTarget& target,
                                        const std::string& name, const FoundPlace& found,
                                        std::string_view file) {
    if (found.span.end() > file.size()) return std::nullopt;
    const std::string_view old_text = file.substr(found.span.offset, found.span.length);
    const std::string old_name(target.key.name.view());
    if (!target.qualified) {
        const bool whole =
            target.key.kind == SymbolKind::HieraKey && found.span.length == old_name.size();
        if (old_text != (whole ? std::string_view(old_name) : last_segment(old_name)))
            return std::nullopt;
        return name;
    }
    if (is_computed(old_text)) {
        const auto* indexed = state.workspace.index().file(found.path);
        return fmt::format("'{}'", computed_name(indexed, target, name, found.span));
    }
    auto cased = qualified_text(old_text, old_name, name);
    if (cased && target.data_type && old_text.front() >= 'A' && old_text.front() <= 'Z')
        return name;
    return cased;
}

}  // namespace

Answer on_prepare_rename(State& state, const Value& params) {
    const auto named = named_place(state, params);
    if (!named) return std::unexpected(named.error());
    const auto& [place, occurrence, target] = *named;
    JsonWriter out;
    out.object().member("range", RangeFinder(state).range(place.path, occurrence->span));
    const std::string_view written = place.slice(occurrence->span);
    out.member("placeholder", is_computed(written) ? target.key.name.view() : written);
    return out.end_object().take();
}

Answer on_rename(State& state, const Value& params) {
    const auto named = named_place(state, params);
    if (!named) return std::unexpected(named.error());
    const auto& [place, occurrence, target] = *named;
    std::string name = value::text_at(params, "newName");
    if (!target.qualified && name.starts_with('$')) name.erase(0, 1);
    if (target.qualified) name = without_top(name);
    if (target.qualified && !target.data_type) base::make_lower(name);
    if (auto valid = check_new_name(target, name); !valid) return std::unexpected(valid.error());

    const bool metaparameter = !target.qualified && restype::is_metaparameter(name);
    if (metaparameter && parameter_of(state.workspace, target.key.name.view(), place.group))
        return invalid_params(fmt::format("'{}' is a metaparameter", name));

    if (is_taken(state, target, place, name))
        return request_failed(fmt::format("'{}' is already defined", name));
    if (const std::string why = shared_template(state, place, *occurrence); !why.empty())
        return request_failed(why);
    std::expected<std::optional<std::string>, RpcError> to = std::nullopt;
    if (target.qualified) to = renamed_file(state, target, base::lower(name));
    if (!to) return std::unexpected(to.error());
    if (*to && **to != target.file && state.client.rename_files && is_occupied(state, **to))
        return request_failed(fmt::format("{} already exists", **to));

    RangeFinder ranges(state);
    EditsByPath edits;
    for (const FoundPlace& found : use_places(state, place, *occurrence, true)) {
        auto text = renamed_text(state, target, name, found, ranges.text(found.path).text);
        if (!text) return request_failed(fmt::format("{} has changed", found.path));
        edits[found.path].emplace_back(found.span, std::move(*text));
    }
    return workspace_edit(state, edits, target.file, *to);
}

}  // namespace bunraku::lsp
