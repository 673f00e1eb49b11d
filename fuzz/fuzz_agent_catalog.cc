// SPDX-License-Identifier: Apache-2.0
// Reads catalogs as an agent does, also those of other servers. The reader either accepts the whole
// catalog or reports an error with a location. An accepted catalog can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "resources/catalog/agent_json.h"
#include "resources/catalog/content_hash.h"
#include "resources/catalog/relations.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto first = catalog::read_agent_json({reinterpret_cast<const char*>(data), size});
    if (!first) return 0;
    const std::string once = catalog::to_agent_json(*first, {.keep_virtual = true});
    auto second = catalog::read_agent_json(once);
    if (!second || catalog::to_agent_json(*second, {.keep_virtual = true}) != once) std::abort();
    if (auto relations = catalog::relations(*first)) catalog::catalog_hash(*first, *relations);
    return 0;
}
