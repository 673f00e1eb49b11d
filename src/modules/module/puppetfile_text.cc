// SPDX-License-Identifier: Apache-2.0
// Parser for Puppetfiles that do not need Ruby, because all arguments are literals.
#include "modules/module/puppetfile_text.h"

#include <cctype>
#include <fmt/format.h>

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using Argument = Declaration::Argument;

struct WordToken {
    enum class Kind { Word, Text, Symbol, Key, Punctuation, Newline, End } kind = Kind::End;
    std::string text;
    int line = 0;
};

/// Splits the subset of Ruby used in Puppetfiles into tokens.
class WordLexer {
public:
    explicit WordLexer(std::string_view text) : text_(text) {}
    Result<WordToken> next() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '#') {
                while (at_ < text_.size() && text_[at_] != '\n') ++at_;
            } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
                at_ += 2;
                ++line_;
            } else if (c == '\n' || c == ';') {
                ++at_;
                WordToken t{WordToken::Kind::Newline, "", line_};
                if (c == '\n') ++line_;
                return t;
            } else if (c == ' ' || c == '\t' || c == '\r') {
                ++at_;
            } else {
                break;
            }
        }
        if (at_ >= text_.size()) return WordToken{WordToken::Kind::End, "", line_};
        const char c = text_[at_];
        if (c == '\'' || c == '"') return quoted(c);
        if (text_.substr(at_, 2) == "=>") {
            at_ += 2;
            return WordToken{WordToken::Kind::Punctuation, "=>", line_};
        }
        if (c == ':' && at_ + 1 < text_.size()) {
            ++at_;
            if (text_[at_] == '\'' || text_[at_] == '"') {
                auto t = quoted(text_[at_]);
                if (t) t->kind = WordToken::Kind::Symbol;
                return t;
            }
            std::string name = word();
            // g10k has symbols with hyphens, such as :ignore-unreachable.
            while (!name.empty() && at_ + 1 < text_.size() && text_[at_] == '-' &&
                   std::isalpha(static_cast<unsigned char>(text_[at_ + 1])) != 0) {
                ++at_;
                name += '-' + word();
            }
            if (name.empty()) return failure(fmt::format("line {}: a name must follow ':'", line_));
            return WordToken{WordToken::Kind::Symbol, std::move(name), line_};
        }
        std::string name = word();
        if (!name.empty()) {
            if (at_ < text_.size() && text_[at_] == ':' && text_.substr(at_, 2) != "::") {
                ++at_;
                return WordToken{WordToken::Kind::Key, std::move(name), line_};
            }
            return WordToken{WordToken::Kind::Word, std::move(name), line_};
        }
        if (std::string_view(",{}()").find(c) != std::string_view::npos) {
            ++at_;
            return WordToken{WordToken::Kind::Punctuation, std::string(1, c), line_};
        }
        return failure(fmt::format("line {}: unexpected '{}'", line_, c));
    }

private:
    std::string word() {
        std::string out;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                              (c >= '0' && c <= '9') || c == '.';
            if (!good) break;
            out += c;
            ++at_;
        }
        return out;
    }
    Result<WordToken> quoted(char mark) {
        const int start = line_;
        std::string out;
        for (++at_; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == mark) {
                ++at_;
                return WordToken{WordToken::Kind::Text, std::move(out), start};
            }
            if (c == '\n') ++line_;
            if (c == '\\' && at_ + 1 < text_.size()) {
                const char n = text_[at_ + 1];
                if (n == mark || n == '\\') {
                    out += n;
                    ++at_;
                    continue;
                }
                if (mark == '"') {
                    return failure(fmt::format("line {}: escapes are not supported", line_));
                }
            }
            if (mark == '"' && c == '#' && at_ + 1 < text_.size() &&
                std::string_view("{@$").find(text_[at_ + 1]) != std::string_view::npos) {
                return failure(fmt::format("line {}: interpolation is not supported", line_));
            }
            out += c;
        }
        return failure(fmt::format("line {}: a string is not closed", start));
    }
    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
};

