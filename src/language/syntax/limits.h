// How deep a text may nest: enough for any manifest, and safe on a thread's stack.
#pragma once

namespace bunraku::syntax {

/// Constructs within constructs, as the parser and the lexer recurse.
inline constexpr int kMaxNesting = 500;
/// Height of the tree, long operator chains included: what later walks of the tree recurse.
inline constexpr int kMaxHeight = 2000;
inline constexpr const char* kNestingMessage = "Syntax error: the code is nested too deeply";

}  // namespace bunraku::syntax
