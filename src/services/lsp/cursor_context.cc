// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/cursor_context.h"

#include <vector>

#include "core/base/text.h"
#include "language/syntax/lexer.h"

namespace bunraku::lsp {

namespace {

using syntax::Tok;
using syntax::Token;

bool is_cursor_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':';
}

/// An open bracket before the cursor.
struct OpenBracket {
    Tok kind{};
    std::size_t token = 0;  ///< index of the bracket
    int commas = 0;         ///< since it was opened
    std::size_t colon = 0;  ///< index of the last ":" in braces, reset by ";"
};

class ContextReader {
public:
    ContextReader(std::string_view text, std::uint32_t offset, bool epp)
        : text_(text.substr(0, offset)), source_("", std::string(text_)) {
        std::uint32_t begin = offset;
        while (begin > 0 && is_cursor_word(text_[begin - 1])) --begin;
        out_.word = {begin, offset - begin};
        stream_.emplace(syntax::tokenize(source_, arena_, {.epp = epp}));
        for (std::size_t i = 0; i < stream_->tokens.size(); ++i) {
            const Token& token = stream_->tokens.data()[i];
            if (token.kind == Tok::End || token.kind == Tok::LexError) break;
            if (token.offset + token.length > begin) break;
            tokens_.push_back(token);
        }
    }

    CursorContext run() {
        find_brackets();
        find_call();
        const std::string_view rest = rest_before_word();
        const std::string_view before = text_.substr(0, out_.word.offset);
        const std::string_view pending = base::trim(rest);
        const bool plain = pending.starts_with('\'') || rest.find('#') != std::string_view::npos;
        if (!plain && (before.ends_with('$') || before.ends_with("${"))) {
            out_.expected = Expected::Variable;
            return out_;
        }
        if (pending.starts_with('\'') || pending.starts_with('"')) {
            in_string();
            return out_;
        }
        if (pending.starts_with('#') || rest.find('#') != std::string_view::npos) {
            out_.expected = Expected::Nothing;
            return out_;
        }
        expected_by_tokens();
        return out_;
    }

private:
    const Token* last(std::size_t back = 0) const {
        return back < tokens_.size() ? &tokens_[tokens_.size() - 1 - back] : nullptr;
    }
    bool last_is(Tok kind, std::size_t back = 0) const {
        return last(back) && last(back)->kind == kind;
    }
    /// Returns the text between the last complete token and the word.
    std::string_view rest_before_word() const {
        const std::size_t from = tokens_.empty() ? 0 : last()->offset + last()->length;
        if (from > out_.word.offset) return {};
        return text_.substr(from, out_.word.offset - from);
    }

    void find_brackets() {
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            switch (tokens_[i].kind) {
                case Tok::LBrace:
                case Tok::SelBrace:
                case Tok::LBrack:
                case Tok::ListStart:
                case Tok::LParen:
                case Tok::WsLParen: open_.push_back({tokens_[i].kind, i}); break;
                case Tok::RBrace:
                case Tok::RBrack:
                case Tok::RParen:
                    if (!open_.empty()) open_.pop_back();
                    break;
                case Tok::Comma:
                    if (!open_.empty()) ++open_.back().commas;
                    break;
                case Tok::Colon:
                    if (!open_.empty()) open_.back().colon = i;
                    break;
                case Tok::Semic:
                    if (!open_.empty()) open_.back().colon = 0;
                    break;
                default: break;
            }
        }
    }
    void find_call() {
        for (std::size_t i = open_.size(); i-- > 0;) {
            const OpenBracket& open = open_[i];
            if (open.kind == Tok::LBrace) return;
            if (open.kind != Tok::LParen || open.token == 0) continue;
            const Token& name = tokens_[open.token - 1];
            const bool definition =
                open.token >= 2 && tokens_[open.token - 2].kind == Tok::Function;
            if (name.kind != Tok::Name || definition) continue;
            out_.function = name.value;
            out_.argument = open.commas;
            return;
        }
    }
    void in_string() {
        out_.in_string = true;
        out_.expected = Expected::Nothing;
        if (base::trim(rest_before_word()).substr(1).starts_with("puppet:///modules/")) {
            out_.expected = Expected::ServedFile;
            return;
        }
        const Token* before = last();
        if (before && (before->kind == Tok::LParen || before->kind == Tok::WsLParen))
            before = last(1);
        if (before && before->kind == Tok::Name) {
            const std::string_view name = before->value;
            if (name == "lookup" || name.starts_with("hiera")) out_.expected = Expected::HieraKey;
            if (name == "include" || name == "contain" || name == "require")
                out_.expected = Expected::ClassName;
            if (name == "epp" || name == "template") out_.expected = Expected::TemplateName;
            if (name == "file") out_.expected = Expected::FileName;
            if (out_.expected != Expected::Nothing) return;
        }
        if (last_is(Tok::LBrack) || last_is(Tok::ListStart)) return fact_key();
        if (last_is(Tok::LBrace) && last_is(Tok::Class, 1)) {
            out_.expected = Expected::ClassName;
            return;
        }
        if (last_is(Tok::FArrow)) attribute_value();
    }
    void fact_key() {
        // Collects ['a']['b'][ backwards up to $facts.
        std::string path;
        std::size_t back = 1;
        while (last_is(Tok::RBrack, back) && last_is(Tok::String, back + 1) &&
               (last_is(Tok::LBrack, back + 2) || last_is(Tok::ListStart, back + 2))) {
            path = std::string(last(back + 1)->value) + (path.empty() ? "" : ".") + path;
            back += 3;
        }
        if (last_is(Tok::Variable, back) && last(back)->value == "facts") {
            out_.expected = Expected::FactKey;
            out_.fact_path = path;
        } else if (last_is(Tok::ClassRef, back) && last(back)->value == "Class") {
            out_.expected = Expected::ClassName;
        } else if (last_is(Tok::ClassRef, back)) {
            out_.expected = Expected::ResourceTitle;
            out_.type = base::lower(without_leading_colons(last(back)->value));
        }
    }
    /// Finds the resource around the cursor. Returns false if there is none.
    bool find_resource() {
        if (open_.empty() || open_.back().kind != Tok::LBrace || open_.back().token == 0)
            return false;
        const OpenBracket& open = open_.back();
        const Token& before = tokens_[open.token - 1];
        const bool defaults = before.kind == Tok::ClassRef || before.kind == Tok::RBrack;
        if (before.kind == Tok::Class) {
            out_.type = "class";
        } else if (before.kind == Tok::Name || before.kind == Tok::ClassRef) {
            out_.type = base::lower(without_leading_colons(before.value));
        } else if (before.kind == Tok::RBrack) {
            for (std::size_t i = open.token - 1; i-- > 0;)
                if (tokens_[i].kind == Tok::ClassRef) {
                    out_.type = base::lower(without_leading_colons(tokens_[i].value));
                    break;
                }
        } else {
            return false;
        }
        if (open.token >= 2 && before.kind == Tok::Name) {
            // The braces of a class, define, function or node are not those of a resource.
            const Tok keyword = tokens_[open.token - 2].kind;
            if (keyword == Tok::Class || keyword == Tok::Define || keyword == Tok::Inherits ||
                keyword == Tok::Node || keyword == Tok::Function || keyword == Tok::Plan)
                return false;
        }
        if (open.colon > 0 && tokens_[open.colon - 1].kind == Tok::String)
            out_.title = tokens_[open.colon - 1].value;
        return open.colon > 0 || (defaults && !out_.type.empty());
    }
    static std::string_view without_leading_colons(std::string_view name) {
        return name.starts_with("::") ? name.substr(2) : name;
    }
    void attribute_value() {
        out_.expected = Expected::Expression;
        if (!find_resource() || tokens_.size() < 2) return;
        out_.attribute = last(1)->value;
        out_.expected = Expected::AttributeValue;
    }

