// SPDX-License-Identifier: Apache-2.0
// Checks that need the syntax tree or the names of an environment. They do not evaluate the code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/checks/code_names.h"
#include "language/lint/lint.h"

namespace bunraku::checks {

/// Returns the problems of the manifest `text` that the checks of the group Compiler find, ordered
/// by place. `names` may be null; then only the checks that need no environment run. Returns
/// nothing for a text that does not parse. Applies the options and the control comments of lint.
std::vector<lint::Problem> check_code(std::string_view text, const std::string& path,
                                      const lint::LintOptions& options, CodeNames* names);

}  // namespace bunraku::checks
