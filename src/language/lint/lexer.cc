// SPDX-License-Identifier: Apache-2.0
#include "language/lint/lexer.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>

#include "language/lint/characters.h"
#include "language/lint/string_slurper.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

constexpr std::string_view kTypeNames[] = {
    "Any",     "Array",      "Binary",     "Boolean",  "Callable",    "CatalogEntry",
    "Class",   "Collection", "Data",       "Default",  "Enum",        "Error",
    "Float",   "Hash",       "Integer",    "Iterable", "Iterator",    "NotUndef",
    "Numeric", "Optional",   "Pattern",    "Regexp",   "Resource",    "RichData",
    "Runtime", "Scalar",     "ScalarData", "SemVer",   "SemVerRange", "Sensitive",
    "String",  "Struct",     "Tuple",      "Type",     "Undef",       "Variant",
};

/// Operators and punctuation; the first that matches wins.
constexpr std::pair<std::string_view, TokenType> kPunctuation[] = {
    {"[", T::LeftBracket},   {"]", T::RightBracket},  {"{", T::LeftBrace},
    {"}", T::RightBrace},    {"(", T::LeftParen},     {")", T::RightParen},
    {"==", T::IsEqual},      {"=~", T::Match},        {"=>", T::FatArrow},
    {"=", T::Equals},        {"+=", T::Appends},      {"+>", T::PlusArrow},
    {"+", T::Plus},          {">=", T::GreaterEqual}, {">>", T::RightShift},
    {">", T::GreaterThan},   {"<=", T::LessEqual},    {"<<|", T::LeftLeftCollect},
    {"<-", T::OutEdge},      {"<~", T::OutEdgeSub},   {"<|", T::LeftCollect},
    {"<<", T::LeftShift},    {"<", T::LessThan},      {"!~", T::NoMatch},
    {"!=", T::NotEqual},     {"!", T::Not},           {"|>>", T::RightRightCollect},
    {"|>", T::RightCollect}, {"->", T::InEdge},       {"~>", T::InEdgeSub},
    {"-", T::Minus},         {",", T::Comma},         {".", T::Dot},
    {":", T::Colon},         {";", T::Semicolon},     {"?", T::QuestionMark},
    {"\\", T::Backslash},    {"*", T::Times},         {"%", T::Modulo},
    {"|", T::Pipe},
};

/// The characters with which operators and punctuation begin.
constexpr auto kPunctuationBegins = [] {
    std::array<bool, 256> out{};
    for (const auto& [text, type] : kPunctuation) out[static_cast<unsigned char>(text[0])] = true;
    return out;
}();

/// How deeply strings with interpolation may nest. Each level reads its code again.
constexpr int kMaxNesting = 16;

/// Finds the next of two characters. Repeated searches from ascending positions take linear time
/// together.
class NextOf {
public:
    NextOf(char one, char other) : one_{one}, other_{other} {}
    /// Returns the position of the first of the characters at or after `from`, or npos.
    std::size_t at_or_after(std::string_view text, std::size_t from) {
        return std::min(one_.at_or_after(text, from), other_.at_or_after(text, from));
    }

private:
    struct Place {
        char character;
        std::size_t searched = 0, found = 0;
        bool valid = false;

        std::size_t at_or_after(std::string_view text, std::size_t from) {
            if (from < searched || (found != std::string_view::npos && found < from) || !valid)
                found = text.find(character, from);
            searched = from;
            valid = true;
            return found;
        }
    };
    Place one_, other_;
};

/// Tags of heredocs whose content begins on the next line. Interpolated code shares them with the
/// code around it.
using HeredocQueue = std::deque<std::string_view>;

class Lexer {
public:
    Lexer(std::string_view code, TokenStream& stream, HeredocQueue& heredocs, int nesting)
        : code_(code), stream_(stream), heredocs_(heredocs), nesting_(nesting) {}

    std::optional<LexError> run() {
        while (pos_ < code_.size()) {
            if (!blanks() && !word() && !punctuation() && !variable() && !quoted() &&
                !heredoc_tag() && !comment() && !regex() && !line_end() && !single()) {
                return error_ ? error_ : LexError{line_, column_, {}};
            }
        }
        return std::nullopt;
    }

private:
    std::string_view rest() const { return code_.substr(pos_); }

