// SPDX-License-Identifier: Apache-2.0
// Reads HOCON as data and as configuration: the result is an object or the error message of Ruby's
// parser.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/codec/hocon.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // This target does not test the inclusion of other files.
    if (text.find("file") != std::string_view::npos) return 0;
    auto read = codec::parse_hocon(text);
    if (read && read->kind != codec::YamlNode::Kind::Mapping) std::abort();
    return 0;
}
