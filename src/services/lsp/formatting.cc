// SPDX-License-Identifier: Apache-2.0
// Formatting of documents and ranges by `bunraku fmt`.
#include <algorithm>

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

/// Returns a text with the line end "\n" for each "\r\n", as `bunraku fmt` writes it; a client
/// keeps the line ends of its document. Positions are the same in both texts.
FileText with_plain_line_ends(const FileText& file) {
    FileText out;
    out.text.reserve(file.text.size());
    for (std::size_t i = 0; i < file.text.size(); ++i)
        if (file.text[i] != '\r' || i + 1 == file.text.size() || file.text[i + 1] != '\n')
            out.text += file.text[i];
    out.lines = LineIndex(out.text);
    return out;
}

/// Returns the line, counted from 1, in which the formatter sees a line of the client, for which a
/// carriage return ends a line, too.
int formatter_line(const FileText& file, std::uint32_t line) {
    const std::string_view before =
        line < file.lines.count() ? std::string_view(file.text).substr(0, file.lines.start(line))
                                  : std::string_view(file.text);
    return static_cast<int>(std::ranges::count(before, '\n')) + 1;
}

}  // namespace

Answer on_formatting(State& state, const value::Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const FileText file = with_plain_line_ends(*place->text);
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
    const FileText file = with_plain_line_ends(*place->text);
    const auto edits = format::format_range(
        file.text, place->path,
        {formatter_line(file, range->start.line), formatter_line(file, range->end.line)});
    if (!edits) return request_failed(edits.error().message);
    JsonWriter out;
    out.array();
    for (const auto& edit : *edits)
        write_text_edit(out, state, file, {edit.begin, edit.end - edit.begin}, edit.text);
    return out.end_array().take();
}

}  // namespace bunraku::lsp
