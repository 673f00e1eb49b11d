// SPDX-License-Identifier: Apache-2.0
#include "core/codec/hocon_tokens.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/escapes.h"

namespace bunraku::codec::hocon {
namespace {

using Kind = Token::Kind;

constexpr std::string_view kNotUnquoted = "$\"{}[]:=,+#`^?!@*&\\";

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the length of the blank at `i`, or 0. Newlines are not blanks; Unicode spaces and the
/// BOM are.
std::size_t blank(std::string_view s, std::size_t i) {
    BUNRAKU_ASSERT(i < s.size());
    const char c = s[i];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') return 1;
    if (s.substr(i).starts_with("\xC2\xA0")) return 2;
    if (s.substr(i).starts_with("\xE2\x80\xAF") || s.substr(i).starts_with("\xE2\x80\x87"))
        return 3;
    return 0;
}

/// Reads an integer like Ruby's Integer(): decimal, or octal after a leading zero.
bool to_integer(const std::string& s, std::int64_t& out) {
    const std::size_t sign = !s.empty() && (s[0] == '-' || s[0] == '+') ? 1 : 0;
    const std::string_view digits = std::string_view(s).substr(sign);
    if (digits.empty()) return false;
    const bool octal = digits.size() > 1 && digits[0] == '0';
    for (char c : digits) {
        if (!digit(c) || (octal && c > '7')) return false;
    }
    errno = 0;
    out = std::strtoll(s.c_str(), nullptr, octal ? 8 : 10);
    return errno == 0;
}

/// Reads a float like Ruby's Float(): digits on both sides of the point.
bool to_float(const std::string& s, double& out) {
    std::size_t i = !s.empty() && (s[0] == '-' || s[0] == '+') ? 1 : 0;
    const std::size_t whole = i;
    while (i < s.size() && digit(s[i])) ++i;
    if (i == whole) return false;
    if (i < s.size() && s[i] == '.') {
        const std::size_t fraction = ++i;
        while (i < s.size() && digit(s[i])) ++i;
        if (i == fraction) return false;
    }
    if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
        ++i;
        if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
        const std::size_t exponent = i;
        while (i < s.size() && digit(s[i])) ++i;
        if (i == exponent) return false;
    }
    if (i != s.size()) return false;
    out = std::strtod(s.c_str(), nullptr);
    return true;
}

class Tokenizer {
public:
    explicit Tokenizer(std::string_view text) : text_(text) {}

    std::vector<Token> all() {
        while (true) {
            Token t = next(0);
            const bool end = t.kind == Kind::End;
            push(std::move(t));
            if (end) return std::move(out_);
        }
    }

private:
    Token make(Kind kind, std::string text = {}) {
        Token t;
        t.kind = kind;
        t.line = line_;
        t.text = std::move(text);
        return t;
    }
    Token problem(std::string what, std::string message) {
        Token t = make(Kind::Problem, std::move(what));
        t.message = std::move(message);
        return t;
    }
    Token value(YamlNode node, std::string text, bool quoted = false) {
        Token t = make(Kind::Value, std::move(text));
        t.value = std::move(node);
        t.quoted = quoted;
        return t;
    }

    /// Blanks between two simple values are part of the resulting text. Other blanks are ignored.
    void push(Token t) {
        if (!blanks_.empty()) {
            out_.push_back(make(last_simple_ && t.simple() ? Kind::Unquoted : Kind::IgnoredBlank,
                                std::move(blanks_)));
            blanks_.clear();
        }
        last_simple_ = t.simple();
        out_.push_back(std::move(t));
    }

    std::string shown(std::size_t i) const {
        if (i >= text_.size()) return "-1";
        std::size_t n = 1;
        while (i + n < text_.size() && (static_cast<unsigned char>(text_[i + n]) & 0xC0) == 0x80)
            ++n;
        return std::string(text_.substr(i, n));
    }

    bool comment(std::size_t i) const {
        return text_[i] == '#' || text_.substr(i).starts_with("//");
    }

