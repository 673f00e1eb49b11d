// What Ruby code asks of the type system (share/ruby/values.rb), the same in a compile and on the
// machine.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "language/types/type.h"

namespace bunraku::types {

/// The type of a text that Ruby was sent: what is defined somewhere shows there what it stands for
/// ("A::B = Integer"), and is found by its name. Throws PuppetError.
const Type* sent_type(Context& ctx, std::string_view text);

/// The answer to `what` ("type_instance", "infer", "describe_mismatch", ..); none where it is no
/// question of types. Throws PuppetError for texts that are no types.
std::optional<Value> answer(Context& ctx, std::string_view what, std::span<const Value> args);

}  // namespace bunraku::types
