// SPDX-License-Identifier: Apache-2.0
// Spaces between tokens (internal to this folder).
#pragma once

#include "language/lint/check.h"

namespace bunraku::lint {

inline bool is_blank(const Token* token) {
    return is_a(token, TokenType::Whitespace, TokenType::Indent, TokenType::Newline);
}
inline bool is_single_space(const Token* token) {
    return is_a(token, TokenType::Whitespace) && token->value == " ";
}

/// Returns the nearest token before or after `token` that is not blank, or null.
inline Token* solid_before(const Token* token) {
    Token* at = token->previous;
    while (is_blank(at)) at = at->previous;
    return at;
}
inline Token* solid_after(const Token* token) {
    Token* at = token->next;
    while (is_blank(at)) at = at->next;
    return at;
}

/// Inserts a space before `token`. Returns false if that is the first token.
bool insert_space_before(TokenStream& stream, Token* token);
/// Removes the blanks before `token`. Returns the token before them, or null if there is none.
Token* remove_blanks_before(TokenStream& stream, const Token* token);

/// Reports a closing brace or bracket that is followed by a space and punctuation, or by neither.
void check_after_closing(const Token* token, Report& report, std::string_view message);
/// A fix: removes spaces from the finding's token to punctuation or the line end. Returns false at
/// any other token.
bool remove_spaces(TokenStream& stream, const Finding& finding);

/// A fix: makes the blank at the finding one space, or inserts a space before its token.
bool make_single_space(TokenStream& stream, const Finding& finding);

}  // namespace bunraku::lint
