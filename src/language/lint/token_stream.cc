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

void TokenStream::link_text(Token* before, Token* token, Token* after) {
    token->text_before = before;
    token->text_after = after;
    (before ? before->text_after : first_) = token;
    (after ? after->text_before : last_) = token;
    token->listed = true;
    code_changed(*token);
}

void TokenStream::append(Token* token) {
    if (last_) {
        token->previous = last_;
        last_->next = token;
    }
    if (!token->formatting()) {
        token->previous_code = last_code_;
        if (last_code_) last_code_->next_code = token;
        last_code_ = token;
    }
    token->index = static_cast<std::uint32_t>(tokens_.size());
    tokens_.push_back(token);
    link_text(last_, token, nullptr);
}

Token* TokenStream::code_before(Token* token) const {
    // Remembers the result in all tokens on the way, so that a long comment is skipped once.
    Token* at = token;
    while (at && at->formatting() && at->code_epoch != epoch_) at = at->text_before;
    Token* found = at && at->formatting() ? at->code_before : at;
    for (Token* seen = token; seen != at; seen = seen->text_before) {
        seen->code_before = found;
        seen->code_epoch = epoch_;
    }
    return found;
}

void TokenStream::insert_before(Token* place, Token* token) {
    Token* before = place->text_before;
    BUNRAKU_ASSERT(place->listed && before);
    token->next = before->next;
    token->previous = before;
    if (before->next) before->next->previous = token;
    if (!token->formatting()) {
        if (before->next) before->next->previous_code = token;
        Token* after = place;
        while (after && after->formatting()) after = after->text_after;
        if (after) {
            token->next_code = after;
            after->previous_code = token;
        }
    }
    if (before->formatting()) {
        // puppet-lint links the code token before it even to a new formatting token.
        if (Token* code = code_before(before)) {
            token->previous_code = code;
            code->next_code = token;
        }
    } else {
        token->previous_code = before;
    }
    before->next = token;
    if (!token->formatting()) before->next_code = token;
    insert_unlinked_before(place, token);
}

void TokenStream::insert_unlinked_before(Token* place, Token* token) {
    BUNRAKU_ASSERT(place->listed && !token->listed);
    link_text(place->text_before, token, place);
}

void TokenStream::insert_unlinked_after(Token* place, Token* token) {
    BUNRAKU_ASSERT(place->listed && !token->listed);
    link_text(place, token, place->text_after);
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
    if (!token->listed) return;
    (token->text_before ? token->text_before->text_after : first_) = token->text_after;
    (token->text_after ? token->text_after->text_before : last_) = token->text_before;
    token->listed = false;
    code_changed(*token);
}

bool TokenStream::swap_ranges(Token* a, Token* a_end, Token* b, Token* b_end) {
    const auto reaches = [](const Token* from, const Token* to) {
        while (from && from != to) from = from->text_after;
        return from != nullptr;
    };
    if (!a->listed || !reaches(a, a_end) || !reaches(a_end, b) || !reaches(b, b_end)) return false;
    if (a == a_end || b == b_end) return false;
    Token* before = a->text_before;
    Token* middle_last = b->text_before;
    Token* a_last = a_end->text_before;
    Token* b_last = b_end->text_before;
    const auto join = [](Token* left, Token* right) {
        left->text_after = right;
        right->text_before = left;
    };
    if (before) {
        join(before, b);
    } else {
        b->text_before = nullptr;
        first_ = b;
    }
    if (a_end == b) {
        join(b_last, a);
    } else {
        join(middle_last, a);
        join(b_last, a_end);
    }
    join(a_last, b_end);
    ++epoch_;
    return true;
}

std::string TokenStream::text() const {
    std::string out;
    for (const Token* at = first_; at; at = at->text_after) append_text(out, *at);
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

Token* find(const Token* from, std::initializer_list<TokenType> types, const Search& search,
            bool forward) {
    std::vector<TokenType> open;  // the closers of the blocks around the current token
    std::size_t left = search.reach;
    if (from == search.last) return nullptr;
    for (Token* at = forward ? from->next : from->previous; at && left-- > 0;
         at = forward ? at->next : at->previous) {
        if (!open.empty() && at->type == open.back()) {
            open.pop_back();
        } else if (open.empty() && std::ranges::find(types, at->type) != types.end() &&
                   (search.value.empty() || at->value == search.value)) {
            return at;
        } else if (const TokenType closer = closer_of(at->type, forward); closer != at->type) {
            open.push_back(closer);
        }
        if (at == search.last) return nullptr;
    }
    return nullptr;
}

}  // namespace

Token* next_of(const Token* from, std::initializer_list<TokenType> types, const Search& search) {
    return find(from, types, search, true);
}

Token* previous_of(const Token* from, std::initializer_list<TokenType> types,
                   const Search& search) {
    return find(from, types, search, false);
}

}  // namespace bunraku::lint
