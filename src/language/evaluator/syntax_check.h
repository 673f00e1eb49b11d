// Checks of text produced by heredocs that name a syntax: @(END:json).
#pragma once

#include <string_view>

#include "core/value/value.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// Throws a located PuppetError where `text` is not of the given syntax; syntaxes without a checker
/// pass.
void check_external_syntax(const value::Value& text, std::string_view syntax,
                           const syntax::Node* site);

}  // namespace bunraku::evaluator
