// SPDX-License-Identifier: Apache-2.0
// An observer of every expression that a compile evaluates. Tools use it to explain the origin of a
// value; normal compiles do not use it.
#pragma once

#include <string_view>

#include "language/evaluator/scope.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// Receives the evaluated expressions. Literals and bare words are not reported.
class Watcher {
public:
    virtual void enter(const syntax::Node& node, Scope& scope) = 0;
    /// The innermost entered expression returned `v`. Null means that it ended with an error.
    virtual void leave(const Value* v) = 0;
    /// Code that is not an expression (an ERB template, a Hiera interpolation) read a variable. `v`
    /// is null if the variable is not set.
    virtual void variable_read(Scope& scope, std::string_view name, const Value* v) = 0;

protected:
    ~Watcher() = default;
};

}  // namespace bunraku::evaluator
