// Arguments of [..] on types, as values.
#pragma once

#include <array>
#include <span>

#include "core/value/value.h"
#include "language/types/factory.h"

namespace bunraku::types {

const PatternType* pattern_of(Context& ctx, std::span<const Value> args);
/// A string or a regexp.
const RegexpType* regexp_of(Context& ctx, const Value& arg);
const StructType* struct_of(Context& ctx, const value::HashRep& hash);
const SemVerType* sem_ver_of(Context& ctx, std::span<const Value> args);
const TimestampType* timestamp_of(Context& ctx, std::span<const Value> args);
const TimespanType* timespan_of(Context& ctx, std::span<const Value> args);
const RuntimeType* runtime_of(Context& ctx, const Value& runtime, const Value& name);
/// What URI[..] takes: a string, or a hash of the parts.
const Type* uri_parameter_type();
/// Strings, then perhaps a boolean.
const EnumType* enum_of(Context& ctx, std::span<const Value> args);
/// All arrays in it opened.
Value flatten_keys(Context& ctx, std::span<const Value> keys);

}  // namespace bunraku::types
