// SPDX-License-Identifier: Apache-2.0
// Semantic highlighting: from the lexer's tokens, the comments between them, and the index.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/base/text.h"
#include "core/value/hash_access.h"
#include "language/syntax/lexer.h"
#include "services/lsp/handlers.h"

namespace bunraku::lsp {

namespace {

using syntax::Tok;
using value::Value;

/// Token types; the order is that of the legend.
enum class Paint : std::uint8_t {
    Keyword,
    Class,
    Type,
    Function,
    Variable,
    Parameter,
    Property,
    String,
    Number,
    Regexp,
    Comment,
    Operator,
    None
};
constexpr std::array<std::string_view, 12> kPaintNames = {
    "keyword",  "class",  "type",   "function", "variable", "parameter",
    "property", "string", "number", "regexp",   "comment",  "operator"};
constexpr int kDeclarationModifier = 1;

struct PaintedSpan {
    Span span;
    Paint paint = Paint::None;
    int modifiers = 0;
};

Paint paint_of_token(Tok kind) {
    switch (kind) {
        case Tok::String:
        case Tok::DqPre:
        case Tok::DqMid:
        case Tok::DqPost:
        case Tok::Heredoc:
        case Tok::RenderString: return Paint::String;
        case Tok::Number: return Paint::Number;
        case Tok::Regex: return Paint::Regexp;
        case Tok::Variable: return Paint::Variable;
        case Tok::ClassRef: return Paint::Type;
        case Tok::Boolean: return Paint::Keyword;
        case Tok::Equals:
        case Tok::Appends:
        case Tok::IsEqual:
        case Tok::NotEqual:
        case Tok::Match:
        case Tok::NoMatch:
        case Tok::GreaterEqual:
        case Tok::GreaterThan:
        case Tok::LessEqual:
        case Tok::LessThan:
        case Tok::FArrow:
        case Tok::PArrow:
        case Tok::LShift:
        case Tok::RShift:
        case Tok::Plus:
        case Tok::Minus:
        case Tok::Div:
        case Tok::Times:
        case Tok::Modulo:
        case Tok::Not:
        case Tok::InEdge:
        case Tok::InEdgeSub:
        case Tok::OutEdge:
        case Tok::OutEdgeSub: return Paint::Operator;
        default: return kind >= Tok::Case ? Paint::Keyword : Paint::None;
    }
}

Paint paint_of_symbol(const Occurrence& occurrence, const FileSymbols& symbols) {
    switch (occurrence.key.kind) {
        case SymbolKind::Class: return Paint::Class;
        case SymbolKind::Type: return Paint::Type;
        case SymbolKind::Function: return Paint::Function;
        case SymbolKind::Variable:
        case SymbolKind::ErbVariable: break;
        case SymbolKind::HieraKey: return Paint::Property;
        default: return Paint::None;
    }
    const Definition* around = symbols.enclosing(occurrence.span.offset);
    const std::string_view name = last_segment(occurrence.key.name.view());
    const bool own = around && std::ranges::find(around->parameters, name, &ParameterInfo::name) !=
                                   around->parameters.end();
    return own ? Paint::Parameter : Paint::Variable;
}

class Painter {
public:
    explicit Painter(const DocumentPlace& place) : place_(place) {}

