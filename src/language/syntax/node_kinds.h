// SPDX-License-Identifier: Apache-2.0
// Groups of node kinds.
#pragma once

#include "language/syntax/ast.h"

namespace bunraku::syntax {

/// Reports whether a node is a literal other than a list or hash, a word, a string or a variable.
/// Its source is one token, or the parts of one string.
constexpr bool is_operand(NodeKind kind) {
    switch (kind) {
        case NodeKind::LiteralUndef:
        case NodeKind::LiteralDefault:
        case NodeKind::LiteralBoolean:
        case NodeKind::LiteralInteger:
        case NodeKind::LiteralFloat:
        case NodeKind::LiteralString:
        case NodeKind::LiteralRegularExpression:
        case NodeKind::QualifiedName:
        case NodeKind::QualifiedReference:
        case NodeKind::ReservedWord:
        case NodeKind::ConcatenatedString:
        case NodeKind::HeredocExpression:
        case NodeKind::VariableExpression: return true;
        default: return false;
    }
}

}  // namespace bunraku::syntax
