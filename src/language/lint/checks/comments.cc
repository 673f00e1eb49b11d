// SPDX-License-Identifier: Apache-2.0
// Checks of the form of comments.
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Replaces a multi-line comment by one comment per line.
bool split_star_comment(TokenStream& stream, const Finding& finding) {
    Token* token = finding.token;
    // Code after the comment would become part of it.
    const Token* after = token->next;
    while (is_a(after, T::Whitespace)) after = after->next;
    if (after && !after->is(T::Newline)) return false;

    std::vector<std::string_view> lines;
    for (const std::string_view line : base::split(base::trim(token->value), '\n'))
        lines.push_back(base::trim(line));
    while (lines.size() > 1 && lines.back().empty()) lines.pop_back();
    token->type = T::Comment;
    token->value = stream.keep(fmt::format(" {}", lines[0]));

    Token* at = token->next ? token->next : token->text_after;
    const auto insert = [&](TokenType type, std::string_view value) {
        Token* added = stream.make(type, value);
        if (at && at->listed)
            stream.insert_before(at, added);
        else
            stream.insert_unlinked_after(token, added);
        at = added;
    };
    for (std::size_t i = lines.size(); i-- > 1;) {
        insert(T::Comment, stream.keep(fmt::format(" {}", lines[i])));
        if (token->previous) insert(T::Indent, token->previous->value);
        insert(T::Newline, "\n");
    }
    return true;
}

}  // namespace

const Check check_slash_comments{
    .name = "slash_comments",
    .description = "Comments begin with a hash sign, not with slashes.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens())
                if (token->is(T::SlashComment)) report.warning(token, "// comment found");
        },
    .fix =
        [](TokenStream&, const Finding& finding) {
            finding.token->type = T::Comment;
            return true;
        }};

const Check check_star_comments{
    .name = "star_comments",
    .description = "Comments begin with a hash sign, not with a slash and a star.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens())
                if (token->is(T::MultilineComment)) report.warning(token, "/* */ comment found");
        },
    .fix = split_star_comment};

}  // namespace bunraku::lint
