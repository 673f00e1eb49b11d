// SPDX-License-Identifier: Apache-2.0
// Converts syntax trees in JSON to code. For any JSON, the result is code of bounded size or an
// error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/value/rich_data.h"
#include "services/server/ast_text.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    base::Arena arena;
    const auto tree = value::parse_json(arena, {reinterpret_cast<const char*>(data), size});
    if (tree) (void)server::ast_text(*tree);
    return 0;
}
