// SPDX-License-Identifier: Apache-2.0
// Hover: documentation, type, default, and the value for the chosen node.
#include "services/lsp/describe.h"
#include "services/lsp/handlers.h"

namespace bunraku::lsp {

Answer on_hover(State& state, const value::Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const Occurrence* occurrence = place->occurrence();
    if (!occurrence) return "null";
    const std::string text = describe_occurrence(state, *place, *occurrence);
    if (text.empty()) return "null";
    JsonWriter out;
    out.object().key("contents").object().member("kind", "markdown").member("value", text);
    out.end_object().member("range", RangeFinder(state).range(place->path, occurrence->span));
    return out.end_object().take();
}

}  // namespace bunraku::lsp