    Token next(int depth) {
        while (at_ < text_.size()) {
            const std::size_t n = blank(text_, at_);
            if (n == 0) break;
            blanks_ += text_.substr(at_, n);
            at_ += n;
        }
        if (at_ >= text_.size()) return make(Kind::End);
        const char c = text_[at_];
        if (c == '\n') {
            Token t = make(Kind::Newline, "\n");
            ++at_;
            ++line_;
            return t;
        }
        if (comment(at_)) {
            const auto end = std::min(text_.find('\n', at_), text_.size());
            Token t = make(Kind::Comment, std::string(text_.substr(at_, end - at_)));
            at_ = end;
            return t;
        }
        switch (c) {
            case '"': return string();
            case '$': return substitution(depth);
            case ':': return one(Kind::Colon);
            case ',': return one(Kind::Comma);
            case '=': return one(Kind::Equals);
            case '{': return one(Kind::OpenCurly);
            case '}': return one(Kind::CloseCurly);
            case '[': return one(Kind::OpenSquare);
            case ']': return one(Kind::CloseSquare);
            case '+': {
                if (text_.substr(at_).starts_with("+=")) {
                    at_ += 2;
                    return make(Kind::PlusEquals, "+=");
                }
                const std::string after = shown(++at_);
                return problem(
                    after,
                    fmt::format("'+' not followed by =, '{0}' not allowed after '+'", after));
            }
            default: break;
        }
        if (digit(c) || c == '-') return number();
        if (kNotUnquoted.find(c) != std::string_view::npos) {
            ++at_;
            return problem(std::string(1, c),
                           fmt::format("Reserved character '{}' is not allowed outside quotes", c));
        }
        return unquoted();
    }

    Token one(Kind kind) { return make(kind, std::string(1, text_[at_++])); }

    Token unquoted() {
        std::string s;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (kNotUnquoted.find(c) != std::string_view::npos || c == '\n' || blank(text_, at_) ||
                comment(at_))
                break;
            s += c;
            ++at_;
            if (s == "true" || s == "false") {
                YamlNode n;
                n.kind = YamlNode::Kind::Boolean;
                n.boolean = s == "true";
                return value(std::move(n), s);
            }
            if (s == "null") return value(YamlNode(), s);
        }
        return make(Kind::Unquoted, std::move(s));
    }

    Token number() {
        std::string s(1, text_[at_++]);
        bool decimal = false;
        while (at_ < text_.size() &&
               std::string_view("0123456789eE+-.").find(text_[at_]) != std::string_view::npos) {
            const char c = text_[at_++];
            decimal = decimal || c == '.' || c == 'e' || c == 'E';
            s += c;
        }
        YamlNode n;
        if (double d = 0; decimal && to_float(s, d)) {
            n.kind = YamlNode::Kind::Float;
            n.number = d;
            if (d > -9e18 && d < 9e18 && d == static_cast<double>(static_cast<std::int64_t>(d))) {
                n.kind = YamlNode::Kind::Integer;
                n.integer = static_cast<std::int64_t>(d);
            }
            return value(std::move(n), s);
        }
        if (std::int64_t i = 0; !decimal && to_integer(s, i)) {
            n.kind = YamlNode::Kind::Integer;
            n.integer = i;
            return value(std::move(n), s);
        }
        if (s.find('+') != std::string::npos)
            return problem("+", "Reserved character '+'is not allowed outside quotes");
        return make(Kind::Unquoted, std::move(s));
    }

    Token string() {
        const std::size_t start = at_;
        YamlNode n;
        n.kind = YamlNode::Kind::String;
        if (text_.substr(at_).starts_with("\"\"\"")) {
            auto end = text_.find("\"\"\"", at_ + 3);
            if (end == std::string_view::npos) {
                at_ = text_.size();
                return problem("", "End of input but triple-quoted string was still open");
            }
            while (end + 3 < text_.size() && text_[end + 3] == '"') ++end;
            n.text = text_.substr(at_ + 3, end - at_ - 3);
            at_ = end + 3;
            Token t = value(n, std::string(text_.substr(start, at_ - start)), true);
            for (char c : n.text) line_ += c == '\n';
            return t;
        }
        ++at_;
        while (true) {
            if (at_ >= text_.size())
                return problem("-1", "End of input but string quote was still open");
            const char c = text_[at_++];
            if (c == '"') break;
            if (c == '\\') {
                if (std::string bad = escape(n.text); !bad.empty()) return problem(bad, message_);
                continue;
            }
            if (static_cast<unsigned char>(c) < 0x20) {
                return problem(std::string(1, c),
                               fmt::format("JSON does not allow unescaped {} in quoted strings, "
                                           "use a backslash escape",
                                           c == '\n' ? "newline" : std::string(1, c)));
            }
            n.text += c;
        }
        return value(n, std::string(text_.substr(start, at_ - start)), true);
    }

