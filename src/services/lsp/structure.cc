// SPDX-License-Identifier: Apache-2.0
// Folding ranges and selection ranges.
#include <algorithm>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "language/syntax/lexer.h"
#include "language/syntax/visit.h"
#include "services/lsp/handlers.h"

namespace bunraku::lsp {

namespace {

using syntax::Tok;
using value::Value;

struct FoldedLines {
    std::uint32_t first = 0, last = 0;
    bool comment = false;
    friend bool operator==(const FoldedLines&, const FoldedLines&) = default;
};

/// Adds the lines between brackets and those of heredocs.
void fold_brackets(const FileText& file, bool epp, std::vector<FoldedLines>& out) {
    const syntax::Source source("", file.text);
    base::Arena arena;
    const auto stream = syntax::tokenize(source, arena, {.epp = epp});
    std::vector<std::uint32_t> open;
    for (std::size_t i = 0; i < stream.tokens.size(); ++i) {
        const syntax::Token& token = stream.tokens.data()[i];
        switch (token.kind) {
            case Tok::LBrace:
            case Tok::SelBrace:
            case Tok::LBrack:
            case Tok::ListStart:
            case Tok::LParen:
            case Tok::WsLParen: open.push_back(file.lines.line_of(token.offset)); break;
            case Tok::RBrace:
            case Tok::RBrack:
            case Tok::RParen: {
                if (open.empty()) break;
                const std::uint32_t last = file.lines.line_of(token.offset);
                // The line of the closing bracket stays visible.
                if (last > open.back() + 1) out.push_back({open.back(), last - 1, false});
                open.pop_back();
                break;
            }
            default: break;
        }
    }
}

void fold_comments(const FileText& file, std::vector<FoldedLines>& out) {
    std::uint32_t run = 0;
    for (std::uint32_t line = 0; line <= file.lines.count(); ++line) {
        const bool comment = line < file.lines.count() &&
                             base::trim(file.lines.line(file.text, line)).starts_with('#');
        if (comment) {
            ++run;
            continue;
        }
        if (run > 1) out.push_back({line - run, line - 1, true});
        run = 0;
    }
}

/// Adds the values of the top-level keys of a data file.
void fold_definitions(const DocumentPlace& place, std::vector<FoldedLines>& out) {
    if (!place.indexed) return;
    for (const Definition& definition : place.indexed->symbols.definitions) {
        const std::uint32_t first = place.text->lines.line_of(definition.span.offset);
        const std::uint32_t last = place.text->lines.line_of(definition.span.end());
        if (last > first) out.push_back({first, last, false});
    }
}

/// Returns the spans of the nodes around an offset, innermost first.
std::vector<Span> spans_around(const syntax::Tree& tree, std::uint32_t offset) {
    std::vector<Span> spans;
    const auto visit = [&](const auto& self, const syntax::Node* node) -> void {
        syntax::for_each_child(node, [&](const syntax::Node* child) { self(self, child); });
        const Span span{node->offset, node->length};
        if (span.length > 0 && span.touches(offset)) spans.push_back(span);
    };
    visit(visit, tree.program);
    std::ranges::stable_sort(spans, {}, &Span::length);
    // Every range must contain the one before.
    std::vector<Span> nested;
    for (const Span& span : spans) {
        if (nested.empty() || (span.offset <= nested.back().offset &&
                               span.end() >= nested.back().end() && span != nested.back()))
            nested.push_back(span);
    }
    return nested;
}

}  // namespace

Answer on_folding_range(State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    std::vector<FoldedLines> found;
    if (place->kind == FileKind::Manifest || place->kind == FileKind::Epp) {
        fold_brackets(*place->text, place->kind == FileKind::Epp, found);
    } else {
        fold_definitions(*place, found);
    }
    fold_comments(*place->text, found);
    std::ranges::sort(found, {}, [](const FoldedLines& f) { return std::pair(f.first, f.last); });
    const auto rest = std::ranges::unique(found);
    found.erase(rest.begin(), rest.end());
    JsonWriter out;
    out.array();
    for (const FoldedLines& fold : found) {
        out.object().member("startLine", fold.first).member("endLine", fold.last);
        if (fold.comment) out.member("kind", "comment");
        out.end_object();
    }
    return out.end_array().take();
}

Answer on_selection_range(State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const auto* positions = value::at(params, "positions");
    if (!positions || !positions->is_array()) return invalid_params("positions must be an array");
    const bool epp = place->kind == FileKind::Epp;
    const OpenFile* open = state.workspace.find_open(place->path);
    RecoveredTree parsed;
    if (open) {
        parsed.tree = open->parsed.tree;
    } else if (epp || place->kind == FileKind::Manifest) {
        parsed = parse_with_recovery(place->path, place->text->text, epp);
    }
    JsonWriter out;
    out.array();
    for (const Value& json : positions->as_array()) {
        const auto position = read_position(&json);
        if (!position) return invalid_params("A position is not valid");
        const FileText& file = *place->text;
        const std::uint32_t offset = file.lines.offset(file.text, *position, state.encoding);
        std::vector<Span> spans;
        if (parsed.tree) spans = spans_around(*parsed.tree, offset);
        if (spans.empty()) spans.push_back({offset, 0});
        for (const Span& span : spans) {
            if (&span != spans.data()) out.key("parent");
            out.object().member("range", file.lines.range(file.text, span, state.encoding));
        }
        for (std::size_t i = 0; i < spans.size(); ++i) out.end_object();
    }
    return out.end_array().take();
}

}  // namespace bunraku::lsp
