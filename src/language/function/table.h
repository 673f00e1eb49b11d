// The table of all built-in functions.
#pragma once

#include "language/evaluator/function.h"

namespace bunraku::function {

/// Every family of this folder; made on first use, lives for ever, safe between threads.
const evaluator::FunctionTable& builtin_functions();

}  // namespace bunraku::function
