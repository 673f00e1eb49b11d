// SPDX-License-Identifier: Apache-2.0
// Converts types and objects to rich data hashes, {"__ptype" => "Pcore::IntegerType", "from" => 1},
// and back.
#pragma once

#include <string_view>

#include "core/value/rich_data.h"
#include "language/types/type.h"

namespace bunraku::types {

/// Returns the Pcore form of a type, including Object types and TypeSets. It contains only the
/// parts that differ from the defaults.
Value type_to_rich_data(const Type* t, base::Arena& arena);

/// Makes a type or an object from the name in "__ptype" and its hash. The values of the hash are
/// already decoded. If the name is unknown, returns the hash.
Value from_rich_data(Context& ctx, std::string_view ptype, const Value& hash);
/// Returns from_rich_data in the form that value::from_rich_data accepts. `ctx` must outlive it.
value::TypedFactory rich_data_factory(Context& ctx);

}  // namespace bunraku::types
