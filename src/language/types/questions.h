// SPDX-License-Identifier: Apache-2.0
// Requests of Ruby code to the type system (share/ruby/values.rb). They are the same in a compile
// and on the agent.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "language/types/type.h"

namespace bunraku::types {

/// Returns the type for a text that was sent to Ruby. A named definition appears there with its
/// content ("A::B = Integer") and is found by its name. Throws PuppetError.
const Type* sent_type(Context& ctx, std::string_view text);

/// Handles the request `what` ("type_instance", "infer", "describe_mismatch", ..). Returns nullopt
/// if it does not concern types. Throws PuppetError for texts that are not types.
std::optional<Value> answer(Context& ctx, std::string_view what, std::span<const Value> args);

}  // namespace bunraku::types
