// The tree as nested lists, the older of Puppet's two notations (ModelTreeDumper): what
// `puppet epp dump` shows unless told otherwise.
#pragma once

#include <string>

#include "language/syntax/ast.h"

namespace bunraku::syntax {

std::string dump_lists(const Program& program);

}  // namespace bunraku::syntax
