// SPDX-License-Identifier: Apache-2.0
// Finds the lines to hide by trying candidates, smallest first. The parser is fast enough for
// dozens of attempts at each keystroke, and needs no knowledge of incomplete code.
#include "services/lsp/recovery.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "language/syntax/lexer.h"
#include "language/syntax/parser.h"

namespace bunraku::lsp {

namespace {

using syntax::Tok;

constexpr int kMaxRounds = 12;
/// Limit of the bytes that one recovery parses.
constexpr std::size_t kMaxParsedBytes = std::size_t{4} << 20;
/// A range with this many lines after its first is not tried before brackets are added.
constexpr std::size_t kFewLines = 1;
constexpr std::size_t kNoLine = std::numeric_limits<std::size_t>::max();

/// An inclusive range of lines.
struct LineRange {
    std::size_t first = 0, last = 0;
    friend bool operator==(const LineRange&, const LineRange&) = default;
};

/// One attempt: the tree, or the error and its offset.
struct Attempt {
    std::shared_ptr<const syntax::Tree> tree;
    std::optional<base::PuppetError> error;
    std::uint32_t offset = 0;
};

Attempt attempt_parse(const std::string& file, const std::string& text, const LineIndex& lines,
                      bool epp) {
    Attempt out;
    try {
        out.tree = syntax::parse(file, text, {.epp = epp});
        out.offset = std::numeric_limits<std::uint32_t>::max();
    } catch (base::PuppetError& error) {
        out.offset = offset_of_location(text, lines, error.where());
        out.error = std::move(error);
    }
    return out;
}

/// The text of one recovery, line by line.
class RepairText {
public:
    RepairText(std::string_view text, const LineIndex& lines) : text_(text), lines_(lines) {}

    const std::string& text() const { return text_; }
    std::size_t count() const { return lines_.count(); }
    std::string_view line(std::size_t number) const { return lines_.line(text_, number); }
    bool is_blank(std::size_t number) const {
        const std::string_view content = base::trim(line(number));
        return content.empty() || content.starts_with('#');
    }
    std::size_t indent(std::size_t number) const {
        const std::size_t found = line(number).find_first_not_of(" \t");
        return found == std::string_view::npos ? kNoLine : found;
    }
    /// Returns the nearest line before `number` that is not blank; kNoLine if there is none.
    std::size_t previous(std::size_t number) const {
        while (number-- > 0)
            if (!is_blank(number)) return number;
        return kNoLine;
    }
    /// Returns the nearest line before `number` with a smaller indentation; kNoLine if there is
    /// none.
    std::size_t parent(std::size_t number) const {
        const std::size_t own = indent(number);
        for (std::size_t at = previous(number); at != kNoLine; at = previous(at))
            if (indent(at) < own) return at;
        return kNoLine;
    }
    /// Returns the lines that belong to the construct that begins at line `number`, according to
    /// the indentation.
    LineRange block(std::size_t number) const {
        const std::size_t own = indent(number);
        std::size_t last = number;
        for (std::size_t at = number + 1; at < count(); ++at) {
            if (is_blank(at)) continue;
            if (indent(at) > own) {
                last = at;
                continue;
            }
            const std::string_view content = base::trim(line(at));
            if (indent(at) == own && content.find_first_of("})]") == 0) last = at;
            break;
        }
        return {number, last};
    }
    /// Returns the first line with an odd number of a kind of quotes; kNoLine if there is none.
    std::size_t odd_quotes() const {
        for (std::size_t at = 0; at < count(); ++at) {
            if (is_blank(at)) continue;
            const std::string_view content = line(at);
            if (std::ranges::count(content, '\'') % 2 != 0 ||
                std::ranges::count(content, '"') % 2 != 0)
                return at;
        }
        return kNoLine;
    }
    Span span(LineRange range) const {
        const std::uint32_t begin = lines_.start(range.first);
        const std::string_view last = line(range.last);
        const auto end = static_cast<std::uint32_t>(
            static_cast<std::size_t>(last.data() - text_.data()) + last.size());
        return {begin, end - begin};
    }
    void blank(Span span) {
        for (std::uint32_t i = span.offset; i < span.end(); ++i)
            if (text_[i] != '\n' && text_[i] != '\r') text_[i] = ' ';
    }
    void append(std::string_view closers) { text_ += closers; }

private:
    std::string text_;
    const LineIndex& lines_;
};

/// A bracket that is open at some place of a text.
struct OpenedBracket {
    std::uint32_t offset = 0;
    char closer = '}';
};

/// What the brackets of a text show about a missing one.
struct BracketFindings {
    std::string missing;  ///< closing brackets that are missing at the end, innermost first
    /// The first bracket that a line with a smaller indentation closes: its own closing bracket is
    /// probably missing.
    std::optional<std::uint32_t> suspect;
};

BracketFindings find_brackets_of(const RepairText& text, const LineIndex& lines, bool epp) {
    const syntax::Source source("", text.text());
    base::Arena arena;
    const auto stream = syntax::tokenize(source, arena, {.epp = epp});
    std::vector<OpenedBracket> open;
    BracketFindings out;
    const auto indent_at = [&](std::uint32_t offset) { return text.indent(lines.line_of(offset)); };
    for (std::size_t i = 0; i < stream.tokens.size(); ++i) {
        const syntax::Token& token = stream.tokens.data()[i];
        switch (token.kind) {
            case Tok::LBrace:
            case Tok::SelBrace: open.push_back({token.offset, '}'}); break;
            case Tok::LBrack:
            case Tok::ListStart: open.push_back({token.offset, ']'}); break;
            case Tok::LParen:
            case Tok::WsLParen: open.push_back({token.offset, ')'}); break;
            case Tok::RBrace:
            case Tok::RBrack:
            case Tok::RParen:
                if (open.empty()) break;
                if (!out.suspect && indent_at(token.offset) < indent_at(open.back().offset))
                    out.suspect = open.back().offset;
                open.pop_back();
                break;
            default: break;
        }
    }
    for (auto each = open.rbegin(); each != open.rend(); ++each) out.missing += each->closer;
    return out;
}

/// Returns the ranges of lines to try for an error at `offset`, smallest first.
std::vector<LineRange> candidate_ranges(const RepairText& text, const LineIndex& lines,
                                        std::uint32_t offset) {
    std::vector<LineRange> out;
    const auto add = [&](LineRange range) {
        if (std::ranges::find(out, range) == out.end()) out.push_back(range);
    };
    std::size_t line =
        lines.line_of(std::min(offset, static_cast<std::uint32_t>(text.text().size())));
    line = std::min(line, text.count() - 1);
    if (text.is_blank(line) && text.previous(line) != kNoLine) line = text.previous(line);
    const std::size_t before = text.previous(line);
    add({line, line});
    if (before != kNoLine) {
        add({before, before});
        add({before, line});
    }
    if (const std::size_t odd = text.odd_quotes(); odd != kNoLine) add({odd, odd});
    for (const std::size_t start : {line, before}) {
        int levels = 0;
        for (std::size_t at = start; at != kNoLine && levels < 6; at = text.parent(at), ++levels)
            add(text.block(at));
    }
    std::ranges::stable_sort(out, {},
                             [](const LineRange& range) { return range.last - range.first; });
    return out;
}

class Recovery {
public:
    Recovery(const std::string& file, std::string_view text, bool epp)
        : file_(file), lines_(text), text_(text, lines_), epp_(epp) {}

