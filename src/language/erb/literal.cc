// SPDX-License-Identifier: Apache-2.0
// Literals of the Ruby subset: numbers, strings, word lists, symbols, regular expressions.
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

#include "core/codec/escapes.h"
#include "core/regex/ruby_dialect.h"
#include "language/erb/parser.h"

namespace bunraku::erb {

namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool word_char(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digit(c);
}

}  // namespace

Node* Parser::number() {
    const auto from = pos_;
    int base = 10;
    if (at() == '0' && (at(1) == 'x' || at(1) == 'X')) {
        base = 16;
        pos_ += 2;
    } else if (at() == '0' && (at(1) == 'b' || at(1) == 'B')) {
        base = 2;
        pos_ += 2;
    } else if (at() == '0' && (at(1) == 'o' || digit(at(1)) || at(1) == '_')) {
        base = 8;
        pos_ += at(1) == 'o' ? 2 : 1;
    }
    std::string digits;
    bool is_float = false;
    for (;;) {
        const char c = at();
        const bool hex = base == 16 && std::isxdigit(static_cast<unsigned char>(c));
        if (digit(c) || hex) {
            digits += c;
        } else if (c == '_' && digit(at(1))) {
            // Between digits only.
        } else if (base == 10 && !is_float && c == '.' && digit(at(1))) {
            digits += c;
            is_float = true;
        } else if (base == 10 && (c == 'e' || c == 'E') &&
                   (digit(at(1)) || ((at(1) == '-' || at(1) == '+') && digit(at(2))))) {
            digits += c;
            digits += at(1);
            ++pos_;
            is_float = true;
        } else {
            break;
        }
        ++pos_;
    }
    if (word_char(at()) || digits.empty()) {
        pos_ = from;
        odd();
    }
    if (is_float) {
        auto* node = make(N::Float);
        node->f = std::strtod(digits.c_str(), nullptr);
        return node;
    }
    auto* node = make(N::Int);
    const auto [p, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), node->i, base);
    if (error != std::errc() || p != digits.data() + digits.size())
        unsupported("a large or odd number");
    return node;
}

char Parser::closing_of(char open) {
    switch (open) {
        case '(': return ')';
        case '[': return ']';
        case '{': return '}';
        case '<': return '>';
        default: return open;
    }
}

/// Parses an escape after the backslash, in a text with interpolation.
void Parser::escape(std::string& out) {
    const char c = at();
    ++pos_;
    switch (c) {
        case 'n': out += '\n'; return;
        case 't': out += '\t'; return;
        case 's': out += ' '; return;
        case 'r': out += '\r'; return;
        case 'e': out += '\x1b'; return;
        case 'a': out += '\a'; return;
        case 'b': out += '\b'; return;
        case 'f': out += '\f'; return;
        case 'v': out += '\v'; return;
        case '\n': return;
        case 'u': {
            std::uint32_t code = 0;
            for (int i = 0; i < 4; ++i) {
                const char d = at();
                if (!std::isxdigit(static_cast<unsigned char>(d))) unsupported("an odd \\u");
                code = code * 16 +
                       static_cast<std::uint32_t>(digit(d) ? d - '0' : (d | 0x20) - 'a' + 10);
                ++pos_;
            }
            if (code >= 0xD800 && code < 0xE000) odd();
            codec::append_utf8(out, code);
            return;
        }
        default:
            if (digit(c) || c == 'x' || c == 'c' || c == 'C' || c == 'M')
                unsupported("a numeric escape");
            if (static_cast<unsigned char>(c) < 0x20) odd();
            out += c;
    }
}

/// Parses `#{..}` at the current position: ends the text before it and adds the expression.
bool Parser::interpolation(std::vector<const Node*>& parts, std::string& text) {
    if (at() != '#') return false;
    if (at(1) == '@' || at(1) == '$') unsupported("interpolation without braces");
    if (at(1) != '{') return false;
    if (!text.empty()) parts.push_back(text_node(N::Str, text));
    text.clear();
    pos_ += 2;
    parts.push_back(statements("}"));
    expect("}");
    return true;
}

/// Reports whether the next character ends the literal. `depth` counts nested delimiters. `tags` is
/// the error text if the literal spans a template tag.
bool Parser::closes(char close, char open, int& depth, std::string_view tags) {
    if (end()) odd();
    const char c = at();
    if (c == kText || c == kOutput || c == kOutputEnd) unsupported(std::string(tags));
    if (c == close && depth-- == 0) return true;
    if (open != 0 && open != close && c == open) ++depth;
    return false;
}

