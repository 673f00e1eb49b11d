// Text to syntax tree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "syntax/ast.h"

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
    std::string module_path_hint;  ///< unused where empty
};

/// What Puppet's checker says of a tree that parsed: errors, warnings, deprecations in Puppet's
/// order.
std::vector<base::Diagnostic> validate(const Tree& tree, const ValidateOptions& options = {});

/// The tree as PN text in one line (puppet-specifications, models/pn.md).
std::string dump_pn(const Node* node);

}  // namespace bunraku::syntax
