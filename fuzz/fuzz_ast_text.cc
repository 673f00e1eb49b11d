// Syntax trees that come as data: any JSON becomes code of bounded size, or is refused.
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
