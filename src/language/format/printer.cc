// SPDX-License-Identifier: Apache-2.0
// Lexemes and their comments.
#include "language/format/printer.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"

namespace bunraku::format {

namespace {

bool in_one_line(const Comment& comment) {
    return comment.text.find('\n') == std::string_view::npos;
}

}  // namespace

void Printer::mismatch() const {
    base::PuppetError error("This construct cannot be formatted", {},
                            base::PuppetError::Class::Parse);
    error.at(source_.locate(lexemes_[at_].offset));
    throw error;
}

void Printer::program(const syntax::Program& program) {
    const Node* body = program.body;
    if (const auto* block = syntax::as<syntax::BlockExpression>(body)) {
        statements(block->statements, Position::Statement);
    } else if (body->kind != syntax::NodeKind::Nop) {
        statements({&body, 1}, Position::Statement);
    }
    if (!is(Tok::End)) mismatch();
    finish_items(Separator::Hard);
}

/// Writes the next lexeme with the comments before it.
void Printer::token() {
    comments(false);
    write_lexeme();
}

void Printer::token(Tok kind) {
    if (!is(kind)) mismatch();
    token();
}

/// Writes a bracket that must follow its operand without a blank.
void Printer::joined_token() {
    comments(true);
    write_lexeme();
}

void Printer::write_lexeme() {
    const Lexeme& lexeme = here();
    if (lexeme.kind == Tok::End) mismatch();
    out_.text(lexeme.text);
    if (!lexeme.heredoc.empty()) out_.heredoc(lexeme.heredoc);
    ++at_;
}

/// Reports whether a line break follows the comment with this index.
bool Printer::ends_line(const Lexeme& lexeme, std::size_t comment) const {
    if (!lexeme.comments[comment].block) return true;
    const bool last = comment + 1 == lexeme.comments.size();
    return (last ? lexeme.newlines : lexeme.comments[comment + 1].newlines) > 0;
}

/// Writes the comments before the next lexeme where no line break is needed. If `joined`, the last
/// comment is a block comment, and the lexeme follows it without a blank.
void Printer::comments(bool joined) {
    Lexeme& lexeme = here();
    for (std::size_t i = 0; i < lexeme.comments.size(); ++i) {
        const Comment& comment = lexeme.comments[i];
        const bool ends = ends_line(lexeme, i);
        if (comment.newlines == 0 && at_ > 0) {
            if (ends && in_one_line(comment)) {
                out_.comment(comment.text);
                continue;
            }
            out_.space();
        } else {
            out_.hard();
        }
        out_.text(comment.text);
        if (ends) {
            out_.hard();
        } else if (!joined || i + 1 < lexeme.comments.size()) {
            out_.space();
        }
    }
    lexeme.comments.clear();
}

/// Skips the next lexeme. Its comments move to the lexeme after it.
void Printer::drop() {
    BUNRAKU_ASSERT(at_ + 1 < lexemes_.size());
    Lexeme& dropped = here();
    Lexeme& next = lexemes_[++at_];
    int& newlines = next.comments.empty() ? next.newlines : next.comments.front().newlines;
    newlines = std::max(newlines, dropped.newlines);
    next.comments.insert(next.comments.begin(), dropped.comments.begin(), dropped.comments.end());
    dropped.comments.clear();
}

/// Writes an operator directly after its left operand. The comments before it become those of the
/// next lexeme.
void Printer::operator_token() {
    const std::string_view text = here().text;
    drop();
    out_.text(text);
}

void Printer::separator(Separator kind, bool blank) {
    switch (kind) {
        case Separator::Line: out_.line(blank); break;
        case Separator::Soft: out_.soft(blank); break;
        default: out_.hard(blank); break;
    }
}

/// Separates the next item from the previous one, or from the opening bracket if it is the `first`.
/// Comments at the end of the previous line stay there; the others get their own lines.
void Printer::start_item(Separator kind, bool first) {
    Lexeme& lexeme = here();
    const std::size_t count = lexeme.comments.size();
    const auto newlines_before = [&](std::size_t i) {
        return i < count ? lexeme.comments[i].newlines : lexeme.newlines;
    };
    std::size_t i = 0;
    for (; i < count && at_ > 0; ++i) {
        const Comment& comment = lexeme.comments[i];
        if (comment.newlines > 0 || !ends_line(lexeme, i) || !in_one_line(comment)) break;
        out_.comment(comment.text);
    }
    separator(kind, !first && newlines_before(i) >= 2);
    item_ = out_.size();
    for (; i < count; ++i) {
        out_.text(lexeme.comments[i].text);
        if (ends_line(lexeme, i)) {
            out_.hard(newlines_before(i + 1) >= 2);
            item_ = out_.size();
        } else {
            out_.space();
        }
    }
    lexeme.comments.clear();
}

/// Writes the comments before a closing bracket, ends the indentation and separates the bracket.
void Printer::finish_items(Separator kind) {
    Lexeme& lexeme = here();
    bool own_line = false;
    for (std::size_t i = 0; i < lexeme.comments.size(); ++i) {
        const Comment& comment = lexeme.comments[i];
        if (!own_line && comment.newlines == 0 && at_ > 0 && in_one_line(comment)) {
            if (ends_line(lexeme, i)) {
                out_.comment(comment.text);
            } else {
                out_.space();
                out_.inline_comment(comment.text);
            }
            continue;
        }
        out_.hard(comment.newlines >= 2);
        out_.text(comment.text);
        own_line = true;
    }
    lexeme.comments.clear();
    if (lexeme.kind != Tok::End) out_.dedent();
    separator(own_line ? Separator::Hard : kind, false);
}

}  // namespace bunraku::format
