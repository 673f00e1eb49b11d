// SPDX-License-Identifier: Apache-2.0
// Go to definition, declaration, type and implementation; references and highlights.
#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "services/lsp/handlers.h"
#include "services/lsp/resolve.h"

namespace bunraku::lsp {

namespace {

using value::Value;

/// Answers with the places that `find` returns for the occurrence at the position.
template <class Find>
Answer answer_places(State& state, const Value& params, const Find& find) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const Occurrence* occurrence = place->occurrence();
    if (!occurrence) return "null";
    return RangeFinder(state).locations(find(*place, *occurrence));
}

}  // namespace

Answer on_definition(State& state, const Value& params) {
    return answer_places(state, params, [&](const DocumentPlace& place, const Occurrence& at) {
        return definition_places(state, place, at);
    });
}

/// The declaration is the parameter or the name, never the data that sets it.
Answer on_declaration(State& state, const Value& params) {
    return answer_places(state, params, [&](const DocumentPlace& place, const Occurrence& at) {
        Occurrence used = at;
        if (used.role == Role::Define) used.role = Role::Use;
        return definition_places(state, place, used);
    });
}

/// The type of a parameter, and the class or define that an attribute belongs to.
Answer on_type_definition(State& state, const Value& params) {
    return answer_places(state, params, [&](const DocumentPlace& place, const Occurrence& at) {
        std::vector<FoundPlace> out;
        const SymbolKey key = resolved_key(state.workspace, at, place.group);
        const auto* parameter = parameter_of(state.workspace, key.name.view(), place.group);
        if (!parameter) return definition_places(state, place, at);
        const auto& index = state.workspace.index();
        std::string word;
        const auto finish_word = [&] {
            const auto type = symbol_key(SymbolKind::Type, base::lower(without_top(word)));
            for (const auto& found : index.definitions(type, place.group))
                out.push_back({found.file->path, found.definition->name_span});
            word.clear();
        };
        for (const char c : parameter->type + " ") {
            if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '_' || c == ':') {
                word += c;
            } else if (!word.empty()) {
                finish_word();
            }
        }
        return out;
    });
}

/// The implementations of a parameter or key are the data files that set it.
Answer on_implementation(State& state, const Value& params) {
    return answer_places(state, params, [&](const DocumentPlace& place, const Occurrence& at) {
        const SymbolKey key = resolved_key(state.workspace, at, place.group);
        auto data = data_places(state, key.name.view(), place.group);
        return data.empty() ? definition_places(state, place, at) : data;
    });
}

Answer on_references(State& state, const Value& params) {
    const auto* context = value::at(params, "context");
    const auto* declaration = context ? value::at(*context, "includeDeclaration") : nullptr;
    const bool with_definitions = !declaration || declaration->truthy();
    return answer_places(state, params, [&](const DocumentPlace& place, const Occurrence& at) {
        return use_places(state, place, at, with_definitions);
    });
}

Answer on_document_highlight(State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const Occurrence* occurrence = place->occurrence();
    if (!occurrence) return "null";
    const SymbolKey key = resolved_key(state.workspace, *occurrence, place->group);
    RangeFinder ranges(state);
    JsonWriter out;
    out.array();
    for (const Occurrence& other : place->indexed->symbols.occurrences) {
        if (other.key.kind != key.kind) continue;
        if (other.key != key && resolved_key(state.workspace, other, place->group) != key) continue;
        const int kind = other.role == Role::Define ? 3 : 2;  // Write, Read
        out.object().member("range", ranges.range(place->path, other.span));
        out.member("kind", kind).end_object();
    }
    return out.end_array().take();
}

}  // namespace bunraku::lsp
