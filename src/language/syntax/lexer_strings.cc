// SPDX-License-Identifier: Apache-2.0
// Quoted strings and interpolation.
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/escapes.h"
#include "language/syntax/char_class.h"
#include "language/syntax/lexer.h"
#include "language/syntax/limits.h"

namespace bunraku::syntax::detail {

namespace {

constexpr unsigned kDoubleQuoteEscapes = kEscBackslash | kEscDollar | kEscSingle | kEscDouble |
                                         kEscR | kEscN | kEscT | kEscS | kEscU | kEscLine;

/// Reads the "XXXX" or "{X..}" that follows "\u". Returns the number of bytes read, or 0 if the
/// text is neither.
std::size_t unicode_digits(std::string_view text, std::size_t at, std::uint32_t* cp) {
    auto digit = [](char c) {
        return static_cast<std::uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    };
    *cp = 0;
    BUNRAKU_ASSERT(at <= text.size());
    if (at < text.size() && text[at] == '{') {
        std::size_t i = at + 1;
        while (i < text.size() && is_hex(text[i]) && i - at <= 6) *cp = *cp * 16 + digit(text[i++]);
        return i > at + 1 && i < text.size() && text[i] == '}' ? i + 1 - at : 0;
    }
    for (std::size_t i = 0; i < 4; ++i) {
        if (at + i >= text.size() || !is_hex(text[at + i])) return 0;
        *cp = *cp * 16 + digit(text[at + i]);
    }
    return 4;
}

/// Replaces unicode escapes in one pass. Returns false if nothing was replaced. Puppet replaces
/// them before all other escapes. It repeats the pass until none is left, because adjacent escapes
/// cannot both match in one pass.
bool replace_unicode(std::string& text, bool* illegal) {
    if (text.find("\\u") == std::string::npos) return false;
    std::string out;
    bool changed = false;
    const std::string_view view = text;
    for (std::size_t i = 0; i < view.size();) {
        const bool line_start = i == 0 || view[i - 1] == '\n';
        std::size_t run = view[i] != '\\' ? i + 1 : line_start ? i : std::string_view::npos;
        if (run != std::string_view::npos) {
            std::size_t end = run;
            while (end < view.size() && view[end] == '\\') ++end;
            std::uint32_t cp = 0;
            std::size_t digits = 0;
            if ((end - run) % 2 == 1 && end < view.size() && view[end] == 'u') {
                digits = unicode_digits(view, end + 1, &cp);
            }
            if (digits > 0) {
                if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF)) {
                    *illegal = true;
                    return false;
                }
                out.append(view.substr(i, end - 1 - i));
                codec::append_utf8(out, cp);
                i = end + 1 + digits;
                changed = true;
                continue;
            }
        }
        out += view[i++];
    }
    if (changed) text = std::move(out);
    return changed;
}

}  // namespace

unsigned escape_of(char c) {
    switch (c) {
        case '\\': return kEscBackslash;
        case '$': return kEscDollar;
        case '\'': return kEscSingle;
        case '"': return kEscDouble;
        case 'r': return kEscR;
        case 'n': return kEscN;
        case 't': return kEscT;
        case 's': return kEscS;
        case 'u': return kEscU;
        case '\n': return kEscLine;
        default: return 0;
    }
}

std::string_view Lexer::unescape(std::string_view raw, unsigned escapes, bool ignore_invalid) {
    if (raw.find('\\') == std::string_view::npos || escapes == 0) return raw;
    std::string text(raw);
    if (escapes & kEscU) {
        bool illegal = false;
        while (replace_unicode(text, &illegal)) {
        }
        if (illegal) {
            fail(
                "Unicode escape '\\u' was not followed by 4 hex digits or 1-6 hex digits in {} or "
                "was > 10ffff",
                "ILLEGAL_UNICODE_ESCAPE", pos_);
        }
    }
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 >= text.size()) {
            out += text[i];
            continue;
        }
        std::size_t size = 1;
        char c = text[i + 1];
        if (c == '\r') {
            if (i + 2 >= text.size() || text[i + 2] != '\n') {
                out += text[i];
                continue;
            }
            size = 2;
            c = '\n';
        } else if (static_cast<unsigned char>(c) >= 0xC0) {
            while (i + 1 + size < text.size() &&
                   (static_cast<unsigned char>(text[i + 1 + size]) & 0xC0) == 0x80) {
                ++size;
            }
        }
        const std::string_view ch = std::string_view(text).substr(i + 1, size);
        const unsigned escape = escape_of(c);
        if (escape != 0 && (escapes & escape)) {
            switch (c) {
                case 'r': out += '\r'; break;
                case 'n': out += '\n'; break;
                case 't': out += '\t'; break;
                case 's': out += ' '; break;
                case '\n': break;
                case 'u':
                    warn(
                        "Unicode escape '\\u' was not followed by 4 hex digits or 1-6 hex digits "
                        "in {} or was > "
                        "10ffff",
                        "ILLEGAL_UNICODE_ESCAPE");
                    out += "\\u";
                    break;
                default: out += c;
            }
        } else {
            if (!ignore_invalid) {
                warn(fmt::format("Unrecognized escape sequence '\\{}'", ch), "UNRECOGNIZED_ESCAPE");
            }
            out += '\\';
            out += ch;
        }
        i += size;
    }
    return shared_.arena.copy(std::string_view(out));
}

