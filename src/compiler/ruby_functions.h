// Functions written in Ruby, as the interpreter calls them.
#pragma once

#include <string_view>

#include "evaluator/interpreter.h"
#include "ruby/host.h"
#include "template/ruby_session.h"

namespace bunraku::compiler {

/// A callable for a function whose file is known. Loads the file where that is not known yet what
/// it defines. Lives in the compile's arena. Throws PuppetError.
const evaluator::Callable* make_ruby_function(evaluator::Interpreter& in,
                                              templates::RubySession& session,
                                              const std::string& file, std::string_view name);

}  // namespace bunraku::compiler
