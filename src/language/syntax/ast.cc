// SPDX-License-Identifier: Apache-2.0
#include "language/syntax/ast.h"

#include <array>

#include "core/base/assert.h"

namespace bunraku::syntax {

namespace {
constexpr std::string_view kKindNames[] = {
#define X(name) #name,
    BUNRAKU_AST_NODES(X)
#undef X
};
constexpr std::string_view kOpTexts[] = {
    "=",  "+=", "-=", "+",  "-", "*",  "/", "%",  "<<", ">>", "->", "~>",
    "<-", "<~", "==", "!=", "<", "<=", ">", ">=", "=~", "!~", "=>", "+>"};
}  // namespace

std::string_view node_kind_name(NodeKind kind) {
    BUNRAKU_ASSERT(static_cast<std::size_t>(kind) < std::size(kKindNames));
    return kKindNames[static_cast<std::size_t>(kind)];
}

std::string_view op_text(Op op) {
    BUNRAKU_ASSERT(static_cast<std::size_t>(op) < std::size(kOpTexts));
    return kOpTexts[static_cast<std::size_t>(op)];
}

}  // namespace bunraku::syntax
