// Who is told of every expression that a compile evaluates: for those who are to say where a value
// comes from, not for every compile.
#pragma once

#include <string_view>

#include "language/evaluator/scope.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// Literals and bare words are not told: they are what they say.
class Watcher {
public:
    virtual void enter(const syntax::Node& node, Scope& scope) = 0;
    /// The innermost one that was entered gave `v`; null: it ended with an error.
    virtual void leave(const Value* v) = 0;
    /// Code that is no expression (a template in Ruby's language, an interpolation of Hiera's)
    /// asked for a variable; `v`: null where it is not set.
    virtual void asked(Scope& scope, std::string_view name, const Value* v) = 0;

protected:
    ~Watcher() = default;
};

}  // namespace bunraku::evaluator
