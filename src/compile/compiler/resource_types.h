// SPDX-License-Identifier: Apache-2.0
// Resource types by name: native types, Ruby types of modules, and defines.
#pragma once

#include <string_view>

#include "compile/compiler/definition.h"
#include "compile/compiler/resource.h"
#include "language/environment/environment.h"
#include "language/evaluator/interpreter.h"
#include "language/template/ruby_session.h"

namespace bunraku::compiler {

class ResourceTypes {
public:
    /// `session` runs Ruby code; null if Ruby is not available.
    ResourceTypes(const environment::Environment& environment, Definitions& definitions,
                  TagTable& tags, evaluator::Interpreter& in, templates::RubySession* session)
        : environment_(environment),
          definitions_(definitions),
          tags_(tags),
          in_(in),
          session_(session),
          known_(decltype(known_)::allocator_type(in.arena())) {}

    /// Finds a type by any spelling of its name; autoloads it. Returns Kind::None if there is none.
    /// Classes and nodes are not types here.
    ResourceType find(std::string_view name);

private:
    const environment::Environment& environment_;
    Definitions& definitions_;
    TagTable& tags_;
    evaluator::Interpreter& in_;
    templates::RubySession* session_;
    ArenaMap<std::string_view, ResourceType> known_;
};

}  // namespace bunraku::compiler
