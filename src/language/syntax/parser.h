// SPDX-License-Identifier: Apache-2.0
// Parses text into a syntax tree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "language/syntax/ast.h"

namespace bunraku::syntax {

struct ParseOptions {
    bool epp = false;    ///< True if the text is a template.
    bool tasks = false;  ///< the setting `tasks`: `plan` and `apply` are keywords
    /// Receives the lexer's warnings immediately, also if the parse then fails. May be null;
    /// Tree::warnings holds them in any case.
    base::LogSink* log = nullptr;
};

/// Parses the text. Throws base::PuppetError (Class::Parse, with a location) with Puppet's message
/// on the first syntax error.
std::shared_ptr<const Tree> parse(std::string file, std::string text,
                                  const ParseOptions& options = {});

struct ValidateOptions {
    enum class Strict { Off, Warning, Error };
    Strict strict = Strict::Error;  ///< the setting `strict`
    bool tasks = false;
    /// Absolute paths of the module folders. A file in one of them may define only the name that
    /// its path implies, and may contain only definitions at its top level.
    std::vector<std::string> modulepath;
    /// The environment's manifest, a file or a folder. Code in it may define any name. May be
    /// empty.
    std::string manifest;
    int nesting = 0;  ///< nesting of heredocs that contain code within code
};

/// Checks a parsed tree and returns the errors, warnings and deprecations of Puppet's checker in
/// Puppet's order. Deprecations are warnings with `deprecation` set.
std::vector<base::Diagnostic> validate(const Tree& tree, const ValidateOptions& options = {});

struct ReportLimits {
    int max_errors = 10;  ///< The members are the settings of the same names.
    int max_warnings = 10;
    int max_deprecations = 10;
};
/// Reports the result of validate() as Puppet does. Logs warnings up to the limits. Throws a single
/// error (Class::Parse). Logs several errors and then throws a summary error.
void report_issues(const std::vector<base::Diagnostic>& found, base::LogSink& log,
                   const ReportLimits& limits = {});

/// Checks whether `text` has the syntax that a heredoc declares ("json", "base64", "pp" or "epp").
/// If the syntax has several parts joined by "+", the last known part counts. Returns the error, or
/// nullopt if the text is valid. The evaluator uses this function to check interpolated heredocs.
std::optional<base::PuppetError> check_text_syntax(std::string_view text, std::string_view syntax,
                                                   const base::Location& where,
                                                   const ValidateOptions& options = {});

/// Returns the tree as PN text in one line (puppet-specifications, models/pn.md).
std::string dump_pn(const Node* node);

}  // namespace bunraku::syntax
