// Resource types that modules define in Ruby, as the compiler needs them.
#pragma once

#include <string_view>

#include "language/environment/environment.h"
#include "language/evaluator/interpreter.h"
#include "language/ruby/host.h"
#include "language/template/ruby_session.h"
#include "resources/restype/spec.h"

namespace bunraku::compiler {

/// The type of a down-cased name: from .resource_types of the environment (`generate types`), else
/// from the module's Ruby file by the plugin host or its cache. Null: no such type, or no Ruby to
/// ask. It lives as long as the environment. `in` is the compile that asks, and `session` where it
/// runs Ruby; null outside of one. Throws PuppetError where the file cannot be loaded.
const restype::TypeSpec* find_ruby_type(const environment::Environment& environment,
                                        std::string_view name, evaluator::Interpreter* in = nullptr,
                                        templates::RubySession* session = nullptr);

/// The text of .resource_types/NAME.pp, as Puppet writes it; `now` is the time it shows.
std::string resource_type_text(const ruby::TypeInfo& type, std::string_view now);

}  // namespace bunraku::compiler
