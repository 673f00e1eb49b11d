// Catalogs from outside: whatever the bytes, an answer or an error; and what was read can be
// written and read again. The first byte chooses the format.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "resources/catalog/wire.h"

using namespace bunraku;

static void wire(int version, std::string_view text) {
    auto first = catalog::read_wire(version, text);
    if (!first) return;
    // Relationship metaparameters are not checked on reading: writing may refuse.
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
    wire(catalog::kOldestWireVersion + data[0] % 6, text);
    return 0;
}
