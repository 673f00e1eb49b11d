// What Ruby says of functions, types and data types, as structs.
#pragma once

#include "language/ruby/host.h"

namespace bunraku::ruby {

/// kind, name, kind, name ..
std::vector<ReadNote> read_notes(std::span<const Value> texts);

FunctionInfo describe_function(const Value& data);
TypeInfo describe_type(const Value& data);
DataTypeInfo describe_data_type(const Value& data);

}  // namespace bunraku::ruby
