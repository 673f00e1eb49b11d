// SPDX-License-Identifier: Apache-2.0
// A scan of the brackets, strings and heredocs of a manifest that the parser refuses. Private to
// the explanation of syntax errors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/diagnostics/source_error.h"

namespace bunraku::diagnostics {

struct Bracket {
    char kind;
    std::size_t at;
    std::size_t indent;  ///< indentation of its line
};

struct Scan {
    std::vector<Bracket> open;  ///< brackets still open at the end
    /// an open bracket that probably lacks its closing bracket, judging by the indentation of a
    /// later one
    std::optional<Bracket> suspect;
    std::optional<std::size_t> extra;  ///< closing bracket without an opening one
    /// Last byte outside of white space and comments.
    std::size_t last_token = std::string_view::npos;
    std::size_t matched = std::string_view::npos;  ///< closing bracket of the one at `asked`
};

/// Returns the offset of the first byte of the line that contains `at`.
std::size_t line_start(std::string_view text, std::size_t at);
/// Returns the number of spaces and tabs at the start of the line that contains `at`.
std::size_t indent_of(std::string_view text, std::size_t at);
char partner(char closing);
/// Scans the brackets of a text up to `end`; skips strings and comments.
Scan scan(std::string_view text, std::size_t end, std::size_t asked = std::string_view::npos);
/// Returns the span of one character with its line.
Span span_of_byte(std::string_view text, std::size_t at, std::string label);
std::size_t byte_at(std::string_view text, const base::Location& where);

/// Explains a string without an end; `at` is the offset that the lexer reports.
void explain_unclosed_quote(std::string_view text, std::size_t at, SyntaxFindings& out);
/// Explains a token at `at` directly behind a string over several lines, whose closing quote was
/// meant to open another string. Returns false if there is no such string.
bool explain_string_above(std::string_view text, std::size_t at, SyntaxFindings& out);
/// Explains a heredoc without an end; `at` is the offset of its text.
void explain_heredoc(std::string_view text, std::size_t at, SyntaxFindings& out);

}  // namespace bunraku::diagnostics
