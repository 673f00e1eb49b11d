// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/state.h"

#include "core/value/hash_access.h"
#include "services/lsp/uri.h"

namespace bunraku::lsp {

const Occurrence* DocumentPlace::occurrence() const {
    const Occurrence* best = nullptr;
    if (!indexed) return best;
    for (const Occurrence& candidate : indexed->symbols.occurrences) {
        if (candidate.span.offset > offset) break;
        if (!candidate.span.touches(offset)) continue;
        if (!best || candidate.span.length < best->span.length) best = &candidate;
    }
    return best;
}

std::string_view DocumentPlace::slice(Span span) const {
    const std::string_view all = text->text;
    return span.offset <= all.size() ? all.substr(span.offset, span.length) : std::string_view();
}

DocumentPlace document_at(const State& state, const std::string& path) {
    DocumentPlace place;
    place.path = path;
    place.group = state.workspace.group_of(path);
    place.kind = state.workspace.kind_of(path);
    place.text = state.workspace.text_of(path);
    place.indexed = state.workspace.index().file(path);
    return place;
}

std::expected<DocumentPlace, RpcError> document_of(const State& state, const value::Value& params) {
    const auto* document = value::at(params, "textDocument");
    if (!document) return invalid_params("The request has no textDocument");
    const std::string uri = value::text_at(*document, "uri");
    if (uri.empty()) return invalid_params("The textDocument has no uri");
    DocumentPlace place = document_at(state, path_of_uri(uri).value_or(uri));
    if (!place.text) return request_failed("Cannot read " + uri);
    if (const auto* json = value::at(params, "position")) {
        const auto position = read_position(json);
        if (!position) return invalid_params("The position is not valid");
        place.offset = place.text->lines.offset(place.text->text, *position, state.encoding);
    }
    return place;
}

const FileText& RangeFinder::text(const std::string& path) {
    auto& slot = texts_[path];
    if (!slot) slot = state_.workspace.text_of(path);
    if (!slot) slot = std::make_shared<FileText>();
    return *slot;
}

Range RangeFinder::range(const std::string& path, Span span) {
    // Files are read only if their columns depend on the text.
    const IndexedFile* indexed = state_.workspace.index().file(path);
    if (indexed && indexed->ascii)
        return {indexed->lines.ascii_position(span.offset),
                indexed->lines.ascii_position(span.end())};
    const FileText& file = text(path);
    return file.lines.range(file.text, span, state_.encoding);
}

void RangeFinder::write_location(JsonWriter& out, const FoundPlace& place) {
    out.object().member("uri", uri_for(state_, place.path));
    out.member("range", range(place.path, place.span)).end_object();
}

std::string RangeFinder::locations(const std::vector<FoundPlace>& places) {
    JsonWriter out;
    out.array();
    for (const FoundPlace& place : places) write_location(out, place);
    return out.end_array().take();
}

std::string uri_for(const State& state, const std::string& path) {
    const auto& open = state.workspace.open_files();
    const auto found = open.find(path);
    return found != open.end() ? found->second.document.uri() : uri_of_path(path);
}

}  // namespace bunraku::lsp
