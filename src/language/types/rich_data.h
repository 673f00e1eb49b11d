// Types and objects as rich data hashes, {"__ptype" => "Pcore::IntegerType", "from" => 1}, and
// back.
#pragma once

#include <string_view>

#include "core/value/rich_data.h"
#include "language/types/type.h"

namespace bunraku::types {

/// The Pcore form of a type: what is not at its default. Object types and TypeSets included.
Value type_to_rich_data(const Type* t, base::Arena& arena);

/// A type or an object from the name in "__ptype" and its hash, whose values have been decoded.
/// What is unknown stays a hash.
Value from_rich_data(Context& ctx, std::string_view ptype, const Value& hash);
/// The same as the factory value::from_rich_data takes; `ctx` must outlive it.
value::TypedFactory rich_data_factory(Context& ctx);

}  // namespace bunraku::types
