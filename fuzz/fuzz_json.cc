// SPDX-License-Identifier: Apache-2.0
// Converts external JSON to values, its rich data to Puppet's values, and both back to JSON. Output
// that is read and written again must not change.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/value/rich_data.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    base::Arena arena;
    auto first = value::parse_json(arena, {reinterpret_cast<const char*>(data), size});
    if (!first) return 0;
    const std::string once = value::to_json(*first);
    auto second = value::parse_json(arena, once);
    if (!second || value::to_json(*second) != once) std::abort();
    if (!value::parse_json(arena, value::to_pretty_json(*first))) std::abort();
    try {
        const auto rich = value::from_rich_data(arena, *first);
        const auto plain = value::to_rich_data(arena, rich);
        const auto again = value::from_rich_data(arena, plain);
        if (value::to_json(value::to_rich_data(arena, again)) != value::to_json(plain))
            std::abort();
    } catch (const base::PuppetError&) {
    }
    return 0;
}
