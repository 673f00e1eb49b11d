// SPDX-License-Identifier: Apache-2.0
// Arguments of [..] on types, as values.
#pragma once

#include <array>
#include <span>

#include "core/value/value.h"
#include "language/types/factory.h"

namespace bunraku::types {

const PatternType* pattern_of(Context& ctx, std::span<const Value> args);
/// Makes the type from a string or a regexp.
const RegexpType* regexp_of(Context& ctx, const Value& arg);
const StructType* struct_of(Context& ctx, const value::HashRep& hash);
const SemVerType* sem_ver_of(Context& ctx, std::span<const Value> args);
const TimestampType* timestamp_of(Context& ctx, std::span<const Value> args);
const TimespanType* timespan_of(Context& ctx, std::span<const Value> args);
const RuntimeType* runtime_of(Context& ctx, const Value& runtime, const Value& name);
/// Returns the type of the arguments of URI[..]: a string, or a hash of the parts.
const Type* uri_parameter_type();
/// Makes the Enum from strings and an optional boolean after them.
const EnumType* enum_of(Context& ctx, std::span<const Value> args);
/// Flattens all arrays in the keys.
Value flatten_keys(Context& ctx, std::span<const Value> keys);

}  // namespace bunraku::types
