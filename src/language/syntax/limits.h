// SPDX-License-Identifier: Apache-2.0
// Limits on the nesting of a text: enough for any manifest, and safe for the stack of a thread.
#pragma once

namespace bunraku::syntax {

/// Maximum nesting of constructs, which bounds the recursion of the parser and the lexer.
inline constexpr int kMaxNesting = 500;
/// Maximum height of the tree, including long operator chains. It bounds the recursion of later
/// tree walks.
inline constexpr int kMaxHeight = 2000;
inline constexpr const char* kNestingMessage = "Syntax error: the code is nested too deeply";

}  // namespace bunraku::syntax
