// SPDX-License-Identifier: Apache-2.0
// The tokens of a manifest for the checks. Types, values and positions are those of puppet-lint, so
// that checks report the same places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::lint {

enum class TokenType : std::uint8_t {
    // Layout and comments ("formatting tokens").
    Whitespace,
    Newline,
    Indent,
    Comment,
    SlashComment,
    MultilineComment,
    // Words and literals.
    Type,
    ClassReference,
    Number,
    FunctionName,
    Name,
    Variable,
    UnenclosedVariable,
    SingleQuoted,  ///< 'text'
    String,        ///< "text" without interpolation
    StringPre,     ///< "text${
    StringMid,     ///< }text${
    StringPost,    ///< }text"
    Regex,
    HeredocOpen,
    Heredoc,
    HeredocPre,
    HeredocMid,
    HeredocPost,
    // Keywords.
    Case,
    Class,
    Default,
    Define,
    Import,
    If,
    Elsif,
    Else,
    Inherits,
    Node,
    And,
    Or,
    Undef,
    False,
    True,
    In,
    Unless,
    Function,
    Attr,
    Private,
    // Punctuation.
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    IsEqual,
    Match,
    FatArrow,
    Equals,
    Appends,
    PlusArrow,
    Plus,
    GreaterEqual,
    RightShift,
    GreaterThan,
    LessEqual,
    LeftLeftCollect,
    OutEdge,
    OutEdgeSub,
    LeftCollect,
    LeftShift,
    LessThan,
    NoMatch,
    NotEqual,
    Not,
    RightRightCollect,
    RightCollect,
    InEdge,
    InEdgeSub,
    Minus,
    Comma,
    Dot,
    Colon,
    Semicolon,
    QuestionMark,
    Backslash,
    Times,
    Modulo,
    Pipe,
    Divide,
    At,
};

/// Reports whether tokens of this type are layout or comments.
constexpr bool is_formatting(TokenType type) { return type <= TokenType::MultilineComment; }

/// A token. Tokens live in the arena of their TokenStream and are linked in both directions.
struct Token {
    TokenType type = TokenType::Whitespace;
    bool has_raw = false;
    bool listed = false;       ///< whether the token is part of its stream
    std::uint32_t index = 0;   ///< position in the stream before the first edit
    int line = 0, column = 0;  ///< from 1; the column counts characters, not bytes
    std::string_view value;    ///< the content, such as the text of a string without its quotes
    std::string_view raw;      ///< the source text, if it cannot be built from `value`
    Token* previous = nullptr;
    Token* next = nullptr;
    /// The neighbours that are not formatting tokens. Null in formatting tokens themselves.
    Token* previous_code = nullptr;
    Token* next_code = nullptr;
    /// The neighbours in the text. They differ from `previous` and `next` only after fixes that
    /// leave these links as they are, like puppet-lint.
    Token* text_before = nullptr;
    Token* text_after = nullptr;
    /// The nearest code token in the text before a formatting token, as of `code_epoch`.
    Token* code_before = nullptr;
    std::uint32_t code_epoch = 0;

    template <class... Types>
    bool is(Types... types) const {
        return ((type == types) || ...);
    }
    bool formatting() const { return is_formatting(type); }
};

/// Reports whether `token` is not null and has one of the types.
template <class... Types>
bool is_a(const Token* token, Types... types) {
    return token && token->is(types...);
}

/// The source text of a token in three parts, of which only the second may contain line breaks.
struct TokenText {
    std::string_view prefix, body, suffix;
};
/// Returns the source text of a token in its stream. Whether a string part needs "${"
/// or "}" depends on its neighbours.
TokenText text_of(const Token& token);
void append_text(std::string& out, const Token& token);
/// Returns the length of a token's source text in characters.
std::size_t length_of(const Token& token);

/// Returns the number of characters (code points) in a UTF-8 text.
std::size_t count_characters(std::string_view text);

/// Returns the keyword type of a name, or Name.
TokenType keyword_type(std::string_view name);
/// Reports whether the first token of an interpolation names a variable: `name` in "${name}".
bool names_interpolated_variable(const Token& token);

}  // namespace bunraku::lint
