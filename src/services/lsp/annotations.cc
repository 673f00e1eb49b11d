// SPDX-License-Identifier: Apache-2.0
// Code lenses and inlay hints.
#include <fmt/format.h>

#include "core/value/hash_access.h"
#include "services/lsp/commands.h"
#include "services/lsp/describe.h"
#include "services/lsp/handlers.h"
#include "services/lsp/resolve.h"

namespace bunraku::lsp {

namespace {

constexpr std::size_t kMaxHintText = 60;

bool has_lens(DefinitionKind kind) {
    return kind == DefinitionKind::Class || kind == DefinitionKind::Define ||
           kind == DefinitionKind::Function || kind == DefinitionKind::DataType ||
           kind == DefinitionKind::Plan;
}

/// Shortens a text at a character boundary.
std::string shortened(std::string_view text) {
    if (text.size() <= kMaxHintText) return std::string(text);
    std::size_t end = kMaxHintText;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return std::string(text.substr(0, end)) + "…";
}

/// Writes a lens that lists the nodes that use a class or define.
void fleet_lens(const State& state, const DocumentPlace& place, const Definition& definition,
                RangeFinder& ranges, JsonWriter& out) {
    const bool is_class = definition.kind == DefinitionKind::Class;
    if (!state.fleet || state.facts_source.empty()) return;
    if (!is_class && definition.kind != DefinitionKind::Define) return;
    out.object().member("range", ranges.range(place.path, definition.name_span));
    out.key("command").object().member("title", "Nodes that use it");
    out.member("command", kReadersCommand).key("arguments").array();
    out.string(uri_for(state, place.path));
    out.string(fmt::format("{} {}", is_class ? "class" : "define", definition.key.name.view()));
    out.end_array().end_object().end_object();
}

/// Writes a lens that shows the effect of the unsaved text.
void impact_lens(const State& state, const DocumentPlace& place, JsonWriter& out) {
    out.object().member("range", Range{}).key("command").object();
    out.member("title", "Impact of this text").member("command", kImpactCommand);
    out.key("arguments").array().string(uri_for(state, place.path)).end_array();
    out.end_object().end_object();
}

}  // namespace

Answer on_code_lens(State& state, const value::Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    if (!place->indexed) return "[]";
    RangeFinder ranges(state);
    JsonWriter out;
    out.array();
    for (const Definition& definition : place->indexed->symbols.definitions) {
        if (!has_lens(definition.kind)) continue;
        const std::size_t uses = state.workspace.index().count_uses(definition.key, place->group);
        out.object().member("range", ranges.range(place->path, definition.name_span));
        // Clients show a command with an empty name as a text.
        out.key("command").object();
        out.member("title", fmt::format("{} reference{}", uses, uses == 1 ? "" : "s"));
        out.member("command", "").end_object().end_object();
        fleet_lens(state, *place, definition, ranges, out);
    }
    if (state.fleet && !state.facts_source.empty()) impact_lens(state, *place, out);
    return out.end_array().take();
}

Answer on_inlay_hint(State& state, const value::Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const auto range = read_range(value::at(params, "range"));
    if (!range) return invalid_params("The range is not valid");
    if (!place->indexed || !state.node || state.node->node().empty()) return "[]";
    state.node->use(state.workspace.lookup_environment(place->path),
                    unsaved_texts(state.workspace));
    JsonWriter out;
    out.array();
    for (const Definition& definition : place->indexed->symbols.definitions) {
        if (definition.kind != DefinitionKind::Class) continue;
        for (const ParameterInfo& parameter : definition.parameters) {
            const Position at = place->text->lines.position(place->text->text, parameter.span.end(),
                                                            state.encoding);
            if (at < range->start || range->end < at) continue;
            const auto value = state.node->hiera(
                fmt::format("{}::{}", definition.key.name.view(), parameter.name));
            if (!value) continue;
            out.object().key("position").position(at);
            out.member("label", fmt::format(" = {}", shortened(value->text)));
            out.member("tooltip", value->origin.empty()
                                      ? state.node->node()
                                      : fmt::format("{}: {}", state.node->node(), value->origin));
            out.member("paddingLeft", true).end_object();
        }
    }
    return out.end_array().take();
}

}  // namespace bunraku::lsp
