// SPDX-License-Identifier: Apache-2.0
// Ruby's descriptions of functions, types and data types, as structs.
#pragma once

#include "language/ruby/host.h"

namespace bunraku::ruby {

/// Converts a list of kind, name, kind, name and so on.
std::vector<ReadNote> read_notes(std::span<const Value> texts);

FunctionInfo describe_function(const Value& data);
TypeInfo describe_type(const Value& data);
DataTypeInfo describe_data_type(const Value& data);

}  // namespace bunraku::ruby
