// SPDX-License-Identifier: Apache-2.0
// The table of all built-in functions.
#pragma once

#include "language/evaluator/function.h"

namespace bunraku::function {

/// Returns the table with every family of this folder. It is made on first use, never destroyed,
/// and thread-safe.
const evaluator::FunctionTable& builtin_functions();

}  // namespace bunraku::function