    /// Appends the character of an escape sequence. On failure, returns the problem and sets
    /// `message_`.
    std::string escape(std::string& out) {
        if (at_ >= text_.size()) {
            message_ = "End of input but backslash in string had nothing after it";
            return " ";
        }
        const char c = text_[at_++];
        if (const char plain = json_escape(c)) {
            out += plain;
            return {};
        }
        if (c != 'u') {
            message_ = fmt::format(
                "backslash followed by '{}', this is not a valid escape sequence (quoted strings "
                "use JSON escaping, so use double-backslash \\\\ for literal backslash)",
                c);
            return std::string(1, c);
        }
        auto unit = [&](std::uint32_t& v) {
            if (at_ + 4 > text_.size()) return false;
            v = 0;
            for (int k = 0; k < 4; ++k) {
                const char h = text_[at_ + static_cast<std::size_t>(k)];
                if (!std::isxdigit(static_cast<unsigned char>(h))) return false;
                v = v * 16 + static_cast<std::uint32_t>(digit(h) ? h - '0' : (h | 32) - 'a' + 10);
            }
            at_ += 4;
            return true;
        };
        std::uint32_t v = 0;
        if (!unit(v)) {
            message_ = "Malformed hex digits after \\u escape in string";
            return "u";
        }
        if (is_high_surrogate(v) && text_.substr(at_).starts_with("\\u")) {
            const std::size_t back = at_;
            std::uint32_t low = 0;
            at_ += 2;
            if (unit(low) && is_low_surrogate(low))
                v = join_surrogates(v, low);
            else
                at_ = back;
        }
        append_utf8(out, v);
        return {};
    }

    Token substitution(int depth) {
        const std::size_t start = at_++;
        if (at_ >= text_.size() || text_[at_] != '{' || depth > 0) {
            const std::string after = shown(at_);
            if (at_ < text_.size()) ++at_;
            return problem(
                after, fmt::format("'$' not followed by {{, '{}' not allowed after '$'", after));
        }
        ++at_;
        Token t = make(Kind::Substitution);
        if (at_ < text_.size() && text_[at_] == '?') {
            t.optional = true;
            ++at_;
        }
        // Blanks inside the path are significant, so a separate tokenizer reads it.
        Tokenizer inner(text_);
        inner.at_ = at_;
        BUNRAKU_ASSERT(depth == 0);
        inner.line_ = line_;
        while (true) {
            Token part = inner.next(depth + 1);
            if (part.kind == Kind::CloseCurly) break;
            if (part.kind == Kind::End) {
                at_ = inner.at_;
                return problem("end of file", "Substitution ${ was not closed with a }");
            }
            inner.push(std::move(part));
        }
        t.inside = std::move(inner.out_);
        at_ = inner.at_;
        line_ = inner.line_;
        BUNRAKU_ASSERT(at_ > start && at_ <= text_.size());
        t.text = text_.substr(start, at_ - start);
        return t;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    std::string blanks_;
    bool last_simple_ = false;
    std::string message_;
    std::vector<Token> out_;
};

}  // namespace

std::string Token::shown() const {
    if (kind == Kind::End) return "end of file";
    if (kind == Kind::Problem) return fmt::format("'{}' ({})", text, message);
    if (kind == Kind::Value && quoted) return fmt::format("'{}'", value.text);
    return fmt::format("'{}'", text);
}

std::vector<Token> tokenize(std::string_view text) {
    std::vector<Token> out = Tokenizer(text).all();
    BUNRAKU_ASSERT(!out.empty() && out.back().kind == Kind::End);
    return out;
}

}  // namespace bunraku::codec::hocon
