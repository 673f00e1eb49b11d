// MessagePack, which agents send whose setting preferred_serialization_format says so: the same
// data as JSON in fewer bytes (msgpack.org's specification).
#pragma once

#include <string>
#include <string_view>

#include "core/base/arena.h"
#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::value {

/// Plain data as JSON has it: texts are UTF-8, keys are texts. Extension types are refused, nil
/// is undef. Depth and size are bounded.
base::Result<Value> parse_msgpack(base::Arena& arena, std::string_view bytes);
/// Of plain data.
std::string to_msgpack(const Value& data);

}  // namespace bunraku::value
