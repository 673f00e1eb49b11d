// SPDX-License-Identifier: Apache-2.0
// The plugin strict_indent-check: the indent of each line follows from the brackets before it.
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>

#include "core/base/text.h"
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

bool opens(const Token& token) { return token.is(T::LeftBrace, T::LeftBracket, T::LeftParen); }
bool closes(const Token& token) { return token.is(T::RightBrace, T::RightBracket, T::RightParen); }

/// Returns the matching bracket of each token by position, or null.
std::vector<const Token*> match_brackets(std::span<Token* const> tokens) {
    std::vector<const Token*> matches(tokens.size());
    std::vector<const Token*> open[3];
    for (const Token* token : tokens) {
        const auto kind = token->is(T::LeftBrace, T::RightBrace)       ? 0
                          : token->is(T::LeftBracket, T::RightBracket) ? 1
                                                                       : 2;
        if (opens(*token)) {
            open[kind].push_back(token);
        } else if (closes(*token) && !open[kind].empty()) {
            const Token* match = open[kind].back();
            open[kind].pop_back();
            matches[token->index] = match;
            matches[match->index] = token;
        }
    }
    return matches;
}

/// Returns the length of the last line of a text. Empty lines at its end do not count.
int last_line_length(std::string_view text) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    const std::size_t begin = text.rfind('\n');
    return static_cast<int>(
        count_characters(begin == std::string_view::npos ? text : text.substr(begin + 1)));
}

/// Returns the indent of the line that begins with `first`.
int actual_indent(const Token* first) {
    switch (first->type) {
        case T::Indent: return static_cast<int>(count_characters(first->value));
        // The indent of a heredoc is that of the line that ends it.
        case T::Heredoc: return first->value.ends_with('\n') ? 0 : last_line_length(first->value);
        case T::HeredocPre: {
            const Token* at = first->next;
            while (at && !at->is(T::Newline, T::HeredocPost)) at = at->next;
            return is_a(at, T::HeredocPost) ? last_line_length(at->value) : 0;
        }
        default: return 0;
    }
}

class IndentCheck {
public:
    IndentCheck(const Manifest& manifest, Report& report)
        : tokens_(manifest.tokens()), report_(report), matches_(match_brackets(tokens_)) {}

    void check() {
        for (Token* token : tokens_) {
            if (token->is(T::Newline) && token->next && !check_line(*token)) return;
        }
    }

private:
    /// Checks the line after a line end. Returns false if the indent cannot be determined.
    bool check_line(const Token& line_end) {
        extra_ = 0;
        const int open_groups = count_open_groups(line_end);
        indent_ += open_groups;
        apply_last_token(line_end, open_groups);
        close_groups(line_end);
        Token* first = line_end.next;
        if (indent_ < 0) {
            report_
                .error(first,
                       "Error calculating indent. Please file an issue at "
                       "https://github.com/relud/puppet-lint-indent-check/issues")
                .token = nullptr;
            return false;
        }
        const int actual = actual_indent(first);
        const int expected = (indent_ + extra_) * report_.options().indent;
        if (actual == expected || first->is(T::Comment, T::Newline)) return true;
        Finding& finding = report_.warning(
            first, fmt::format("indent should be {} chars and is {}", expected, actual));
        finding.expected = expected;
        finding.actual = actual;
        return true;
    }

    /// Returns the number of brackets on the line before `line_end` that stay open after it.
    /// Brackets that close on the same later line count once.
    int count_open_groups(const Token& line_end) {
        int groups = 0;
        std::set<int> lines;
        for (const Token* at = line_end.previous; at && !at->is(T::Newline); at = at->previous) {
            if (at->is(T::HeredocOpen)) ++extra_;
            if (!opens(*at)) continue;
            const Token* match = matches_[at->index];
            if (!match) {
                ++groups;
            } else if (match->line > at->line && lines.insert(match->line).second) {
                ++groups;
            }
        }
        return groups;
    }

