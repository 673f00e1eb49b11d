// SPDX-License-Identifier: Apache-2.0
// Scans, parses and natively renders ERB templates with a few variables.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/value/build.h"
#include "language/erb/probe.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 4096) return 0;
    base::Arena arena;
    const auto text = value::Value::string("a,b c");
    const auto list = value::make_array(arena, {text, value::Value::integer(3), {}});
    value::HashBuilder inner(arena), variables(arena);
    inner.set("k", text);
    inner.set("l", list);
    variables.set("s", text);
    variables.set("n", value::Value::integer(7));
    variables.set("f", value::Value::floating(1.5));
    variables.set("a", list);
    variables.set("h", inner.build());
    variables.set("t", value::Value::boolean(true));
    erb::probe(std::string(reinterpret_cast<const char*>(data), size), variables.build(), arena);
    return 0;
}
