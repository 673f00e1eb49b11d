// Functions written in Ruby, as the interpreter calls them.
#pragma once

#include <string>
#include <string_view>

#include "language/evaluator/interpreter.h"
#include "language/ruby/host.h"
#include "language/template/ruby_session.h"

namespace bunraku::compiler {

/// A callable for a function whose file is known. Loads the file where that is not known yet what
/// it defines. Lives in the compile's arena. Throws PuppetError.
const evaluator::Callable* make_ruby_function(evaluator::Interpreter& in,
                                              templates::RubySession& session,
                                              const std::string& file, std::string_view name);

/// A callable that answers the calls `builtin` calls usual natively and leaves the others to the
/// function of `file`, which is loaded when the first of them comes.
const evaluator::Callable* make_usual_function(evaluator::Interpreter& in,
                                               templates::RubySession& session,
                                               const std::string& file,
                                               const evaluator::Builtin& builtin);

}  // namespace bunraku::compiler
