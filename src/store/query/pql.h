// The Puppet Query Language: text for people, read into the syntax tree that the engine runs.
#pragma once

#include <string_view>

#include "store/query/ast.h"

namespace bunraku::query {

/// nodes[certname]{ certname ~ 'web' } -> ["from", "nodes", ["extract", ["certname"], ..]]. The
/// grammar is PuppetDB 7's. Throws QueryError with the line, a caret under the column, and what
/// could have stood there.
Ast parse_pql(std::string_view text);

/// Whether a query parameter is an AST (begins with "[") rather than PQL.
bool looks_like_ast(std::string_view text);

}  // namespace bunraku::query
