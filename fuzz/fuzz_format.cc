// SPDX-License-Identifier: Apache-2.0
// Any valid manifest has a canonical layout with the same tree, and formatting it again changes
// nothing. format() itself checks the tree and the comments.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "language/format/format.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto once = format::format(text, "f.pp");
    if (!once) return 0;
    const auto again = format::format(*once, "f.pp");
    if (!again || *again != *once) std::abort();
    if (format::apply_edits(text, format::format_range(text, "f.pp", {1, 1 << 30}).value()) !=
        *once)
        std::abort();
    return 0;
}
