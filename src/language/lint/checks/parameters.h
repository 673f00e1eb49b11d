// SPDX-License-Identifier: Apache-2.0
// The parameters of classes and defined types (internal to this folder).
#pragma once

#include <vector>

#include "language/lint/check.h"

namespace bunraku::lint {

/// Whether the braces of a default value nest, besides parentheses and brackets.
enum class Braces { Ignore, Nest };
/// Returns the variables that are parameters, without the variables in their default values.
std::vector<Token*> parameters_of(const Definition& definition, Braces braces = Braces::Ignore);

/// Returns the tokens of the data type of a parameter. Empty if it has none.
std::vector<Token*> type_of_parameter(const Manifest& manifest, const Token* parameter);
/// Returns the tokens of the default value of a parameter of the definition, up to the first comma.
/// Empty if it has none.
std::vector<Token*> default_of_parameter(const Manifest& manifest, const Definition& definition,
                                         const Token* parameter);

}  // namespace bunraku::lint
