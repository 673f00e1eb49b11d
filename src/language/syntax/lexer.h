// SPDX-License-Identifier: Apache-2.0
// Converts text to tokens according to the rules of Puppet::Pops::Parser::Lexer2 and its parts for
// heredocs, interpolation, strings and EPP.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "language/syntax/source.h"
#include "language/syntax/token.h"

namespace bunraku::syntax {

/// A lexer warning, with the number of tokens that the lexer had produced before it.
struct LexWarning {
    std::size_t token_count;
    base::Diagnostic diagnostic;
};

/// All tokens of a text. The last token is End, or LexError if `error` is set.
struct TokenStream {
    TokenBuffer tokens;
    std::vector<LexWarning> warnings;
    std::optional<base::PuppetError> error;
};

/// A part of the text that is not a token: a comment, or the lines of a heredoc with its end tag.
struct Trivia {
    enum class Kind : std::uint8_t { LineComment, BlockComment, HeredocText };
    Kind kind;
    std::uint32_t offset, length;
};

struct LexOptions {
    bool epp = false;
    bool tasks = false;
    /// Receives the trivia of the text in the order of the tokens. May be null. Trivia within the
    /// text of a heredoc are not reported, but those within "${..}" of a quoted string are.
    std::vector<Trivia>* trivia = nullptr;
};

/// Splits the source into tokens. Does not throw on invalid input; see TokenStream::error.
TokenStream tokenize(const Source& source, base::Arena& arena, const LexOptions& options);

namespace detail {

struct HeredocTag;
struct HeredocEnd;
struct HeredocLine;

/// Maps offsets in the text of a heredoc to offsets in its container (Puppet's SubLocator).
struct SubMap {
    const SubMap* parent = nullptr;
    std::size_t leading_offset = 0;
    bool has_margin = false;
    std::vector<std::size_t> line_starts;
    /// per line, from 1: total of the margins removed up to that line
    std::vector<std::size_t> accumulated;
    std::size_t global(std::size_t offset) const;
};

/// The state that the lexer of a text shares with the lexers of its heredocs.
struct LexShared {
    const Source& source;
    base::Arena& arena;
    TokenStream& out;
    bool tasks = false;
    std::vector<Trivia>* trivia = nullptr;
    int depth = 0;
    std::deque<SubMap> maps;
    /// Number of tokens of complete constructs. The tokens of a string count only after its last
    /// part is read.
    std::size_t complete = 0;
};

/// The escapes that a string supports.
enum Escape : unsigned {
    kEscBackslash = 1,
    kEscDollar = 2,
    kEscSingle = 4,
    kEscDouble = 8,
    kEscR = 16,
    kEscN = 32,
    kEscT = 64,
    kEscS = 128,
    kEscU = 256,
    kEscLine = 512,
};

class Lexer {
public:
    Lexer(LexShared& shared, std::string_view text, const SubMap* sub)
        : shared_(shared), tokens_(shared.out.tokens), text_(text), sub_(sub) {}

    void scan();
    void scan_epp();
    /// Lexes heredoc text into one string, or into the parts of an interpolated string.
    void scan_unquoted(unsigned escapes, bool interpolate);

private:
    enum class Outcome { None, Token, Interpolated };
    enum class EppMode { Off, Text, Epp, Expr };
    enum class Slurp { Double, Unquoted, UnquotedNoEscape, All };
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    // Core (lexer.cc).
    Outcome lex_one();
    Outcome lex_word();
    Outcome lex_classref();
    Outcome lex_number();
    Outcome lex_variable();
    Outcome lex_colon();
    Outcome lex_slash();
    bool regexp_acceptable() const;
    bool skip_blank();
    void push(Tok kind, std::size_t begin, std::size_t length, std::string_view value) {
        BUNRAKU_ASSERT(begin <= text_.size() && length <= text_.size() - begin);
        if (sub_) [[unlikely]] {
            const std::size_t end = sub_->global(begin + length);
            begin = sub_->global(begin);
            length = end > begin ? end - begin : 0;
        }
        BUNRAKU_ASSERT(begin + length <= shared_.source.text().size());
        tokens_.push_back(kind, static_cast<std::uint32_t>(begin),
                          static_cast<std::uint32_t>(length), value);
    }
    Outcome punctuation(Tok kind, std::size_t length) {
        BUNRAKU_ASSERT(length > 0 && length <= text_.size() - pos_);
        push(kind, pos_, length, text_.substr(pos_, length));
        pos_ += length;
        return Outcome::Token;
    }
    char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
    void add_trivia(Trivia::Kind kind, std::size_t begin, std::size_t end) {
        BUNRAKU_ASSERT(begin <= end && end <= text_.size());
        if (!shared_.trivia || sub_) return;
        shared_.trivia->push_back(
            {kind, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)});
    }
    void set_matched(std::size_t begin, std::size_t end) {
        BUNRAKU_ASSERT(begin <= end && end <= text_.size());
        matched_ = text_.substr(begin, end - begin);
        has_matched_ = true;
    }
    void check_number(std::string_view value, std::size_t pos);
    base::PuppetError make_error(std::string message, std::string_view code, std::size_t pos) const;
    [[noreturn]] void fail(std::string message, std::string_view code, std::size_t pos) const;
    void warn(std::string message, std::string_view code);
    std::string followed_by() const;

    // Strings (lexer_strings.cc).
    struct Piece {
        std::string_view raw;
        std::string_view terminator;
    };
    Outcome lex_single_quoted();
    Outcome lex_double_quoted();
    void lex_unquoted();
    /// Lexes the segments from `pos_` up to the end of the string. `first_begin` is the offset at
    /// which the first segment starts.
    Outcome lex_segments(Slurp how, std::size_t first_begin);
    bool slurp(Slurp how, Piece* piece);
    std::size_t terminator_after(std::size_t pos, std::string_view terminators) const;
    std::string_view unescape(std::string_view raw, unsigned escapes, bool ignore_invalid);
    void enqueue_until(int brace_count);
    void transform_to_variable(Token& token) const;
    std::size_t scan_variable_name(std::size_t from) const;

    // Heredocs (lexer_heredoc.cc).
    Outcome lex_heredoc();
    HeredocTag read_heredoc_tag();
    unsigned heredoc_escapes(std::string_view escapes) const;
    std::size_t heredoc_text_begin() const;
    std::string_view heredoc_content(std::span<const HeredocLine> lines, const HeredocEnd& end,
                                     SubMap& map) const;

    // EPP (lexer_epp.cc).
    void interpolate_epp(bool skip_leading);
    bool skip_epp_comment(std::string& text);

    LexShared& shared_;
    TokenBuffer& tokens_;
    std::string_view text_;
    const SubMap* sub_;
    std::size_t pos_ = 0;
    int brace_count_ = 0;
    Tok after_ = Tok::End;
    std::size_t line_start_ = 0;
    std::size_t newline_jump_ = kNone;
    EppMode epp_mode_ = EppMode::Off;
    bool epp_open_ = false;
    unsigned escapes_ = 0;
    /// The text of the last match, which the message "Unclosed quote after .." shows.
    std::string_view matched_;
    bool has_matched_ = false;
};

/// Returns the size in bytes of the blank character ([[:blank:]]) at `pos`, or 0 if there is none.
std::size_t blank_size(std::string_view text, std::size_t pos);
/// Returns the class of the escape whose character after the backslash is `c`, or 0 if the escape
/// is unknown.
unsigned escape_of(char c);

}  // namespace detail
}  // namespace bunraku::syntax
