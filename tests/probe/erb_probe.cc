// SPDX-License-Identifier: Apache-2.0
// Renders ERB templates natively for tools/compare_erb. Reads one JSON object per line from stdin:
// {"source": .., "variables": {..}}. Writes one line per object to stdout: {"text": ..} or
// {"reason": .., "detail": ..}.
#include <cstdio>
#include <iostream>
#include <string>

#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/erb/probe.h"

using namespace bunraku;

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        base::Arena arena;
        auto request = value::parse_json(arena, line);
        if (!request || !request->is_hash()) return 1;
        const auto* source = request->as_hash().find("source");
        const auto* variables = request->as_hash().find("variables");
        value::HashBuilder answer(arena);
        const auto result = erb::probe(std::string(source->as_string()), *variables, arena);
        if (result.text) {
            answer.set("text", value::make_string(arena, *result.text));
        } else {
            answer.set("reason", value::make_string(arena, result.reason));
            answer.set("detail", value::make_string(arena, result.detail));
            answer.set("parsed", value::Value::boolean(result.parsed));
        }
        std::string out;
        value::write_json(out, answer.build());
        out += '\n';
        std::fwrite(out.data(), 1, out.size(), stdout);
    }
    return 0;
}
