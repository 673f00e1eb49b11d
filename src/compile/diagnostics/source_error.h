// SPDX-License-Identifier: Apache-2.0
// The explanation of an error below Puppet's message: the location in the source, related
// locations, and suggestions. Derived from the message alone if the compile provides no
// explanation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/explained_error.h"
#include "core/base/diagnostic.h"

namespace bunraku::diagnostics {

/// A location with its end and the source line.
struct Span {
    base::Location from;
    int end_column = 0;  ///< column after the last character; 0 if unknown
    std::string text;    ///< description
    std::string line;    ///< source line; empty if unreadable
};

struct SourceError {
    Span main;
    std::vector<Span> places;
    std::vector<std::string> suggestions, hints;
    struct More {
        std::string text;
        Span where;
        std::vector<std::string> hints;
    };
    std::vector<More> more;  ///< further syntax errors of the same file
};

/// Reads source files from the disk. The file "" is the code of the command line.
class SourceTexts {
public:
    explicit SourceTexts(std::string code = {}) : code_(std::move(code)) {}
    /// Returns nullopt if the file does not exist, is not a regular file, or is too large.
    std::optional<std::string> read(const std::string& file) const;

private:
    std::string code_;
};

/// Combines a record with the explanation of its compile; `known` may be null.
SourceError explain_record(const base::Diagnostic& record, const compiler::Explanation* known,
                           const SourceTexts& sources);

/// Returns the text to print below the message; each line ends with a newline. `width` is the width
/// of the terminal; 0 means unlimited.
std::string source_error_text(const SourceError& mistake, const base::Diagnostic& record,
                              std::size_t width);
/// Returns the additional fields of the record's JSON object: `,"explanation":{...}`. Empty without
/// an explanation.
std::string source_error_json(const SourceError& mistake);

/// The explanation of a syntax error.
struct SyntaxFindings {
    std::vector<Span> places;
    std::vector<std::string> hints;
};
SyntaxFindings explain_syntax(std::string_view text, const base::Location& where,
                              std::string_view message, std::string_view issue_code);
std::vector<SourceError::More> further_syntax_errors(const std::string& file,
                                                     const std::string& text,
                                                     const base::Location& first);

/// Returns the location of the last code in a manifest, or an unknown location if it has no code.
base::Location end_of_code(std::string_view text);

/// Returns the span that begins at `where`, with its source line and end.
Span span_at(std::string_view text, base::Location where, std::string label = {},
             bool whole_call = false);

/// Returns the records as one SARIF 2.1.0 log. `version` is the version of this program.
std::string sarif_log(const std::vector<std::pair<base::Diagnostic, SourceError>>& records,
                      std::string_view version);

}  // namespace bunraku::diagnostics
