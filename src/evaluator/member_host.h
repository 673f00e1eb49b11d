// Methods of values that are not written in the Puppet language.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "evaluator/scope.h"
#include "value/value.h"

namespace bunraku::evaluator {

class Interpreter;

/// A DefinitionHost that knows such methods derives from it too.
class MemberHost {
public:
    virtual ~MemberHost() = default;
    /// The value of a method of an instance whose type is implemented elsewhere (in Ruby); nullopt:
    /// it has no such method.
    virtual std::optional<Value> call_member(Interpreter& in, Scope& scope, const Value& receiver,
                                             std::string_view name,
                                             std::span<const Value> args) = 0;
};

}  // namespace bunraku::evaluator