/// Parses a string after its opening quote, up to and including the closing one. `open` is the
/// opening delimiter that nests; 0 if there is none.
Node* Parser::quoted(char close, char open, bool interpolate) {
    const Nesting nesting(*this);
    std::string text;
    std::vector<const Node*> parts;
    int depth = 0;
    while (!closes(close, open, depth, "a string that reaches over tags")) {
        const char c = at();
        if (c == '\\') {
            const char next = at(1);
            ++pos_;
            if (interpolate) {
                escape(text);
            } else {
                // Only the quotes and the backslash can be escaped.
                if (next != '\\' && next != close && (open == 0 || next != open)) text += '\\';
                if (next == kText || next == kOutput || next == kOutputEnd || end()) odd();
                text += next;
                ++pos_;
            }
            continue;
        }
        if (interpolate && interpolation(parts, text)) continue;
        if (c == '\r') unsupported("a carriage return in a string");
        text += c;
        ++pos_;
    }
    ++pos_;
    if (!regex::is_valid_utf8(text)) unsupported("text that is not UTF-8");
    if (parts.empty()) return text_node(N::Str, text);
    if (!text.empty()) parts.push_back(text_node(N::Str, text));
    auto* node = make(N::DStr);
    node->list = list(parts);
    return node;
}

Node* Parser::string_literal() {
    std::vector<const Node*> parts;
    for (;;) {
        const char quote = at();
        ++pos_;
        parts.push_back(quoted(quote, 0, quote == '"'));
        // Adjacent literals 'a' 'b' form one string.
        const auto from = pos_;
        blanks();
        if (at() == '"' || at() == '\'') continue;
        pos_ = from;
        break;
    }
    // "a": in a hash is a symbol. After `?` the colon belongs to the ternary operator.
    if (parts.size() == 1) return const_cast<Node*>(parts[0]);
    auto* node = make(N::DStr);
    node->list = list(parts);
    return node;
}

Node* Parser::words(char open, char close, bool symbols) {
    auto* node = make(N::Array);
    std::vector<const Node*> out;
    std::string word;
    bool any = false;
    int depth = 0;
    const auto flush = [&] {
        if (any) out.push_back(text_node(symbols ? N::Sym : N::Str, word));
        word.clear();
        any = false;
    };
    for (; !closes(close, open, depth, "a list of words that reaches over tags"); ++pos_) {
        const char c = at();
        if (c == '\\') unsupported("an escape in a list of words");
        if (c == ' ' || c == '\n' || c == '\t') {
            flush();
            continue;
        }
        word += c;
        any = true;
    }
    flush();
    ++pos_;
    node->list = list(out);
    return node;
}

Node* Parser::percent_literal() {
    const char kind = at(1);
    const bool lettered = kind == 'q' || kind == 'Q' || kind == 'w' || kind == 'i' || kind == 'r';
    const char open = lettered ? at(2) : kind;
    if (open != '(' && open != '[' && open != '{' && open != '<' && open != '|' && open != '!' &&
        open != '/')
        odd();
    pos_ += lettered ? 3 : 2;
    const char close = closing_of(open);
    switch (lettered ? kind : 'Q') {
        case 'w': return words(open, close, false);
        case 'i': return words(open, close, true);
        case 'r': pos_ -= 1; return regex(open, close);
        case 'q': return quoted(close, open == close ? '\0' : open, false);
        default: return quoted(close, open == close ? '\0' : open, true);
    }
}

Node* Parser::symbol() {
    ++pos_;
    if (at() == '"' || at() == '\'') {
        const char quote = at();
        ++pos_;
        Node* node = quoted(quote, 0, quote == '"');
        if (node->kind != N::Str) unsupported("a symbol with interpolation");
        node->kind = N::Sym;
        return node;
    }
    const auto from = pos_;
    if (name().empty()) odd();
    if ((at() == '?' || at() == '!') && at(1) != '=') ++pos_;
    return text_node(N::Sym, s_.substr(from, pos_ - from));
}

/// Parses a regular expression; the current position is the opening delimiter.
Node* Parser::regex(char open, char close) {
    ++pos_;
    std::string text;
    std::vector<const Node*> parts;
    int depth = 0;
    while (!closes(close, open, depth, "an expression that reaches over tags")) {
        const char c = at();
        if (c == '\n') unsupported("a regular expression of several lines");
        if (c == '\\') {
            const char next = at(1);
            if (next == '\n' || next == '\0' || next == kText) odd();
            if (next == close && next == '/') {
                text += '/';
            } else {
                text += c;
                text += next;
            }
            pos_ += 2;
            continue;
        }
        if (interpolation(parts, text)) continue;
        text += c;
        ++pos_;
    }
    ++pos_;
    std::uint32_t options = 0;
    for (; word_char(at()); ++pos_) {
        switch (at()) {
            case 'i': options |= regex::kIgnoreCase; break;
            case 'm': options |= regex::kMultiline; break;
            case 'x': options |= regex::kExtended; break;
            default: unsupported("an option of a regular expression");
        }
    }
    if (!parts.empty()) {
        if (!text.empty()) parts.push_back(text_node(N::Str, text));
        auto* node = make(N::DRegex);
        node->list = list(parts);
        node->slot = static_cast<int>(options);
        return node;
    }
    auto compiled = regex::Regex::cached(text, options);
    if (!compiled) unsupported("a regular expression that does not compile");
    // Named groups of a literal to the left of =~ become local variables.
    if (!(*compiled)->names().empty()) unsupported("named groups");
    auto* node = make(N::Regex);
    node->regex = compiled->get();
    program_.regexes.push_back(std::move(*compiled));
    return node;
}

}  // namespace bunraku::erb
