// SPDX-License-Identifier: Apache-2.0
#include "language/lint/manifest.h"

#include "core/base/text.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Sets the parameters of a definition whose tokens are `tokens`.
void find_parameters(Definition& definition, std::span<Token* const> tokens) {
    int depth = 0;
    std::size_t open = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        switch (tokens[i]->type) {
            case T::LeftParen:
                if (++depth == 1) open = i;
                break;
            case T::RightParen:
                if (--depth != 0) break;
                definition.has_parameters = true;
                definition.parameters = tokens.subspan(open + 1, i - open - 1);
                return;
            case T::LeftBrace:
                if (depth == 0) return;
                break;
            default: break;
        }
    }
}

/// Reports whether the colon belongs to resource defaults or a reference, not to a resource.
bool follows_reference(const Token* colon) {
    for (const Token* at = colon->previous_code; at; at = at->previous_code) {
        if (at->type == T::ClassReference) return true;
        if (at->type == T::Name) return false;
    }
    return false;
}

}  // namespace

Manifest::Manifest(TokenStream& stream, std::string_view text, std::string_view path)
    : stream_(stream), path_(path), lines_(base::split(text, '\n')) {
    classes_ = find_definitions(T::Class);
    defined_types_ = find_definitions(T::Define);
}

std::span<Token* const> Manifest::tokens(TokenRange range) const {
    return tokens().subspan(range.first, range.last + 1 - range.first);
}

std::vector<const Definition*> Manifest::definitions() const {
    std::vector<const Definition*> all;
    for (const Definition& one : classes_) all.push_back(&one);
    for (const Definition& one : defined_types_) all.push_back(&one);
    return all;
}

std::vector<Definition> Manifest::find_definitions(TokenType kind) const {
    std::vector<Definition> found;
    const auto all = tokens();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i]->type != kind || !all[i]->next_code || all[i]->next_code->is(T::LeftBrace))
            continue;
        int braces = 0, parens = 0;
        bool in_parameters = false;
        Token* inherited = nullptr;
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            const TokenType type = all[j]->type;
            if (type == T::Inherits) inherited = all[j]->next_code;
            if (type == T::LeftParen && parens++ == 0) in_parameters = true;
            if (type == T::RightParen && parens-- == 1) in_parameters = false;
            if (type == T::LeftBrace) ++braces;
            if (type != T::RightBrace || --braces != 0 || in_parameters) continue;
            Definition definition{.kind = kind,
                                  .range = {i, j},
                                  .name = all[i]->next_code,
                                  .inherited = inherited,
                                  .parameters = {}};
            find_parameters(definition, tokens(definition.range));
            found.push_back(std::move(definition));
            break;
        }
    }
    return found;
}

Token* Manifest::resource_type(std::size_t colon) const {
    for (std::size_t i = colon + 1; i-- > 0;) {
        const Token* token = tokens()[i];
        if (token->type == T::LeftBrace && !is_a(token->previous_code, T::QuestionMark))
            return token->previous_code;
    }
    return nullptr;
}

const std::vector<ResourceBody>& Manifest::resources() const {
    if (!resources_) resources_ = find_resources();
    return *resources_;
}

std::vector<ResourceBody> Manifest::find_resources() const {
    std::vector<ResourceBody> found;
    std::size_t searched = 0;  // position of the end of the last resource
    for (Token* colon : tokens()) {
        if (colon->type != T::Colon || !colon->next_code || colon->next_code->is(T::LeftBrace) ||
            follows_reference(colon)) {
            continue;
        }
        if (colon->index < searched) break;
        const Token* end = next_of(colon, {T::Semicolon, T::RightBrace});
        Token* type = end ? resource_type(colon->index) : nullptr;
        if (!type) {
            syntax_error_ = colon;
            return {};
        }
        searched = end->index;
        ResourceBody resource{.range = {colon->index, end->index}, .type = type, .attributes = {}};
        for (const Token* at = colon->previous; at;) {
            Token* name = next_of(at, {T::Name});
            if (!name || !resource.range.contains(name->index)) break;
            if (is_a(name->next_code, T::FatArrow)) resource.attributes.push_back(name);
            at = name;
        }
        found.push_back(std::move(resource));
    }
    return found;
}

std::vector<Token*> Manifest::titles() const {
    std::vector<Token*> found;
    const auto all = tokens();
    // In a file with array titles, puppet-lint takes the last bracket of the file for the start of
    // each of them.
    std::size_t last_bracket = all.size();
    for (std::size_t i = all.size(); i-- > 0 && last_bracket == all.size();)
        if (all[i]->type == T::LeftBracket) last_bracket = i;
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i]->type != T::Colon) continue;
        if (all[i - 1]->type == T::RightBracket) {
            for (std::size_t j = last_bracket + 1; j + 1 < i; ++j)
                if (all[j]->is(T::String, T::Name)) found.push_back(all[j]);
        } else if (all[i]->next_code && !all[i]->next_code->is(T::LeftBrace)) {
            found.push_back(all[i - 1]);
        }
    }
    return found;
}

}  // namespace bunraku::lint
