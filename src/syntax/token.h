// What the lexer gives to the parser.
#pragma once

#include <cstdint>
#include <string_view>

namespace bunraku::syntax {

/// Kinds of tokens; the names are those of Puppet's grammar.
enum class Tok : std::uint8_t {
    End,
    LexError,  ///< the text ends here with a lexical error, raised when the parser reads this token
    Other,     ///< a character no token starts with
    String,
    Word,
    DqPre,
    DqMid,
    DqPost,
    Number,
    Boolean,
    Name,
    ClassRef,
    Variable,
    Regex,
    Heredoc,
    Sublocate,
    RenderString,
    RenderExpr,
    EppStart,
    EppEnd,
    EppEndTrim,
    // Punctuation and operators.
    LBrack,
    ListStart,
    RBrack,
    LBrace,
    SelBrace,
    RBrace,
    LParen,
    WsLParen,
    RParen,
    Equals,
    Appends,
    Deletes,
    IsEqual,
    NotEqual,
    Match,
    NoMatch,
    GreaterEqual,
    GreaterThan,
    LessEqual,
    LessThan,
    FArrow,
    PArrow,
    LShift,
    LLCollect,
    LCollect,
    RShift,
    RRCollect,
    RCollect,
    Plus,
    Minus,
    Div,
    Times,
    Modulo,
    Not,
    Dot,
    Pipe,
    At,
    AtAt,
    Colon,
    Comma,
    Semic,
    QMark,
    Tilde,
    InEdge,
    InEdgeSub,
    OutEdge,
    OutEdgeSub,
    // Keywords.
    Case,
    Class,
    Default,
    Define,
    If,
    Elsif,
    Else,
    Inherits,
    Node,
    And,
    Or,
    Undef,
    In,
    Unless,
    Function,
    Type,
    Attr,
    Private,
    Plan,
    Apply,
};

/// `value` is the processed text (string content, variable name without "$"); `offset` and `length`
/// are in the source, also for what stands in a heredoc.
struct Token {
    Tok kind = Tok::End;
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    std::string_view value;
};

}  // namespace bunraku::syntax
