// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/nagios/definitions.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"

namespace bunraku::apply {
namespace {

enum class Token : char { End, Newline, Define, Name, Open, Close, Directive, Text };

/// A lexer whose tokens depend on the context: outside a definition, at the name of a directive, or
/// at its value.
class NagiosLexer {
public:
    explicit NagiosLexer(std::string_view text) : text_(text) {}

    Token next() {
        while (at_ < text_.size()) {
            if (text_[at_] == '\n') ++line_;
            if (text_[at_] == ' ' || text_[at_] == '\t') {
                at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
            } else if (text_[at_] == '#' || (text_[at_] == ';' && !in_value_)) {
                at_ = line_end();
            } else {
                return token();
            }
        }
        word = {};
        return Token::End;
    }

    [[noreturn]] void unexpected(Token token) const {
        std::string what = fmt::format("syntax error at value '{}' : {}", word,
                                       text_.substr(std::min(at_, text_.size()), 20));
        if (at_ >= text_.size()) what = "Unexpected end of file";
        static_cast<void>(token);
        throw base::plain_error(fmt::format("line {}: {}", line_, what));
    }

    std::string word;  ///< text of the last token

private:
    std::size_t line_end() const { return std::min(text_.find('\n', at_), text_.size()); }
    Token take(std::size_t end, Token token) {
        BUNRAKU_ASSERT(end >= at_ && end <= text_.size());
        word = text_.substr(at_, end - at_);
        at_ = end;
        return token;
    }

    Token token() {
        BUNRAKU_ASSERT(at_ < text_.size() && (!in_value_ || inside_));
        const char c = text_[at_];
        if (c == '\n') {
            in_value_ = false;
            return take(at_ + 1, Token::Newline);
        }
        if (in_value_) {
            take(line_end(), Token::Text);
            in_value_ = false;
            word = value_of(word);
            return Token::Text;
        }
        if (inside_) {
            if (c == '}') {
                inside_ = false;
                return take(at_ + 1, Token::Close);
            }
            in_value_ = true;
            return take(std::min(text_.find_first_of(" \t\r\n\f\v", at_), text_.size()),
                        Token::Directive);
        }
        if (c == '{') {
            inside_ = true;
            return take(at_ + 1, Token::Open);
        }
        take(std::min(text_.find_first_of("{ \t\n", at_), text_.size()), Token::Name);
        return word == "define" ? Token::Define : Token::Name;
    }

    /// Returns the value up to a semicolon. A semicolon after a backslash is part of the value.
    static std::string value_of(const std::string& text) {
        std::string out;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == ';') break;
            if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ';') ++i;
            out += text[i];
        }
        return std::string(base::trim(out));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
    bool inside_ = false, in_value_ = false;
};

}  // namespace

void NagiosDefinition::set(std::string name, std::string value) {
    for (auto& [n, v] : directives) {
        if (n != name) continue;
        v = std::move(value);
        return;
    }
    directives.emplace_back(std::move(name), std::move(value));
}

std::vector<NagiosDefinition> parse_nagios(std::string_view text) {
    NagiosLexer lexer(text);
    std::vector<NagiosDefinition> out;
    const auto expect = [&](Token got, Token wanted) {
        if (got != wanted) lexer.unexpected(got);
    };
    for (Token t = lexer.next(); t != Token::End; t = lexer.next()) {
        if (t == Token::Newline) continue;
        expect(t, Token::Define);
        expect(lexer.next(), Token::Name);
        NagiosDefinition made{.kind = lexer.word};
        expect(lexer.next(), Token::Open);
        expect(t = lexer.next(), Token::Newline);
        while (t == Token::Newline) t = lexer.next();
        do {
            expect(t, Token::Directive);
            const std::string name = lexer.word;
            t = lexer.next();
            std::string value;
            if (t == Token::Text) {
                value = lexer.word;
                t = lexer.next();
            }
            made.set(name, std::move(value));
            expect(t, Token::Newline);
            while (t == Token::Newline) t = lexer.next();
        } while (t != Token::Close);
        BUNRAKU_ASSERT(!made.kind.empty() && !made.directives.empty());
        out.push_back(std::move(made));
    }
    return out;
}

}  // namespace bunraku::apply
