// SPDX-License-Identifier: Apache-2.0
// Ruby functions as callables of the interpreter.
#pragma once

#include <string>
#include <string_view>

#include "language/evaluator/interpreter.h"
#include "language/ruby/host.h"
#include "language/template/ruby_session.h"

namespace bunraku::compiler {

/// Returns a callable for a Ruby function in a known file. Loads the file if its functions are not
/// known yet. The callable lives in the arena of the compile. Throws PuppetError.
const evaluator::Callable* make_ruby_function(evaluator::Interpreter& in,
                                              templates::RubySession& session,
                                              const std::string& file, std::string_view name);

/// Returns a callable that uses `builtin` for the calls that it declares usual. Other calls use the
/// Ruby function in `file`, which is loaded on the first such call.
const evaluator::Callable* make_usual_function(evaluator::Interpreter& in,
                                               templates::RubySession& session,
                                               const std::string& file,
                                               const evaluator::Builtin& builtin);

}  // namespace bunraku::compiler
