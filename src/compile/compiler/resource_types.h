// What the capitalised names of resources are: native types, types of modules in Ruby, defines.
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
    /// `session` is where Ruby runs; null: nowhere.
    ResourceTypes(const environment::Environment& environment, Definitions& definitions,
                  TagTable& tags, evaluator::Interpreter& in, templates::RubySession* session)
        : environment_(environment),
          definitions_(definitions),
          tags_(tags),
          in_(in),
          session_(session),
          known_(decltype(known_)::allocator_type(in.arena())) {}

    /// By any spelling of the name; autoloads. Kind::None: there is none (classes and nodes are
    /// none either).
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
