// The Puppet code of a syntax tree that came as data: Bolt's apply blocks do (Puppet's ast.pp in
// the serialization of rich data).
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::server {

struct AstText {
    std::string code;  ///< things are on the lines where they were written
    std::string file;  ///< that it was in; empty: none is named
};

/// What is no tree has no code, as with Puppet: null, a text, an object of no type.
base::Result<AstText> ast_text(const value::Value& tree);

}  // namespace bunraku::server
