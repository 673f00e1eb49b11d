// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/methods.h"

#include "services/lsp/handlers.h"

namespace bunraku::lsp {

namespace {

constexpr RequestMethod kRequests[] = {
    {"callHierarchy/incomingCalls", on_incoming_calls},
    {"callHierarchy/outgoingCalls", on_outgoing_calls},
    {"completionItem/resolve", on_resolve_completion},
    {"initialize", on_initialize},
    {"shutdown", on_shutdown},
    {"textDocument/codeAction", on_code_action},
    {"textDocument/codeLens", on_code_lens},
    {"textDocument/completion", on_completion},
    {"textDocument/declaration", on_declaration},
    {"textDocument/definition", on_definition},
    {"textDocument/documentHighlight", on_document_highlight},
    {"textDocument/documentSymbol", on_document_symbol},
    {"textDocument/foldingRange", on_folding_range},
    {"textDocument/formatting", on_formatting},
    {"textDocument/hover", on_hover},
    {"textDocument/implementation", on_implementation},
    {"textDocument/inlayHint", on_inlay_hint},
    {"textDocument/prepareCallHierarchy", on_prepare_call_hierarchy},
    {"textDocument/prepareRename", on_prepare_rename},
    {"textDocument/rangeFormatting", on_range_formatting},
    {"textDocument/references", on_references},
    {"textDocument/rename", on_rename},
    {"textDocument/selectionRange", on_selection_range},
    {"textDocument/semanticTokens/full", on_semantic_tokens},
    {"textDocument/semanticTokens/range", on_semantic_tokens_range},
    {"textDocument/signatureHelp", on_signature_help},
    {"textDocument/typeDefinition", on_type_definition},
    {"workspace/symbol", on_workspace_symbol},
};

constexpr NotificationMethod kNotifications[] = {
    {"initialized", on_initialized},
    {"textDocument/didChange", on_did_change},
    {"textDocument/didClose", on_did_close},
    {"textDocument/didOpen", on_did_open},
    {"textDocument/didSave", on_did_save},
    {"workspace/didChangeConfiguration", on_configuration},
    {"workspace/didChangeWatchedFiles", on_watched_files},
    {"workspace/didChangeWorkspaceFolders", on_workspace_folders},
    {"workspace/didCreateFiles", on_file_operations},
    {"workspace/didDeleteFiles", on_file_operations},
    {"workspace/didRenameFiles", on_file_operations},
};

template <class Method>
const Method* find_method(std::span<const Method> methods, std::string_view name) {
    for (const Method& method : methods)
        if (method.name == name) return &method;
    return nullptr;
}

}  // namespace

const RequestMethod* find_request(std::string_view name) {
    return find_method<RequestMethod>(kRequests, name);
}

const NotificationMethod* find_notification(std::string_view name) {
    return find_method<NotificationMethod>(kNotifications, name);
}

}  // namespace bunraku::lsp
