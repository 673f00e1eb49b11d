// SPDX-License-Identifier: Apache-2.0
// The plugin manifest_whitespace-check: spaces around brackets.
#include "language/lint/checks/checks.h"
#include "language/lint/checks/spaces.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

void check_before_closing_bracket(const Token* bracket, Report& report) {
    const Token* before = bracket->previous;
    const Token* solid = solid_before(bracket);
    if (!is_blank(before) || !solid) return;
    const std::size_t distance = bracket->index - solid->index;
    if (before->is(T::Indent) && distance == 3) return;
    if (before->is(T::Newline) && distance == 2) return;
    report.error(solid->next,
                 "there should be no whitespace or a single newline before a closing bracket");
}

bool fix_before_closing_bracket(TokenStream& stream, const Finding& finding) {
    if (finding.token->is(T::Whitespace)) {
        stream.remove(finding.token);
        return true;
    }
    for (Token* at = finding.token->next; at && !at->is(T::RightBracket); at = at->next) {
        if (at->is(T::Indent) && is_a(at->next, T::RightBracket)) break;
        stream.remove(at);
    }
    return true;
}

/// Reports whether the blanks between `solid` and an opening bracket are right.
bool is_placed_well(const Token* solid, const Token* before, const Token* bracket) {
    const bool new_line = before->is(T::Indent, T::Newline);
    const bool one_space = bracket->index - solid->index == 2 && is_single_space(before);
    if (solid->is(T::Comment)) return true;
    if (new_line &&
        solid->is(T::Semicolon, T::Comma, T::Colon, T::Name, T::RightBracket, T::RightBrace))
        return true;
    if (solid->is(T::RightBracket, T::RightBrace, T::RightParen, T::LeftParen, T::LeftBracket,
                  T::LeftBrace, T::Type)) {
        if (solid == before || new_line) return true;
    } else if (!solid->is(T::ClassReference, T::Variable) && one_space) {
        return true;
    }
    if (!solid->is(T::LeftBrace)) return false;
    const Token* block = solid_before(solid);
    return !block || (block->is(T::Name, T::Pipe) && (new_line || one_space));
}

void find_bad_opening_brackets(const Manifest& manifest, Report& report) {
    for (Token* bracket : manifest.tokens()) {
        const Token* before = bracket->previous;
        if (!bracket->is(T::LeftBracket) || !before ||
            before->is(T::ClassReference, T::Variable, T::Name))
            continue;
        const Token* solid = solid_before(bracket);
        if (solid && !is_placed_well(solid, before, bracket))
            report.error(bracket, "there should be a single space before an opening bracket");
    }
}

void check_after_opening_bracket(const Token* bracket, Report& report) {
    Token* after = bracket->next;
    if (!is_blank(after)) return;
    if (after->is(T::Newline)) {
        after = after->next;
        if (!is_a(after, T::Newline)) return;
    }
    report.error(after,
                 "there should be no whitespace or a single newline after an opening bracket");
}

bool fix_after_opening_bracket(TokenStream& stream, const Finding& finding) {
    Token* at = finding.token;
    if (at->is(T::Whitespace)) {
        stream.remove(at);
        return true;
    }
    while (at && (is_a(at->next, T::Newline) || (is_a(at->next, T::Indent) && at->next->next &&
                                                 !at->next->next->is(T::Newline)))) {
        stream.remove(at);
        at = at->next;
    }
    return true;
}

}  // namespace

const Check check_manifest_whitespace_closing_bracket_before{
    .name = "manifest_whitespace_closing_bracket_before",
    .group = CheckGroup::Plugin,
    .description = "There is no space before a closing bracket.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const Token* token : manifest.tokens())
                if (token->is(T::RightBracket)) check_before_closing_bracket(token, report);
        },
    .fix = fix_before_closing_bracket};

const Check check_manifest_whitespace_closing_bracket_after{
    .name = "manifest_whitespace_closing_bracket_after",
    .group = CheckGroup::Plugin,
    .description = "There is no space between a closing bracket and punctuation.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const Token* token : manifest.tokens()) {
                if (!token->is(T::RightBracket)) continue;
                check_after_closing(
                    token, report,
                    "there should be either a bracket, punctuation mark, closing quote or a "
                    "newline after a closing bracket, or whitespace and none of the "
                    "aforementioned");
            }
        },
    .fix = remove_spaces};

const Check check_manifest_whitespace_opening_bracket_before{
    .name = "manifest_whitespace_opening_bracket_before",
    .group = CheckGroup::Plugin,
    .description = "There is one space before the opening bracket of an array.",
    .run = find_bad_opening_brackets,
    .fix = [](TokenStream& stream, const Finding& finding) {
        const Token* solid = remove_blanks_before(stream, finding.token);
        if (solid && !solid->is(T::LeftParen, T::LeftBracket, T::LeftBrace))
            insert_space_before(stream, finding.token);
        return solid != nullptr;
    }};

const Check check_manifest_whitespace_opening_bracket_after{
    .name = "manifest_whitespace_opening_bracket_after",
    .group = CheckGroup::Plugin,
    .description = "There is no space after an opening bracket.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const Token* token : manifest.tokens())
                if (token->is(T::LeftBracket)) check_after_opening_bracket(token, report);
        },
    .fix = fix_after_opening_bracket};

}  // namespace bunraku::lint
