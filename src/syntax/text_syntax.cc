// The syntax a heredoc claims for its text: json, base64, pp, epp.
#include <algorithm>
#include <fmt/format.h>

#include "syntax/char_class.h"
#include "syntax/limits.h"
#include "syntax/parser.h"

namespace bunraku::syntax {

namespace {

/// Says where a text is no JSON, in the words of Ruby's json 2.6: an array complains about its
/// element itself, an object fails as a whole.
class JsonCheck {
public:
    explicit JsonCheck(std::string_view text) : text_(text) {}

    /// The error's text, or "".
    std::string run() {
        skip();
        const std::size_t start = pos_;
        if (pos_ >= text_.size()) return at("859", text_.size());
        if (!value(0)) return error_.empty() ? at("859", start) : error_;
        skip();
        return pos_ < text_.size() ? at("859", pos_) : std::string();
    }

private:
    std::string at(std::string_view line, std::size_t pos) const {
        return fmt::format("{}: unexpected token at '{}'", line, text_.substr(pos));
    }
    char peek(std::size_t ahead = 0) const {
        return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
    }
    void skip() {
        for (;;) {
            const char c = peek();
            if (pos_ < text_.size() && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
                ++pos_;
            } else if (c == '/' && peek(1) == '*') {
                const std::size_t end = text_.find("*/", pos_ + 2);
                if (end == std::string_view::npos) return;
                pos_ = end + 2;
            } else if (c == '/' && peek(1) == '/') {
                pos_ = std::min(text_.find('\n', pos_), text_.size());
            } else {
                return;
            }
        }
    }
    bool word(std::string_view expected) {
        if (!text_.substr(pos_).starts_with(expected)) return false;
        pos_ += expected.size();
        return true;
    }
    bool string() {
        for (std::size_t i = pos_ + 1; i < text_.size(); ++i) {
            if (text_[i] == '"') {
                pos_ = i + 1;
                return true;
            }
            if (static_cast<unsigned char>(text_[i]) < 0x20) return false;
            if (text_[i] != '\\') continue;
            ++i;
            if (i < text_.size() && text_[i] == 'u') {
                for (int digit = 1; digit <= 4; ++digit) {
                    if (i + 1 >= text_.size() || !is_hex(text_[i + 1])) return false;
                    ++i;
                }
            }
        }
        return false;
    }
    bool number() {
        std::size_t i = pos_;
        auto digit = [&](std::size_t k) { return k < text_.size() && is_digit(text_[k]); };
        if (text_[i] == '-') ++i;
        if (!digit(i)) return false;
        if (text_[i] == '0') {
            if (digit(i + 1)) return false;
            ++i;
        } else {
            while (digit(i)) ++i;
        }
        if (i < text_.size() && text_[i] == '.' && digit(i + 1)) {
            ++i;
            while (digit(i)) ++i;
        }
        if (i < text_.size() && (text_[i] == 'e' || text_[i] == 'E')) {
            const std::size_t sign =
                i + 1 < text_.size() && (text_[i + 1] == '+' || text_[i + 1] == '-') ? i + 2
                                                                                     : i + 1;
            if (digit(sign)) {
                i = sign;
                while (digit(i)) ++i;
            }
        }
        pos_ = i;
        return true;
    }
    bool object(int depth) {
        ++pos_;
        skip();
        if (peek() == '}') return ++pos_, true;
        for (;;) {
            if (peek() != '"' || !string()) return false;
            skip();
            if (peek() != ':') return false;
            ++pos_;
            skip();
            if (pos_ >= text_.size() || !value(depth + 1)) return false;
            skip();
            if (peek() == '}') return ++pos_, true;
            if (peek() != ',') return false;
            ++pos_;
            skip();
        }
    }
    bool array(int depth) {
        ++pos_;
        skip();
        if (peek() == ']') return ++pos_, true;
        for (;;) {
            const std::size_t start = pos_;
            if (pos_ >= text_.size() || !value(depth + 1)) {
                if (error_.empty()) error_ = at("451", std::min(start, text_.size()));
                return false;
            }
            skip();
            if (peek() == ']') return ++pos_, true;
            if (peek() != ',') {
                error_ = at("451", pos_);
                return false;
            }
            ++pos_;
            skip();
        }
    }
    bool value(int depth) {
        if (depth >= 100) {
            error_ = fmt::format("nesting of {} is too deep", depth + 1);
            return false;
        }
        switch (peek()) {
            case '{': return object(depth);
            case '[': return array(depth);
            case '"': return string();
            case 't': return word("true");
            case 'f': return word("false");
            case 'n': return word("null");
            case 'N':
            case 'I':
                if (text_.substr(pos_).starts_with("NaN") ||
                    text_.substr(pos_).starts_with("Infinity")) {
                    error_ = at(peek() == 'N' ? "225" : "233", pos_);
                }
                return false;
            default: return (peek() == '-' || is_digit(peek())) && number();
        }
    }

