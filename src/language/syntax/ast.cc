#include "language/syntax/ast.h"

#include <array>

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
    return kKindNames[static_cast<std::size_t>(kind)];
}

std::string_view op_text(Op op) { return kOpTexts[static_cast<std::size_t>(op)]; }

}  // namespace bunraku::syntax
