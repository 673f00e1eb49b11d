// SPDX-License-Identifier: Apache-2.0
// The Puppet Query Language, parsed into the syntax tree that the engine runs.
#pragma once

#include <string_view>

#include "store/query/ast.h"

namespace bunraku::query {

/// Parses nodes[certname]{ certname ~ 'web' } to ["from", "nodes", ["extract", ["certname"], ..]].
/// The grammar is PuppetDB 7's. Throws QueryError with the line, a caret under the column, and the
/// expected tokens.
Ast parse_pql(std::string_view text);

/// Reports whether a query parameter is an AST, which begins with "[", and not PQL.
bool looks_like_ast(std::string_view text);

}  // namespace bunraku::query
