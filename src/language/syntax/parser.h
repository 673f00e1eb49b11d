// Text to syntax tree.
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
    bool epp = false;    ///< the text is a template
    bool tasks = false;  ///< setting `tasks`: `plan` and `apply` are words of the language
    /// Gets the lexer's warnings as they come, also where the parse then fails; null: they are only
    /// kept in Tree::warnings.
    base::LogSink* log = nullptr;
};

/// Parses; throws base::PuppetError (Class::Parse, located) on the first syntax error, with
/// Puppet's text.
std::shared_ptr<const Tree> parse(std::string file, std::string text,
                                  const ParseOptions& options = {});

struct ValidateOptions {
    enum class Strict { Off, Warning, Error };
    Strict strict = Strict::Error;  ///< setting `strict`
    bool tasks = false;
    /// Module folders (absolute). A file in one of them may define only what its path names, and
    /// nothing but definitions at its top.
    std::vector<std::string> modulepath;
    /// The environment's manifest, file or folder: what is in it may define anything. Empty: none.
    std::string manifest;
    int nesting = 0;  ///< of heredocs that hold code within code
};

/// What Puppet's checker says of a tree that parsed: errors, warnings, deprecations in Puppet's
/// order. Deprecations are warnings with `deprecation` set.
std::vector<base::Diagnostic> validate(const Tree& tree, const ValidateOptions& options = {});

struct ReportLimits {
    int max_errors = 10;  ///< settings of these names
    int max_warnings = 10;
    int max_deprecations = 10;
};
/// Says what validate() found as Puppet does: warnings are logged up to the limits; a single error
/// is thrown (Class::Parse), several are logged, and that they were is thrown.
void report_issues(const std::vector<base::Diagnostic>& found, base::LogSink& log,
                   const ReportLimits& limits = {});

/// Whether `text` has the syntax a heredoc claims ("json", "base64", "pp", "epp"; the last part
/// behind "+" that is known counts): the error, or nullopt. Interpolated heredocs are checked with
/// it when they are evaluated.
std::optional<base::PuppetError> check_text_syntax(std::string_view text, std::string_view syntax,
                                                   const base::Location& where,
                                                   const ValidateOptions& options = {});

/// The tree as PN text in one line (puppet-specifications, models/pn.md).
std::string dump_pn(const Node* node);

}  // namespace bunraku::syntax
