// SPDX-License-Identifier: Apache-2.0
// The tokens that the lexer passes to the parser.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/assert.h"

namespace bunraku::syntax {

/// Kinds of tokens, named as in Puppet's grammar.
enum class Tok : std::uint8_t {
    End,
    LexError,  ///< a lexical error at this point; thrown when the parser reads this token
    Other,     ///< a character that cannot start a token
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

/// `value` is the processed text (string content, or a variable name without "$"). `offset` and
/// `length` refer to the source, also for tokens inside a heredoc.
struct Token {
    Tok kind = Tok::End;
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    std::string_view value;
};
static_assert(std::is_trivially_copyable_v<Token>);

/// The tokens of a text, optimised for fast appending: elements are neither constructed nor moved
/// one by one.
class TokenBuffer {
public:
    TokenBuffer() = default;
    TokenBuffer(TokenBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    TokenBuffer& operator=(TokenBuffer&&) = delete;
    ~TokenBuffer() { std::free(data_); }

    void reserve(std::size_t count) {
        if (count <= capacity_) return;
        auto* grown =
            static_cast<Token*>(std::realloc(static_cast<void*>(data_), count * sizeof(Token)));
        if (!grown) throw std::bad_alloc();
        data_ = grown;
        capacity_ = count;
        BUNRAKU_ASSERT(size_ <= capacity_);
    }
    void push_back(Tok kind, std::uint32_t offset, std::uint32_t length, std::string_view value) {
        if (size_ == capacity_) [[unlikely]]
            reserve(capacity_ * 2 + 64);
        BUNRAKU_ASSERT(size_ < capacity_);
        new (data_ + size_++) Token{kind, offset, length, value};
    }
    void pop_back() {
        BUNRAKU_ASSERT(size_ > 0);
        --size_;
    }
    void truncate(std::size_t count) { size_ = count < size_ ? count : size_; }
    std::size_t size() const { return size_; }
    Token& operator[](std::size_t i) {
        BUNRAKU_ASSERT(i < size_);
        return data_[i];
    }
    Token& back() {
        BUNRAKU_ASSERT(size_ > 0);
        return data_[size_ - 1];
    }
    const Token* data() const { return data_; }

private:
    Token* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace bunraku::syntax
