// SPDX-License-Identifier: Apache-2.0
// Evaluates a parsed EPP text, Puppet's template language.
#pragma once

#include <string_view>

#include "core/value/value.h"
#include "language/evaluator/interpreter.h"
#include "language/syntax/ast.h"

namespace bunraku::templates {

using value::Value;

/// Renders a template that was parsed with ParseOptions::epp
/// (Puppet::Pops::Evaluator::EppEvaluator, 8.11).
///
/// `function` is "epp" or "inline_epp" and is the prefix of messages. `parameters` is the given
/// hash, or null. `scope` is the scope of the template: top scope for epp(), the caller's for
/// inline_epp(). The value is a String, or a Sensitive if a Sensitive was rendered.
Value render_epp(evaluator::Interpreter& in, evaluator::Scope& scope, std::string_view function,
                 const syntax::Program& program, const Value* parameters);

}  // namespace bunraku::templates
