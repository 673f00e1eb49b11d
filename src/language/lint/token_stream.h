// SPDX-License-Identifier: Apache-2.0
// A manifest as an editable list of tokens. Together, the texts of the tokens are the manifest.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "language/lint/token.h"

namespace bunraku::lint {

class TokenStream {
public:
    TokenStream() : arena_(std::make_shared<base::Arena>()) {}

    std::span<Token* const> tokens() const { return tokens_; }
    std::size_t size() const { return tokens_.size(); }
    bool empty() const { return tokens_.empty(); }
    Token* operator[](std::size_t index) const { return tokens_[index]; }
    Token* last() const { return tokens_.empty() ? nullptr : tokens_.back(); }
    Token* last_code() const { return last_code_; }

    /// Makes a token that is not yet part of the stream.
    Token* make(TokenType type, std::string_view value, int line = 0, int column = 0);
    /// Copies a text into the arena, for use as the value of a token.
    std::string_view keep(std::string_view text) { return arena_->copy(text); }
    /// Returns an empty stream whose tokens live in the same arena.
    TokenStream sibling() const { return TokenStream(arena_); }

    /// Appends and links a token.
    void append(Token* token);
    /// Inserts a token before `index` (at least 1) and links it, by the rules of puppet-lint.
    void insert(std::size_t index, Token* token);
    /// Inserts a token before `index` without linking it.
    void insert_unlinked(std::size_t index, Token* token);
    /// Removes a token and links its neighbours with each other.
    void remove(Token* token);
    /// Removes a token but leaves all links as they are.
    void erase(Token* token);
    /// Exchanges two ranges of the same stream, [a, a_end) before [b, b_end).
    void swap_ranges(std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end);
    /// Returns the position of a token, or npos if it is not part of the stream.
    std::size_t index_of(const Token* token) const;

    /// Returns the text of all tokens.
    std::string text() const;

    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

private:
    explicit TokenStream(std::shared_ptr<base::Arena> arena) : arena_(std::move(arena)) {}

    std::shared_ptr<base::Arena> arena_;
    std::vector<Token*> tokens_;
    Token* last_code_ = nullptr;
};

/// Returns the next token of one of the types after `from`, or null. Skips everything between
/// matching braces, brackets and parentheses. A non-empty `value` must match too.
Token* next_of(const Token* from, std::initializer_list<TokenType> types,
               std::string_view value = {});
/// Does the same in the other direction.
Token* previous_of(const Token* from, std::initializer_list<TokenType> types);

}  // namespace bunraku::lint