    void expected_by_tokens() {
        const std::string_view word = text_.substr(out_.word.offset);
        const bool capital = !word.empty() && word.front() >= 'A' && word.front() <= 'Z';
        if (last_is(Tok::Name)) {
            const std::string_view name = last()->value;
            if (name == "include" || name == "contain" || name == "require") {
                out_.expected = Expected::ClassName;
                return;
            }
        }
        if (last_is(Tok::Inherits)) {
            out_.expected = Expected::ClassName;
            return;
        }
        if (last_is(Tok::FArrow)) return attribute_value();
        if (last_is(Tok::LBrack) && last_is(Tok::ClassRef, 1) && last(1)->value == "Class") {
            out_.expected = Expected::ClassName;
            return;
        }
        const bool after_separator =
            last_is(Tok::Colon) || last_is(Tok::Comma) || last_is(Tok::LBrace);
        if (after_separator && find_resource()) {
            out_.expected = Expected::Attribute;
            return;
        }
        if (after_separator && continues_include()) {
            out_.expected = Expected::ClassName;
            return;
        }
        if (capital) {
            out_.expected = Expected::TypeName;
            return;
        }
        out_.expected = begins_statement() ? Expected::Statement : Expected::Expression;
    }
    /// Reports whether the cursor is after "include a, ".
    bool continues_include() const {
        std::size_t back = 0;
        while (last_is(Tok::Comma, back) &&
               (last_is(Tok::Name, back + 1) || last_is(Tok::String, back + 1)))
            back += 2;
        return back > 0 && last_is(Tok::Name, back) &&
               (last(back)->value == "include" || last(back)->value == "contain" ||
                last(back)->value == "require");
    }
    bool begins_statement() const {
        if (tokens_.empty()) return true;
        switch (last()->kind) {
            case Tok::LBrace:
            case Tok::RBrace:
            case Tok::RParen: return true;
            default: break;
        }
        // A statement begins on a new line unless an operator or a comma precedes.
        if (rest_before_word().find('\n') == std::string_view::npos) return false;
        switch (last()->kind) {
            case Tok::Name:
            case Tok::String:
            case Tok::DqPost:
            case Tok::Number:
            case Tok::Variable:
            case Tok::Boolean:
            case Tok::ClassRef:
            case Tok::RBrack: return true;
            default: return false;
        }
    }

    std::string_view text_;
    syntax::Source source_;
    base::Arena arena_;
    std::optional<syntax::TokenStream> stream_;
    std::vector<Token> tokens_;
    std::vector<OpenBracket> open_;
    CursorContext out_;
};

}  // namespace

CursorContext context_at(std::string_view text, std::uint32_t offset, bool epp) {
    return ContextReader(text, offset, epp).run();
}

}  // namespace bunraku::lsp
