// SPDX-License-Identifier: Apache-2.0
// The plugin trailing_comma-check: a list over several lines ends with a comma.
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

class CommaCheck {
public:
    CommaCheck(const Manifest& manifest, Report& report)
        : manifest_(manifest), tokens_(manifest.tokens()), report_(report) {}

    /// Checks a list. `end` is the position of its last token and `open` the type of its first.
    void check(std::size_t end, TokenType open) {
        const Token* last = tokens_[end];
        const Token* before = last->previous_code;
        // The comma after a heredoc is on the line of its tag.
        if (is_a(before, T::Heredoc, T::HeredocPost)) {
            while (before && !before->is(T::HeredocOpen)) before = before->previous_code;
        }
        if (!before || before->type == open || last->is(T::Semicolon) || before->is(T::Comma) ||
            !is_a(before->next, T::Newline))
            return;
        report_.warning(before->next, "missing trailing comma after last element");
    }

    void arrays() {
        const auto ends = next_positions(T::RightBracket);
        for (const Token* token : tokens_) {
            if (token->is(T::LeftBracket) &&
                !is_a(token->previous_code, T::ClassReference, T::Type))
                check(ends[token->index], T::LeftBracket);
        }
    }

    void hashes() {
        for (const Token* token : tokens_) {
            if (token->is(T::LeftBrace) &&
                is_a(token->previous_code, T::Equals, T::IsEqual, T::FatArrow, T::LeftParen))
                check(manifest_.block_ends().after(token->index).value_or(tokens_.size() - 1),
                      T::LeftBrace);
        }
    }

    void defaults() {
        const auto ends = next_positions(T::RightBrace);
        for (const Token* token : tokens_) {
            // A type before a brace is also the return type of a function or an operand.
            if (token->is(T::ClassReference) && is_a(token->next_code, T::LeftBrace) &&
                token->previous_code &&
                !token->previous_code->is(T::RightShift, T::Match, T::NoMatch))
                check(ends[token->index], T::LeftBrace);
        }
    }

private:
    /// Returns for each position that of the next token of a type, or of the last token of the
    /// file.
    std::vector<std::size_t> next_positions(TokenType type) const {
        std::vector<std::size_t> next(tokens_.size());
        std::size_t position = tokens_.size() - 1;
        for (std::size_t i = tokens_.size(); i-- > 0;) {
            next[i] = position;
            if (tokens_[i]->is(type)) position = i;
        }
        return next;
    }

    const Manifest& manifest_;
    std::span<Token* const> tokens_;
    Report& report_;
};

}  // namespace

const Check check_trailing_comma{.name = "trailing_comma",
                                 .group = CheckGroup::Plugin,
                                 .description = "A list over several lines ends with a comma.",
                                 .run =
                                     [](const Manifest& manifest, Report& report) {
                                         CommaCheck commas(manifest, report);
                                         for (const ResourceBody& resource : manifest.resources())
                                             commas.check(resource.range.last, T::Colon);
                                         commas.arrays();
                                         commas.hashes();
                                         commas.defaults();
                                     },
                                 .fix =
                                     [](TokenStream& stream, const Finding& finding) {
                                         if (!finding.token->listed) return false;
                                         stream.insert_unlinked_before(finding.token,
                                                                       stream.make(T::Comma, ","));
                                         return true;
                                     }};

}  // namespace bunraku::lint