class WordParser {
public:
    explicit WordParser(std::string_view text) : lexer_(text) {}
    Result<std::vector<Declaration>> parse() {
        std::vector<Declaration> out;
        BUNRAKU_TRY_VOID(step());
        while (token_.kind != WordToken::Kind::End) {
            if (token_.kind == WordToken::Kind::Newline) {
                BUNRAKU_TRY_VOID(step());
                continue;
            }
            if (token_.kind != WordToken::Kind::Word) return unexpected();
            Declaration d{.word = token_.text, .line = token_.line};
            BUNRAKU_TRY_VOID(step());
            // g10k's cache settings are ignored, because Bunraku manages the cache and releases do
            // not change.
            if (d.word == "forge.cacheTtl" || d.word == "forge.cache_ttl") {
                while (token_.kind != WordToken::Kind::Newline &&
                       token_.kind != WordToken::Kind::End)
                    BUNRAKU_TRY_VOID(step());
                continue;
            }
            if (d.word == "forge.baseUrl" || d.word == "forge.base_url") d.word = "forge";
            bool known = false;
            for (const std::string_view word : kPuppetfileWords) known |= word == d.word;
            if (!known) {
                return failure(
                    fmt::format("line {}: unknown keyword '{}': expected forge, moduledir or mod",
                                d.line, d.word));
            }
            d.arguments = BUNRAKU_TRY(read_arguments());
            out.push_back(std::move(d));
        }
        return out;
    }

private:
    Result<void> step() {
        token_ = BUNRAKU_TRY(lexer_.next());
        return {};
    }
    std::unexpected<base::Error> unexpected() const {
        return failure(fmt::format("line {}: unexpected '{}'", token_.line,
                                   token_.text.empty() ? "end of line" : token_.text));
    }
    bool punctuation(std::string_view text) const {
        return token_.kind == WordToken::Kind::Punctuation && token_.text == text;
    }
    Result<void> skip_lines() {
        while (token_.kind == WordToken::Kind::Newline) BUNRAKU_TRY_VOID(step());
        return {};
    }
    Result<Argument> value(std::string key) {
        Argument a{.key = std::move(key), .text = token_.text};
        if (token_.kind == WordToken::Kind::Text) {
            a.kind = Argument::Kind::Text;
        } else if (token_.kind == WordToken::Kind::Symbol) {
            a.kind = Argument::Kind::Symbol;
        } else if (token_.kind == WordToken::Kind::Word &&
                   (token_.text == "true" || token_.text == "false" || token_.text == "nil")) {
            a.kind = Argument::Kind::Constant;
        } else {
            return unexpected();
        }
        BUNRAKU_TRY_VOID(step());
        return a;
    }
    /// Only a comma or an end may follow a value, because Ruby concatenates adjacent strings.
    Result<std::vector<Argument>> read_arguments() {
        std::vector<Argument> out;
        std::string open;
        bool behind_value = false;
        for (;;) {
            if (!open.empty()) BUNRAKU_TRY_VOID(skip_lines());
            if (!behind_value && (punctuation("(") || punctuation("{"))) {
                open += token_.text == "(" ? ')' : '}';
                BUNRAKU_TRY_VOID(step());
                continue;
            }
            if (!open.empty() && punctuation(open.substr(open.size() - 1))) {
                open.pop_back();
                behind_value = true;
                BUNRAKU_TRY_VOID(step());
                continue;
            }
            if (token_.kind == WordToken::Kind::Newline || token_.kind == WordToken::Kind::End) {
                if (!open.empty()) return unexpected();
                return out;
            }
            if (behind_value) {
                if (!punctuation(",")) return unexpected();
                behind_value = false;
                BUNRAKU_TRY_VOID(step());
                BUNRAKU_TRY_VOID(skip_lines());
                continue;
            }
            behind_value = true;
            if (token_.kind == WordToken::Kind::Key) {
                std::string key = token_.text;
                BUNRAKU_TRY_VOID(step());
                BUNRAKU_TRY_VOID(skip_lines());
                out.push_back(BUNRAKU_TRY(value(std::move(key))));
                continue;
            }
            Argument a = BUNRAKU_TRY(value({}));
            if (punctuation("=>")) {
                BUNRAKU_TRY_VOID(step());
                BUNRAKU_TRY_VOID(skip_lines());
                a = BUNRAKU_TRY(value(a.text));
            }
            out.push_back(std::move(a));
        }
    }

    WordLexer lexer_;
    WordToken token_;
};

}  // namespace

Result<std::vector<Declaration>> parse_puppetfile_words(std::string_view text) {
    return WordParser(text).parse();
}

}  // namespace bunraku::module
