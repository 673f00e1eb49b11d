// SPDX-License-Identifier: Apache-2.0
#include "language/format/lexemes.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "language/syntax/lexer.h"
#include "language/syntax/parser.h"

namespace bunraku::format {

namespace {

using syntax::Tok;
using syntax::Trivia;

int line_breaks(std::string_view text) {
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

/// Returns the index of the token that ends the lexeme of the token `first`. The text of a heredoc
/// is part of the gap that follows the heredoc's line, and therefore skipped.
std::size_t last_token(const syntax::TokenBuffer& tokens, std::size_t first) {
    const syntax::Token* all = tokens.data();
    std::size_t i = first;
    if (all[i].kind == Tok::Heredoc) i += 2;  // the tokens Sublocate and the text
    if (all[i].kind != Tok::DqPre) return i;
    for (int depth = 0;; ++i) {
        BUNRAKU_ASSERT(i < tokens.size());
        if (all[i].kind == Tok::DqPre) ++depth;
        if (all[i].kind == Tok::DqPost && --depth == 0) return i;
    }
}

/// Collects the lexemes of a text from its tokens and its trivia, both in the order of the text.
class LexemeReader {
public:
    LexemeReader(std::string_view text, const std::vector<Trivia>& trivia)
        : text_(text), trivia_(trivia) {}

    /// Returns false if a heredoc starts within another lexeme, whose text cannot change.
    bool read(const syntax::TokenBuffer& tokens) {
        const syntax::Token* all = tokens.data();
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const syntax::Token& token = all[i];
            const std::size_t last = last_token(tokens, i);
            std::uint32_t end = token.offset + token.length;
            if (token.kind == Tok::DqPre) end = all[last].offset + all[last].length;
            if (token.offset < at_ || !add(token.kind, token.offset, end)) return false;
            i = last;
        }
        return next_ == trivia_.size() && awaiting_.empty();
    }

    std::vector<Lexeme> lexemes;

private:
    bool add(Tok kind, std::uint32_t begin, std::uint32_t end) {
        Lexeme lexeme{.kind = kind, .text = text_.substr(begin, end - begin), .offset = begin};
        int newlines = 0;
        for (; next_ < trivia_.size() && trivia_[next_].offset < begin; ++next_) {
            const Trivia& trivia = trivia_[next_];
            if (trivia.offset < at_) return false;
            newlines += line_breaks(text_.substr(at_, trivia.offset - at_));
            at_ = trivia.offset + trivia.length;
            const std::string_view part = text_.substr(trivia.offset, trivia.length);
            if (trivia.kind == Trivia::Kind::HeredocText) {
                if (awaiting_.empty()) return false;
                lexemes[awaiting_.front()].heredoc = part;
                awaiting_.erase(awaiting_.begin());
                ++lexeme.heredocs_before;
                continue;
            }
            const bool block = trivia.kind == Trivia::Kind::BlockComment;
            lexeme.comments.push_back({block ? part : base::trim(part), block, newlines});
            newlines = 0;
        }
        if (at_ > begin) return false;
        lexeme.newlines = newlines + line_breaks(text_.substr(at_, begin - at_));
        at_ = end;
        for (; next_ < trivia_.size() && trivia_[next_].offset < end; ++next_) {
            if (trivia_[next_].kind == Trivia::Kind::HeredocText) return false;
        }
        if (kind == Tok::Heredoc) awaiting_.push_back(lexemes.size());
        lexemes.push_back(std::move(lexeme));
        return true;
    }

    std::string_view text_;
    const std::vector<Trivia>& trivia_;
    std::size_t next_ = 0;               ///< index of the next trivia
    std::uint32_t at_ = 0;               ///< end of what was read
    std::vector<std::size_t> awaiting_;  ///< heredocs whose text has not been reached
};

/// Parses the text. Sets `error` if it is not valid.
std::shared_ptr<const syntax::Tree> parse_manifest(std::string_view text, std::string_view path,
                                                   bool tasks,
                                                   std::optional<base::PuppetError>* error) {
    try {
        return syntax::parse(std::string(path), std::string(text), {.tasks = tasks});
    } catch (const base::PuppetError& e) {
        if (!*error) *error = e;
        return nullptr;
    }
}

}  // namespace

bool Lexeme::follows_newline() const {
    return newlines > 0 || std::any_of(comments.begin(), comments.end(),
                                       [](const Comment& c) { return c.newlines > 0 || !c.block; });
}

Result<Manifest> read_manifest(std::string_view text, std::string_view path) {
    Manifest manifest;
    std::optional<base::PuppetError> error;
    bool tasks = false;
    manifest.tree = parse_manifest(text, path, tasks, &error);
    if (!manifest.tree) {
        tasks = true;
        manifest.tree = parse_manifest(text, path, tasks, &error);
    }
    if (!manifest.tree) {
        return base::failure(error->located()
                                 ? error->full_text()
                                 : fmt::format("{} (file: {})", error->full_text(), path));
    }
    const syntax::Source& source = *manifest.tree->source;
    std::vector<Trivia> trivia;
    base::Arena arena;
    const syntax::TokenStream stream =
        syntax::tokenize(source, arena, {.tasks = tasks, .trivia = &trivia});
    BUNRAKU_ASSERT(!stream.error);
    std::stable_sort(trivia.begin(), trivia.end(),
                     [](const Trivia& a, const Trivia& b) { return a.offset < b.offset; });
    LexemeReader reader(source.text(), trivia);
    if (!reader.read(stream.tokens)) {
        return base::failure(
            fmt::format("Cannot format a heredoc that starts within a string or a comment (file: "
                        "{})",
                        path));
    }
    manifest.lexemes = std::move(reader.lexemes);
    BUNRAKU_ASSERT(manifest.lexemes.back().kind == Tok::End);
    return manifest;
}

}  // namespace bunraku::format
