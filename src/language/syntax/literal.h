// SPDX-License-Identifier: Apache-2.0
// Constant values of expressions, to the extent that the validator needs them.
#pragma once

#include <optional>
#include <string>

#include "language/syntax/ast.h"

namespace bunraku::syntax {

/// A literal value. `identity` is the same for values that are equal according to Ruby's eql?.
/// `text` is the form shown in messages.
struct ConstantValue {
    std::string identity;
    std::string text;     ///< Ruby's to_s
    std::string inspect;  ///< Ruby's inspect, used inside a collection
};

/// Returns the value of the expression, or nullopt if it is not a literal.
std::optional<ConstantValue> constant_value(const Node* node);

}  // namespace bunraku::syntax