    std::vector<PaintedSpan> run() {
        if (place_.kind == FileKind::Manifest || place_.kind == FileKind::Epp) {
            collect_symbols();
            paint_tokens(place_.kind == FileKind::Epp);
        } else if (place_.indexed) {
            for (const Occurrence& occurrence : place_.indexed->symbols.occurrences)
                add(occurrence.span, paint_of_symbol(occurrence, place_.indexed->symbols),
                    occurrence.role == Role::Define);
        }
        std::ranges::stable_sort(out_, [](const PaintedSpan& a, const PaintedSpan& b) {
            return a.span.offset != b.span.offset ? a.span.offset < b.span.offset
                                                  : a.span.length < b.span.length;
        });
        return std::move(out_);
    }

private:
    void collect_symbols() {
        if (!place_.indexed) return;
        for (const Occurrence& occurrence : place_.indexed->symbols.occurrences)
            by_offset_.try_emplace(occurrence.span.offset, &occurrence);
    }
    void paint_tokens(bool epp) {
        const syntax::Source source("", place_.text->text);
        base::Arena arena;
        const auto stream = syntax::tokenize(source, arena, {.epp = epp});
        std::uint32_t at = 0;
        for (std::size_t i = 0; i < stream.tokens.size(); ++i) {
            const syntax::Token& token = stream.tokens.data()[i];
            if (token.kind == Tok::End || token.kind == Tok::LexError) break;
            if (!epp && token.offset > at) paint_comments(at, token.offset);
            paint_token(token,
                        i + 1 < stream.tokens.size() ? stream.tokens.data()[i + 1].kind : Tok::End);
            at = std::max(at, token.offset + token.length);
        }
        if (!epp && !stream.error)
            paint_comments(at, static_cast<std::uint32_t>(place_.text->text.size()));
    }
    void paint_token(const syntax::Token& token, Tok next) {
        const Span span{token.offset, token.length};
        Paint paint = paint_of_token(token.kind);
        bool declares = false;
        const bool arrow = next == Tok::FArrow || next == Tok::PArrow;
        if (arrow && (token.kind == Tok::Name || token.kind >= Tok::Case)) {
            paint = Paint::Property;
        } else if (token.kind == Tok::Name || token.kind == Tok::ClassRef ||
                   token.kind == Tok::Variable) {
            const bool sigil =
                token.kind == Tok::Variable && place_.slice({token.offset, 1}) == "$";
            const auto found = by_offset_.find(token.offset + (sigil ? 1 : 0));
            if (found != by_offset_.end()) {
                const Paint known = paint_of_symbol(*found->second, place_.indexed->symbols);
                const bool qualified = token.kind == Tok::Variable && known == Paint::Class;
                if (known != Paint::None && !qualified) paint = known;
                declares = found->second->role == Role::Define;
            }
        }
        add(span, paint, declares);
    }
    void paint_comments(std::uint32_t from, std::uint32_t to) {
        const std::string_view gap = std::string_view(place_.text->text).substr(from, to - from);
        for (std::size_t at = 0; at < gap.size();) {
            std::size_t end = at + 1;
            if (gap[at] == '#') {
                end = std::min(gap.find('\n', at), gap.size());
            } else if (gap.substr(at, 2) == "/*") {
                end = gap.find("*/", at + 2);
                end = end == std::string_view::npos ? gap.size() : end + 2;
            } else {
                ++at;
                continue;
            }
            add({from + static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at)},
                Paint::Comment, false);
            at = end;
        }
    }
    /// Adds a span. A span over several lines is split, because few clients accept one.
    void add(Span span, Paint paint, bool declares) {
        if (paint == Paint::None || span.length == 0) return;
        const LineIndex& lines = place_.text->lines;
        const std::uint32_t last = lines.line_of(span.end());
        for (std::uint32_t line = lines.line_of(span.offset); line <= last; ++line) {
            const std::string_view content = lines.line(place_.text->text, line);
            const auto line_end = lines.start(line) + static_cast<std::uint32_t>(content.size());
            const std::uint32_t begin = std::max(span.offset, lines.start(line));
            const std::uint32_t end = std::min(span.end(), line_end);
            if (end > begin)
                out_.push_back({{begin, end - begin}, paint, declares ? kDeclarationModifier : 0});
        }
    }

    const DocumentPlace& place_;
    std::unordered_map<std::uint32_t, const Occurrence*> by_offset_;
    std::vector<PaintedSpan> out_;
};

/// Encodes the spans as numbers relative to the span before (LSP 3.17, semantic tokens).
std::string encode_tokens(const State& state, const DocumentPlace& place,
                          const std::vector<PaintedSpan>& painted, const Range* within) {
    JsonWriter out;
    out.object().key("data").array();
    Position last;
    std::uint32_t covered = 0;
    for (const PaintedSpan& item : painted) {
        if (item.span.offset < covered) continue;  // tokens must not overlap
        const Range range = place.text->lines.range(place.text->text, item.span, state.encoding);
        if (within && (range.end < within->start || within->end < range.start)) continue;
        covered = item.span.end();
        const bool same_line = range.start.line == last.line;
        out.number(range.start.line - last.line);
        out.number(same_line ? range.start.character - last.character : range.start.character);
        out.number(range.end.character - range.start.character);
        out.number(static_cast<int>(item.paint)).number(item.modifiers);
        last = range.start;
    }
    return out.end_array().end_object().take();
}

}  // namespace

std::string semantic_legend() {
    JsonWriter out;
    out.object().key("tokenTypes").array();
    for (const std::string_view name : kPaintNames) out.string(name);
    out.end_array().key("tokenModifiers").array().string("declaration").end_array();
    return out.end_object().take();
}

Answer on_semantic_tokens(State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    return encode_tokens(state, *place, Painter(*place).run(), nullptr);
}

Answer on_semantic_tokens_range(State& state, const Value& params) {
    const auto place = document_of(state, params);
    if (!place) return std::unexpected(place.error());
    const auto range = read_range(value::at(params, "range"));
    if (!range) return invalid_params("The range is not valid");
    return encode_tokens(state, *place, Painter(*place).run(), &*range);
}

}  // namespace bunraku::lsp