    /// Applies the effect of the last token of the line: a colon after a title, a semicolon, or the
    /// start of a value that continues on the next line.
    void apply_last_token(const Token& line_end, int open_groups) {
        const Token* last = line_end.previous;
        while (is_a(last, T::Whitespace, T::Comment)) last = last->previous;
        if (is_a(last, T::Colon)) {
            if (open_groups == 0 && !title_line_) {
                title_line_ = last->line;
                ++indent_;
            }
        } else if (is_a(last, T::Semicolon)) {
            if (title_line_) --indent_;
            title_line_.reset();
        } else if (is_a(last, T::Equals, T::FatArrow)) {
            ++extra_;
        }
    }

    /// Applies the brackets of the next line that close groups of earlier lines.
    void close_groups(const Token& line_end) {
        std::set<int> lines;
        for (const Token* at = line_end.next; at && !at->is(T::Newline); at = at->next) {
            const Token* match = closes(*at) ? matches_[at->index] : nullptr;
            if (match && match->line < at->line && lines.insert(match->line).second) --indent_;
            if (match && at->is(T::RightBrace) && title_line_ && match->line < *title_line_) {
                --indent_;
                title_line_.reset();
            }
            if (at->is(T::Semicolon) && title_line_ && is_a(at->previous, T::Indent, T::Newline) &&
                (!at->next || at->next->is(T::Newline)))
                --extra_;
        }
    }

    std::span<Token* const> tokens_;
    Report& report_;
    std::vector<const Token*> matches_;
    int indent_ = 0;                 ///< levels of the current line
    int extra_ = 0;                  ///< additional levels of this line only
    std::optional<int> title_line_;  ///< line of the title whose attributes are indented
};

/// Adds or removes spaces at the start of the lines of a text. The first line of a part after
/// interpolated code does not begin a line.
std::string shift_lines(std::string_view text, int change, bool skip_first) {
    std::string out;
    bool first = true;
    for (std::string_view line : base::split(text, '\n')) {
        if (!first) out += '\n';
        if ((first && skip_first) || line.empty()) {
            // Unchanged.
        } else if (change < 0) {
            line.remove_prefix(std::min(static_cast<std::size_t>(-change), line.size()));
        } else {
            out.append(static_cast<std::size_t>(change), ' ');
        }
        out += line;
        first = false;
    }
    return out;
}

void shift_heredoc(TokenStream& stream, Token& token, int change) {
    const bool continues = token.is(T::HeredocMid, T::HeredocPost);
    std::string_view& text = token.has_raw ? token.raw : token.value;
    text = stream.keep(shift_lines(text, change, continues));
}

bool fix_indent(TokenStream& stream, const Finding& finding) {
    Token* first = finding.token;
    if (!first) return false;
    const int change = finding.expected - finding.actual;
    const std::string spaces(static_cast<std::size_t>(std::max(finding.expected, 0)), ' ');
    if (first->is(T::Indent, T::Whitespace)) {
        first->value = stream.keep(spaces);
    } else if (first->is(T::Heredoc)) {
        shift_heredoc(stream, *first, change);
    } else if (first->is(T::HeredocPre)) {
        shift_heredoc(stream, *first, change);
        Token* at = first->next;
        for (; at && !at->is(T::HeredocPost); at = at->next)
            if (at->is(T::HeredocMid)) shift_heredoc(stream, *at, change);
        if (at) shift_heredoc(stream, *at, change);
    } else {
        if (!first->listed) return false;
        stream.insert_unlinked_before(first, stream.make(T::Indent, stream.keep(spaces)));
    }
    return true;
}

}  // namespace

const Check check_strict_indent{
    .name = "strict_indent",
    .group = CheckGroup::Plugin,
    .description = "Every line has the indent of its brackets.",
    .run = [](const Manifest& manifest, Report& report) { IndentCheck(manifest, report).check(); },
    .fix = fix_indent};

}  // namespace bunraku::lint
