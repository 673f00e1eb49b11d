// SPDX-License-Identifier: Apache-2.0
// Writes the tree as nested lists, the older of Puppet's two notations (ModelTreeDumper). It is the
// default output of `puppet epp dump`.
#pragma once

#include <string>

#include "language/syntax/ast.h"

namespace bunraku::syntax {

std::string dump_lists(const Program& program);

}  // namespace bunraku::syntax
