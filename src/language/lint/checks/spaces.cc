// SPDX-License-Identifier: Apache-2.0
#include "language/lint/checks/spaces.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

bool may_follow_closing(const Token& token) {
    return token.is(T::RightBracket, T::RightParen, T::Semicolon, T::Comma, T::Colon, T::Dot,
                    T::Newline, T::StringMid, T::StringPost, T::LeftBracket, T::HeredocMid,
                    T::HeredocPost);
}

}  // namespace

Token* remove_blanks_before(TokenStream& stream, const Token* token) {
    Token* solid = solid_before(token);
    if (!solid) return nullptr;
    for (Token* at = token->previous; at && at != solid; at = at->previous) stream.remove(at);
    return solid;
}

void check_after_closing(const Token* token, Report& report, std::string_view message) {
    Token* after = token->next;
    if (!after || may_follow_closing(*after)) return;
    if (after->is(T::Whitespace)) {
        const Token* solid = solid_after(token);
        if (!solid || !may_follow_closing(*solid)) return;
    }
    report.error(after, std::string(message));
}

bool remove_spaces(TokenStream& stream, const Finding& finding) {
    for (Token* at = finding.token;
         at && !at->is(T::RightBrace, T::RightBracket, T::RightParen, T::Comma, T::Newline);
         at = at->next) {
        if (!at->is(T::Whitespace)) return false;
        stream.remove(at);
    }
    return true;
}

bool insert_space_before(TokenStream& stream, Token* token) {
    if (!token->listed || !token->text_before) return false;
    stream.insert_before(token, stream.make(TokenType::Whitespace, " "));
    return true;
}

bool make_single_space(TokenStream& stream, const Finding& finding) {
    if (finding.token->type != TokenType::Whitespace)
        return insert_space_before(stream, finding.token);
    finding.token->value = " ";
    return true;
}

}  // namespace bunraku::lint
