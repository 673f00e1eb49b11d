// SPDX-License-Identifier: Apache-2.0
// Checks the text of heredocs that name a syntax: @(END:json).
#pragma once

#include <string_view>

#include "core/value/value.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// Throws a PuppetError with a location if `text` does not have the given syntax. A syntax without
/// a checker is accepted.
void check_external_syntax(const value::Value& text, std::string_view syntax,
                           const syntax::Node* site);

}  // namespace bunraku::evaluator
