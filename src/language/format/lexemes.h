// SPDX-License-Identifier: Apache-2.0
// The tokens of a manifest together with its comments and line breaks, as the printer needs them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "language/syntax/ast.h"
#include "language/syntax/token.h"

namespace bunraku::format {

using base::Result;

struct Comment {
    std::string_view text;  ///< without blanks at its end
    bool block = false;     ///< /* .. */
    int newlines = 0;       ///< line breaks between the comment and what precedes it
};

/// A token with what precedes it. A string with interpolation is one lexeme of the kind DqPre. Its
/// text is that of the source.
struct Lexeme {
    syntax::Tok kind = syntax::Tok::End;
    std::string_view text;
    std::uint32_t offset = 0;
    std::vector<Comment> comments;  ///< the comments between the previous lexeme and this one
    int newlines = 0;  ///< line breaks between the last comment, or the previous lexeme, and this
    int heredocs_before = 0;   ///< texts of heredocs between the previous lexeme and this one
    std::string_view heredoc;  ///< for Heredoc: the lines of its text, with the end tag

    bool follows_newline() const;
    std::uint32_t end() const { return offset + static_cast<std::uint32_t>(text.size()); }
};

/// A manifest with its syntax tree and its lexemes. The last lexeme is End.
struct Manifest {
    std::shared_ptr<const syntax::Tree> tree;
    std::vector<Lexeme> lexemes;
};

/// Parses a manifest. Retries with the keywords of plans if it is not valid without them.
Result<Manifest> read_manifest(std::string_view text, std::string_view path);

}  // namespace bunraku::format
