// SPDX-License-Identifier: Apache-2.0
// Heredocs: their tags, and the text up to the line with the end tag.
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <span>

#include "core/base/assert.h"
#include "language/syntax/char_class.h"
#include "language/syntax/lexer.h"
#include "language/syntax/limits.h"

namespace bunraku::syntax::detail {

/// The parts of `@(endtag[:syntax][/escapes])` as the lexer uses them.
struct HeredocTag {
    std::string_view endtag, syntax;
    unsigned flags = 0;  ///< escapes
    bool interpolate = false;
};

/// What the last line of a heredoc says about its text.
struct HeredocEnd {
    std::string_view margin;  ///< blanks to remove from each line
    bool has_margin = false;
    bool remove_break = false;
};

struct HeredocLine {
    std::size_t begin, end;
};

namespace {

struct HeredocSpec {
    std::string_view endtag;
    std::string_view syntax;
    std::string_view escapes;
    bool has_escapes = false;
};

/// Reads `endtag[:syntax][/escapes]`.
bool parse_heredoc_spec(std::string_view spec, HeredocSpec* out) {
    *out = {};
    std::size_t i = 0;
    auto blanks = [&] {
        while (std::size_t size = blank_size(spec, i)) i += size;
    };
    while (i < spec.size() && spec[i] != ':' && spec[i] != '/' && spec[i] != '\r' &&
           spec[i] != '\n')
        ++i;
    if (i == 0) return false;
    out->endtag = spec.substr(0, i);
    if (i < spec.size() && spec[i] == ':') {
        ++i;
        blanks();
        const std::size_t start = i;
        while (i < spec.size() &&
               (i == start ? is_lower(spec[i]) : is_word(spec[i]) || spec[i] == '+')) {
            ++i;
        }
        if (i < start + 2) return false;
        out->syntax = spec.substr(start, i - start);
        blanks();
    }
    if (i < spec.size() && spec[i] == '/') {
        out->has_escapes = true;
        const std::size_t start = ++i;
        while (i < spec.size() && (is_word(spec[i]) || spec[i] == '$')) ++i;
        out->escapes = spec.substr(start, i - start);
        blanks();
    }
    return i == spec.size();
}

std::string_view strip_blanks(std::string_view text) {
    const std::string_view space(" \t\n\v\f\r\0", 7);
    const std::size_t from = text.find_first_not_of(" \t\n\v\f\r");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(space) + 1 - from);
}

/// Reads a line that ends with the tag, or returns nullopt for other lines. The text before the tag
/// is read backwards: blanks, "-", blanks, "|", blanks. Any text further left is dropped, because
/// Puppet's pattern is not anchored to the start of the line.
std::optional<HeredocEnd> read_heredoc_end(std::string_view line, std::string_view endtag) {
    std::string_view body = line;
    if (body.ends_with('\n')) body.remove_suffix(1);
    if (body.ends_with('\r')) body.remove_suffix(1);
    const auto drop_blanks = [&body] {
        while (!body.empty() && (body.back() == ' ' || body.back() == '\t')) body.remove_suffix(1);
    };
    drop_blanks();
    if (!body.ends_with(endtag)) return std::nullopt;
    body.remove_suffix(endtag.size());
    HeredocEnd out;
    std::string_view rest = body;
    drop_blanks();
    if (body.ends_with('-')) {
        out.remove_break = true;
        body.remove_suffix(1);
        rest = body;
        drop_blanks();
    }
    if (body.ends_with('|')) {
        out.has_margin = true;
        body.remove_suffix(1);
        rest = body;
        drop_blanks();
    }
    BUNRAKU_ASSERT(rest.size() >= body.size());
    out.margin = rest.substr(body.size());
    return out;
}

}  // namespace

/// Reads the tag at the current position and moves behind it.
HeredocTag Lexer::read_heredoc_tag() {
    const std::size_t begin = pos_;
    const std::size_t close = text_.find(')', begin);
    if (close == std::string_view::npos) {
        fail(fmt::format("Unclosed parenthesis after '@(' followed by '{}'", followed_by()),
             "HEREDOC_UNCLOSED_PARENTHESIS", pos_);
    }
    pos_ = close + 1;
    HeredocSpec spec;
    bool valid = false;
    // Puppet's pattern is not anchored, so it may match at a later "@(".
    for (std::size_t from = begin; !valid && from < close; from = text_.find("@(", from + 1)) {
        valid =
            parse_heredoc_spec(text_.substr(from + 2, close - std::min(close, from + 2)), &spec);
    }
    if (!valid) {
        fail("Invalid syntax in heredoc expected @(endtag[:syntax][/escapes])",
             "HEREDOC_INVALID_SYNTAX", pos_);
    }
    HeredocTag out{.endtag = strip_blanks(spec.endtag), .syntax = spec.syntax};
    if (out.endtag.size() >= 2 && out.endtag.front() == '"' && out.endtag.back() == '"') {
        out.interpolate = true;
        out.endtag = strip_blanks(out.endtag.substr(1, out.endtag.size() - 2));
    }
    if (out.endtag.empty()) fail("Heredoc with an empty endtag", "HEREDOC_EMPTY_ENDTAG", pos_);
    if (spec.has_escapes) out.flags = heredoc_escapes(spec.escapes);
    return out;
}