    /// Adds a token and advances line and column over its text.
    Token* add(TokenType type, std::string_view value, std::optional<std::string_view> raw = {}) {
        // The string part before it was counted with the "${" of an enclosed variable.
        if (type == T::UnenclosedVariable) column_ -= 2;
        Token* token = stream_.make(type, value, line_, column_);
        if (raw) {
            token->has_raw = true;
            token->raw = *raw;
        }
        stream_.append(token);
        if (type == T::Newline) {
            ++line_;
            column_ = 1;
        } else {
            advance(text_of(*token));
        }
        return token;
    }

    void advance(const TokenText& text) {
        // Most tokens are ASCII without a line end.
        if (std::ranges::all_of(text.body,
                                [](char c) { return static_cast<signed char>(c) >= ' '; })) {
            column_ += static_cast<int>(text.prefix.size() + text.body.size() + text.suffix.size());
            return;
        }
        std::size_t last_line = 0;
        bool broken = false;
        for (std::size_t i = 0; i < text.body.size();) {
            const std::size_t size = line_end_size(text.body, i);
            i += std::max<std::size_t>(size, 1);
            if (size == 0) continue;
            ++line_;
            broken = true;
            last_line = i;
        }
        const std::size_t tail = count_characters(text.body.substr(last_line)) + text.suffix.size();
        column_ = static_cast<int>(
            broken ? tail + 1 : static_cast<std::size_t>(column_) + text.prefix.size() + tail);
    }

    /// Adds a token for the next `size` bytes.
    bool take(TokenType type, std::size_t size) {
        add(type, code_.substr(pos_, size));
        pos_ += size;
        return true;
    }

    std::size_t end_of_blanks(std::size_t at) const {
        while (true) {
            while (char_at(code_, at) == ' ') ++at;
            const std::size_t size = blank_size(code_, at);
            if (size == 0) return at;
            at += size;
        }
    }

    bool blanks() {
        const std::size_t end = end_of_blanks(pos_);
        return end > pos_ && take(T::Whitespace, end - pos_);
    }

    bool word() {
        const char c = code_[pos_];
        const bool qualified = rest().starts_with("::");
        const char first = qualified ? char_at(code_, pos_ + 2) : c;
        if (is_upper(first)) return type_or_reference(qualified);
        if (!qualified && is_digit(c)) {
            if (const std::size_t size = number_size()) return take(T::Number, size);
        }
        if (is_lower(first) || is_digit(first) || first == '_') return name(qualified);
        return false;
    }

    bool type_or_reference(bool qualified) {
        if (!qualified) {
            std::size_t end = pos_;
            while (is_word(char_at(code_, end))) ++end;
            const std::string_view word = code_.substr(pos_, end - pos_);
            if (std::ranges::find(kTypeNames, word) != std::end(kTypeNames))
                return take(T::Type, word.size());
        }
        std::size_t end = pos_;
        while (true) {
            std::size_t next = end;
            if (code_.substr(next).starts_with("::")) next += 2;
            if (!is_upper(char_at(code_, next))) break;
            while (is_word(char_at(code_, next)) || char_at(code_, next) == '-') ++next;
            end = next;
        }
        return take(T::ClassReference, end - pos_);
    }

    bool name(bool qualified) {
        std::size_t end = pos_ + (qualified ? 2 : 0);
        while (true) {
            while (is_word(char_at(code_, end)) || char_at(code_, end) == '-') ++end;
            const char next = char_at(code_, end + 2);
            if (!code_.substr(end).starts_with("::") || !(is_lower(next) || is_digit(next))) break;
            end += 2;
        }
        if (char_at(code_, end) == '(') return take(T::FunctionName, end - pos_);
        return take(keyword_type(code_.substr(pos_, end - pos_)), end - pos_);
    }

    /// Returns the size of the number at this position, or 0. A number ends at a word boundary.
    std::size_t number_size() const {
        const std::string_view text = rest();
        const auto digits = [&](std::size_t from) {
            while (is_digit(char_at(text, from))) ++from;
            return from;
        };
        const auto ends = [&](std::size_t at) { return !is_word(char_at(text, at)); };
        if (text.starts_with("0x") || text.starts_with("0X")) {
            std::size_t end = 2;
            while (is_hex(char_at(text, end))) ++end;
            if (end > 2 && ends(end)) return end;
        }
        const auto exponent = [&](std::size_t from) -> std::size_t {
            if ((char_at(text, from) | 32) != 'e') return from;
            const std::size_t begin = from + 1 + (char_at(text, from + 1) == '-' ? 1 : 0);
            const std::size_t end = digits(begin);
            return end > begin ? end : from;
        };
        const std::size_t whole = digits(0);
        if (char_at(text, whole) == '.' && is_digit(char_at(text, whole + 1))) {
            const std::size_t fraction = digits(whole + 1);
            if (ends(exponent(fraction))) return exponent(fraction);
            if (ends(fraction)) return fraction;
        }
        if (ends(exponent(whole))) return exponent(whole);
        return ends(whole) ? whole : 0;
    }

