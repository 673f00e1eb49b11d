// SPDX-License-Identifier: Apache-2.0
#include "language/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/regex/ruby_dialect.h"
#include "language/syntax/char_class.h"

namespace bunraku::syntax {

namespace detail {

namespace {

/// Returns the token of the keyword `word`, or Tok::Name if it is not a keyword. Tok::Boolean is
/// returned for both "true" and "false".
Tok keyword(std::string_view word, bool tasks) {
    BUNRAKU_ASSERT(!word.empty());
    auto is = [&](std::string_view text, Tok tok) { return word == text ? tok : Tok::Name; };
    switch (word[0]) {
        case 'a':
            if (word == "and") return Tok::And;
            if (word == "attr") return Tok::Attr;
            return tasks && word == "apply" ? Tok::Apply : Tok::Name;
        case 'c': return word == "class" ? Tok::Class : is("case", Tok::Case);
        case 'd': return word == "default" ? Tok::Default : is("define", Tok::Define);
        case 'e': return word == "else" ? Tok::Else : is("elsif", Tok::Elsif);
        case 'f': return word == "false" ? Tok::Boolean : is("function", Tok::Function);
        case 'i':
            if (word == "if") return Tok::If;
            return word == "in" ? Tok::In : is("inherits", Tok::Inherits);
        case 'n': return is("node", Tok::Node);
        case 'o': return is("or", Tok::Or);
        case 'p':
            if (word == "private") return Tok::Private;
            return tasks && word == "plan" ? Tok::Plan : Tok::Name;
        case 't': return word == "true" ? Tok::Boolean : is("type", Tok::Type);
        case 'u': return word == "undef" ? Tok::Undef : is("unless", Tok::Unless);
        default: return Tok::Name;
    }
}

struct Bom {
    std::string_view bytes;
    std::string_view name;
};
// Listed in the order in which Puppet checks. A three-byte mark only counts if a fourth byte
// follows. At the end of the text a space replaces that fourth byte.
constexpr Bom kBoms[] = {
    {std::string_view("\x00\x00\xFE\xFF", 4), "UTF-32"},
    {std::string_view("\xFF\xFE\x00\x00", 4), "UTF-32"},
    {"\x84\x31\x95\x33", "GB-18030"},
    {"\xDD\x73\x66\x73", "UTF-EBCDIC"},
    {"\x0E\xFE\xFF", "SCSU"},
    {"\xEF\xBB\xBF", "UTF-8"},
    {"\xF7\x64\x4C", "UTF-1"},
    {"\xFB\xEE\x28", "BOCU"},
    {"\xFE\xFF", "UTF-16"},
    {"\xFF\xFE", "UTF-16"},
};

void check_bom(std::string_view text) {
    for (const Bom& bom : kBoms) {
        if (!text.starts_with(bom.bytes)) continue;
        std::string bytes;
        for (unsigned char c : bom.bytes)
            bytes += fmt::format("{}{:X}", bytes.empty() ? "" : " ", c);
        throw base::PuppetError(
            fmt::format("Illegal {} Byte Order mark at beginning of input: [{}] - remove these "
                        "from the puppet source",
                        bom.name, bytes),
            "ILLEGAL_BOM", base::PuppetError::Class::Parse);
    }
}

}  // namespace

std::size_t blank_size(std::string_view text, std::size_t pos) {
    if (pos >= text.size()) return 0;
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const unsigned c = byte(pos);
    if (c == ' ' || c == '\t') return 1;
    if (c < 0xC2) return 0;
    const unsigned d = byte(pos + 1);
    const unsigned e = byte(pos + 2);
    if (c == 0xC2) return d == 0xA0 ? 2 : 0;
    if (c == 0xE1) return d == 0x9A && e == 0x80 ? 3 : 0;
    if (c == 0xE2 && d == 0x80) return (e >= 0x80 && e <= 0x8A) || e == 0xAF ? 3 : 0;
    if (c == 0xE2 && d == 0x81) return e == 0x9F ? 3 : 0;
    if (c == 0xE3) return d == 0x80 && e == 0x80 ? 3 : 0;
    return 0;
}

namespace {

/// Reports whether the non-ASCII character at `pos` cannot be part of a word: blanks, punctuation
/// and symbols.
bool is_foreign_punctuation(std::string_view text, std::size_t pos) {
    const auto byte = [&](std::size_t i) -> std::uint32_t {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const std::uint32_t c = byte(pos);
    std::uint32_t cp = 0;
    if (c >= 0xE0) {
        cp = ((c & 0x0F) << 12) | ((byte(pos + 1) & 0x3F) << 6) | (byte(pos + 2) & 0x3F);
        return (cp >= 0x2000 && cp <= 0x2BFF) || (cp >= 0x3000 && cp <= 0x3004) ||
               (cp >= 0xFFF0 && cp <= 0xFFFF) || cp == 0xFEFF;
    }
    cp = ((c & 0x1F) << 6) | (byte(pos + 1) & 0x3F);
    if (cp == 0xAA || cp == 0xB5 || cp == 0xBA) return false;
    return cp <= 0xBF || cp == 0xD7 || cp == 0xF7;
}

}  // namespace

std::size_t SubMap::global(std::size_t offset) const {
    std::size_t result = leading_offset + offset;
    if (has_margin && offset != 0) {
        BUNRAKU_ASSERT(!accumulated.empty() && !line_starts.empty() && line_starts.front() == 0);
        auto line = static_cast<std::size_t>(
            std::upper_bound(line_starts.begin(), line_starts.end(), offset) - line_starts.begin());
        result += accumulated[std::min(line, accumulated.size() - 1)];
    }
    return parent ? parent->global(result) : result;
}

base::PuppetError Lexer::make_error(std::string message, std::string_view code,
                                    std::size_t pos) const {
    pos = std::min(pos, text_.size());
    if (sub_) pos = sub_->global(pos);
    base::PuppetError error(std::move(message), std::string(code), base::PuppetError::Class::Parse);
    error.at(shared_.source.locate(static_cast<std::uint32_t>(pos)));
    return error;
}

void Lexer::fail(std::string message, std::string_view code, std::size_t pos) const {
    throw make_error(std::move(message), code, pos);
}

void Lexer::warn(std::string message, std::string_view code) {
    const std::size_t pos = sub_ ? sub_->global(pos_) : pos_;
    shared_.out.warnings.push_back(
        {tokens_.size(),
         base::Diagnostic{.level = base::Level::Warning,
                          .message = std::move(message),
                          .where = shared_.source.locate(static_cast<std::uint32_t>(pos)),
                          .issue_code = std::string(code)}});
}

std::string Lexer::followed_by() const {
    if (pos_ >= text_.size()) return "<eof>";
    std::string result;
    int characters = 0;
    for (std::size_t i = pos_; i < text_.size(); ++i) {
        const char c = text_[i];
        if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 && ++characters > 5) break;
        switch (c) {
            case '\t': result += "\\t"; break;
            case '\n': result += "\\n"; break;
            case '\r': result += "\\r"; break;
            default: result += c;
        }
    }
    return result + "...";
}

bool Lexer::skip_blank() {
    const std::size_t begin = pos_;
    for (;;) {
        const char c = at(pos_);
        if (pos_ < text_.size() && (c == ' ' || c == '\t' || c == '\r')) {
            ++pos_;
        } else if (static_cast<unsigned char>(c) >= 0x80) {
            const std::size_t size = blank_size(text_, pos_);
            if (size == 0) break;
            pos_ += size;
        } else {
            break;
        }
    }
    BUNRAKU_ASSERT(pos_ >= begin && pos_ <= text_.size());
    has_matched_ = pos_ > begin;
    if (has_matched_) set_matched(begin, pos_);
    return has_matched_;
}

void Lexer::scan() {
    skip_blank();
    while (pos_ < text_.size()) {
        // Fast path for the most frequent case: blanks between tokens. (The matched text is only
        // needed in strings.)
        if (text_[pos_] == ' ') {
            ++pos_;
            continue;
        }
        BUNRAKU_ASSERT(shared_.complete <= tokens_.size());
        shared_.complete = tokens_.size();
        if (lex_one() != Outcome::None) after_ = tokens_.back().kind;
        BUNRAKU_ASSERT(pos_ <= text_.size());
    }
}

Lexer::Outcome Lexer::lex_one() {
    BUNRAKU_ASSERT(pos_ < text_.size());
    const char c = text_[pos_];
    const char next = at(pos_ + 1);
    switch (c) {
        case ' ':
        case '\t':
        case '\r': skip_blank(); return Outcome::None;
        case '\n':
            if (newline_jump_ != kNone) {
                BUNRAKU_ASSERT(newline_jump_ > 0 && newline_jump_ <= text_.size());
                pos_ = newline_jump_;
                newline_jump_ = kNone;
            } else {
                ++pos_;
            }
            line_start_ = pos_;
            return Outcome::None;
        case '#': {
            const std::size_t begin = pos_;
            pos_ = std::min(text_.find('\n', pos_), text_.size());
            set_matched(begin, pos_);
            add_trivia(Trivia::Kind::LineComment, begin, pos_);
            return Outcome::None;
        }
        case '.': return punctuation(Tok::Dot, 1);
        case ',': return punctuation(Tok::Comma, 1);
        case ';': return punctuation(Tok::Semic, 1);
        case '?': return punctuation(Tok::QMark, 1);
        case '*': return punctuation(Tok::Times, 1);
        case ')': return punctuation(Tok::RParen, 1);
        case ']': return punctuation(Tok::RBrack, 1);
        case '[': {
            const char before = pos_ == 0 ? '\n' : text_[pos_ - 1];
            bool start = before == ' ' || before == '\t' || before == '\n' || before == '\r';
            if (!start && static_cast<unsigned char>(before) >= 0x80) {
                for (std::size_t back = 2; back <= 3 && back <= pos_ && !start; ++back) {
                    start = blank_size(text_, pos_ - back) == back;
                }
            }
            return punctuation(start ? Tok::ListStart : Tok::LBrack, 1);
        }
        case '(': {
            // A parenthesis that is first on its line never starts the arguments of a call.
            std::size_t i = line_start_;
            while (i < pos_) {
                const std::size_t size = text_[i] == '\r' ? 1 : blank_size(text_, i);
                if (size == 0) break;
                i += size;
            }
            return punctuation(i >= pos_ ? Tok::WsLParen : Tok::LParen, 1);
        }
        case '%':
            if (next == '>' && epp_mode_ != EppMode::Off) {
                const std::size_t count = tokens_.size();
                if (epp_mode_ == EppMode::Expr) push(Tok::EppEnd, pos_, 2, "%>");
                pos_ += 2;
                epp_mode_ = EppMode::Text;
                interpolate_epp(false);
                return tokens_.size() > count ? Outcome::Interpolated : Outcome::None;
            }
            return punctuation(Tok::Modulo, 1);
        case '{':
            ++brace_count_;
            return punctuation(after_ == Tok::QMark ? Tok::SelBrace : Tok::LBrace, 1);
        case '}': --brace_count_; return punctuation(Tok::RBrace, 1);
        case '@':
            if (next == '@') return punctuation(Tok::AtAt, 2);
            if (next == '(') return lex_heredoc();
            return punctuation(Tok::At, 1);
        case '|':
            if (next != '>') return punctuation(Tok::Pipe, 1);
            return at(pos_ + 2) == '>' ? punctuation(Tok::RRCollect, 3)
                                       : punctuation(Tok::RCollect, 2);
        case '=':
            if (next == '=') return punctuation(Tok::IsEqual, 2);
            if (next == '>') return punctuation(Tok::FArrow, 2);
            return next == '~' ? punctuation(Tok::Match, 2) : punctuation(Tok::Equals, 1);
        case '+':
            if (next == '=') return punctuation(Tok::Appends, 2);
            return next == '>' ? punctuation(Tok::PArrow, 2) : punctuation(Tok::Plus, 1);
        case '-':
            if (epp_mode_ != EppMode::Off && next == '%' && at(pos_ + 2) == '>') {
                const std::size_t count = tokens_.size();
                if (epp_mode_ == EppMode::Expr) push(Tok::EppEndTrim, pos_, 3, "-%>");
                pos_ += 3;
                interpolate_epp(true);
                return tokens_.size() > count ? Outcome::Interpolated : Outcome::None;
            }
            if (next == '>') return punctuation(Tok::InEdge, 2);
            return next == '=' ? punctuation(Tok::Deletes, 2) : punctuation(Tok::Minus, 1);
        case '!':
            if (next == '=') return punctuation(Tok::NotEqual, 2);
            return next == '~' ? punctuation(Tok::NoMatch, 2) : punctuation(Tok::Not, 1);
        case '~': return next == '>' ? punctuation(Tok::InEdgeSub, 2) : punctuation(Tok::Tilde, 1);
        case '<':
            switch (next) {
                case '<':
                    return at(pos_ + 2) == '|' ? punctuation(Tok::LLCollect, 3)
                                               : punctuation(Tok::LShift, 2);
                case '=': return punctuation(Tok::LessEqual, 2);
                case '|': return punctuation(Tok::LCollect, 2);
                case '-': return punctuation(Tok::OutEdge, 2);
                case '~': return punctuation(Tok::OutEdgeSub, 2);
                default: return punctuation(Tok::LessThan, 1);
            }
        case '>':
            if (next == '>') return punctuation(Tok::RShift, 2);
            return next == '=' ? punctuation(Tok::GreaterEqual, 2)
                               : punctuation(Tok::GreaterThan, 1);
        case '/': return lex_slash();
        case ':': return lex_colon();
        case '$': return lex_variable();
        case '"': return lex_double_quoted();
        case '\'': return lex_single_quoted();
        default: break;
    }
    if ((c >= 'a' && c <= 'z') || c == '_') return lex_word();
    if (c >= '0' && c <= '9') return lex_number();
    if (c >= 'A' && c <= 'Z') return lex_classref();
    if (static_cast<unsigned char>(c) >= 0x80 && skip_blank()) return Outcome::None;
    push(Tok::Other, pos_, 1, {});
    ++pos_;
    return Outcome::Token;
}

/// Lexes a bare word: segments of [a-z_] with dashes inside. The word is a name if every segment
/// starts with a letter and there is no dash.
Lexer::Outcome Lexer::lex_word() {
    const std::size_t begin = pos_;
    std::size_t i = pos_;
    bool name = true;
    for (;;) {
        std::size_t start = i;
        if (at(start) == ':' && at(start + 1) == ':') start += 2;
        const char first = at(start);
        if (!((first >= 'a' && first <= 'z') || first == '_')) break;
        if (first == '_') name = false;
        std::size_t end = start + 1;
        while (end < text_.size() && is_word(text_[end])) ++end;
        if (end < text_.size() && text_[end] == '-') {
            // A dash belongs to the word only if a word character follows.
            std::size_t last = end;
            for (std::size_t j = end; j < text_.size(); ++j) {
                if (is_word(text_[j])) {
                    last = j + 1;
                } else if (text_[j] != '-') {
                    break;
                }
            }
            if (last > end) name = false;
            end = last;
        }
        i = end;
        if (!(at(i) == ':' && at(i + 1) == ':')) break;
    }
    BUNRAKU_ASSERT(i > begin);
    pos_ = i;
    set_matched(begin, i);
    const std::string_view word = text_.substr(begin, i - begin);
    const Tok kind = !name              ? Tok::Word
                     : word.size() <= 8 ? keyword(word, shared_.tasks)
                                        : Tok::Name;
    push(kind, begin, word.size(), word);
    return Outcome::Token;
}

Lexer::Outcome Lexer::lex_classref() {
    const std::size_t begin = pos_;
    const bool qualified = text_[begin] == ':';
    std::size_t i = pos_;
    for (;;) {
        std::size_t start = i;
        if (at(start) == ':' && at(start + 1) == ':') start += 2;
        if (!(at(start) >= 'A' && at(start) <= 'Z')) break;
        i = start + 1;
        while (i < text_.size() && is_word(text_[i])) ++i;
    }
    BUNRAKU_ASSERT(i > begin);
    set_matched(begin, i);
    if (at(i) == ':' && at(i + 1) == ':') {
        if (qualified) {
            fail("Illegal fully qualified class reference",
                 "ILLEGAL_FULLY_QUALIFIED_CLASS_REFERENCE", i + 3);
        }
        fail("Illegal class reference", "ILLEGAL_CLASS_REFERENCE", i + 1);
    }
    pos_ = i;
    push(Tok::ClassRef, begin, i - begin, text_.substr(begin, i - begin));
    return Outcome::Token;
}

Lexer::Outcome Lexer::lex_colon() {
    if (at(pos_ + 1) != ':') return punctuation(Tok::Colon, 1);
    const char first = at(pos_ + 2);
    if (first >= 'A' && first <= 'Z') return lex_classref();
    if ((first >= 'a' && first <= 'z') || first == '_') {
        lex_word();
        Token& token = tokens_.back();
        if (token.kind != Tok::Word) token.kind = Tok::Name;
        return Outcome::Token;
    }
    fail("Illegal fully qualified name", "ILLEGAL_FULLY_QUALIFIED_NAME", pos_ + 2);
}

/// Returns the end of the variable name `(::)?(\w+::)*\w+` that starts at `from`, or `from` if
/// there is no such name.
std::size_t Lexer::scan_variable_name(std::size_t from) const {
    std::size_t i = from;
    if (at(i) == ':' && at(i + 1) == ':' && is_word(at(i + 2))) i += 2;
    if (!is_word(at(i))) return from;
    for (;;) {
        while (i < text_.size() && is_word(text_[i])) ++i;
        if (at(i) == ':' && at(i + 1) == ':' && is_word(at(i + 2))) {
            i += 2;
            continue;
        }
        return i;
    }
}

Lexer::Outcome Lexer::lex_variable() {
    const std::size_t begin = pos_;
    const std::size_t end = scan_variable_name(begin + 1);
    BUNRAKU_ASSERT(end > begin);
    pos_ = end;
    has_matched_ = end > begin + 1;
    if (has_matched_) set_matched(begin, end);
    push(Tok::Variable, begin, end - begin, text_.substr(begin + 1, end - begin - 1));
    return Outcome::Token;
}

bool Lexer::regexp_acceptable() const {
    switch (after_) {
        case Tok::RParen:
        case Tok::RBrack:
        case Tok::RRCollect:
        case Tok::RCollect:
        case Tok::Name:
        case Tok::ClassRef:
        case Tok::Number:
        case Tok::String:
        case Tok::Boolean:
        case Tok::DqPre:
        case Tok::DqMid:
        case Tok::DqPost:
        case Tok::Heredoc:
        case Tok::Regex:
        case Tok::Variable:
        case Tok::Word: return false;
        default: return true;
    }
}

Lexer::Outcome Lexer::lex_slash() {
    const std::size_t begin = pos_;
    if (at(begin + 1) == '*') {
        const std::size_t end = text_.find("*/", begin + 2);
        if (end == std::string_view::npos)
            fail("Unclosed multiline comment", "UNCLOSED_MLCOMMENT", begin);
        pos_ = end + 2;
        set_matched(begin, pos_);
        add_trivia(Trivia::Kind::BlockComment, begin, pos_);
        return Outcome::None;
    }
    if (!regexp_acceptable()) return punctuation(Tok::Div, 1);
    // The slash that ends the expression has an even number of backslashes before it.
    bool escaped = false;
    bool slashes = false;
    std::size_t i = begin + 1;
    for (; i < text_.size(); ++i) {
        const char c = text_[i];
        if (c == '/') {
            if (!escaped) break;
            slashes = true;
            escaped = false;
        } else {
            escaped = c == '\\' && !escaped;
        }
    }
    if (i >= text_.size()) {
        has_matched_ = false;
        return punctuation(Tok::Div, 1);
    }
    std::string_view pattern = text_.substr(begin + 1, i - begin - 1);
    if (slashes) {
        std::string plain;
        plain.reserve(pattern.size());
        for (std::size_t j = 0; j < pattern.size(); ++j) {
            if (pattern[j] == '\\' && j + 1 < pattern.size() && pattern[j + 1] == '/') continue;
            plain += pattern[j];
        }
        pattern = shared_.arena.copy(std::string_view(plain));
    }
    pos_ = i + 1;
    set_matched(begin, pos_);
    push(Tok::Regex, begin, pos_ - begin, pattern);
    return Outcome::Token;
}

namespace {

bool all_of(std::string_view text, std::size_t from, bool (*test)(char)) {
    return text.size() > from &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), test);
}

/// Returns the length of the decimal number at the start of `text`. The fraction and the exponent
/// are optional.
bool is_decimal(std::string_view text) {
    std::size_t i = 0;
    auto digits = [&] {
        const std::size_t start = i;
        while (i < text.size() && is_digit(text[i])) ++i;
        return i > start;
    };
    if (!digits()) return false;
    if (i < text.size() && text[i] == '.') {
        ++i;
        if (!digits()) return false;
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && text[i] == '-') ++i;
        if (!digits()) return false;
    }
    return i == text.size();
}

}  // namespace

