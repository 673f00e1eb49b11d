// SPDX-License-Identifier: Apache-2.0
#include "language/lint/token.h"

#include <utility>

namespace bunraku::lint {

using T = TokenType;

namespace {

std::string_view string_suffix(const Token& token) {
    return is_a(token.next, T::UnenclosedVariable, T::StringMid, T::StringPost, T::HeredocMid,
                T::HeredocPost)
               ? ""
               : "${";
}

std::string_view string_prefix(const Token& token) {
    return is_a(token.previous, T::UnenclosedVariable, T::StringPre, T::StringMid, T::HeredocPre,
                T::HeredocMid)
               ? ""
               : "}";
}

constexpr std::pair<std::string_view, TokenType> kKeywords[] = {
    {"case", T::Case},     {"class", T::Class},   {"default", T::Default},
    {"define", T::Define}, {"import", T::Import}, {"if", T::If},
    {"elsif", T::Elsif},   {"else", T::Else},     {"inherits", T::Inherits},
    {"node", T::Node},     {"and", T::And},       {"or", T::Or},
    {"undef", T::Undef},   {"false", T::False},   {"true", T::True},
    {"in", T::In},         {"unless", T::Unless}, {"function", T::Function},
    {"type", T::Type},     {"attr", T::Attr},     {"private", T::Private},
};

}  // namespace

TokenText text_of(const Token& token) {
    switch (token.type) {
        case T::String: return {"\"", token.value, "\""};
        case T::SingleQuoted: return {"'", token.value, "'"};
        case T::StringPre: return {"\"", token.value, string_suffix(token)};
        case T::StringMid: return {string_prefix(token), token.value, string_suffix(token)};
        case T::StringPost: return {string_prefix(token), token.value, "\""};
        case T::Variable:
            if (is_a(token.previous_code, T::StringPre, T::StringMid, T::HeredocPre,
                     T::HeredocMid)) {
                return {"", token.has_raw ? token.raw : token.value, ""};
            }
            return {"$", token.value, ""};
        case T::UnenclosedVariable: return {"$", token.value, ""};
        case T::Comment: return {"#", token.value, ""};
        case T::SlashComment: return {"//", token.value, ""};
        case T::Regex: return {"/", token.value, "/"};
        case T::MultilineComment:
        case T::Heredoc: return {"", token.raw, ""};
        case T::HeredocOpen: return {"@(", token.value, ")"};
        case T::HeredocPre: return {"", token.value, string_suffix(token)};
        case T::HeredocMid: return {string_prefix(token), token.value, string_suffix(token)};
        case T::HeredocPost: return {string_prefix(token), token.raw, ""};
        default: return {"", token.value, ""};
    }
}

void append_text(std::string& out, const Token& token) {
    const TokenText text = text_of(token);
    out += text.prefix;
    out += text.body;
    out += text.suffix;
}

std::size_t length_of(const Token& token) {
    const TokenText text = text_of(token);
    return text.prefix.size() + count_characters(text.body) + text.suffix.size();
}

std::size_t count_characters(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return count;
}

TokenType keyword_type(std::string_view name) {
    if (name.size() > 8) return T::Name;
    for (const auto& [word, type] : kKeywords)
        if (word == name) return type;
    return T::Name;
}

bool names_interpolated_variable(const Token& token) {
    // A type name and the keyword `type` share a token type.
    if (token.type == T::Type) return token.value == "type";
    return token.type == T::Name || (token.type >= T::Case && token.type <= T::Private);
}

}  // namespace bunraku::lint