    bool punctuation() {
        if (!kPunctuationBegins[static_cast<unsigned char>(code_[pos_])]) return false;
        for (const auto& [text, type] : kPunctuation)
            if (text[0] == code_[pos_] && rest().starts_with(text)) return take(type, text.size());
        return false;
    }

    bool variable() {
        if (code_[pos_] != '$') return false;
        std::size_t end = variable_name_end(code_, pos_ + 1);
        if (end == pos_ + 1) return false;
        // Each index belongs to the name, up to the first closing bracket.
        while (char_at(code_, end) == '[') {
            const std::size_t close = next_bracket_.at_or_after(code_, end + 2);
            if (char_at(code_, end + 1) == '\n' || close == std::string_view::npos ||
                code_[close] == '\n')
                break;
            end = close + 1;
        }
        const std::string_view text = code_.substr(pos_, end - pos_);
        add(T::Variable, text.substr(1), text);
        pos_ = end;
        return true;
    }

    /// Returns the size of the text up to the first `quote` without a backslash before it,
    /// including the quote. Returns 0 if there is none.
    static std::size_t quoted_size(std::string_view text, char quote) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\\')
                ++i;
            else if (text[i] == quote)
                return i + 1;
        }
        return 0;
    }

    bool quoted() {
        if (code_[pos_] == '\'') {
            const std::size_t size = quoted_size(code_.substr(pos_ + 1), '\'');
            if (size == 0) return false;
            add(T::SingleQuoted, code_.substr(pos_ + 1, size - 1));
            pos_ += size + 1;
            return true;
        }
        if (code_[pos_] != '"') return false;
        auto string = slurp_string(code_.substr(pos_ + 1));
        if (!string) return fail({line_, column_, "unterminated string"});
        if (!add_string(string->segments)) return false;
        pos_ += string->size + 1;
        return true;
    }

    bool fail(LexError error) {
        error_ = error;
        return false;
    }

    bool add_string(const std::vector<StringSegment>& segments) {
        if (segments.size() == 1) {
            add(T::String, segments[0].text);
            return true;
        }
        add(T::StringPre, segments.front().text);
        if (!add_inner(segments, segments.size() - 1, T::StringMid)) return false;
        add(T::StringPost, segments.back().text);
        return true;
    }

    bool add_heredoc(const std::vector<StringSegment>& segments) {
        // The raw text of the last token includes the line that ends the heredoc.
        const StringSegment& end = segments.back();
        const StringSegment& last = segments[segments.size() - 2];
        const std::string_view raw(last.text.data(), last.text.size() + end.text.size());
        if (segments.size() == 2) {
            add(T::Heredoc, last.text, raw);
            return true;
        }
        add(T::HeredocPre, segments.front().text);
        if (!add_inner(segments, segments.size() - 2, T::HeredocMid)) return false;
        add(T::HeredocPost, last.text, raw);
        return true;
    }

    /// Adds the segments between the first and segment `end`.
    bool add_inner(const std::vector<StringSegment>& segments, std::size_t end, TokenType mid) {
        for (std::size_t i = 1; i < end; ++i) {
            const StringSegment& segment = segments[i];
            switch (segment.kind) {
                case StringSegment::Kind::Code:
                    if (!add_code(segment.text)) return false;
                    break;
                case StringSegment::Kind::Variable: add(T::UnenclosedVariable, segment.text); break;
                default: add(mid, segment.text);
            }
        }
        return true;
    }

    /// Adds the tokens of interpolated code.
    bool add_code(std::string_view code) {
        if (nesting_ >= kMaxNesting) return fail({line_, column_, "strings nest too deeply"});
        TokenStream inner = stream_.sibling();
        if (auto error = Lexer(code, inner, heredocs_, nesting_ + 1).run()) return fail(*error);
        // An empty token keeps the "${" and "}" of empty code.
        if (inner.empty()) add(T::Whitespace, {});
        for (std::size_t i = 0; i < inner.size(); ++i) {
            const Token& token = *inner[i];
            const bool names = i == 0 && names_interpolated_variable(token);
            add(names ? T::Variable : token.type, token.value,
                token.has_raw ? std::optional(token.raw) : std::nullopt);
        }
        return true;
    }

    bool heredoc_tag() {
        if (!rest().starts_with("@(")) return false;
        const std::size_t begin = pos_ + 2;
        const std::size_t end = next_paren_.at_or_after(code_, begin + 1);
        if (char_at(code_, begin) == '\n' || end == std::string_view::npos || code_[end] == '\n')
            return false;
        const std::string_view tag = code_.substr(begin, end - begin);
        heredocs_.push_back(tag);
        add(T::HeredocOpen, tag);
        pos_ = end + 1;
        return true;
    }

    bool comment() {
        if (rest().starts_with("/*")) return multiline_comment();
        const std::size_t marker = code_[pos_] == '#' ? 1 : rest().starts_with("//") ? 2 : 0;
        if (marker == 0) return false;
        const std::size_t end = std::min(next_line_end_.at_or_after(code_, pos_), code_.size());
        add(marker == 1 ? T::Comment : T::SlashComment,
            code_.substr(pos_ + marker, end - pos_ - marker));
        pos_ = end;
        return true;
    }

    bool multiline_comment() {
        if (no_comment_end_) return false;
        const std::size_t end = code_.find("*/", pos_ + 2);
        no_comment_end_ = end == std::string_view::npos;
        if (no_comment_end_) return false;
        const std::string_view raw = code_.substr(pos_, end + 2 - pos_);
        std::string_view text = raw.substr(2, raw.size() - 4);
        if (text.starts_with(' ')) text.remove_prefix(1);
        if (text.ends_with(' ')) text.remove_suffix(1);
        add(T::MultilineComment, stream_.keep(without_stars(text)), raw);
        pos_ = end + 2;
        return true;
    }

    /// Removes the star that begins a line, and the spaces before it.
    static std::string without_stars(std::string_view text) {
        std::string out;
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            std::string_view line = text.substr(begin, end - begin);
            const std::size_t star = line.find_first_not_of(' ');
            if (star != std::string_view::npos && line[star] == '*') line.remove_prefix(star + 1);
            out += line;
            if (end < text.size()) out += '\n';
            begin = end + 1;
        }
        return out;
    }

    bool regex() {
        if (code_[pos_] != '/' || !regex_may_follow()) return false;
        const std::size_t size = quoted_size(code_.substr(pos_ + 1), '/');
        if (size == 0) return false;
        add(T::Regex, code_.substr(pos_ + 1, size - 1));
        pos_ += size + 1;
        return true;
    }

    bool regex_may_follow() const {
        const Token* before = stream_.last_code();
        return !before ||
               before->is(T::Node, T::LeftBrace, T::RightBrace, T::Match, T::NoMatch, T::Comma,
                          T::LeftBracket, T::If, T::Elsif, T::LeftParen, T::Equals);
    }

    bool line_end() {
        const std::size_t size = line_end_size(code_, pos_);
        if (size == 0) return false;
        take(T::Newline, size);
        if (!heredocs_.empty()) return heredoc_content();
        const std::size_t end = end_of_blanks(pos_);
        return end == pos_ || take(T::Indent, end - pos_);
    }

    bool heredoc_content() {
        const std::string_view tag = heredocs_.front();
        heredocs_.pop_front();
        const auto heredoc = slurp_heredoc(rest(), tag);
        if (!heredoc) return fail({line_, column_, "unterminated heredoc"});
        if (!add_heredoc(heredoc->segments)) return false;
        pos_ += heredoc->size;
        return true;
    }

    bool single() {
        if (error_) return false;
        if (code_[pos_] == '/') return take(T::Divide, 1);
        return code_[pos_] == '@' && take(T::At, 1);
    }

    std::string_view code_;
    std::size_t pos_ = 0;
    TokenStream& stream_;
    HeredocQueue& heredocs_;
    int nesting_;
    int line_ = 1, column_ = 1;
    std::optional<LexError> error_;
    NextOf next_bracket_{']', '\n'}, next_paren_{')', '\n'}, next_line_end_{'\r', '\n'};
    bool no_comment_end_ = false;  ///< whether there is no "*/" after this position
};

}  // namespace

std::optional<LexError> tokenise(std::string_view code, TokenStream& stream) {
    HeredocQueue heredocs;
    return Lexer(code, stream, heredocs, 0).run();
}

}  // namespace bunraku::lint
