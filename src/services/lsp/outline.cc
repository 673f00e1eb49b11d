// SPDX-License-Identifier: Apache-2.0
// The symbols of a document and of the workspace.
#include <algorithm>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "services/lsp/handlers.h"

namespace bunraku::lsp {

namespace {

using value::Value;

constexpr std::size_t kMaxWorkspaceSymbols = 500;

/// Returns the SymbolKind of LSP.
int protocol_symbol_kind(DefinitionKind kind) {
    switch (kind) {
        case DefinitionKind::Class: return 5;          // Class
        case DefinitionKind::Define: return 23;        // Struct
        case DefinitionKind::Function: return 12;      // Function
        case DefinitionKind::DataType: return 11;      // Interface
        case DefinitionKind::ResourceType: return 23;  // Struct
        case DefinitionKind::Plan: return 12;
        case DefinitionKind::Node: return 3;   // Namespace
        case DefinitionKind::Fact: return 14;  // Constant
        case DefinitionKind::Key: return 20;   // Key
    }
    return 13;
}

std::string_view detail_of(DefinitionKind kind) {
    switch (kind) {
        case DefinitionKind::Class: return "class";
        case DefinitionKind::Define: return "define";
        case DefinitionKind::Function: return "function";
        case DefinitionKind::DataType: return "type";
        case DefinitionKind::ResourceType: return "resource type";
        case DefinitionKind::Plan: return "plan";
        case DefinitionKind::Node: return "node";
        case DefinitionKind::Fact: return "fact";
        case DefinitionKind::Key: return "key";
    }
    return {};
}

/// Reports whether the letters of `query` occur in `name` in this order, as editors match.
bool matches_query(std::string_view query, std::string_view name) {
    std::size_t at = 0;
    for (const char c : name)
        if (at < query.size() && base::lower(c) == base::lower(query[at])) ++at;
    return at == query.size();
}

/// Writes a symbol with its children: the definitions and resources inside of it.
class OutlineWriter {
public:
    OutlineWriter(const State& state, const DocumentPlace& place, JsonWriter& out)
        : place_(place), ranges_(state), out_(out) {
        for (const Definition& definition : place.indexed->symbols.definitions) {
            const auto size = static_cast<std::uint32_t>(place.text->text.size());
            if (definition.span.offset <= size) items_.push_back(&definition);
        }
        std::ranges::sort(items_, [](const Definition* a, const Definition* b) {
            return a->span.offset != b->span.offset ? a->span.offset < b->span.offset
                                                    : a->span.length > b->span.length;
        });
    }
    void write() {
        out_.array();
        std::size_t at = 0;
        while (at < items_.size()) definition(at);
        loose_resources();
        out_.end_array();
    }

private:
    /// Writes the definition at `at` and moves `at` behind the definitions inside of it.
    void definition(std::size_t& at) {
        const Definition& item = *items_[at++];
        symbol(item.shown, detail_of(item.kind), protocol_symbol_kind(item.kind), item.span,
               item.name_span);
        out_.key("children").array();
        for (const ParameterInfo& parameter : item.parameters) {
            symbol(parameter.name, parameter.type, 13, parameter.span, parameter.span);
            out_.end_object();
        }
        while (at < items_.size() && items_[at]->span.offset < item.span.end() &&
               items_[at]->span.end() <= item.span.end())
            definition(at);
        resources(item.span);
        out_.end_array().end_object();
    }
    void resources(Span inside) {
        // The occurrences are ordered, and a data file may have very many definitions.
        const auto& all = place_.indexed->symbols.occurrences;
        const auto first = std::ranges::lower_bound(
            all, inside.offset, {},
            [](const Occurrence& occurrence) { return occurrence.span.offset; });
        for (auto at = first; at != all.end() && at->span.offset <= inside.end(); ++at) {
            const Occurrence& found = *at;
            if (found.key.kind != SymbolKind::Resource || found.role != Role::Define) continue;
            if (!inside.touches(found.span.offset) || !written_.insert(&found).second) continue;
            symbol(found.key.name.view(), "resource", 19, found.span, found.span);
            out_.end_object();
        }
    }
    void loose_resources() { resources({0, static_cast<std::uint32_t>(place_.text->text.size())}); }
    void symbol(std::string_view name, std::string_view detail, int kind, Span span,
                Span name_span) {
        // The protocol requires a name that is not empty, and a selection inside of the range.
        if (name_span.offset < span.offset || name_span.end() > span.end()) span = name_span;
        out_.object().member("name", name.empty() ? std::string_view("?") : name);
        if (!detail.empty()) out_.member("detail", detail);
        out_.member("kind", kind).member("range", ranges_.range(place_.path, span));
        out_.member("selectionRange", ranges_.range(place_.path, name_span));
    }

    const DocumentPlace& place_;
    RangeFinder ranges_;
    JsonWriter& out_;
    std::vector<const Definition*> items_;
    std::set<const Occurrence*> written_;
};

}  // namespace

Answer on_document_symbol(State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    if (!place->indexed) return "[]";
    JsonWriter out;
    OutlineWriter(state, *place, out).write();
    return out.take();
}

Answer on_workspace_symbol(State& state, const Value& params) {
    const std::string query = value::text_at(params, "query");
    const std::string lower = base::lower(query);
    // Exact matches come first, then prefixes.
    std::vector<DefinitionPlace> ranks[3];
    state.workspace.index().each_definition(0, [&](const DefinitionPlace& place) {
        const std::string& shown = place.definition->shown;
        if (shown.empty() || !matches_query(query, shown)) return;
        const std::string name = base::lower(shown);
        ranks[name == lower ? 0 : name.starts_with(lower) ? 1 : 2].push_back(place);
    });
    std::vector<DefinitionPlace> found;
    for (const auto& rank : ranks) found.insert(found.end(), rank.begin(), rank.end());
    if (found.size() > kMaxWorkspaceSymbols) found.resize(kMaxWorkspaceSymbols);
    RangeFinder ranges(state);
    JsonWriter out;
    out.array();
    for (const DefinitionPlace& place : found) {
        out.object().member("name", place.definition->shown);
        out.member("kind", protocol_symbol_kind(place.definition->kind));
        out.member("containerName", detail_of(place.definition->kind)).key("location");
        ranges.write_location(out, {place.file->path, place.definition->name_span});
        out.end_object();
    }
    return out.end_array().take();
}

}  // namespace bunraku::lsp
