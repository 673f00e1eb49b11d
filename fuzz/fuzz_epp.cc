// SPDX-License-Identifier: Apache-2.0
// The same test as fuzz_parser.cc, for EPP templates.
#include <cstddef>
#include <cstdint>
#include <string>

#include "language/syntax/parser.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        auto tree = syntax::parse("t.epp", std::string(reinterpret_cast<const char*>(data), size),
                                  {.epp = true});
        syntax::validate(*tree);
        syntax::dump_pn(tree->program);
    } catch (const base::PuppetError&) {
    }
    return 0;
}
