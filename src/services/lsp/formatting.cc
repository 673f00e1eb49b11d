// SPDX-License-Identifier: Apache-2.0
// Formatting of documents and ranges by `bunraku fmt`.
#include "core/value/hash_access.h"
#include "language/format/format.h"
#include "services/lsp/handlers.h"

namespace bunraku::lsp {

namespace {

void write_text_edit(JsonWriter& out, const State& state, const FileText& file, Span span,
                     std::string_view text) {
    out.object().member("range", file.lines.range(file.text, span, state.encoding));
    out.member("newText", text).end_object();
}

}  // namespace

Answer on_formatting(State& state, const value::Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const FileText& file = *place->text;
    const auto formatted = format::format(file.text, place->path);
    if (!formatted) return request_failed(formatted.error().message);
    JsonWriter out;
    out.array();
    if (*formatted != file.text)
        write_text_edit(out, state, file, {0, static_cast<std::uint32_t>(file.text.size())},
                        *formatted);
    return out.end_array().take();
}

Answer on_range_formatting(State& state, const value::Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const auto range = read_range(value::at(params, "range"));
    if (!range) return invalid_params("The range is not valid");
    const FileText& file = *place->text;
    const auto edits = format::format_range(
        file.text, place->path,
        {static_cast<int>(range->start.line) + 1, static_cast<int>(range->end.line) + 1});
    if (!edits) return request_failed(edits.error().message);
    JsonWriter out;
    out.array();
    for (const auto& edit : *edits)
        write_text_edit(out, state, file, {edit.begin, edit.end - edit.begin}, edit.text);
    return out.end_array().take();
}

}  // namespace bunraku::lsp
