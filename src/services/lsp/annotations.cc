// SPDX-License-Identifier: Apache-2.0
// Code lenses and inlay hints.
#include <algorithm>
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

/// Returns the name that analyses of the fleet use for a definition. Empty for definitions that
/// they do not cover.
std::string usage_name(const State& state, const DocumentPlace& place,
                       const Definition& definition) {
    const std::string_view name = definition.key.name.view();
    switch (definition.kind) {
        case DefinitionKind::Class: return fmt::format("class {}", name);
        case DefinitionKind::Define: return fmt::format("define {}", name);
        case DefinitionKind::Function: return fmt::format("function {}", name);
        case DefinitionKind::DataType: return fmt::format("type {}", name);
        case DefinitionKind::Key: {
            const std::string folder = state.workspace.lookup_environment(place.path);
            if (folder.empty() || !is_below(place.path, folder)) return {};
            return fmt::format("{}#{}", place.path.substr(folder.size() + 1), name);
        }
        default: return {};
    }
}

/// Returns the number of nodes that read a definition. Functions, types and some data files are
/// only known as a whole.
std::size_t reader_count(const FleetWork::Usage& usage, const DocumentPlace& place,
                         const Definition& definition, const std::string& input) {
    const auto count = [&](const std::string& name) {
        const auto found = usage.readers.find(name);
        return found == usage.readers.end() ? 0 : found->second;
    };
    if (definition.kind == DefinitionKind::Class || definition.kind == DefinitionKind::Define)
        return count(input);
    const std::string key = fmt::format("{}#{}", place.path, definition.key.name.view());
    return std::max({count(place.path), count(key), count(place.path + "#*")});
}

/// Writes a lens with the number of nodes that read a definition, which lists them. `usage` is null
/// until they are counted.
void fleet_lens(const State& state, const DocumentPlace& place, const Definition& definition,
                const FleetWork::Usage* usage, RangeFinder& ranges, JsonWriter& out) {
    if (!state.fleet || state.facts_source.empty()) return;
    const std::string input = usage_name(state, place, definition);
    if (input.empty()) return;
    std::string title = "Nodes that read it";
    if (usage) {
        const std::size_t count = reader_count(*usage, place, definition, input);
        title = fmt::format("Read by {} of {} node{}", count, usage->nodes,
                            usage->nodes == 1 ? "" : "s");
    } else if (definition.kind == DefinitionKind::Key) {
        return;
    }
    out.object().member("range", ranges.range(place.path, definition.name_span));
    out.key("command").object().member("title", title);
    out.member("command", kReadersCommand).key("arguments").array();
    out.string(uri_for(state, place.path));
    out.string(input);
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
    const FleetWork::Usage* usage = counted_usage(state, place->path);
    JsonWriter out;
    out.array();
    for (const Definition& definition : place->indexed->symbols.definitions) {
        if (definition.kind == DefinitionKind::Key)
            fleet_lens(state, *place, definition, usage, ranges, out);
        if (!has_lens(definition.kind)) continue;
        const std::size_t uses = state.workspace.index().count_uses(definition.key, place->group);
        out.object().member("range", ranges.range(place->path, definition.name_span));
        // Clients show a command with an empty name as a text.
        out.key("command").object();
        out.member("title", fmt::format("{} reference{}", uses, uses == 1 ? "" : "s"));
        out.member("command", "").end_object().end_object();
        fleet_lens(state, *place, definition, usage, ranges, out);
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
