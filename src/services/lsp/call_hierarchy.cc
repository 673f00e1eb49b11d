// SPDX-License-Identifier: Apache-2.0
// Call hierarchy: which code includes a class, declares a define or calls a function.
#include <algorithm>
#include <optional>

#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "services/lsp/handlers.h"
#include "services/lsp/resolve.h"

namespace bunraku::lsp {

namespace {

using value::Value;

bool is_callable_kind(SymbolKind kind) {
    return kind == SymbolKind::Class || kind == SymbolKind::Type || kind == SymbolKind::Function ||
           kind == SymbolKind::Plan;
}

/// Returns the SymbolKind of LSP.
int item_kind(DefinitionKind kind) {
    switch (kind) {
        case DefinitionKind::Class: return 5;    // Class
        case DefinitionKind::Define: return 23;  // Struct
        case DefinitionKind::Node: return 3;     // Namespace
        case DefinitionKind::Key: return 20;     // Key
        default: return 12;                      // Function
    }
}

/// Writes the file itself: for code outside of definitions, and for templates.
void write_file_item(JsonWriter& out, RangeFinder& ranges, const State& state,
                     const IndexedFile& file) {
    const std::string folder = state.workspace.environment_of(file.path);
    std::string_view name = file.path;
    if (!folder.empty() && name.size() > folder.size() && is_below(name, folder))
        name.remove_prefix(folder.size() + 1);
    out.object().member("name", name).member("kind", 1).member("uri", uri_for(state, file.path));
    const auto size = static_cast<std::uint32_t>(ranges.text(file.path).text.size());
    out.member("range", ranges.range(file.path, {0, size}));
    out.member("selectionRange", Range{}).end_object();
}

void write_item(JsonWriter& out, RangeFinder& ranges, const State& state,
                const DefinitionPlace& place) {
    if (!place.definition) return write_file_item(out, ranges, state, *place.file);
    const Definition& definition = *place.definition;
    out.object().member("name", definition.shown.empty() ? std::string("node") : definition.shown);
    out.member("kind", item_kind(definition.kind)).member("uri", uri_for(state, place.file->path));
    out.member("range", ranges.range(place.file->path, definition.span));
    out.member("selectionRange", ranges.range(place.file->path, definition.name_span));
    out.end_object();
}

/// Returns the definition whose name is at the selection range of an item.
std::expected<std::optional<DefinitionPlace>, RpcError> item_definition(const State& state,
                                                                        const Value& params) {
    const auto* item = value::at(params, "item");
    if (!item) return invalid_params("The request has no item");
    base::Arena arena;
    value::HashBuilder request(arena), document(arena);
    const std::string uri = value::text_at(*item, "uri");
    document.set("uri", Value::string(uri));
    request.set("textDocument", document.build());
    const auto* selection = value::at(*item, "selectionRange");
    if (const auto* start = selection ? value::at(*selection, "start") : nullptr)
        request.set("position", *start);
    const auto place = document_of(state, request.build());
    if (!place) return std::unexpected(place.error());
    if (!place->indexed) return std::nullopt;
    for (const Definition& definition : place->indexed->symbols.definitions)
        if (definition.name_span.touches(place->offset))
            return DefinitionPlace{place->indexed, &definition};
    return std::nullopt;
}

}  // namespace

Answer on_prepare_call_hierarchy(State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const Occurrence* occurrence = place->occurrence();
    if (!occurrence || !is_callable_kind(occurrence->key.kind)) return "null";
    const auto found = state.workspace.index().definitions(occurrence->key, place->group);
    if (found.empty()) return "null";
    RangeFinder ranges(state);
    JsonWriter out;
    out.array();
    write_item(out, ranges, state, found.front());
    return out.end_array().take();
}

Answer on_incoming_calls(State& state, const Value& params) {
    const auto target = item_definition(state, params);
    if (!target) return std::unexpected(target.error());
    if (!*target) return "[]";
    const auto& index = state.workspace.index();
    // The definition is null for calls outside of definitions.
    std::vector<std::pair<DefinitionPlace, std::vector<Span>>> callers;
    for (const auto& use : index.occurrences((*target)->definition->key, (*target)->file->group)) {
        if (use.occurrence->role != Role::Use) continue;
        const Definition* caller = use.file->symbols.enclosing(use.occurrence->span.offset);
        if (callers.empty() || callers.back().first.definition != caller ||
            callers.back().first.file != use.file)
            callers.push_back({{use.file, caller}, {}});
        callers.back().second.push_back(use.occurrence->span);
    }
    RangeFinder ranges(state);
    JsonWriter out;
    out.array();
    for (const auto& [caller, spans] : callers) {
        out.object().key("from");
        write_item(out, ranges, state, caller);
        out.key("fromRanges").array();
        for (const Span& span : spans) out.range(ranges.range(caller.file->path, span));
        out.end_array().end_object();
    }
    return out.end_array().take();
}

Answer on_outgoing_calls(State& state, const Value& params) {
    const auto target = item_definition(state, params);
    if (!target) return std::unexpected(target.error());
    if (!*target) return "[]";
    const IndexedFile& file = *(*target)->file;
    std::vector<std::pair<DefinitionPlace, std::vector<Span>>> callees;
    for (const Occurrence& use : file.symbols.occurrences) {
        if (use.role != Role::Use || !is_callable_kind(use.key.kind)) continue;
        if (!(*target)->definition->span.touches(use.span.offset)) continue;
        const auto found = state.workspace.index().definitions(use.key, file.group);
        if (found.empty() || found.front().definition->kind == DefinitionKind::DataType) continue;
        auto at = std::ranges::find_if(callees, [&](const auto& callee) {
            return callee.first.definition == found.front().definition;
        });
        if (at == callees.end()) at = callees.emplace(at, found.front(), std::vector<Span>());
        at->second.push_back(use.span);
    }
    RangeFinder ranges(state);
    JsonWriter out;
    out.array();
    for (const auto& [callee, spans] : callees) {
        out.object().key("to");
        write_item(out, ranges, state, callee);
        out.key("fromRanges").array();
        for (const Span& span : spans) out.range(ranges.range(file.path, span));
        out.end_array().end_object();
    }
    return out.end_array().take();
}

}  // namespace bunraku::lsp
