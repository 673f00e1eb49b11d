// SPDX-License-Identifier: Apache-2.0
// The plugin manifest_whitespace-check: spaces around braces.
#include "language/lint/checks/checks.h"
#include "language/lint/checks/spaces.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

void check_before_closing_brace(Token* brace, Report& report) {
    const Token* before = brace->previous;
    const Token* solid = solid_before(brace);
    if (!before || !solid || before->is(T::LeftBrace)) return;
    const std::size_t distance = brace->index - solid->index;
    if (!solid->is(T::LeftBrace) && is_single_space(before) && distance == 2) return;
    if (before->is(T::Indent) && distance == 3) return;
    if (before->is(T::Newline) && distance == 2) return;
    report.error(solid->next, "there should be a single space or newline before a closing brace");
}

/// Reports whether there is only a line end and perhaps an indent between `at` and a closing brace.
bool ends_line_before_brace(const Token& at) {
    const Token* next = at.text_after;
    if (!at.is(T::Newline)) return false;
    return is_a(next, T::RightBrace) ||
           (is_a(next, T::Indent) && is_a(next->text_after, T::RightBrace));
}

bool fix_before_closing_brace(TokenStream& stream, const Finding& finding) {
    Token* at = finding.token;
    while (at && !at->is(T::RightBrace)) {
        if (!at->listed || ends_line_before_brace(*at)) return true;
        stream.remove(at);
        at = at->next;
    }
    if (at && at->previous && !at->previous->is(T::LeftBrace, T::Newline, T::Indent))
        insert_space_before(stream, at);
    return true;
}

void check_before_opening_brace(Token* brace, Report& report) {
    const Token* before = brace->previous;
    const Token* solid = solid_before(brace);
    if (!before || !solid || solid->is(T::Comment, T::Colon)) return;
    if (solid->is(T::Comma) && before->is(T::Indent, T::Newline)) return;
    const std::size_t distance = brace->index - solid->index;
    bool new_line = false;
    for (const Token* at = brace; at != solid; at = at->previous)
        new_line = new_line || at->is(T::Newline);
    if (solid->is(T::LeftParen, T::LeftBracket)) {
        if (distance == 1 || new_line) return;
    } else if (distance == 2 && is_single_space(before)) {
        return;
    } else if (solid->is(T::LeftBrace) && new_line) {
        return;
    }
    report.error(brace, "there should be a single space before an opening brace");
}

void check_after_opening_brace(const Token* brace, Report& report) {
    Token* after = brace->next;
    if (!after || is_single_space(after) || after->is(T::RightBrace, T::LeftBracket, T::LeftBrace))
        return;
    if (after->is(T::Newline)) {
        after = after->next;
        if (!is_a(after, T::Newline)) return;
    }
    report.error(after, "there should be a single space or single newline after an opening brace");
}

bool fix_after_opening_brace(TokenStream& stream, const Finding& finding) {
    Token* at = finding.token;
    if (!at->is(T::Newline)) return make_single_space(stream, finding);
    while (is_a(at, T::Newline)) {
        stream.remove(at);
        at = at->next;
    }
    return true;
}

void check_braces(const Manifest& manifest, Report& report, TokenType type,
                  void (*check)(Token*, Report&)) {
    for (Token* token : manifest.tokens())
        if (token->is(type)) check(token, report);
}

}  // namespace

const Check check_manifest_whitespace_closing_brace_before{
    .name = "manifest_whitespace_closing_brace_before",
    .group = CheckGroup::Plugin,
    .description = "There is a space or a new line before a closing brace.",
    .run =
        [](const Manifest& manifest, Report& report) {
            check_braces(manifest, report, T::RightBrace, check_before_closing_brace);
        },
    .fix = fix_before_closing_brace};

const Check check_manifest_whitespace_closing_brace_after{
    .name = "manifest_whitespace_closing_brace_after",
    .group = CheckGroup::Plugin,
    .description = "There is no space between a closing brace and punctuation.",
    .run =
        [](const Manifest& manifest, Report& report) {
            check_braces(manifest, report, T::RightBrace, [](Token* brace, Report& problems) {
                check_after_closing(
                    brace, problems,
                    "there should be either a bracket, punctuation mark, closing quote or a "
                    "newline after a closing brace, or whitespace and none of the aforementioned");
            });
        },
    .fix = remove_spaces};

const Check check_manifest_whitespace_opening_brace_before{
    .name = "manifest_whitespace_opening_brace_before",
    .group = CheckGroup::Plugin,
    .description = "There is one space before an opening brace.",
    .run =
        [](const Manifest& manifest, Report& report) {
            check_braces(manifest, report, T::LeftBrace, check_before_opening_brace);
        },
    .fix =
        [](TokenStream& stream, const Finding& finding) {
            const Token* solid = remove_blanks_before(stream, finding.token);
            if (solid && !solid->is(T::LeftParen, T::LeftBracket))
                insert_space_before(stream, finding.token);
            return solid != nullptr;
        }};

const Check check_manifest_whitespace_opening_brace_after{
    .name = "manifest_whitespace_opening_brace_after",
    .group = CheckGroup::Plugin,
    .description = "There is one space or one new line after an opening brace.",
    .run =
        [](const Manifest& manifest, Report& report) {
            check_braces(manifest, report, T::LeftBrace, [](Token* brace, Report& problems) {
                check_after_opening_brace(brace, problems);
            });
        },
    .fix = fix_after_opening_brace};

}  // namespace bunraku::lint