    RecoveredTree run() {
        RecoveredTree out;
        Attempt current = attempt(text_.text());
        out.error = current.error;
        for (int round = 0; !current.tree && round < kMaxRounds; ++round) {
            auto better = improve(current, out.blanked);
            if (!better) break;
            current = std::move(*better);
        }
        if (!current.tree) {
            out.useful = false;
            current = attempt_parse(file_, "", lines_, false);
        }
        BUNRAKU_ASSERT(current.tree);
        out.tree = std::move(current.tree);
        return out;
    }

private:
    Attempt attempt(const std::string& text) {
        parsed_ += text.size() + 64;
        return attempt_parse(file_, text, lines_, epp_);
    }

    /// Hides the lines after which the parser gets furthest. Returns nullopt if none helps.
    std::optional<Attempt> improve(const Attempt& current, std::vector<Span>& blanked) {
        std::optional<Attempt> best;
        std::optional<Span> best_span;
        auto ranges = candidate_ranges(text_, lines_, current.offset);
        BracketFindings brackets;
        const bool at_end = current.offset >= text_.text().size();
        if (at_end) brackets = find_brackets_of(text_, lines_, epp_);
        if (brackets.suspect) {
            const std::size_t line = lines_.line_of(*brackets.suspect);
            ranges.insert(ranges.begin(), {line, line});
        }
        bool closed = !at_end;
        for (const LineRange range : ranges) {
            if (parsed_ > kMaxParsedBytes) break;
            if (!closed && range.last - range.first >= kFewLines) {
                // Added brackets hide less than many lines.
                closed = true;
                if (auto next = close_brackets(brackets)) return next;
            }
            RepairText changed = text_;
            const Span span = changed.span(range);
            changed.blank(span);
            if (changed.text() == text_.text()) continue;
            Attempt next = attempt(changed.text());
            if (next.offset <= std::max(current.offset, span.end()) && !next.tree) continue;
            if (best && next.offset <= best->offset) continue;
            best = std::move(next);
            best_span = span;
            if (best->tree) break;
        }
        if (best && best->tree) return accept(std::move(best), *best_span, blanked);
        if (!closed) {
            if (auto next = close_brackets(brackets)) return next;
        }
        if (best) return accept(std::move(best), *best_span, blanked);
        return std::nullopt;
    }

    std::optional<Attempt> accept(std::optional<Attempt> best, Span span,
                                  std::vector<Span>& blanked) {
        text_.blank(span);
        blanked.push_back(span);
        return best;
    }

    /// Adds the brackets that are missing at the end, if that completes the text.
    std::optional<Attempt> close_brackets(const BracketFindings& brackets) {
        if (brackets.missing.empty() || parsed_ > kMaxParsedBytes) return std::nullopt;
        Attempt next = attempt(text_.text() + "\n" + brackets.missing);
        if (!next.tree) return std::nullopt;
        return next;
    }

    const std::string& file_;
    LineIndex lines_;
    RepairText text_;
    bool epp_;
    std::size_t parsed_ = 0;
};

}  // namespace

std::uint32_t offset_of_location(std::string_view text, const LineIndex& lines,
                                 const base::Location& where) {
    if (where.line <= 0 || static_cast<std::size_t>(where.line) > lines.count())
        return static_cast<std::uint32_t>(text.size());
    auto line = static_cast<std::uint32_t>(where.line - 1);
    auto column = static_cast<std::uint32_t>(std::max(0, where.column - 1));
    if (!lines.has_lone_returns()) return lines.offset(text, {line, column}, Encoding::Utf32);
    std::size_t start = 0;
    for (; line > 0 && start < text.size(); --line)
        start = std::min(text.find('\n', start), text.size() - 1) + 1;
    for (; column > 0 && start < text.size() && text[start] != '\n'; --column)
        start += character_size(text, start);
    return static_cast<std::uint32_t>(start);
}

RecoveredTree parse_with_recovery(const std::string& file, std::string_view text, bool epp) {
    return Recovery(file, text, epp).run();
}

}  // namespace bunraku::lsp
