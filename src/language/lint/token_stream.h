// SPDX-License-Identifier: Apache-2.0
// A manifest as an editable list of tokens. Together, the texts of the tokens are the manifest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "language/lint/token.h"

namespace bunraku::lint {

/// The order of the tokens in the text is a linked list, so that an edit takes constant time.
class TokenStream {
public:
    TokenStream() : arena_(std::make_shared<base::Arena>()) {}

    // The tokens that were appended, by position. Edits do not change them.
    std::span<Token* const> tokens() const { return tokens_; }
    std::size_t size() const { return tokens_.size(); }
    bool empty() const { return tokens_.empty(); }
    Token* operator[](std::size_t index) const { return tokens_[index]; }
    Token* last_code() const { return last_code_; }

    /// Makes a token that is not yet part of the stream.
    Token* make(TokenType type, std::string_view value, int line = 0, int column = 0);
    /// Copies a text into the arena, for use as the value of a token.
    std::string_view keep(std::string_view text) { return arena_->copy(text); }
    /// Returns an empty stream whose tokens live in the same arena.
    TokenStream sibling() const { return TokenStream(arena_); }

    /// Appends and links a token.
    void append(Token* token);
    /// Inserts a token before `place`, which must not be the first token, and links it by the rules
    /// of puppet-lint.
    void insert_before(Token* place, Token* token);
    /// Inserts a token before or after `place` without linking it.
    void insert_unlinked_before(Token* place, Token* token);
    void insert_unlinked_after(Token* place, Token* token);
    /// Removes a token and links its neighbours with each other.
    void remove(Token* token);
    /// Removes a token but leaves all links as they are.
    void erase(Token* token);
    /// Exchanges two ranges of the text, [a, a_end) before [b, b_end). Returns false if they are
    /// not in this order.
    bool swap_ranges(Token* a, Token* a_end, Token* b, Token* b_end);

    /// Returns the text of all tokens.
    std::string text() const;

private:
    explicit TokenStream(std::shared_ptr<base::Arena> arena) : arena_(std::move(arena)) {}

    void link_text(Token* before, Token* token, Token* after);
    Token* code_before(Token* token) const;
    void code_changed(const Token& token) { epoch_ += token.formatting() ? 0 : 1; }

    std::shared_ptr<base::Arena> arena_;
    std::vector<Token*> tokens_;
    Token* first_ = nullptr;
    Token* last_ = nullptr;
    Token* last_code_ = nullptr;
    std::uint32_t epoch_ = 1;  ///< grows when code tokens are inserted or removed
};

/// How many tokens a check or fix looks ahead for something that should follow soon. Without a
/// limit, code that lacks it would take quadratic time.
inline constexpr std::size_t kReach = 256;

/// What a search requires besides the type of the token, and where it ends.
struct Search {
    std::string_view value = {};   ///< of the token; any if empty
    const Token* last = nullptr;   ///< the last token of the search; may be null
    std::size_t reach = SIZE_MAX;  ///< number of tokens
};
/// Returns the next token of one of the types after `from`, or null. Skips everything between
/// matching braces, brackets and parentheses.
Token* next_of(const Token* from, std::initializer_list<TokenType> types, const Search& search);
/// Does the same in the other direction.
Token* previous_of(const Token* from, std::initializer_list<TokenType> types, const Search& search);

}  // namespace bunraku::lint
