// SPDX-License-Identifier: Apache-2.0
// Catalogs from outside: for any bytes, the result is a catalog or an error. An accepted catalog
// can be written and read again. The first byte chooses the format.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "resources/catalog/wire.h"

using namespace bunraku;

static void wire(int version, std::string_view text) {
    auto first = catalog::read_wire(version, text);
    if (!first) return;
    // The reader does not check relationship metaparameters, so the writer may refuse them.
    auto written = catalog::write_wire(version, first->catalog, first->envelope);
    if (!written) return;
    auto second = catalog::read_wire(version, *written);
    if (!second) std::abort();
    auto again = catalog::write_wire(version, second->catalog, second->envelope);
    if (!again || *again != *written) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    wire(catalog::oldest_wire_version() + data[0] % 6, text);
    return 0;
}
