// SPDX-License-Identifier: Apache-2.0
// Any text is a type or an error. All operations on a type must succeed.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/value/value.h"
#include "language/types/factory.h"
#include "language/types/mismatch.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 4096) return 0;
    // The input contains two types, separated by a newline. Tests them against each other.
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::size_t newline = text.find('\n');
    base::Arena arena;
    types::Context ctx{arena, nullptr};
    try {
        const types::Type* a = types::parse_type(ctx, text.substr(0, newline));
        const types::Type* b =
            newline == std::string::npos ? a : types::parse_type(ctx, text.substr(newline + 1));
        types::is_assignable(ctx, a, b);
        types::common_type(ctx, a, b);
        types::describe_type_mismatch(ctx, "x", a, b);
        types::normalize(ctx, a)->to_string();
        types::generalize(ctx, a)->hash();
        types::iterable_type(ctx, a);
        types::is_instance(ctx, a, value::Value::type(b));
        if (!types::equal(a, a)) __builtin_trap();
    } catch (const base::PuppetError&) {
    }
    return 0;
}
