// SPDX-License-Identifier: Apache-2.0
// MessagePack (msgpack.org's specification), which agents send if their setting
// preferred_serialization_format requests it. It contains the same data as JSON in fewer bytes.
#pragma once

#include <string>
#include <string_view>

#include "core/base/arena.h"
#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::value {

/// Parses data of JSON's types: texts are UTF-8, keys are texts, and nil is undef. Extension types
/// are errors. Depth and size are limited.
base::Result<Value> parse_msgpack(base::Arena& arena, std::string_view bytes);
/// Serializes plain data.
std::string to_msgpack(const Value& data);

}  // namespace bunraku::value
