// Constant values of expressions, as far as the validator needs them.
#pragma once

#include <optional>
#include <string>

#include "language/syntax/ast.h"

namespace bunraku::syntax {

/// A literal value: `identity` is equal for values that Ruby's eql? says are the same, `text` is
/// what a message shows.
struct ConstantValue {
    std::string identity;
    std::string text;     ///< Ruby's to_s
    std::string inspect;  ///< Ruby's inspect, for what stands in a collection
};

/// nullopt where the expression is not a literal.
std::optional<ConstantValue> constant_value(const Node* node);

}  // namespace bunraku::syntax