void Lexer::check_number(std::string_view value, std::size_t pos) {
    std::size_t digits = 0;
    while (digits < value.size() && is_digit(value[digits])) ++digits;
    if (value.size() > 1 && value[0] == '0' && (value[1] == 'x' || value[1] == 'X')) {
        if (!all_of(value, 2, is_hex)) {
            fail(fmt::format("Not a valid hex number {}", value), "INVALID_HEX_NUMBER", pos);
        }
    } else if (value.size() > 1 && value[0] == '0' && value[1] != '.') {
        if (!all_of(value, 1, [](char c) { return c >= '0' && c <= '7'; })) {
            fail(fmt::format("Not a valid octal number {}", value), "INVALID_OCTAL_NUMBER", pos);
        }
    } else if (digits > 0 && digits < value.size() &&
               (value[digits] == '.' || value[digits] == 'e' || value[digits] == 'E')) {
        if (!is_decimal(value)) {
            fail(fmt::format("Not a valid decimal number {}", value), "INVALID_DECIMAL_NUMBER",
                 pos);
        }
    } else if (digits == 0 || digits != value.size()) {
        fail(fmt::format("Illegal number '{}'", value), "ILLEGAL_NUMBER", pos);
    }
}

/// A number must end where a word ends. If a number with an exponent or a fraction does not,
/// Puppet's pattern falls back to the digits before the dot.
Lexer::Outcome Lexer::lex_number() {
    const std::size_t begin = pos_;
    auto boundary = [&](std::size_t i) {
        if (i >= text_.size()) return true;
        if (static_cast<unsigned char>(text_[i]) >= 0x80) return is_foreign_punctuation(text_, i);
        return !is_word(text_[i]);
    };
    auto digits_from = [&](std::size_t i) {
        while (i < text_.size() && is_digit(text_[i])) ++i;
        return i;
    };
    std::size_t end = 0;
    if (text_[begin] == '0' && (at(begin + 1) == 'x' || at(begin + 1) == 'X')) {
        std::size_t i = begin + 2;
        while (i < text_.size() && is_hex(text_[i])) ++i;
        if (i > begin + 2 && boundary(i)) end = i;
    } else {
        const std::size_t whole = digits_from(begin);
        std::size_t fraction = whole;
        if (at(whole) == '.' && is_digit(at(whole + 1))) fraction = digits_from(whole + 1);
        auto exponent = [&](std::size_t from) {
            if (at(from) != 'e' && at(from) != 'E') return from;
            const std::size_t first = at(from + 1) == '-' ? from + 2 : from + 1;
            return is_digit(at(first)) ? digits_from(first) : from;
        };
        for (std::size_t candidate : {exponent(fraction), fraction, exponent(whole), whole}) {
            if (boundary(candidate)) {
                end = candidate;
                break;
            }
        }
    }
    if (end > 0) {
        BUNRAKU_ASSERT(end > begin);
        pos_ = end;
        set_matched(begin, end);
        const std::string_view value = text_.substr(begin, end - begin);
        check_number(value, begin);
        push(Tok::Number, begin, value.size(), value);
        return Outcome::Token;
    }
    std::size_t after = begin;
    while (after < text_.size() && is_word(text_[after])) ++after;
    std::size_t start = begin;
    if (begin > 1 && text_[begin - 1] == '.') {
        // The message also shows the digits before the dot.
        while (start > 0 && is_digit(at(start == begin ? begin - 2 : start - 1))) {
            start = start == begin ? begin - 2 : start - 1;
        }
    }
    const std::string_view value = text_.substr(start, after - start);
    check_number(value, start);
    fail(fmt::format("Illegal number '{}'", value), "ILLEGAL_NUMBER", start + 1);
}

}  // namespace detail

TokenStream tokenize(const Source& source, base::Arena& arena, const LexOptions& options) {
    TokenStream out;
    const std::string_view text = source.text();
    out.tokens.reserve(text.size() / 5 + 16);
    detail::LexShared shared{source, arena, out, options.tasks, options.trivia};
    const auto end = static_cast<std::uint32_t>(text.size());
    try {
        detail::check_bom(text);
        // This is Ruby's message without a location, because Puppet passes it on unchanged.
        if (!regex::is_valid_utf8(text)) {
            throw base::plain_error("invalid byte sequence in UTF-8");
        }
        detail::Lexer lexer(shared, text, nullptr);
        if (options.epp) {
            lexer.scan_epp();
        } else {
            lexer.scan();
        }
        BUNRAKU_ASSERT(shared.depth == 0);
        out.tokens.push_back(Tok::End, end, 0, {});
    } catch (base::PuppetError& error) {
        out.error = std::move(error);
        out.tokens.truncate(shared.complete);
        out.tokens.push_back(Tok::LexError, end, 0, {});
    }
    BUNRAKU_ASSERT((out.tokens.back().kind == Tok::LexError) == out.error.has_value());
    return out;
}

}  // namespace bunraku::syntax