Lexer::Outcome Lexer::lex_single_quoted() {
    const std::size_t begin = pos_;
    bool escapes = false;
    std::size_t i = begin + 1;
    // If two quotes follow each other directly, the first one does not end the string: Puppet's
    // pattern accepts any character except a backslash before the end.
    if (at(i) == '\'' && terminator_after(i, "'") != kNone) ++i;
    while (i < text_.size() && text_[i] != '\'') {
        if (text_[i] == '\\') {
            escapes = true;
            ++i;
        }
        ++i;
    }
    if (i >= text_.size()) {
        pos_ = begin + 1;
        fail(fmt::format("Unclosed quote after \"'\" followed by '{}'", followed_by()),
             "UNCLOSED_QUOTE", pos_);
    }
    std::string_view value = text_.substr(begin + 1, i - begin - 1);
    if (escapes) {
        std::string plain;
        plain.reserve(value.size());
        for (std::size_t j = 0; j < value.size(); ++j) {
            if (value[j] == '\\' && j + 1 < value.size() &&
                (value[j + 1] == '\\' || value[j + 1] == '\''))
                ++j;
            plain += value[j];
        }
        value = shared_.arena.copy(std::string_view(plain));
    }
    pos_ = i + 1;
    set_matched(i > begin + 1 ? i - 1 : i, pos_);
    push(Tok::String, begin, pos_ - begin, value);
    return Outcome::Token;
}

/// Returns the offset of the terminator that follows the character at `pos` and any pairs of
/// backslashes. Returns kNone if another character follows. `terminators` lists the terminators.
std::size_t Lexer::terminator_after(std::size_t pos, std::string_view terminators) const {
    std::size_t i = pos + 1;
    while (at(i) == '\\' && at(i + 1) == '\\') i += 2;
    return i < text_.size() && terminators.find(text_[i]) != std::string_view::npos ? i : kNone;
}

bool Lexer::slurp(Slurp how, Piece* piece) {
    const std::size_t begin = pos_;
    std::size_t i = begin;
    const std::size_t size = text_.size();
    const std::string_view terminators = how == Slurp::Double ? "\"$" : "$";
    if (how == Slurp::All) {
        i = size;
    } else if (how == Slurp::UnquotedNoEscape) {
        i = std::min(text_.find('$', begin), size);
    } else {
        // As in single-quoted strings, a terminator at the start does not count if another one
        // directly follows it.
        if (i < size && terminators.find(text_[i]) != std::string_view::npos) {
            const std::size_t next_terminator = terminator_after(i, terminators);
            if (next_terminator != kNone) i = next_terminator;
        }
        for (; i < size; ++i) {
            const char c = text_[i];
            if (c == '$' || (c == '"' && how == Slurp::Double)) break;
            if (c == '\\') ++i;
        }
        if (i >= size) {
            if (how == Slurp::Double) {
                has_matched_ = false;
                return false;
            }
            i = size;
        }
    }
    BUNRAKU_ASSERT(i >= begin && i <= size);
    std::size_t length = i >= size ? 0 : 1;
    if (length == 1 && text_[i] == '$' && at(i + 1) == '{') length = 2;
    piece->raw = text_.substr(begin, i - begin);
    piece->terminator = text_.substr(i, length);
    pos_ = i + length;
    BUNRAKU_ASSERT(pos_ <= size);
    // The text that Puppet's pattern matched: the terminator, the backslashes before it, and the
    // character before those.
    std::size_t from = i;
    while (from > begin && text_[from - 1] == '\\') --from;
    if (from > begin) --from;
    while (from > begin && (static_cast<unsigned char>(text_[from]) & 0xC0) == 0x80) --from;
    BUNRAKU_ASSERT(from >= begin);
    set_matched(from, pos_);
    return true;
}

