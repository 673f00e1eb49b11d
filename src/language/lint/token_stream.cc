// SPDX-License-Identifier: Apache-2.0
#include "language/lint/token_stream.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::lint {

using T = TokenType;

Token* TokenStream::make(TokenType type, std::string_view value, int line, int column) {
    Token* token = arena_->make<Token>();
    token->type = type;
    token->value = value;
    token->line = line;
    token->column = column;
    return token;
}

void TokenStream::append(Token* token) {
    if (Token* before = last()) {
        token->previous = before;
        before->next = token;
    }
    if (!token->formatting()) {
        token->previous_code = last_code_;
        if (last_code_) last_code_->next_code = token;
        last_code_ = token;
    }
    token->index = static_cast<std::uint32_t>(tokens_.size());
    tokens_.push_back(token);
}

void TokenStream::insert(std::size_t index, Token* token) {
    BUNRAKU_ASSERT(index > 0 && index <= tokens_.size());
    Token* before = tokens_[index - 1];
    token->next = before->next;
    token->previous = before;
    if (before->next) before->next->previous = token;
    if (!token->formatting()) {
        if (before->next) before->next->previous_code = token;
        const auto after = std::find_if(tokens_.begin() + static_cast<std::ptrdiff_t>(index),
                                        tokens_.end(), [](Token* t) { return !t->formatting(); });
        if (after != tokens_.end()) {
            token->next_code = *after;
            (*after)->previous_code = token;
        }
    }
    if (before->formatting()) {
        // puppet-lint links the code token before it even to a new formatting token.
        for (std::size_t i = index; i-- > 0;) {
            if (tokens_[i]->formatting()) continue;
            token->previous_code = tokens_[i];
            tokens_[i]->next_code = token;
            break;
        }
    } else {
        token->previous_code = before;
    }
    before->next = token;
    if (!token->formatting()) before->next_code = token;
    insert_unlinked(index, token);
}

void TokenStream::insert_unlinked(std::size_t index, Token* token) {
    BUNRAKU_ASSERT(index <= tokens_.size());
    token->index = static_cast<std::uint32_t>(index);
    tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(index), token);
}

void TokenStream::remove(Token* token) {
    if (token->next) token->next->previous = token->previous;
    if (token->previous) token->previous->next = token->next;
    if (!token->formatting()) {
        if (token->previous_code) token->previous_code->next_code = token->next_code;
        if (token->next_code) token->next_code->previous_code = token->previous_code;
    }
    erase(token);
}

void TokenStream::erase(Token* token) {
    const std::size_t at = index_of(token);
    if (at != npos) tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(at));
}

void TokenStream::swap_ranges(std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end) {
    BUNRAKU_ASSERT(a <= a_end && a_end <= b && b <= b_end && b_end <= tokens_.size());
    const auto at = [this](std::size_t i) {
        return tokens_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    std::vector<Token*> swapped(at(b), at(b_end));
    swapped.insert(swapped.end(), at(a_end), at(b));
    swapped.insert(swapped.end(), at(a), at(a_end));
    std::ranges::copy(swapped, at(a));
}

std::size_t TokenStream::index_of(const Token* token) const {
    if (tokens_.empty()) return npos;
    // The recorded position is right until the first edit, and near the right one afterwards.
    const std::size_t hint = std::min<std::size_t>(token->index, tokens_.size() - 1);
    for (std::size_t distance = 0; distance < tokens_.size(); ++distance) {
        if (hint + distance < tokens_.size() && tokens_[hint + distance] == token)
            return hint + distance;
        if (distance <= hint && tokens_[hint - distance] == token) return hint - distance;
    }
    return npos;
}

std::string TokenStream::text() const {
    std::string out;
    for (const Token* token : tokens_) append_text(out, *token);
    return out;
}

namespace {

/// Returns the type that closes `open` in the direction of the search, or `open` if it opens
/// nothing.
TokenType closer_of(TokenType open, bool forward) {
    switch (open) {
        case T::LeftBrace: return forward ? T::RightBrace : open;
        case T::LeftBracket: return forward ? T::RightBracket : open;
        case T::LeftParen: return forward ? T::RightParen : open;
        case T::RightBrace: return forward ? open : T::LeftBrace;
        case T::RightBracket: return forward ? open : T::LeftBracket;
        case T::RightParen: return forward ? open : T::LeftParen;
        default: return open;
    }
}

Token* search(const Token* from, std::initializer_list<TokenType> types, std::string_view value,
              bool forward) {
    std::vector<TokenType> open;  // the closers of the blocks around the current token
    for (Token* at = forward ? from->next : from->previous; at;
         at = forward ? at->next : at->previous) {
        if (!open.empty() && at->type == open.back()) {
            open.pop_back();
            continue;
        }
        if (open.empty() && std::ranges::find(types, at->type) != types.end() &&
            (value.empty() || at->value == value)) {
            return at;
        }
        const TokenType closer = closer_of(at->type, forward);
        if (closer != at->type) open.push_back(closer);
    }
    return nullptr;
}

}  // namespace

Token* next_of(const Token* from, std::initializer_list<TokenType> types, std::string_view value) {
    return search(from, types, value, true);
}

Token* previous_of(const Token* from, std::initializer_list<TokenType> types) {
    return search(from, types, {}, false);
}

}  // namespace bunraku::lint
