// SPDX-License-Identifier: Apache-2.0
// Explanations of attributes that a resource type refuses. Private to the explanation of errors.
#pragma once

#include <string_view>

#include "compile/diagnostics/source_error.h"
#include "language/syntax/parser.h"

namespace bunraku::diagnostics {

/// Explains "Parameter NAME failed on TYPE[TITLE]: ..": moves the place from the resource to the
/// value of the attribute, and suggests a value. `tree` and `text` are the file of `out.main`.
void explain_attribute(const syntax::Tree& tree, std::string_view text, std::string_view message,
                       SourceError& out);

}  // namespace bunraku::diagnostics
