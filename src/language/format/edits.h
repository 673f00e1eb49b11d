// SPDX-License-Identifier: Apache-2.0
// The edits between two layouts of the same code.
#pragma once

#include <vector>

#include "language/format/format.h"
#include "language/format/lexemes.h"

namespace bunraku::format {

/// Returns the edits that turn the text of `before` into that of `after`. Both must have the same
/// tokens, except for commas and semicolons. An edit replaces the text between two tokens; if a
/// comment moves across a token, the edit includes that token.
std::vector<TextEdit> edits_between(const Manifest& before, const Manifest& after);

}  // namespace bunraku::format
