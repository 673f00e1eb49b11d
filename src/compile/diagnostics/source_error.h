// What a person is told of a mistake below Puppet's own text: the place in its source, others that
// belong to it, what may have been meant. Made from the text alone where nobody knows more.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/explained_error.h"
#include "core/base/diagnostic.h"

namespace bunraku::diagnostics {

/// A place and where it ends, with the lines it stands in.
struct Span {
    base::Location from;
    int end_column = 0;  ///< behind the last character; 0: not known
    std::string text;    ///< what is said of it
    std::string line;    ///< the source line; empty: it cannot be read
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

/// What the sources are read from: the disk, and the code of the command line for "".
class SourceTexts {
public:
    explicit SourceTexts(std::string code = {}) : code_(std::move(code)) {}
    /// Nullopt: there is none, or it is no file, or far too big.
    std::optional<std::string> read(const std::string& file) const;

private:
    std::string code_;
};

/// Of a record and what its compile knew (null: nothing).
SourceError understand(const base::Diagnostic& record, const compiler::Explanation* known,
                       const SourceTexts& sources);

/// Below the message, each line with its end. `width`: of the terminal; 0: any.
std::string source_error_text(const SourceError& mistake, const base::Diagnostic& record,
                              std::size_t width);
/// The fields of a JSON object that a record gets: `,"explanation":{...}`; empty: nothing is known.
std::string source_error_json(const SourceError& mistake);

/// What is said of a syntax error at a byte of a text, and the texts of all further ones.
struct SyntaxFindings {
    std::vector<Span> places;
    std::vector<std::string> hints;
};
SyntaxFindings explain_syntax(std::string_view text, const base::Location& where,
                              std::string_view message, std::string_view issue_code);
std::vector<SourceError::More> further_syntax_errors(const std::string& file,
                                                     const std::string& text,
                                                     const base::Location& first);

/// Where the last of a manifest's code stands; unknown where there is none.
base::Location end_of_code(std::string_view text);

/// The span that begins at a place of a text, for its line and end.
Span span_at(std::string_view text, base::Location where, std::string said = {},
             bool whole_call = false);

/// Returns the records as one SARIF 2.1.0 log. `version` is the version of this program.
std::string sarif_log(const std::vector<std::pair<base::Diagnostic, SourceError>>& records,
                      std::string_view version);

}  // namespace bunraku::diagnostics
