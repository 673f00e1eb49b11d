// SPDX-License-Identifier: Apache-2.0
// Converts a syntax tree to Puppet code. Bolt's apply blocks send such trees (Puppet's ast.pp,
// serialized as rich data).
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::server {

struct AstText {
    std::string code;  ///< code with everything on its original line
    std::string file;  ///< name of the original file; empty if unknown
};

/// Returns the code of a tree. Like Puppet, returns empty code for null, a string, or an object
/// without a type.
base::Result<AstText> ast_text(const value::Value& tree);

}  // namespace bunraku::server