/// Returns the flags of the escapes after the "/" of a tag. No letter means all.
unsigned Lexer::heredoc_escapes(std::string_view escapes) const {
    if (escapes.empty()) escapes = "trnsuL$";
    for (std::size_t a = 0; a < escapes.size(); ++a) {
        if (escapes.find(escapes[a], a + 1) == std::string_view::npos) continue;
        std::string list;
        for (char c : escapes) list += (list.empty() ? "" : ", ") + std::string(1, c);
        fail(fmt::format("An escape char for @() may only appear once. Got '{}'", list),
             "HEREDOC_MULTIPLE_AT_ESCAPES", pos_);
    }
    unsigned flags = kEscBackslash;
    for (char c : escapes) {
        if (c == 'L') {
            flags |= kEscLine;
        } else if (c == 't' || c == 'r' || c == 'n' || c == 's' || c == 'u' || c == '$') {
            flags |= escape_of(c);
        } else {
            fail(fmt::format(
                     "Invalid heredoc escape char. Only t, r, n, s,  u, L, $ allowed. Got '{}'", c),
                 "HEREDOC_INVALID_ESCAPE", pos_);
        }
    }
    return flags;
}

/// Returns where the text of a heredoc begins. The first one on a line starts on the next line, and
/// a further one where the previous one ended.
std::size_t Lexer::heredoc_text_begin() const {
    std::size_t begin = newline_jump_;
    if (begin == kNone) {
        const std::size_t newline = text_.find('\n', pos_);
        if (newline == std::string_view::npos) {
            fail("Heredoc without any following lines of text", "HEREDOC_WITHOUT_TEXT", pos_);
        }
        begin = newline + 1;
    }
    BUNRAKU_ASSERT(begin > 0 && begin <= text_.size());
    return begin;
}

/// Returns the text of the lines without the margin, and fills `map` for positions in it.
std::string_view Lexer::heredoc_content(std::span<const HeredocLine> lines, const HeredocEnd& end,
                                        SubMap& map) const {
    std::string_view content;
    if (end.has_margin && !end.margin.empty()) {
        std::string joined;
        map.accumulated.push_back(0);
        for (const HeredocLine& l : lines) {
            std::string_view one = text_.substr(l.begin, l.end - l.begin);
            const bool cut = one.starts_with(end.margin);
            if (cut) one.remove_prefix(end.margin.size());
            map.accumulated.push_back(map.accumulated.back() + (cut ? end.margin.size() : 0));
            joined += one;
        }
        map.accumulated.push_back(map.accumulated.back());
        BUNRAKU_ASSERT(map.accumulated.size() == lines.size() + 2);
        content = shared_.arena.copy(std::string_view(joined));
    } else {
        if (!lines.empty()) {
            content = text_.substr(map.leading_offset, lines.back().end - map.leading_offset);
        }
        map.accumulated.assign(1, 0);
    }
    if (end.remove_break && content.ends_with('\n')) {
        content.remove_suffix(1);
        if (content.ends_with('\r')) content.remove_suffix(1);
    }
    map.line_starts.push_back(0);
    for (std::size_t j = 0; j < content.size(); ++j) {
        if (content[j] == '\n') map.line_starts.push_back(j + 1);
    }
    BUNRAKU_ASSERT(map.line_starts.size() <= lines.size() + 1);
    return content;
}

Lexer::Outcome Lexer::lex_heredoc() {
    const std::size_t begin = pos_;
    const HeredocTag tag = read_heredoc_tag();
    push(Tok::Heredoc, begin, pos_ - begin, tag.syntax);
    const std::size_t text_begin = heredoc_text_begin();
    std::vector<HeredocLine> lines;
    for (std::size_t at_line = text_begin; at_line < text_.size();) {
        const std::size_t newline = text_.find('\n', at_line);
        const std::size_t end = newline == std::string_view::npos ? text_.size() : newline + 1;
        const auto last = read_heredoc_end(text_.substr(at_line, end - at_line), tag.endtag);
        if (!last) {
            lines.push_back({at_line, end});
            at_line = end;
            continue;
        }
        BUNRAKU_ASSERT(end > text_begin);
        newline_jump_ = end;
        add_trivia(Trivia::Kind::HeredocText, text_begin, end);
        SubMap& map = shared_.maps.emplace_back();
        map.parent = sub_;
        map.leading_offset = text_begin;
        map.has_margin = last->has_margin;
        const std::string_view content = heredoc_content(lines, *last, map);
        push(Tok::Sublocate, text_begin, 0, {});
        const std::size_t after_tag = pos_;
        if (++shared_.depth > kMaxNesting) fail(kNestingMessage, "SYNTAX_ERROR", pos_);
        Lexer sub(shared_, content, &map);
        const int depth = shared_.depth;
        sub.scan_unquoted(tag.flags, tag.interpolate);
        BUNRAKU_ASSERT(shared_.depth == depth);
        --shared_.depth;
        pos_ = after_tag;
        return Outcome::Interpolated;
    }
    fail("Heredoc without end-tagged line", "HEREDOC_WITHOUT_END_TAGGED_LINE", text_begin);
}

}  // namespace bunraku::syntax::detail
