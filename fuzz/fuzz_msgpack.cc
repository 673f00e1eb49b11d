// SPDX-License-Identifier: Apache-2.0
// Reads MessagePack from agents. Invalid bytes are refused. An accepted value is the same after it
// is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/value/msgpack.h"
#include "core/value/rich_data.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    base::Arena arena;
    const auto v = value::parse_msgpack(arena, {reinterpret_cast<const char*>(data), size});
    if (!v) return 0;
    const auto again = value::parse_msgpack(arena, value::to_msgpack(*v));
    if (!again || value::to_msgpack(*again) != value::to_msgpack(*v)) std::abort();
    (void)value::to_json(*v);
    return 0;
}