    std::string_view text_;
    std::size_t pos_ = 0;
    std::string error_;
};

/// The first `count` characters, with line breaks shown as "\n".
std::string excerpt(std::string_view text, std::size_t count) {
    std::size_t end = 0;
    for (std::size_t characters = 0; end < text.size(); ++end) {
        if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++characters > count) break;
    }
    std::string out;
    for (std::size_t i = 0; i < end; ++i) {
        if (text[i] == '\n') {
            if (out.ends_with('\r')) out.pop_back();
            out += "\\n";
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string check_base64(std::string_view text) {
    std::string plain;
    for (char c : text) {
        if (c != '\r' && c != '?' && c != '\n' && c != ' ' && c != '\t') plain += c;
    }
    std::size_t padding = 0;
    while (padding < 2 && padding < plain.size() && plain[plain.size() - 1 - padding] == '=')
        ++padding;
    const bool letters = std::all_of(
        plain.begin(), plain.end() - static_cast<std::ptrdiff_t>(padding),
        [](char c) { return is_digit(c) || is_lower(c) || is_upper(c) || c == '+' || c == '/'; });
    if (letters && plain.size() % 4 == 0) return {};
    return plain.size() * 8 % 6 != 0 ? "Base64 syntax checker: Cannot parse invalid Base64 string "
                                       "- padding is not correct"
                                     : "Base64 syntax checker: Cannot parse invalid Base64 string "
                                       "- contains letters outside strict base "
                                       "64 range (or whitespace)";
}

std::string check_code(std::string_view text, bool epp, const ValidateOptions& options) {
    try {
        if (options.nesting > 20)
            throw base::PuppetError(kNestingMessage, "SYNTAX_ERROR",
                                    base::PuppetError::Class::Parse);
        ValidateOptions inner = options;
        inner.modulepath.clear();
        ++inner.nesting;
        auto tree = parse({}, std::string(text), {.epp = epp, .tasks = options.tasks});
        base::NullSink nowhere;
        report_issues(validate(*tree, inner), nowhere);
    } catch (const base::PuppetError& error) {
        return fmt::format("{} syntax checker: \"{}\"", epp ? "EPP" : "PP",
                           excerpt(error.full_text(), 500));
    }
    return {};
}

}  // namespace

std::optional<base::PuppetError> check_text_syntax(std::string_view text, std::string_view syntax,
                                                   const base::Location& where,
                                                   const ValidateOptions& options) {
    // "data+json" is looked up as that, then as "json". pp and epp stand for themselves only.
    for (std::string_view name = syntax;;) {
        std::string message;
        const char* code = nullptr;
        if (name == "json") {
            code = "ILLEGAL_JSON";
            if (std::string error = JsonCheck(text).run(); !error.empty()) {
                message =
                    fmt::format("JSON syntax checker: Cannot parse invalid JSON string. \"{}\"",
                                excerpt(error, 100));
            }
        } else if (name == "base64") {
            code = "ILLEGAL_BASE64";
            message = check_base64(text);
        } else if (name == "pp" || name == "epp") {
            code = name == "pp" ? "ILLEGAL_PP" : "ILLEGAL_EPP";
            message = check_code(text, name == "epp", options);
        }
        if (code) {
            if (message.empty()) return std::nullopt;
            base::PuppetError error(
                fmt::format("Invalid produced text having syntax: '{}'. {}", syntax, message), code,
                base::PuppetError::Class::Parse);
            error.at(where);
            return error;
        }
        const std::size_t plus = name.find('+');
        if (plus == std::string_view::npos) return std::nullopt;
        name.remove_prefix(plus + 1);
    }
}

}  // namespace bunraku::syntax