Lexer::Outcome Lexer::lex_double_quoted() {
    const std::size_t begin = pos_;
    set_matched(begin, begin + 1);
    ++pos_;
    return lex_segments(Slurp::Double, begin);
}

void Lexer::scan_unquoted(unsigned escapes, bool interpolate) {
    escapes_ = escapes;
    const Slurp how = !interpolate                  ? Slurp::All
                      : (escapes & kEscDollar) != 0 ? Slurp::Unquoted
                                                    : Slurp::UnquotedNoEscape;
    lex_segments(how, 0);
}

Lexer::Outcome Lexer::lex_segments(Slurp how, std::size_t first_begin) {
    const bool quoted = how == Slurp::Double;
    auto next_piece = [&](Piece* piece) -> std::string_view {
        const std::string_view last = has_matched_ ? matched_ : std::string_view();
        if (!slurp(how, piece)) {
            const std::string shown = last == "'" ? "\"'\"" : fmt::format("'{}'", last);
            fail(fmt::format("Unclosed quote after {} followed by '{}'", shown, followed_by()),
                 "UNCLOSED_QUOTE", pos_);
        }
        return unescape(piece->raw, quoted ? kDoubleQuoteEscapes : escapes_, !quoted);
    };
    std::size_t before = first_begin;
    for (bool first = true;; first = false) {
        Piece piece;
        std::string_view text = next_piece(&piece);
        std::string joined;  // text that includes dollars which do not start a variable
        auto store_joined = [&] {
            if (!joined.empty()) text = shared_.arena.copy(std::string_view(joined));
        };
        std::size_t after = pos_;
        for (;;) {
            if (piece.terminator.empty() || piece.terminator == "\"") {
                store_joined();
                push(first ? Tok::String : Tok::DqPost, before, pos_ - before, text);
                return first ? Outcome::Token : Outcome::Interpolated;
            }
            if (piece.terminator.size() == 2) {
                const int count = brace_count_++;
                store_joined();
                push(first ? Tok::DqPre : Tok::DqMid, before, pos_ - before, text);
                enqueue_until(count);
                break;
            }
            const std::size_t end = scan_variable_name(pos_);
            if (end > pos_) {
                set_matched(pos_, end);
                store_joined();
                BUNRAKU_ASSERT(after > before);
                push(first ? Tok::DqPre : Tok::DqMid, before, after - before - 1, text);
                const std::string_view name = text_.substr(pos_, end - pos_);
                push(Tok::Variable, after - 1, end - after + 1, name);
                pos_ = end;
                break;
            }
            // A dollar that does not start a variable is text.
            has_matched_ = false;
            if (joined.empty()) joined = text;
            joined += '$';
            joined += next_piece(&piece);
            after = pos_;
        }
        before = pos_;
    }
}

/// Adds the tokens up to the brace that closes the interpolation. A single word is a variable here.
/// So is a first word that "." or "[" follows.
void Lexer::enqueue_until(int brace_count) {
    BUNRAKU_ASSERT(shared_.depth >= 0);
    if (++shared_.depth > kMaxNesting) fail(kNestingMessage, "SYNTAX_ERROR", pos_);
    skip_blank();
    const std::size_t base = tokens_.size();
    const int depth = shared_.depth;
    while (pos_ < text_.size()) {
        switch (lex_one()) {
            case Outcome::None: skip_blank(); break;
            case Outcome::Interpolated: break;
            case Outcome::Token: {
                const Token& token = tokens_.back();
                after_ = token.kind;
                if (token.kind != Tok::RBrace || brace_count_ != brace_count) break;
                tokens_.pop_back();
                BUNRAKU_ASSERT(tokens_.size() >= base && shared_.depth == depth);
                const std::size_t count = tokens_.size() - base;
                if (count == 1 || (count > 1 && (tokens_[base + 1].kind == Tok::Dot ||
                                                 tokens_[base + 1].kind == Tok::LBrack))) {
                    transform_to_variable(tokens_[base]);
                }
                --shared_.depth;
                return;
            }
        }
    }
    BUNRAKU_ASSERT(shared_.depth == depth);
    --shared_.depth;
}

void Lexer::transform_to_variable(Token& token) const {
    const bool keyword =
        (token.kind >= Tok::Case && token.kind <= Tok::Apply) || token.kind == Tok::Boolean;
    if (keyword || token.kind == Tok::Number || token.kind == Tok::Name ||
        token.kind == Tok::Word) {
        token.kind = Tok::Variable;
    }
}

}  // namespace bunraku::syntax::detail
