// SPDX-License-Identifier: Apache-2.0
// Signature help for function calls.
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/function/table.h"
#include "services/lsp/cursor_context.h"
#include "services/lsp/describe.h"
#include "services/lsp/handlers.h"

namespace bunraku::lsp {

namespace {

struct ShownSignature {
    std::string label;
    std::vector<std::string> parameters;
    std::string doc;
};

/// Splits a signature such as "String s, Array[Integer, 2] a" at its commas.
std::vector<std::string> signature_parts(std::string_view signature) {
    std::vector<std::string> out;
    int depth = 0;
    std::string part;
    for (const char c : signature) {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c == ',' && depth == 0) {
            out.emplace_back(base::trim(part));
            part.clear();
        } else {
            part += c;
        }
    }
    if (!base::trim(part).empty()) out.emplace_back(base::trim(part));
    return out;
}

ShownSignature shown_signature(std::string_view name, std::vector<std::string> parameters,
                               std::string doc) {
    ShownSignature out;
    out.label = fmt::format("{}({})", name, fmt::join(parameters, ", "));
    out.parameters = std::move(parameters);
    out.doc = std::move(doc);
    return out;
}

std::vector<ShownSignature> signatures_of(const State& state, const std::string& name,
                                          Group group) {
    std::vector<ShownSignature> out;
    RangeFinder files(state);
    const auto key = symbol_key(SymbolKind::Function, base::lower(without_top(name)));
    for (const auto& place : state.workspace.index().definitions(key, group)) {
        if (place.file->kind == FileKind::Ruby) {
            const std::string doc =
                comment_before(files.text(place.file->path), place.definition->name_span.offset);
            for (const std::string& overload : place.definition->overloads)
                out.push_back(
                    shown_signature(place.definition->shown, signature_parts(overload), doc));
            continue;
        }
        std::vector<std::string> parameters;
        for (const ParameterInfo& parameter : place.definition->parameters) {
            std::string text = parameter.type.empty() ? "" : parameter.type + " ";
            text += (parameter.captures_rest ? "*$" : "$") + parameter.name;
            if (!parameter.default_value.empty()) text += " = " + parameter.default_value;
            parameters.push_back(std::move(text));
        }
        out.push_back(shown_signature(
            place.definition->shown, std::move(parameters),
            comment_before(files.text(place.file->path), place.definition->span.offset)));
    }
    if (!out.empty()) return out;
    const auto* builtin = function::builtin_functions().find(base::lower(without_top(name)));
    if (!builtin) return out;
    for (const auto& overload : builtin->overloads)
        if (!overload.mismatch)
            out.push_back(shown_signature(builtin->name, signature_parts(overload.signature),
                                          std::string(builtin->doc)));
    return out;
}

}  // namespace

Answer on_signature_help(State& state, const value::Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const auto context = context_at(place->text->text, place->offset, place->kind == FileKind::Epp);
    if (context.function.empty()) return "null";
    const auto signatures = signatures_of(state, context.function, place->group);
    if (signatures.empty()) return "null";
    std::size_t active = 0;
    while (active + 1 < signatures.size() &&
           static_cast<int>(signatures[active].parameters.size()) <= context.argument)
        ++active;
    JsonWriter out;
    out.object().key("signatures").array();
    for (const ShownSignature& signature : signatures) {
        out.object().member("label", signature.label);
        out.key("documentation").object().member("kind", "markdown").member("value", signature.doc);
        out.end_object().key("parameters").array();
        for (const std::string& parameter : signature.parameters)
            out.object().member("label", parameter).end_object();
        out.end_array().end_object();
    }
    out.end_array().member("activeSignature", active).member("activeParameter", context.argument);
    return out.end_object().take();
}

}  // namespace bunraku::lsp
