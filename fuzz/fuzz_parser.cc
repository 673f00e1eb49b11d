// SPDX-License-Identifier: Apache-2.0
// Any text either parses and can be validated and dumped, or gives an error with a location.
#include <cstddef>
#include <cstdint>
#include <string>

#include "language/syntax/parser.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    // The first byte chooses parser options. The parser must be safe with every combination of
    // them.
    syntax::ParseOptions options{.tasks = (data[0] & 1) != 0};
    syntax::ValidateOptions checks{.tasks = options.tasks, .modulepath = {"/m"}};
    try {
        auto tree =
            syntax::parse("/m/a/manifests/b.pp",
                          std::string(reinterpret_cast<const char*>(data) + 1, size - 1), options);
        syntax::validate(*tree, checks);
        syntax::dump_pn(tree->program);
    } catch (const base::PuppetError&) {
    }
    return 0;
}
