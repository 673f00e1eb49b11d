// SPDX-License-Identifier: Apache-2.0
// Checks that need the syntax tree or the names of an environment. They do not evaluate the code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/checks/code_names.h"
#include "compile/checks/problems.h"
#include "language/lint/lint.h"
#include "language/syntax/parser.h"

namespace bunraku::checks {

/// Returns the problems of the manifest `text` that the checks of the group Compiler find, ordered
/// by place. `names` may be null; then only the checks that need no environment run. Returns
/// nothing for a text that does not parse. Applies the options and the control comments of lint.
std::vector<lint::Problem> check_code(std::string_view text, const std::string& path,
                                      const lint::LintOptions& options, CodeNames* names);

/// Returns the problems of a parsed manifest or template in no order, without regard to options.
Problems check_tree(const syntax::Tree& tree, std::string_view text, CodeNames* names);

/// Returns the text with the corrections of the problems, which must be ordered by place.
std::string corrected(std::string_view text, const std::vector<lint::Problem>& problems);

}  // namespace bunraku::checks
