// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/lifecycle.h"

#include <fmt/format.h>
#include <string_view>

#include "core/value/hash_access.h"
#include "services/lsp/commands.h"
#include "services/lsp/handlers.h"
#include "services/lsp/uri.h"

namespace bunraku::lsp {

namespace {

using value::Value;

/// Follows keys through nested objects. Returns null if one is missing.
const Value* member_at(const Value& json, std::initializer_list<std::string_view> path) {
    const Value* at = &json;
    for (const std::string_view key : path) {
        at = value::at(*at, key);
        if (!at) return nullptr;
    }
    return at;
}

bool is_true(const Value* json) { return json && json->is(value::Kind::Boolean) && json->truthy(); }

bool contains_text(const Value* list, std::string_view text) {
    if (!list || !list->is_array()) return false;
    for (const Value& item : list->as_array())
        if (item.is_string() && item.as_string() == text) return true;
    return false;
}

void read_client(State& state, const Value& capabilities) {
    const auto* encodings = member_at(capabilities, {"general", "positionEncodings"});
    // Offsets in bytes need no conversion, so they are the first choice.
    if (contains_text(encodings, "utf-8")) {
        state.encoding = Encoding::Utf8;
    } else if (contains_text(encodings, "utf-32") && !contains_text(encodings, "utf-16")) {
        state.encoding = Encoding::Utf32;
    }
    const auto* operations =
        member_at(capabilities, {"workspace", "workspaceEdit", "resourceOperations"});
    state.client.rename_files = contains_text(operations, "rename");
    state.client.create_files = contains_text(operations, "create");
    state.client.document_changes =
        is_true(member_at(capabilities, {"workspace", "workspaceEdit", "documentChanges"}));
    state.client.watch_files = is_true(
        member_at(capabilities, {"workspace", "didChangeWatchedFiles", "dynamicRegistration"}));
    state.client.refresh_hints =
        is_true(member_at(capabilities, {"workspace", "inlayHint", "refreshSupport"}));
    state.client.refresh_lenses =
        is_true(member_at(capabilities, {"workspace", "codeLens", "refreshSupport"}));
}

void read_folders(State& state, const Value& params) {
    const auto* folders = value::at(params, "workspaceFolders");
    if (folders && folders->is_array()) {
        for (const Value& folder : folders->as_array())
            if (const auto path = path_of_uri(value::text_at(folder, "uri")))
                state.workspace.add_root(*path);
        return;
    }
    if (const auto path = path_of_uri(value::text_at(params, "rootUri"))) {
        state.workspace.add_root(*path);
    } else if (const std::string root = value::text_at(params, "rootPath"); root.starts_with('/')) {
        state.workspace.add_root(root);
    }
}

/// Returns a path that exists in a folder of the workspace as an absolute one, because editors
/// start the server in any folder. Returns other texts unchanged.
std::string workspace_path(const State& state, std::string_view path) {
    if (path.starts_with('/')) return std::string(path);
    for (const std::string& root : state.workspace.roots()) {
        std::string full = fmt::format("{}/{}", root, path);
        if (state.workspace.files().stat(full).exists) return full;
    }
    return std::string(path);
}

/// Reads the settings that the client sends: the chosen node, its facts, and module folders.
void read_options(State& state, const Value& options) {
    if (const auto* paths = value::at(options, "modulepath"); paths && paths->is_array()) {
        for (const Value& path : paths->as_array()) {
            const std::string folder =
                path.is_string() ? workspace_path(state, path.as_string()) : std::string();
            if (folder.starts_with('/')) state.workspace.add_modulepath(folder);
        }
    }
    const std::string node = value::text_at(options, "node");
    std::string facts = value::text_at(options, "factsFrom");
    if (!facts.empty()) facts = workspace_path(state, facts);
    if (!facts.empty() && facts != state.facts_source) {
        state.facts_source = facts;
        for (auto& [environment, usage] : state.usage) usage.stale = true;
    }
    if (state.node && (!node.empty() || !facts.empty()))
        state.node->choose(node, facts.empty() ? state.facts_source : facts);
}

std::string_view encoding_name(Encoding encoding) {
    switch (encoding) {
        case Encoding::Utf8: return "utf-8";
        case Encoding::Utf16: return "utf-16";
        case Encoding::Utf32: return "utf-32";
    }
    return "utf-16";
}

std::string capabilities_text(const State& state) {
    JsonWriter out;
    out.object().member("positionEncoding", encoding_name(state.encoding));
    out.key("textDocumentSync").object().member("openClose", true).member("change", 2);
    out.member("save", true).end_object();
    out.key("completionProvider").object().key("triggerCharacters").array();
    for (const char* trigger : {"$", ":", "'", "[", ">"}) out.string(trigger);
    out.end_array().member("resolveProvider", true).end_object();
    out.key("signatureHelpProvider").object().key("triggerCharacters").array();
    out.string("(").string(",").end_array().end_object();
    for (const char* provider :
         {"hoverProvider", "definitionProvider", "declarationProvider", "typeDefinitionProvider",
          "implementationProvider", "referencesProvider", "documentHighlightProvider",
          "documentSymbolProvider", "workspaceSymbolProvider", "foldingRangeProvider",
          "selectionRangeProvider", "callHierarchyProvider", "inlayHintProvider",
          "documentFormattingProvider", "documentRangeFormattingProvider"})
        out.member(provider, true);
    out.key("codeActionProvider").object().key("codeActionKinds").array();
    out.string("quickfix").string("refactor").string("source.fixAll").end_array().end_object();
    out.key("codeLensProvider").object().end_object();
    out.key("renameProvider").object().member("prepareProvider", true).end_object();
    out.key("semanticTokensProvider").object().key("legend").raw(semantic_legend());
    out.member("full", true).member("range", true).end_object();
    out.key("executeCommandProvider").object().key("commands").array();
    out.string(kImpactCommand).string(kReadersCommand).end_array().end_object();
    out.key("workspace").object().key("workspaceFolders").object();
    out.member("supported", true).member("changeNotifications", true).end_object();
    out.key("fileOperations").object();
    for (const char* operation : {"didCreate", "didRename", "didDelete"}) {
        out.key(operation).object().key("filters").array().object().member("scheme", "file");
        out.key("pattern").object().member("glob", "**/*").end_object().end_object();
        out.end_array().end_object();
    }
    return out.end_object().end_object().end_object().take();
}

/// Marks all documents for new diagnostics if other files may have new problems.
void note_change(State& state, const std::string& path, bool definitions_changed) {
    state.stale.insert(path);
    if (definitions_changed) state.all_stale = true;
}

/// Returns the path of `textDocument`, which names untitled documents by their URI.
std::optional<std::string> document_path(const Value& params, std::string* uri = nullptr) {
    const auto* document = value::at(params, "textDocument");
    if (!document) return std::nullopt;
    const std::string found = value::text_at(*document, "uri");
    if (found.empty()) return std::nullopt;
    if (uri) *uri = found;
    return path_of_uri(found).value_or(found);
}

std::int64_t version_of(const Value& params) {
    const auto* version = member_at(params, {"textDocument", "version"});
    return version && version->is_integer() ? version->as_integer() : 0;
}

}  // namespace

Answer on_initialize(State& state, const Value& params) {
    if (state.phase != Phase::Created)
        return std::unexpected(
            RpcError{ErrorCode::InvalidRequest, "The server is already initialized"});
    if (const auto* capabilities = value::at(params, "capabilities"))
        read_client(state, *capabilities);
    read_folders(state, params);
    if (const auto* options = value::at(params, "initializationOptions"))
        read_options(state, *options);
    state.workspace.load();
    state.phase = Phase::Initialized;
    JsonWriter out;
    out.object().key("capabilities").raw(capabilities_text(state));
    out.key("serverInfo").object().member("name", "bunraku").member("version", state.version);
    return out.end_object().end_object().take();
}

Answer on_shutdown(State& state, const Value&) {
    state.phase = Phase::ShutDown;
    return "null";
}

Notified on_initialized(State&, const Value&) { return {}; }

Notified on_did_open(State& state, const Value& params) {
    std::string uri;
    const auto path = document_path(params, &uri);
    const auto* text = member_at(params, {"textDocument", "text"});
    if (!path || !text || !text->is_string()) return invalid_params("The document has no text");
    if (text->as_string().size() > Document::kMaxText)
        return invalid_params("The document is too large");
    const bool changed =
        state.workspace.open({uri, *path, version_of(params), std::string(text->as_string())},
                             value::text_at(*value::at(params, "textDocument"), "languageId"));
    note_change(state, *path, changed);
    return {};
}

Notified on_did_change(State& state, const Value& params) {
    const auto path = document_path(params);
    OpenFile* file = path ? state.workspace.find_open(*path) : nullptr;
    if (!file) return invalid_params("The document is not open");
    const auto* changes = value::at(params, "contentChanges");
    if (!changes || !changes->is_array()) return invalid_params("contentChanges must be an array");
    std::string problem;
    for (const Value& change : changes->as_array()) {
        const auto applied = file->document.apply(change, state.encoding);
        if (!applied) problem = applied.error().message;
    }
    file->document.set_version(version_of(params));
    note_change(state, *path, state.workspace.update(*file));
    if (!problem.empty()) return invalid_params(problem);
    return {};
}

Notified on_did_close(State& state, const Value& params) {
    const auto path = document_path(params);
    if (!path) return invalid_params("The request has no textDocument");
    const OpenFile* file = state.workspace.find_open(*path);
    if (!file) return invalid_params("The document is not open");
    state.closed[*path] = file->document.uri();
    note_change(state, *path, state.workspace.close(*path));
    return {};
}

Notified on_did_save(State& state, const Value& params) {
    const auto path = document_path(params);
    if (!path) return invalid_params("The request has no textDocument");
    note_change(state, *path, true);
    for (auto& [environment, usage] : state.usage) usage.stale = true;
    return {};
}

Notified on_watched_files(State& state, const Value& params) {
    const auto* changes = value::at(params, "changes");
    if (!changes || !changes->is_array()) return invalid_params("changes must be an array");
    for (const Value& change : changes->as_array()) {
        const auto path = path_of_uri(value::text_at(change, "uri"));
        if (path && state.workspace.refresh(*path)) state.all_stale = true;
    }
    for (auto& [environment, usage] : state.usage) usage.stale = true;
    return {};
}

/// Files and folders that the user created, renamed or deleted in the editor, which need not match
/// the patterns of the watched files.
Notified on_file_operations(State& state, const Value& params) {
    const auto* files = value::at(params, "files");
    if (!files || !files->is_array()) return invalid_params("files must be an array");
    for (const Value& file : files->as_array()) {
        for (const std::string_view name : {"uri", "oldUri", "newUri"}) {
            const auto path = path_of_uri(value::text_at(file, name));
            if (path && state.workspace.refresh(*path)) state.all_stale = true;
        }
    }
    for (auto& [environment, usage] : state.usage) usage.stale = true;
    return {};
}

Notified on_workspace_folders(State& state, const Value& params) {
    const auto each = [&](std::string_view list, const auto& action) {
        const auto* folders = member_at(params, {"event", list});
        if (!folders || !folders->is_array()) return;
        for (const Value& folder : folders->as_array())
            if (const auto path = path_of_uri(value::text_at(folder, "uri"))) action(*path);
    };
    each("removed", [&](const std::string& path) { state.workspace.remove_root(path); });
    each("added", [&](const std::string& path) { state.workspace.add_root(path); });
    state.workspace.load();
    state.all_stale = true;
    return {};
}

Notified on_configuration(State& state, const Value& params) {
    const auto* settings = value::at(params, "settings");
    if (!settings) return invalid_params("The request has no settings");
    const auto* own = value::at(*settings, "bunraku");
    read_options(state, own ? *own : *settings);
    return {};
}

}  // namespace bunraku::lsp
