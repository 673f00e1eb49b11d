// SPDX-License-Identifier: Apache-2.0
// Lists in brackets, aligned arrows, statements and blocks.
#include <algorithm>
#include <utility>

#include "language/format/printer.h"

namespace bunraku::format {

using Break = Layout::Break;

/// Writes a list whose opening bracket is the next lexeme. The list has several lines if its author
/// broke the line next to a bracket or an item, or if it is too long for one line.
void Printer::list(const ListStyle& style, std::size_t count, const Item& item) {
    const std::size_t group = out_.begin();
    write_lexeme();
    while (is(Tok::Comma)) drop();
    if (count == 0 && here().comments.empty()) {
        token(style.close);
        return out_.end();
    }
    if (style.hug && count == 1 && !here().follows_newline()) {
        std::vector<Arrow>* const outer = std::exchange(arrows_, nullptr);
        item(0);
        arrows_ = outer;
        skip_comma();
        token(style.close);
        return out_.end();
    }
    std::vector<Arrow> arrows;
    std::vector<Arrow>* const outer = std::exchange(arrows_, &arrows);
    const Separator edge = style.blanks ? Separator::Line : Separator::Soft;
    bool broken = style.always_break;
    bool unchanged = false;  // whether the last item was written without formatting
    out_.indent();
    for (std::size_t i = 0; i < count;) {
        unchanged = formatting_is_off();
        if (unchanged) {
            i = unformatted(i, count, item);
            continue;
        }
        broken = broken || here().follows_newline();
        start_item(i == 0 ? edge : Separator::Line, i == 0);
        if (++i == count && style.follow_inner_items) broken = broken || out_.has_break(group + 1);
        item(i - 1);
        if (i < count) {
            if (!is(Tok::Comma)) mismatch();
            operator_token();
        }
    }
    // `|$a = f(), |`: without the comma, the pipe would begin a lambda for the call.
    const bool needed = style.close == Tok::Pipe && is(Tok::Comma);
    skip_comma();
    if (needed && !unchanged) {
        out_.text(",");
    } else if (style.comma && count > 0 && !unchanged) {
        out_.if_broken(",");
    }
    broken = broken || here().follows_newline();
    broken = broken || (style.follow_items && count > 1 && out_.has_break(group + 1));
    finish_items(edge);
    token(style.close);
    out_.end();
    if (broken) out_.always_break(group);
    align(arrows);
    arrows_ = outer;
}

void Printer::skip_comma() {
    if (is(Tok::Comma)) drop();
}

namespace {

bool is_switch(const Comment& comment, std::string_view state) {
    std::string_view text = comment.text;
    if (comment.block || !text.starts_with('#')) return false;
    text.remove_prefix(1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    return text.starts_with("fmt: ") && text.substr(5) == state;
}

auto find_switch(const std::vector<Comment>& comments, std::string_view state) {
    return std::find_if(comments.begin(), comments.end(),
                        [&](const Comment& c) { return is_switch(c, state); });
}

}  // namespace

/// Reports whether `# fmt: off` precedes the next lexeme, without `# fmt: on` after it.
bool Printer::formatting_is_off() {
    const std::vector<Comment>& comments = here().comments;
    for (std::size_t i = comments.size(); i-- > 0;) {
        if (is_switch(comments[i], "on")) return false;
        if (is_switch(comments[i], "off")) return true;
    }
    return false;
}

/// Writes the items from `i` on as they are, up to the one after `# fmt: on`, whose index it
/// returns.
std::size_t Printer::unformatted(std::size_t i, std::size_t count, const Item& item) {
    const std::string_view text = source_.text();
    const auto offset_after = [&](std::string_view part) {
        return static_cast<std::size_t>(part.data() + part.size() - text.data());
    };
    Lexeme& first = here();
    auto last_off = first.comments.begin();
    for (auto it = last_off; it != first.comments.end(); ++it) {
        if (is_switch(*it, "off")) last_off = it;
    }
    std::size_t begin = offset_after(last_off->text);
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
    first.comments.erase(last_off + 1, first.comments.end());
    first.newlines = 1;
    start_item(Separator::Hard, i == 0);

    std::size_t end = begin;
    const std::size_t written = out_.size();
    do {
        const std::size_t from = at_;
        item(i++);
        while (is(Tok::Comma) || is(Tok::Semic)) drop();
        for (std::size_t k = from; k < at_; ++k) {
            const Lexeme& lexeme = lexemes_[k];
            end = std::max<std::size_t>(end, lexeme.end());
            if (!lexeme.heredoc.empty()) end = std::max(end, offset_after(lexeme.heredoc));
        }
    } while (i < count && find_switch(here().comments, "on") == here().comments.end());
    out_.truncate(written);
    if (arrows_) {
        std::erase_if(*arrows_, [&](const Arrow& arrow) { return arrow.pad >= written; });
    }
    std::erase_if(here().comments, [&](const Comment& c) { return offset_after(c.text) <= end; });
    std::string_view lines = text.substr(begin, end - begin);
    if (lines.ends_with('\n')) lines.remove_suffix(1);
    out_.raw(lines);
    return i;
}

/// Writes `=>` or `+>`, aligned with the other arrows of the list.
void Printer::arrow(std::size_t key) {
    if (!is(Tok::FArrow) && !is(Tok::PArrow)) mismatch();
    if (arrows_) arrows_->push_back({key, out_.pad()});
    out_.space();
    operator_token();
}

void Printer::align(const std::vector<Arrow>& arrows) {
    int widest = 0;
    for (const Arrow& arrow : arrows) {
        widest = std::max(widest, out_.flat_width(arrow.key, arrow.pad));
    }
    for (const Arrow& arrow : arrows) {
        const int width = out_.flat_width(arrow.key, arrow.pad);
        if (width >= 0) out_.set_pad(arrow.pad, widest - width);
    }
}

/// Writes the value after an operator. A long string is written in the next line if it fits there.
void Printer::value(const Node* node) {
    const Lexeme& first = here();
    const bool commented = !first.comments.empty() && first.follows_newline();
    const bool text = node->kind == syntax::NodeKind::LiteralString ||
                      node->kind == syntax::NodeKind::ConcatenatedString;
    if (!commented && (!text || first.text.find('\n') != std::string_view::npos)) {
        out_.space();
        return expr(node);
    }
    out_.begin(commented ? Break::Always : Break::IfItHelps);
    out_.indent();
    if (commented) {
        start_item(Separator::Line, true);
    } else {
        out_.line();
    }
    expr(node);
    out_.dedent();
    out_.end();
}

namespace {

/// Returns the statements of a body, which is null, a block, or a single statement.
syntax::NodeList statements_of(const syntax::Node* const& body) {
    if (!body) return {};
    if (const auto* block = syntax::as<syntax::BlockExpression>(body)) return block->statements;
    return {&body, 1};
}

/// Reports whether a statement that begins with this token may follow another one without a
/// semicolon, and without becoming a part of it.
bool begins_statement_safely(syntax::Tok tok) {
    using syntax::Tok;
    switch (tok) {
        case Tok::Variable:
        case Tok::Name:
        case Tok::ClassRef:
        case Tok::String:
        case Tok::DqPre:
        case Tok::At:
        case Tok::AtAt:
        case Tok::If:
        case Tok::Unless:
        case Tok::Case:
        case Tok::Class:
        case Tok::Define:
        case Tok::Node:
        case Tok::Function: return true;
        default: return false;
    }
}

}  // namespace

void Printer::statements(NodeList list, Position position) {
    const Item item = [&](std::size_t i) {
        if (list[i]->kind == syntax::NodeKind::IfExpression ||
            list[i]->kind == syntax::NodeKind::UnlessExpression) {
            return conditional(list[i], position);
        }
        expr(list[i]);
    };
    for (std::size_t i = 0; i < list.size();) {
        if (formatting_is_off()) {
            i = unformatted(i, list.size(), item);
            continue;
        }
        const bool of_name =
            i > 0 && list[i - 1]->kind == syntax::NodeKind::QualifiedName && is(Tok::LBrace);
        if (of_name && !here().follows_newline()) {
            out_.space();
        } else {
            start_item(i == 0 ? Separator::Line : Separator::Hard, i == 0);
        }
        item(i++);
        end_statement();
    }
}

/// Drops the semicolon after a statement if the next statement does not need it.
void Printer::end_statement() {
    if (!is(Tok::Semic)) return;
    if (begins_statement_safely(lexemes_[at_ + 1].kind)) {
        drop();
    } else {
        operator_token();
    }
}

/// Writes `{ statements }` with the breaks of the current group. Returns whether the group must be
/// broken.
bool Printer::block(const Node* body, Position position) {
    const NodeList list = statements_of(body);
    if (list.size() > 1) position = Position::Statement;
    token(Tok::LBrace);
    if (list.empty() && here().comments.empty()) {
        token(Tok::RBrace);
        return false;
    }
    const std::size_t begin = out_.size();
    bool broken = list.size() != 1 || here().follows_newline();
    out_.indent();
    statements(list, position);
    broken = broken || here().follows_newline() || out_.has_break(begin);
    finish_items(Separator::Line);
    token(Tok::RBrace);
    return broken;
}

/// Writes the block of a definition or statement, which always has several lines.
void Printer::block_of_definition(const Node* body) {
    out_.space();
    out_.begin(Break::Always);
    block(body, Position::Statement);
    out_.end();
}

/// Writes a block that may be in one line, such as that of a lambda.
void Printer::inline_block(const Node* body) {
    out_.space();
    const std::size_t group = out_.begin();
    if (block(body, Position::Value)) out_.always_break(group);
    out_.end();
}

}  // namespace bunraku::format
