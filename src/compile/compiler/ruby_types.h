// SPDX-License-Identifier: Apache-2.0
// Resource types that modules define in Ruby, in the form that the compiler needs.
#pragma once

#include <string_view>

#include "language/environment/environment.h"
#include "language/evaluator/interpreter.h"
#include "language/ruby/host.h"
#include "language/template/ruby_session.h"
#include "resources/restype/spec.h"

namespace bunraku::compiler {

/// Returns the type of a down-cased name. Reads it from the environment's .resource_types
/// (`generate types`), or else from the module's Ruby file with the plugin host or its cache.
/// Returns null if there is no such type or no Ruby. The type lives as long as the environment.
/// `in` is the current compile and `session` runs its Ruby code; both are null outside of a
/// compile. Throws PuppetError if the file cannot be loaded.
const restype::TypeSpec* find_ruby_type(const environment::Environment& environment,
                                        std::string_view name, evaluator::Interpreter* in = nullptr,
                                        templates::RubySession* session = nullptr);

/// Returns the text of .resource_types/NAME.pp as Puppet writes it, with the time `now`.
std::string resource_type_text(const ruby::TypeInfo& type, std::string_view now);

}  // namespace bunraku::compiler
