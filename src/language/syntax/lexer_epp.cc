// SPDX-License-Identifier: Apache-2.0
// EPP: text with <% %> tags, scanned like Puppet::Pops::Parser::EppSupport.
#include "core/base/assert.h"
#include "language/syntax/lexer.h"

namespace bunraku::syntax::detail {

namespace {

enum class Mode { Text, Epp, Expr };

void drop_trailing_blanks(std::string& text) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
}

/// Returns the length of the text that a closing "-%>" removes: blanks and one line break on the
/// rest of its line.
std::size_t leading_trim(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
    if (i < text.size() && text[i] == '\r') ++i;
    if (i < text.size() && text[i] == '\n') ++i;
    return i;
}

}  // namespace

void Lexer::scan_epp() {
    epp_mode_ = EppMode::Text;
    BUNRAKU_ASSERT(pos_ == 0 && tokens_.size() == 0);
    push(Tok::EppStart, 0, 0, {});
    interpolate_epp(false);
    after_ = tokens_.back().kind;
    while (pos_ < text_.size()) {
        shared_.complete = tokens_.size();
        if (lex_one() != Outcome::None) after_ = tokens_.back().kind;
    }
    shared_.complete = tokens_.size();
    if (epp_open_) {
        fail("Unbalanced epp tag, reached <eof> without closing tag.", "EPP_UNBALANCED_TAG", pos_);
    }
}

/// Appends text of a template, in which "%%>" is a literal "%>".
static void append_unescaped(std::string& out, std::string_view part) {
    for (std::size_t from = 0; from < part.size();) {
        const std::size_t escape = part.find("%%>", from);
        if (escape == std::string_view::npos) {
            out += part.substr(from);
            return;
        }
        out += part.substr(from, escape - from);
        out += "%>";
        from = escape + 3;
    }
}

/// Skips a comment whose "#" is at pos_. Returns true if it ends with "-%>", so that the following
/// line end is dropped. `text` is the text before it.
bool Lexer::skip_epp_comment(std::string& text) {
    // The comment ends at the first "%>" that is not preceded by "%".
    std::size_t close = text_.find("%>", pos_ + 1);
    while (close != std::string_view::npos && text_[close - 1] == '%') {
        close = text_.find("%>", close + 1);
    }
    if (close == std::string_view::npos) {
        fail("Reaching end after opening <%# without seeing %>", "EPP_UNBALANCED_COMMENT", pos_);
    }
    BUNRAKU_ASSERT(close > pos_ && close + 2 <= text_.size());
    if (text_[pos_ + 1] == '-') drop_trailing_blanks(text);
    const bool trims = text_[close - 1] == '-';
    pos_ = close + 2;
    return trims;
}

void Lexer::interpolate_epp(bool skip_leading) {
    const std::size_t before = pos_;
    Mode mode = Mode::Text;
    std::string text;
    // Text that ends with a comment or with "<%%" is lost, as in Puppet (8.11).
    bool keep = false;
    bool done = false;
    while (!done && pos_ < text_.size()) {
        const std::size_t tag = text_.find("<%", pos_);
        const bool has_tag = tag != std::string_view::npos;
        const std::size_t end = has_tag ? tag + 2 : text_.size();
        BUNRAKU_ASSERT(end > pos_ && end <= text_.size());
        std::string_view part = text_.substr(pos_, end - pos_);
        pos_ = end;
        if (skip_leading) {
            part.remove_prefix(leading_trim(part));
            skip_leading = false;
        }
        append_unescaped(text, part);
        if (pos_ >= text_.size()) {
            if (text.ends_with("<%")) {
                fail("Unbalanced embedded expression - opening <% and reaching end of input",
                     "EPP_UNBALANCED_EXPRESSION", pos_);
            }
            keep = true;
            break;
        }
        BUNRAKU_ASSERT(has_tag && text.ends_with("<%"));
        switch (text_[pos_]) {
            case '-':
                ++pos_;
                if (text.ends_with("<%")) {
                    text.resize(text.size() - 2);
                    drop_trailing_blanks(text);
                }
                mode = Mode::Epp;
                done = true;
                break;
            case '%': ++pos_; break;  // "<%%" is a literal "<%"
            case '=':
                ++pos_;
                text.resize(text.size() - 2);
                mode = Mode::Expr;
                done = true;
                break;
            case '#':
                text.resize(text.size() - 2);
                skip_leading = skip_epp_comment(text);
                break;
            default:
                text.resize(text.size() - 2);
                mode = Mode::Epp;
                done = true;
        }
    }
    BUNRAKU_ASSERT(done == (mode != Mode::Text) && !(keep && done));
    if (mode == Mode::Text ? keep : !text.empty()) {
        push(Tok::RenderString, before, pos_ - before, shared_.arena.copy(std::string_view(text)));
    }
    switch (mode) {
        case Mode::Text: epp_open_ = false; break;
        case Mode::Epp:
            epp_mode_ = EppMode::Epp;
            epp_open_ = true;
            break;
        case Mode::Expr:
            push(Tok::RenderExpr, before, 0, {});
            epp_mode_ = EppMode::Expr;
            epp_open_ = true;
            break;
    }
}

}  // namespace bunraku::syntax::detail
